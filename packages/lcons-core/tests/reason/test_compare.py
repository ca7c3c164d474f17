"""Compare is exact on small domains, proves or refutes where it can on large ones, and never guesses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_tables import designed

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LconsError,
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    TooLarge,
    binary,
    compare,
    count,
    iob2,
    one_hot,
    simplify,
    to_inequalities,
)
from lcons_core.reason._compare import Outcome
from lcons_core.testing import conjunctions, networks, spaces

LARGE = FeatureSpace([one_hot(f"label {i}", [f"L{v}" for v in range(30)]) for i in range(6)])


@st.composite
def pairs_on_spaces(draw):
    """(a, b, space): b unrelated to a, or a with one weight moved by a sixteenth, or in tenths."""
    space = draw(spaces())
    a = draw(st.one_of(networks(max_K=3, d=space.d), conjunctions(max_K=2, d=space.d)))
    if draw(st.booleans()):
        return a, draw(networks(max_K=3, d=space.d)), space
    part = a.parts[0]
    W = part.W.copy()
    W[draw(st.integers(0, part.K - 1)), draw(st.integers(0, part.d - 1))] += draw(
        st.sampled_from([0.0, 0.0625, -0.1])
    )
    return part, RectifierNetwork(W, part.b), space


def drawn_network(K, space, seed=0):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(K, space.d)), rng.normal(size=K) - 2
    return RectifierNetwork(np.rint(W * 16) / 16, np.rint(b * 16) / 16)


@given(pairs_on_spaces())
def test_counts_and_witnesses_are_exact(case):
    a, b, space = case
    points = np.concatenate(list(space.points()))
    in_a, in_b = a.verdicts(space, points), b.verdicts(space, points)
    comparison = compare(a, b, space, witnesses=1000)
    assert comparison.complete
    assert comparison.points == len(points)
    assert comparison.both == (in_a & in_b).sum()
    assert comparison.only_a == (in_a & ~in_b).sum()
    assert comparison.only_b == (~in_a & in_b).sum()
    assert comparison.equal == np.array_equal(in_a, in_b)
    for witnesses, expected in (
        (comparison.witnesses_a, points[in_a & ~in_b]),
        (comparison.witnesses_b, points[~in_a & in_b]),
    ):
        assert list(witnesses) == [space.describe(psi) for psi in space.vectors(expected)]


@settings(max_examples=60)
@given(pairs_on_spaces())
def test_beyond_the_limit_an_answer_is_a_true_one(case):
    a, b, space = case
    exact, beyond = compare(a, b, space), compare(a, b, space, limit=0)
    if beyond.outcome is not Outcome.UNDECIDED:
        assert beyond.equal == exact.equal
    if beyond.outcome is Outcome.DIFFERENT:
        for witness in beyond.witnesses_a:
            psi = space.vector(witness)
            assert a.accepts(psi)
            assert not b.accepts(psi)
        assert beyond.only_a <= exact.only_a
        assert beyond.only_b <= exact.only_b


def test_sampling_never_proves_equality():
    # They differ at one of 729 million points, which no drawing finds.
    point = {f"label {i}": "L7" for i in range(6)}
    everywhere = LearnedConstraint(drawn_network(3, LARGE), LARGE)
    edited = everywhere.forbid(point)
    comparison = compare(everywhere, edited)
    assert comparison.outcome is not Outcome.EQUAL
    assert not comparison.complete


def test_a_witness_is_found_near_the_boundary_of_a_large_domain():
    a = drawn_network(4, LARGE, seed=1)
    b = RectifierNetwork(a.W * 1.0625, a.b * 1.0625)
    comparison = compare(a, b, LARGE)
    assert comparison.outcome is Outcome.DIFFERENT
    witness = LARGE.vector((comparison.witnesses_a + comparison.witnesses_b)[0])
    assert a.accepts(witness) != b.accepts(witness)


def test_the_same_units_in_another_order_are_equal_on_any_domain():
    a = drawn_network(5, LARGE)
    W, b = a.W.copy(), a.b.copy()
    W[:, LARGE.column("label 2", "L0") : LARGE.column("label 3", "L0")] += 0.5
    never_active = np.full((1, LARGE.d), -1.0)
    moved = RectifierNetwork(np.vstack([W[::-1], never_active]), np.append(b[::-1] - 0.5, 0.0))
    comparison = compare(a, moved, LARGE)
    assert comparison.equal is True
    assert not comparison.complete


def test_a_network_and_its_rows_are_equal_on_any_domain_if_the_rows_are_not_rounded():
    space = FeatureSpace([count("count", [f"c{i}" for i in range(12)], high=70)])
    for scale, equal in ((1 / 16, True), (0.1, None)):
        network = RectifierNetwork(scale * np.arange(24.0).reshape(2, 12), [0.125, 0.25])
        assert compare(network, to_inequalities(network), space).equal is equal


def test_rules_and_their_rows_are_proved_equal_by_kinds_of_points():
    rules = designed("relation-relation")
    assert compare(rules, rules.network(), limit=0).equal is True
    padded = iob2(["B-X", "I-X", "O"])
    for form in (rules, padded):
        assert compare(form, simplify(form), limit=0).equal is True


def test_a_comparison_is_neither_true_nor_false():
    comparison = compare(designed("source-relation"), designed("source-relation"))
    with pytest.raises(LconsError):
        bool(comparison)


def test_two_spaces_are_refused_by_name():
    with pytest.raises(InvalidInput):
        compare(designed("source-relation"), designed("relation-target"))
    network = RectifierNetwork(np.zeros((1, 12)), [0.0])
    with pytest.raises(InvalidInput):
        compare(network, network)
    with pytest.raises(InvalidInput):
        compare(network, designed("source-relation"))


def test_allowed_combinations_of_a_large_domain_have_no_network():
    with pytest.raises(TooLarge):
        Rules(LARGE, allowed=[{"label 1": "L1"}]).network()


def test_kinds_of_points_prove_equality_whatever_axes_neither_uses():
    space = FeatureSpace([binary("x", [str(j) for j in range(40)])])
    rng = np.random.default_rng(3)
    W = np.zeros((3, 40))
    W[:, ::5] = np.rint(16 * rng.normal(size=(3, 8))) / 16
    a = RectifierNetwork(W, [-0.5, 0.25, -1.0])
    same = RectifierNetwork(np.vstack([W[:1] / 2, W[:1] / 2, W[1:]]), [-0.25, -0.25, 0.25, -1.0])
    found = compare(a, same, space)
    assert (found.equal, found.complete) == (True, False)
    other = compare(a, RectifierNetwork(W, [-0.5, 0.25, -0.75]), space, witnesses=256)
    assert other.equal is False
    rules = Rules(space, [{"x": {"1": True, "3": False}}])
    assert compare(rules, Rules(space, allowed=[{"x": {"1": False}}, {"x": {"3": True}}])).equal is True
