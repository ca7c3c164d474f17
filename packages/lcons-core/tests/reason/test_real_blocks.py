"""Real and integer blocks: every command on them is exact, or refuses them by name."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    LinearInequalities,
    RectifierNetwork,
    Rules,
    Unsupported,
    compare,
    completions,
    explain,
    integer,
    one_hot,
    real,
    simplify,
    to_inequalities,
    verify,
    why,
)
from lcons_core._arithmetic import rational_dot
from lcons_core.reason._rules_text import read_assignment
from lcons_core.testing import networks, points, spaces

CLINIC = FeatureSpace(
    [one_hot("smoker", ["yes", "no"]), real("age", ["age"], 0, 120), integer("visits", ["visits"], -2, 5)]
)
# Smokers up to 64 with age 64 exactly on the boundary; others any age, if visits are at most 3.
NETWORK = RectifierNetwork([[2.0, 0.0, 1 / 32, 0.0], [0.0, 0.5, 0.0, 0.25]], [-3.0, -0.25])
CONSTRAINT = LearnedConstraint(NETWORK, CLINIC)


@st.composite
def real_cases(draw, max_blocks=1):
    space = draw(spaces(max_blocks=max_blocks, max_values=2, reals=True))
    return space, draw(networks(max_K=3, d=space.d))


@given(st.data())
def test_points_are_inside_and_described_exactly(data):
    space = data.draw(spaces(reals=True))
    psi = data.draw(points(space))
    assert space.contains(psi)[0]
    assert np.array_equal(space.vector(space.describe(psi)), psi)
    assert space == FeatureSpace.from_dict(json.loads(json.dumps(space.to_dict())))
    for j in np.flatnonzero(space.real_columns):
        for outside in (-np.inf, np.inf):
            beyond = psi.copy()
            bound = space.block(space.columns[j][0])
            beyond[j] = np.nextafter(bound.low if outside < 0 else bound.high, outside)
            assert not space.contains(beyond)[0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: CLINIC.size,
        lambda: list(CLINIC.points()),
        lambda: CONSTRAINT.forbid(smoker="yes"),
        lambda: Rules(CLINIC, [{"smoker": "yes"}]),
    ],
)
def test_what_needs_a_finite_domain_refuses_by_name(ask):
    with pytest.raises(Unsupported):
        ask()


@settings(max_examples=40)
@given(real_cases(), st.sampled_from([None, 0.1]))
def test_verify_samples_and_never_claims_the_domain(case, scale):
    space, network = case
    if scale is not None:  # weights whose sums are rounded
        network = RectifierNetwork(network.W * scale, network.b)
    found = verify(network, space, samples=60)
    assert found.ok
    assert not found.exhausted


@settings(max_examples=60)
@given(real_cases(), st.sampled_from(["same", "split", "step", "other", "rows"]), st.data())
def test_compare_on_reals_is_right_or_undecided(case, kind, data):
    space, a = case
    W, b = a.W, a.b
    if kind == "split":  # ReLU(a) = ReLU(a / 2) + ReLU(a / 2)
        other = RectifierNetwork(np.vstack([W[:1] / 2, W[:1] / 2, W[1:]]), [b[0] / 2, b[0] / 2, *b[1:]])
    elif kind == "step":  # by far less than any drawn point shows
        other = RectifierNetwork(W, [b[0] + data.draw(st.sampled_from([-1.0, 1.0])) * 2.0**-45, *b[1:]])
    elif kind == "other":
        other = data.draw(networks(max_K=2, d=space.d))
    else:
        other = to_inequalities(a) if kind == "rows" else RectifierNetwork(W[::-1], b[::-1])  # type: ignore[assignment]
    found = compare(a, other, space)
    if kind == "same":
        assert found.equal is True
    if kind in ("split", "rows"):
        assert found.equal is not False
    if found.equal:
        psi = data.draw(points(space))
        assert a.accepts(psi) == other.accepts(psi)
    for witnesses, inside, outside in ((found.witnesses_a, a, other), (found.witnesses_b, other, a)):
        for witness in witnesses:
            point = _rationals(space, witness)
            assert _accepts(inside, point)
            assert not _accepts(outside, point)


def _rationals(space, witness):
    """The point of a witness, whose numbers are floats or rationals as text."""
    point = []
    for block in space.blocks:
        given_ = witness[block.name]
        for value in block.values:
            if isinstance(given_, dict):
                number = Fraction(given_[value])
                assert block.low <= number <= block.high
            else:
                number = Fraction(int(value == given_ if isinstance(given_, str) else value in given_))
            point.append(number)
    return point


def _accepts(points_, point):
    def value(w, b):
        return sum((Fraction(x) * p for x, p in zip(w.tolist(), point, strict=True)), Fraction(float(b)))

    if isinstance(points_, LinearInequalities):
        pairs = zip(points_.coefficients, points_.bias, strict=True)
        return all(value(w, b) >= 0 for w, b in pairs)
    return sum(max(value(w, b), 0) for w, b in zip(points_.W, points_.b, strict=True)) <= 1


@settings(max_examples=40)
@given(real_cases(), st.data())
def test_simplified_rows_accept_the_same_points(case, data):
    space, network = case
    simple = simplify(network, space)
    assert not simple.minimal
    for _ in range(5):
        psi = data.draw(points(space))
        assert simple.accepts(psi) == network.accepts(psi)
    for dropped in simple.dropped:
        row = to_inequalities(network).take(np.array([dropped.row]))
        if dropped.reason == "never violated":
            assert _least(space, row) >= 0


def _least(space, row):
    corner = space.corners()
    psi = corner.vectors(np.array(list(product(*(range(len(axis)) for axis in corner.axes)))))
    return min(rational_dot(row.coefficients[0], point, float(row.bias[0])) for point in psi)


def test_why_and_completions_answer_for_numbers():
    assert not CONSTRAINT.accepts(CLINIC.vector(smoker="yes", age=np.nextafter(64, 65), visits=0))
    assert CONSTRAINT.accepts(CLINIC.vector(smoker="yes", age=64, visits=0))
    assert why(CONSTRAINT, smoker="yes", age=64, visits=0).forbidden is False
    assert why(CONSTRAINT, {"smoker": "yes", "age": 80}).value == -0.5
    assert why(CONSTRAINT, smoker="yes").partial
    some = completions(CONSTRAINT, {"smoker": "yes", "age": 80})
    assert (some.forbidden, some.total, some.allowed) == (True, 8, 0)
    some = completions(CONSTRAINT, {"smoker": "no"})
    assert some.forbidden is False
    assert CONSTRAINT.accepts(CLINIC.vector(some.example))
    some = completions(CONSTRAINT, {"smoker": "yes", "age": {"age": 64.0}})
    assert (some.forbidden, some.allowed) == (False, 4)
    assert some.example["age"] == {"age": 64.0}
    assert read_assignment(CLINIC, ["yes", "age=1e1"]) == {"age": {"age": 10.0}, "smoker": "yes"}
    with pytest.raises(InvalidInput):
        read_assignment(CLINIC, ["age=old"])


@settings(max_examples=12)
@given(real_cases(), st.data())
def test_every_point_of_an_explained_box_is_rejected(case, data):
    space, network = case
    found = explain(network, space=space)
    assert not found.complete
    assume(found.rules)
    cells = space.cells()
    rule = data.draw(st.sampled_from(found.rules))
    psi = data.draw(points(space))
    for name, values in rule.box.conditions:
        axis = cells.axes[cells.axis_index(name)]
        value = axis.values.index(data.draw(st.sampled_from(values)))
        if space.block(axis.block).kind == "real":
            psi[axis.columns[0]] = data.draw(st.floats(axis.edges[value], axis.edges[value + 1]))
        elif space.block(axis.block).kind == "one-hot":
            psi[axis.columns[axis.columns >= 0]] = 0.0
            psi[axis.columns[value]] = 1.0 if axis.columns[value] >= 0 else psi[axis.columns[value]]
        else:
            psi[axis.columns[value]] = axis.coefficients[value]
    assume(space.contains(psi)[0])
    assert not network.accepts(psi)
