"""Sizes that follow from names and bounds are compared with a limit before anything is allocated."""

import numpy as np
import pytest

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    binary,
    count,
    explain,
    verify,
)
from lcons_core._space import MAX_VALUES


def test_the_values_of_all_axes_are_counted_first():
    allowed = count("c", ["a"], high=10**6)
    assert len(FeatureSpace([allowed]).axes[0]) == 10**6 + 1
    space = FeatureSpace([count("c", [f"v{i}" for i in range(1 + MAX_VALUES // 10**6)], high=10**6)])
    with pytest.raises(TooLarge):
        _ = space.axes


def test_tables_are_counted_first_and_few_values_need_none():
    space = FeatureSpace([count("c", ["a"], high=10**6)])
    axis, W = space.axes[0], np.linspace(-1.0, 1.0, 100)[:, None]
    with pytest.raises(TooLarge):
        axis.table(W)
    values = np.array([0, 3, 10**6])
    assert np.array_equal(axis.contributions(W, values), W.T * values[:, None])


def of_many_units(K):
    space = FeatureSpace([binary("bit", [f"b{j}" for j in range(30)])])
    return LearnedConstraint(RectifierNetwork(np.ones((K, 30)) / 64, np.zeros(K)), space)


def test_networks_of_thousands_of_units_are_refused_before_the_work():
    wide = of_many_units(10_000)
    with pytest.raises(TooLarge):
        verify(wide)
    with pytest.raises(TooLarge):
        explain(wide)
    assert verify(of_many_units(50), samples=20).witness is None
