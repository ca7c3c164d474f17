"""Boxes by name, and the networks that forbid or allow exactly them."""

import numpy as np
import pytest
from core_strategies import every_point, partial_assignments, satisfies
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import FeatureSpace, InvalidInput, Rules, Unsupported, binary, count, one_hot
from lcons_core._blocks import OTHER
from lcons_core.reason._rules import Box, forbid_boxes
from lcons_core.testing import spaces

SPACE = FeatureSpace(
    [
        one_hot("source", ["Person", "Location"], other=True),
        binary("flag", ["new", "old"]),
        count("number", ["x"], high=3),
    ]
)


def whole_domain(space):
    assignments = every_point(space)
    return assignments, [space.describe(psi) for psi in space.vectors(assignments)]


@given(st.data())
def test_rules_reject_or_allow_exactly_the_union_of_their_boxes(data):
    space = data.draw(spaces(counts=False))
    chosen = data.draw(st.lists(partial_assignments(space), max_size=3))
    assignments, described = whole_domain(space)
    held = np.array([any(satisfies(space, a, named) for a in chosen) for named in described])
    for rules, expected in ((Rules(space, chosen), ~held), (Rules(space, allowed=chosen), held)):
        for form in (rules, rules.network()):
            assert np.array_equal(form.verdicts(space, assignments), expected)
            assert np.array_equal(form.accepts(space.vectors(assignments)), expected)


def test_boxes_keep_the_order_of_the_space_and_are_plain_data():
    box = Box.of(SPACE, {"number": {"x": [1, 3]}, "flag": "old", "source": [OTHER, "Person"]})
    assert box.to_dict() == {
        "source": ["Person", OTHER],
        "flag old": ["1"],
        "number x": ["1", "3"],
    }


def test_counts_are_refused_by_name():
    with pytest.raises(Unsupported):
        forbid_boxes(SPACE, [Box.of(SPACE, {"number": {"x": 2}})])
    with pytest.raises(Unsupported):
        Rules(SPACE, allowed=[{"source": "Person"}]).network()


@pytest.mark.parametrize(
    "assignment",
    [
        {},
        {"flag": []},
        {"source": "City"},
        {"flag": "odd"},
        {"flag": {"new": 2}},
        {"number": {"x": 9}},
    ],
)
def test_a_rule_that_names_nothing_known_is_refused(assignment):
    with pytest.raises(InvalidInput):
        Box.of(SPACE, assignment)
