"""The rows and auxiliary variables of every form hold exactly where the constraint accepts, in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    Unsupported,
    one_hot,
    to_inequalities,
)
from lcons_core._theorem import Form
from lcons_core.optimisers._system import Bounds, System, build_system, fold_constants, read_constant
from lcons_core.testing import conjunctions, constraints, networks, points

UNKNOWN = Bounds()
BIT = Bounds(0.0, 1.0, True)


def fits(system: System, psi: np.ndarray) -> bool:
    """Whether some auxiliary values satisfy all rows at psi: some binaries, and the s that these force."""
    binaries = [system.d + i for i, a in enumerate(system.auxiliaries) if a.bounds.integral]
    choices = product([Fraction(0), Fraction(1)], repeat=len(binaries))
    return any(_fits(system, psi, dict(zip(binaries, choice, strict=True))) for choice in choices)


def _fits(system: System, psi: np.ndarray, binaries: dict[int, Fraction]) -> bool:
    columns = {j: Fraction(value) for j, value in enumerate(psi)}
    for i, auxiliary in enumerate(system.auxiliaries):
        columns[system.d + i] = binaries.get(system.d + i, Fraction(auxiliary.bounds.lower))
    for row in system.rows:
        own = [j for j, c in row.terms if j >= system.d and c == 1.0 and j not in binaries]
        if own:
            others = sum(Fraction(c) * columns[j] for j, c in row.terms if j not in own)
            columns[own[0]] = max(columns[own[0]], row.rhs - others)
    within = all(
        columns[system.d + i] <= Fraction(auxiliary.bounds.upper)
        for i, auxiliary in enumerate(system.auxiliaries)
    )
    left = [sum(Fraction(c) * columns[j] for j, c in row.terms) for row in system.rows]
    return within and all(
        value == row.rhs if row.equal else value >= row.rhs
        for value, row in zip(left, system.rows, strict=True)
    )


@st.composite
def sets_and_psi(draw):
    """A network or conjunction, and psi of multiples of 1/4, often a 0/1 point."""
    network = draw(st.one_of(networks(max_K=5), conjunctions(max_K=5)))
    entries = st.sampled_from([0.0, 1.0, 0.0, 1.0, 0.25, 0.5, -1.0, 3.0])
    psi = draw(st.lists(entries, min_size=network.d, max_size=network.d))
    return network, np.array(psi)


@given(sets_and_psi(), st.sampled_from([None, Form.ROWS, Form.LIFTED]), st.data())
def test_a_form_fits_psi_exactly_where_the_network_accepts(case, form, data):
    network, psi = case
    system = build_system(network, [UNKNOWN] * network.d, form)
    assert fits(system, psi) == network.accepts(psi)
    known = data.draw(st.lists(st.booleans(), min_size=network.d, max_size=network.d))
    numbers = [Fraction(value) if fixed else None for value, fixed in zip(psi, known, strict=True)]
    folded = fold_constants(system, numbers)
    assert all(row.terms for row in folded.rows)
    assert not {j for row in folded.rows for j, _ in row.terms} & {j for j in range(network.d) if known[j]}
    assert fits(folded, psi) == network.accepts(psi)


@given(constraints(), st.data())
def test_simplified_rows_and_the_equations_fit_the_accepted_points_of_the_space(constraint, data):
    space = constraint.space
    for form in (None, Form.ROWS, Form.LIFTED, Form.SIMPLIFIED):
        system = build_system(constraint, [Bounds(integral=True)] * space.d, form, domain=True)
        inside = data.draw(points(space))
        assert fits(system, inside) == constraint.accepts(inside)
        outside = inside.copy()
        outside[data.draw(st.integers(0, space.d - 1))] += data.draw(st.sampled_from([-1.0, 1.0]))
        assert fits(system, outside) == (space.contains(outside)[0] and constraint.accepts(outside))


@pytest.mark.parametrize(
    ("psi", "feasible"),
    [([1, 0, 1, 0], True), ([0, 1, 0, 1], False), ([1, 1, 1, 0], False), ([0, 0, 1, 0], False)],
)
def test_rows_of_numbers_alone_are_dropped_or_never_hold(psi, feasible):
    space = FeatureSpace([one_hot("tag", "AB"), one_hot("word", "xy")])
    # The margin of (A, x) is exactly 0.
    constraint = LearnedConstraint(RectifierNetwork([[0.5, 2.0, 0.5, 2.0]], [0.0]), space)
    folded = fold_constants(
        build_system(constraint, [BIT] * 4, Form.ROWS, domain=True), [Fraction(value) for value in psi]
    )
    assert (folded.size == 0) == feasible
    assert fits(folded, np.array(psi, float)) == feasible


@pytest.mark.parametrize(("K", "form"), [(1, Form.ROWS), (3, Form.ROWS), (4, Form.LIFTED)])
def test_the_form_with_fewer_rows_and_variables_is_chosen_for_each_network(K, form):
    network = RectifierNetwork(np.ones((K, 2)), np.zeros(K))
    assert build_system(network, [UNKNOWN] * 2).forms == (form,)
    both = RectifierNetwork([[1.0, 0.0]], [0.0]) & RectifierNetwork(np.ones((4, 2)), np.zeros(4))
    system = build_system(both, [UNKNOWN] * 2)
    assert system.forms == (Form.ROWS, Form.LIFTED)
    assert (len(system.rows), len(system.auxiliaries)) == (1 + 5, 4)
    assert len({row.name for row in system.rows}) == 6


def test_rows_that_float64_would_round_are_not_chosen():
    assert build_system(RectifierNetwork([[0.1], [0.7]], [0.0, 0.0]), [UNKNOWN]).forms == (Form.LIFTED,)


def test_simplified_rows_are_chosen_only_for_integral_points_of_the_space():
    space = FeatureSpace([one_hot("tag", "ABC"), one_hot("word", "xy")])
    W = np.zeros((4, 5))
    W[:, :] = [2.0, 0.0, 0.0, 2.0, 0.0]
    constraint = LearnedConstraint(RectifierNetwork(W, np.full(4, -2.0)), space)
    assert build_system(constraint, [BIT] * 5, domain=True).forms == (Form.SIMPLIFIED,)
    assert build_system(constraint, [BIT] * 5).forms == (Form.LIFTED,)
    assert build_system(constraint, [BIT] * 4 + [UNKNOWN], domain=True).forms == (Form.LIFTED,)
    # The tool knows the bounds of a bit, so only the sums of the two blocks are added.
    assert len(build_system(constraint, [BIT] * 5, Form.ROWS, domain=True).rows) == 15 + 2


def test_what_a_form_cannot_do_is_refused_in_one_sentence():
    large = RectifierNetwork(np.ones((15, 2)), np.zeros(15))
    with pytest.raises(TooLarge, match="form='lifted'"):
        build_system(large, [UNKNOWN] * 2, Form.ROWS)
    rows = to_inequalities(RectifierNetwork([[2.0, 2.0]], [-2.0]))
    with pytest.raises(Unsupported, match="has only rows"):
        build_system(rows, [UNKNOWN] * 2, Form.LIFTED)
    assert len(build_system(rows, [UNKNOWN] * 2).rows) == 1
    with pytest.raises(InvalidInput, match="need a space"):
        build_system(large, [BIT] * 2, domain=True)


def test_a_constant_is_read_exactly():
    assert read_constant(np.float64(0.1)) == Fraction(0.1)
    assert read_constant(np.int64(3)) == 3
    for entry in (np.nan, np.inf, 1j):
        with pytest.raises(InvalidInput, match="finite and real"):
            read_constant(entry)
