"""Simplified rows are the same set on their space, none of them is superfluous, and elsewhere they refuse."""

import numpy as np
import pytest
from core_strategies import every_point, sets_on_spaces
from hypothesis import given
from paper_tables import SOURCE_RELATION, printed_network

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LinearInequalities,
    RectifierNetwork,
    binary,
    compare,
    one_hot,
    simplify,
    to_inequalities,
)
from lcons_core.reason._compare import Reason


@given(sets_on_spaces())
def test_simplified_rows_are_the_same_set_and_minimal_by_enumeration(case):
    network, space = case
    points = every_point(space)
    rows = to_inequalities(network)
    simplified = simplify(network, space)
    expected = rows.verdicts(space, points)
    assert simplified.minimal
    assert np.array_equal(simplified.rows.verdicts(space, points), expected)
    by_closed_forms = simplify(network, space, enumeration_limit=0)
    assert not by_closed_forms.minimal
    assert np.array_equal(by_closed_forms.rows.verdicts(space, points), expected)
    for m in range(len(simplified)):
        fewer = simplified.rows.take(np.delete(np.arange(len(simplified)), m))
        assert not np.array_equal(fewer.verdicts(space, points), expected)


@given(sets_on_spaces())
def test_every_dropped_row_has_a_reason_that_is_true(case):
    network, space = case
    rows, simplified = to_inequalities(network), simplify(network, space)
    holds = rows.satisfied(space.vectors(every_point(space)))
    dropped = [drop.row for drop in simplified.dropped]
    assert sorted([*dropped, *simplified.kept.tolist()]) == list(range(len(rows)))
    kept_hold = holds[:, simplified.kept].all(1)
    for drop in simplified.dropped:
        if drop.reason is Reason.NEVER_VIOLATED:
            assert holds[:, drop.row].all()
        assert holds[kept_hold, drop.row].all()
    for m, row in enumerate(simplified.kept):
        assert np.array_equal(simplified.rows.coefficients[m], rows.coefficients[row])
        assert np.array_equal(simplified.rows.subsets[m], rows.subsets[row])


def test_a_row_is_not_dropped_on_a_rounding_error():
    space = FeatureSpace([binary("x", "abc")])
    # As rationals 1.1 - (0.1 + 0.2 + 0.8) is about -1e-17, which float sums may round to 0.
    row = LinearInequalities([[-0.1, -0.2, -0.8]], [1.1])
    least = row.satisfied(np.ones(3))[0]
    assert len(simplify(row, space)) == int(not least)
    twice = LinearInequalities([[-0.1, -0.2, -0.8], [-0.3, 0.0, -0.8]], [1.1, 1.1])
    simplified = simplify(twice, space)
    points = every_point(space)
    assert np.array_equal(simplified.rows.verdicts(space, points), twice.verdicts(space, points))


def test_simplify_of_a_domain_of_many_chunks_is_minimal():
    rng = np.random.default_rng(3)
    space = FeatureSpace([one_hot(f"block {i}", [str(v) for v in range(18)]) for i in range(4)])
    network = RectifierNetwork(rng.integers(-32, 32, (5, space.d)) / 16, rng.integers(-80, -48, 5) / 16)
    steps = []
    simplified = simplify(network, space, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (space.size, space.size)
    assert compare(network, simplified, space).equal is True
    for m in range(len(simplified)):
        fewer = simplified.rows.take(np.delete(np.arange(len(simplified)), m))
        assert compare(network, fewer, space).equal is False


def test_simplified_rows_are_refused_outside_their_space():
    simplified = simplify(printed_network("source-relation"), SOURCE_RELATION)
    kill = SOURCE_RELATION.vector(source="Location", relation="Kill")
    assert simplified.holds(kill) is False
    for psi in (np.zeros(10), np.ones(10), kill / 2):
        with pytest.raises(InvalidInput):
            simplified.holds(psi)


def test_simplify_needs_a_space_that_fits():
    network = RectifierNetwork([[1.0, 2.0]], [0.0])
    with pytest.raises(InvalidInput):
        simplify(network)
    with pytest.raises(InvalidInput):
        simplify(network, FeatureSpace([binary("x", "abc")]))
