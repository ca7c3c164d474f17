"""The rows and auxiliary variables of every form hold exactly where the constraint accepts, in rationals."""

from __future__ import annotations

from fractions import Fraction

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
    one_hot,
    to_inequalities,
)
from lcons_core._theorem import Form
from lcons_core.optimisers._system import build_system, fold_constants
from lcons_core.optimisers._tool import Bounds, System
from lcons_core.testing import conjunctions, constraints, networks, points

BIT = Bounds(0.0, 1.0, True)


def fits(system: System, psi: np.ndarray) -> bool:
    """Whether some auxiliary values from 0 to 1 satisfy all rows at psi: the least that the rows force."""
    columns = {j: Fraction(value) for j, value in enumerate(psi)}
    columns |= {system.d + i: Fraction(0) for i in range(len(system.auxiliaries))}
    for row in system.rows:
        forced = [j for j, c in row.terms if j >= system.d and c == 1.0]
        if forced:
            others = sum(Fraction(c) * columns[j] for j, c in row.terms if j not in forced)
            columns[forced[0]] = max(columns[forced[0]], row.rhs - others)
    within = all(columns[system.d + i] <= 1 for i in range(len(system.auxiliaries)))
    left = [sum(Fraction(c) * columns[j] for j, c in row.terms) for row in system.rows]
    pairs = zip(left, system.rows, strict=True)
    return within and all(value == row.rhs if row.equal else value >= row.rhs for value, row in pairs)


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
    system = build_system(network, [Bounds()] * network.d, form)
    assert fits(system, psi) == network.accepts(psi)
    known = data.draw(st.lists(st.booleans(), min_size=network.d, max_size=network.d))
    numbers = [Fraction(value) if fixed else None for value, fixed in zip(psi, known, strict=True)]
    folded = fold_constants(system, numbers)
    assert all(row.terms for row in folded.rows)
    assert not {j for row in folded.rows for j, _ in row.terms} & {j for j in range(network.d) if known[j]}
    assert fits(folded, psi) == network.accepts(psi)


@given(constraints(), st.data())
def test_every_form_with_the_equations_fits_the_accepted_points_of_the_space(constraint, data):
    space = constraint.space
    for form in (None, Form.ROWS, Form.LIFTED, Form.SIMPLIFIED):
        system = build_system(constraint, [Bounds()] * space.d, form, domain=True)
        inside = data.draw(points(space))
        assert fits(system, inside) == constraint.accepts(inside)
        outside = inside.copy()
        outside[data.draw(st.integers(0, space.d - 1))] += data.draw(st.sampled_from([-1.0, 1.0]))
        accepted = space.contains(outside)[0] and constraint.accepts(outside)
        assert fits(system, outside) == accepted
        numbers = fold_constants(system, [Fraction(value) for value in outside])
        assert fits(numbers, outside) == accepted


@pytest.mark.parametrize(("K", "form"), [(1, Form.ROWS), (3, Form.ROWS), (4, Form.LIFTED)])
def test_the_form_with_fewer_rows_and_variables_is_chosen(K, form):
    assert build_system(RectifierNetwork(np.ones((K, 2)), np.zeros(K)), [Bounds()] * 2).form is form


def test_rows_that_float64_would_round_are_not_chosen():
    assert build_system(RectifierNetwork([[0.1], [0.7]], [0.0, 0.0]), [Bounds()]).form is Form.LIFTED


def test_bounds_that_the_tool_knows_are_not_added_again():
    space = FeatureSpace([one_hot("tag", "AB"), one_hot("word", "xy")])
    constraint = LearnedConstraint(RectifierNetwork([[0.5, 2.0, 0.5, 2.0]], [0.0]), space)
    assert len(build_system(constraint, [BIT] * 4, domain=True).rows) == 1 + 2
    assert len(build_system(constraint, [Bounds()] * 4, domain=True).rows) == 1 + 2 + 8


def test_what_a_form_cannot_do_is_refused():
    large = RectifierNetwork(np.ones((15, 2)), np.zeros(15))
    with pytest.raises(TooLarge):
        build_system(large, [BIT] * 2, Form.ROWS)
    with pytest.raises(InvalidInput):
        build_system(large, [BIT] * 2, domain=True)
    rows = to_inequalities(RectifierNetwork([[2.0, 2.0]], [-2.0]))
    with pytest.raises(InvalidInput):
        build_system(rows, [BIT] * 2, Form.LIFTED)
    assert len(build_system(rows, [BIT] * 2).rows) == 1
