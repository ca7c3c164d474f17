"""Boxes by name, and the networks that forbid or allow exactly them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import FeatureSpace, InvalidInput, Rules, Unsupported, binary, count, one_hot
from lcons_core._blocks import OTHER
from lcons_core.reason._rules import Box, forbid_boxes, indicator
from lcons_core.testing import spaces

SPACE = FeatureSpace(
    [
        one_hot("source", ["Person", "Location"], other=True),
        binary("flag", ["new", "old"]),
        count("number", ["x"], high=3),
    ]
)


@st.composite
def partial_assignments(draw, space):
    """Names as a user would give them: some axes, each with some of its values."""
    chosen = {}
    blocks = draw(st.lists(st.sampled_from(space.blocks), min_size=1, unique=True))
    for block in blocks:
        axes = [axis for axis in space.axes if axis.block == block.name]
        if block.kind == "one-hot":
            some = draw(st.lists(st.sampled_from(axes[0].values), min_size=1, unique=True))
            chosen[block.name] = some[0] if len(some) == 1 and draw(st.booleans()) else some
        else:
            names = draw(st.lists(st.sampled_from(block.values), min_size=1, unique=True))
            bits = st.lists(st.booleans(), min_size=1, max_size=2, unique=True)
            chosen[block.name] = {name: draw(st.booleans() | bits) for name in names}
    return chosen


def inside(space, assignment, named):
    """Whether a described point satisfies a partial assignment, read literally."""
    for name, wanted in assignment.items():
        if space.block(name).kind == "one-hot":
            if named[name] not in ([wanted] if isinstance(wanted, str) else wanted):
                return False
        elif not all(
            (value in named[name]) in (bits if isinstance(bits, list) else [bits])
            for value, bits in wanted.items()
        ):
            return False
    return True


def whole_domain(space):
    assignments = np.concatenate(list(space.points()))
    return assignments, [space.describe(psi) for psi in space.vectors(assignments)]


@given(st.data())
def test_forbid_boxes_rejects_exactly_the_union(data):
    space = data.draw(spaces(counts=False))
    chosen = data.draw(st.lists(partial_assignments(space), max_size=3))
    network = forbid_boxes(space, [Box.of(space, assignment) for assignment in chosen])
    assignments, described = whole_domain(space)
    expected = [not any(inside(space, a, named) for a in chosen) for named in described]
    assert network.verdicts(space, assignments).tolist() == expected
    assert network.accepts(space.vectors(assignments)).tolist() == expected


@given(st.data())
def test_allow_only_accepts_exactly_the_union(data):
    space = data.draw(spaces(counts=False))
    chosen = data.draw(st.lists(partial_assignments(space), max_size=3))
    assignments, described = whole_domain(space)
    expected = [any(inside(space, a, named) for a in chosen) for named in described]
    assert Rules(space, allowed=chosen).network().verdicts(space, assignments).tolist() == expected


@given(st.data())
def test_a_box_contains_what_it_says(data):
    space = data.draw(spaces(counts=False))
    chosen = data.draw(partial_assignments(space))
    assignments, described = whole_domain(space)
    expected = [inside(space, chosen, named) for named in described]
    assert Box.of(space, chosen).contains(space, assignments).tolist() == expected


@given(st.data())
def test_an_indicator_is_one_inside_and_zero_outside(data):
    space = data.draw(spaces(counts=False))
    axis = data.draw(st.sampled_from(space.axes))
    values = data.draw(st.sets(st.sampled_from(axis.values)))
    w, c = indicator(space, axis.name, values)
    assignments, _ = whole_domain(space)
    chosen = assignments[:, space.axis_index(axis.name)]
    expected = [float(axis.values[v] in values) for v in chosen]
    assert (space.vectors(assignments) @ w + c).tolist() == expected


def test_boxes_keep_the_order_of_the_space_and_are_plain_data():
    box = Box.of(SPACE, {"number": {"x": [1, 3]}, "flag": "old", "source": [OTHER, "Person"]})
    assert box.to_dict() == {
        "source": ["Person", OTHER],
        "flag old": ["1"],
        "number x": ["1", "3"],
    }
    described = whole_domain(SPACE)[1]
    found = [
        d for d, is_in in zip(described, box.contains(SPACE, whole_domain(SPACE)[0]), strict=True) if is_in
    ]
    assert all(d["number"]["x"] in (1, 3) and "old" in d["flag"] for d in found)
    assert len(found) == 2 * 2 * 2


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
        {"source": []},
        {"sourse": "Person"},
        {"source": "City"},
        {"flag": "odd"},
        {"flag": {"new": 2}},
        {"number": {"x": 9}},
    ],
)
def test_a_rule_that_names_nothing_known_is_refused(assignment):
    with pytest.raises(InvalidInput):
        Box.of(SPACE, assignment)
