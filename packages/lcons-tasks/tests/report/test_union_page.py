"""A page on a union: heat maps of every member, the size of the forms, and verdicts from bounds."""

import numpy as np

from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, Union, one_hot
from lcons_tasks.report._coefficients import heat_maps, inequalities_view
from lcons_tasks.report._verdicts import Combination, UnionBounds, source_of

PAIR = FeatureSpace([one_hot("left", "abc"), one_hot("right", "xyz")])
ABC = RectifierNetwork([[2.0, 0.0, 0.0, 2.0, 2.0, 0.0]], [-2.0])  # rejects a with x or y
XYZ = RectifierNetwork([[2.0, 2.0, 0.0, 2.0, 0.0, 0.0]], [-2.0])  # rejects a or b with x


def test_the_page_names_the_members_and_the_lifted_form():
    constraint = LearnedConstraint(Union([ABC, XYZ]), PAIR)
    maps, _ = heat_maps(constraint)
    assert [one.name for one in maps] == [
        f"member {m}, {block}" for m in (1, 2) for block in ("left", "right", "bias")
    ]
    assert "5 rows with 2 additional variables and 2 binary ones" in inequalities_view(constraint).said


def test_bounds_forbid_only_what_every_member_forbids():
    constraint = LearnedConstraint(Union([ABC, XYZ]), PAIR)
    members = [LearnedConstraint(network, PAIR) for network in (ABC, XYZ)]
    found = UnionBounds(constraint, members).pair(0, 1).codes
    expected = source_of(constraint).pair(0, 1).codes
    assert np.array_equal(found, expected)
    assert np.argwhere(found == Combination.FORBIDDEN).tolist() == [[0, 0]]
