"""Spaces name every column; points, vectors and names are one domain, seen three ways."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    SparsePsi,
    binary,
    count,
    integer,
    one_hot,
    space_of_columns,
)
from lcons_core._blocks import OTHER, Block, Kind, Requirement
from lcons_core.testing import points, spaces

SPACE = FeatureSpace(
    [
        one_hot("tag", ["DT", "NN"], other=True),
        one_hot("label", ["B", "I", "O"]),
        binary("exists", ["B", "I"]),
        count("count", ["B"], high=3, low=1),
    ],
    [Requirement("label", "I", "tag", ("NN", OTHER))],
)


def every_point(space):
    return np.concatenate(list(space.points(chunk=7)))


@given(st.data())
def test_describe_is_the_inverse_of_vector_and_columns_are_found_by_name(data):
    space = data.draw(spaces())
    psi = data.draw(points(space))
    named = space.describe(psi)
    assert list(named) == [block.name for block in space.blocks]
    assert np.array_equal(space.vector(named), psi)
    assert [space.column(*name) for name in space.columns] == list(range(space.d))


@given(spaces())
def test_vectors_are_the_inverse_of_assignments(space):
    assignments = every_point(space)
    psi = space.vectors(assignments)
    assert np.array_equal(space.assignments(psi), assignments)
    assert np.array_equal(space.assignments(SparsePsi.from_dense(psi)), assignments)


@given(spaces(max_blocks=3, max_values=2))
def test_points_enumerates_exactly_the_valid_vectors(space):
    # Brute force over all integer vectors; validity is read off the blocks anew.
    found = {tuple(row) for row in space.vectors(every_point(space))}
    ranges = [range(min(b.low, 0), max(b.high, 2) + 2) for b in space.blocks for _ in b.values]
    candidates = np.array(list(product(*ranges)), dtype=np.float64)
    valid = {tuple(row) for row in candidates if is_point(space, row)}
    assert found == valid
    contained = space.contains(candidates)
    assert {tuple(row) for row in candidates[contained]} == valid
    assert np.array_equal(space.contains(SparsePsi.from_dense(candidates)), contained)
    assert len(found) == space.size or space.requires


def is_point(space, row):
    value = dict(zip(space.columns, row, strict=True))
    chosen = {}
    for block in space.blocks:
        entries = [value[block.name, name] for name in block.values]
        if block.kind in (Kind.COUNT, Kind.INTEGER):
            if not all(block.low <= x <= block.high for x in entries):
                return False
            continue
        if not set(entries) <= {0, 1}:
            return False
        if block.kind is Kind.ONE_HOT:
            if sum(entries) != 1 and not (block.other and sum(entries) == 0):
                return False
            chosen[block.name] = block.values[entries.index(1)] if 1 in entries else OTHER
    return all(
        chosen[rule.block] != rule.value or chosen[rule.needs_block] in rule.needs_values
        for rule in space.requires
    )


@given(spaces())
def test_a_space_comes_back_from_plain_data(space):
    assert FeatureSpace.from_dict(space.to_dict()) == space


def test_requires_leaves_out_what_cannot_be():
    assert len(every_point(SPACE)) == (3 * 3 - 1) * 4 * 3
    psi = SPACE.vector(tag="NN", label="I", exists=["I"], count={"B": 1})
    impossible = psi - SPACE.vector(tag="NN", label="I", count={"B": 1}) + [1, 0, 0, 1, 0, 0, 0, 1]
    assert SPACE.contains([psi, impossible]).tolist() == [True, False]
    with pytest.raises(InvalidInput):
        SPACE.check([psi, impossible])


def test_names_may_be_given_in_every_convenient_way():
    by_name = SPACE.vector({"tag": OTHER, "label": "B"}, exists="I", count={"B": 3})
    assert by_name.tolist() == [0, 0, 1, 0, 0, 0, 1, 3]
    assert SPACE.describe(by_name) == {"tag": OTHER, "label": "B", "exists": ["I"], "count": {"B": 3}}


@pytest.mark.parametrize(
    "ask",
    [
        lambda: SPACE.block("lable"),
        lambda: SPACE.column("label", "X"),
        lambda: SPACE.vector(tag="DT"),
        lambda: SPACE.vector(tag="XX", label="B"),
        lambda: SPACE.vector(tag="DT", label="B", count={"B": 4}),
        lambda: SPACE.vector(tag="DT", label=OTHER),
        lambda: SPACE.axis_index("exists"),
        lambda: FeatureSpace(SPACE.blocks, [Requirement("exists", "B", "tag", ("NN",))]),
        lambda: FeatureSpace([integer("n", ["a", "b"], -1, 2)]).vector(n={"a": 1}),
        lambda: space_of_columns(np.eye(3), ["a=x", "b", "a=y"]),
        lambda: SPACE.contains([[1.0]]),
        lambda: SPACE.describe(np.zeros(8)),
        lambda: FeatureSpace([]),
        lambda: FeatureSpace([one_hot("a", "x"), binary("a", "x")]),
        lambda: FeatureSpace([one_hot("a b", "x"), binary("a", "b")]),
        lambda: one_hot("a", []),
        lambda: one_hot("", ["x"]),
        lambda: one_hot("a", ["x", 1]),
        lambda: one_hot("a", ["x", "x"]),
        lambda: one_hot("a", ["x", OTHER], other=True),
        lambda: Block("a", Kind.BINARY, ("x",), other=True),
        lambda: Block("a", "many", ("x",)),
        lambda: count("a", ["x"], high=0),
        lambda: count("a", ["x"], high=2, low=2),
        lambda: FeatureSpace(SPACE.blocks, [Requirement("tag", "a", "tag", ("NN",))]),
        lambda: FeatureSpace(SPACE.blocks, [Requirement("x", "a", "tag", ("NN",))]),
    ],
)
def test_unknown_names_and_spaces_that_do_not_make_sense_are_refused(ask):
    with pytest.raises(InvalidInput):
        ask()


@given(
    st.lists(
        st.lists(st.one_of(st.integers(-9, 9), st.floats(-1e60, 1e60)), min_size=2, max_size=2),
        min_size=1,
        max_size=4,
    )
)
def test_the_space_of_columns_contains_its_rows(rows):
    X = np.array(rows, dtype=float)
    space = space_of_columns(X, ["age", "x=low"])
    assert space.contains(X).all()
    assert [value for _, value in space.columns] == ["age", "low"]
    for block, column in zip(space.blocks, X.T, strict=True):
        if block.kind is Kind.REAL:
            assert block.low <= column.min() <= column.max() <= block.high
            assert block.low >= 0 or column.min() < 0
    with pytest.raises(InvalidInput):
        space_of_columns(X, ["age"])
    assert space_of_columns(np.eye(3)[:2], ["a=x", "a=y", "b"]).blocks[0] == one_hot("a", ["x", "y"])
