"""What mypy knows of answers: one psi gives a bool or a float, many psi give arrays.

This file is type-checked (`pyproject.toml`), where `assert_type` fails; the tests see that run time agrees.
"""

from typing import assert_type

import numpy as np

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    LinearInequalities,
    RectifierNetwork,
    Rules,
    SparsePsi,
    ThresholdNetwork,
    one_hot,
    simplify,
    to_inequalities,
)
from lcons_core._pointset import PointSet
from lcons_core._types import Bools, Floats

SPACE = FeatureSpace([one_hot("tag", ["A", "B"])])
NETWORK = RectifierNetwork([[2.0, 0.0]], [0.0])
SETS: list[PointSet] = [
    NETWORK,
    NETWORK & NETWORK,
    to_inequalities(NETWORK),
    LearnedConstraint(NETWORK, SPACE),
    Rules(SPACE, forbidden=[{"tag": "A"}]),
    simplify(NETWORK, SPACE),
]


def test_one_psi_gives_a_bool_and_a_float() -> None:
    for points in SETS:
        vector = SPACE.vector(tag="A")
        accepted = assert_type(points.accepts(vector), bool)
        margin = assert_type(points.margin(vector), float)
        assert (accepted, type(accepted), type(margin)) == (False, bool, float)
        assert_type(points.accepts([1, 0]), bool)


def test_many_psi_give_arrays() -> None:
    rows = SPACE.vectors(np.array([[0], [1]]))
    for points in SETS:
        accepted = assert_type(points.accepts(rows), Bools)
        margin = assert_type(points.margin(rows), Floats)
        assert accepted.tolist() == [False, True]
        assert margin.shape == (2,)
        assert_type(points.accepts(SparsePsi.from_indices([[0]], d=2)), Bools)
        assert_type(points.margin([[1, 0], [0, 1]]), Floats)


def test_rows_hold_alike() -> None:
    rows = LinearInequalities([[-2.0, 0.0]], [1.0])
    assert assert_type(rows.holds([1, 0]), bool) is False
    assert assert_type(rows.holds([[1, 0]]), Bools).tolist() == [False]
    assert assert_type(simplify(rows, SPACE).holds([0, 1]), bool) is True
    assert assert_type(ThresholdNetwork([[1.0]], [0.0]).accepts([1]), bool) is True
