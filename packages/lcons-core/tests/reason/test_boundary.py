"""Points near the boundary lie on both sides of it, also where uniform draws never find one of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core._blocks import Requirement, count, one_hot
from lcons_core._network import RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core._theorem import to_inequalities
from lcons_core.reason._points import drawn_around, near_boundary
from lcons_core.testing import networks, spaces


def near(points, space, number=32, seed=0):
    return near_boundary(points, space, number, np.random.default_rng(seed))


@settings(max_examples=100)
@given(spaces(), st.data())
def test_both_sides_are_found_where_a_small_space_has_both(space, data):
    network = data.draw(networks(max_K=4, d=space.d))
    points = data.draw(st.sampled_from([network, to_inequalities(network)]))
    wanted = set(network.verdicts(space, np.concatenate(list(space.points()))).tolist())
    found = near(points, space, data.draw(st.integers(2, 40)), data.draw(st.integers(0, 9)))
    assert set(network.verdicts(space, found).tolist()) == wanted
    assert space.possible(found).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_the_one_accepted_point_of_a_large_space_is_found_with_its_neighbours(seed):
    rng = np.random.default_rng(seed)
    space = FeatureSpace([count("count", "abcdefgh", high=9)])
    centre = rng.integers(0, 10, 8)
    # The units are positive where a count is too large or too small: all but the centre are rejected.
    W = 2.0 * np.concatenate([np.eye(8), -np.eye(8)])
    network = RectifierNetwork(W, -W @ centre)
    found = near(network, space)
    accepted = network.verdicts(space, found)
    assert (found[accepted] == centre).all()
    assert accepted.any()
    assert (np.abs(found[~accepted] - centre).sum(1) == 1).any()


def test_the_one_rejected_combination_of_a_large_space_is_found():
    space = FeatureSpace([one_hot(f"x{i}", "abcdef") for i in range(12)])
    network = RectifierNetwork([[float(v == "d") for _, v in space.columns]], [-10.0])
    found = near(network, space)
    rejected = ~network.verdicts(space, found)
    assert (found[rejected] == 3).all()
    assert rejected.any()


def test_walks_end_at_neighbours_on_both_sides():
    space = FeatureSpace([count("count", "abcdefgh", high=70)])
    network = RectifierNetwork(np.ones((1, 8)), [-20.0])  # at most 21 in all
    found = near(network, space, 64)
    totals = found.sum(1)
    assert (totals == 21).sum() >= 8
    assert (totals == 22).sum() >= 8


def test_impossible_points_are_left_out_and_the_seed_decides():
    values = [f"v{i}" for i in range(20)]
    blocks = [one_hot(name, values) for name in "abc"]
    space = FeatureSpace(blocks, [Requirement("a", "v0", "b", ("v1",)), Requirement("b", "v0", "c", ("v2",))])
    network = RectifierNetwork(np.eye(space.d)[:1] * 2, [0.0])  # never a v0
    found = near(network, space, 64)
    assert space.possible(found).all()
    assert set(network.verdicts(space, found).tolist()) == {True, False}
    assert np.array_equal(found, near(network, space, 64))


@pytest.mark.parametrize("number", [1, 2, 3, 200])
def test_no_more_points_are_given_than_asked_for(number):
    space = FeatureSpace([count("count", "abcdefgh", high=9)])
    assert 0 < len(near(RectifierNetwork(np.ones((1, 8)), [-9.0]), space, number)) <= number


def test_points_around_accepted_ones_mix_them():
    space = FeatureSpace([one_hot(f"x{i}", "abcdef") for i in range(9)])
    centres = np.array([[0] * 9, [5] * 9])
    found = drawn_around(space, centres, 100, np.random.default_rng(0))
    assert len(np.unique(found, axis=0)) > 50
    assert (((found != 0) & (found != 5)).sum(1) <= 1).all()
