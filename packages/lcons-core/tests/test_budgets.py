"""Sizes that follow from names and bounds are compared with a limit before anything is allocated."""

import time

import numpy as np
import pytest

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    binary,
    compare,
    count,
    explain,
    one_hot,
)
from lcons_core._arithmetic import unravelled
from lcons_core._blocks import MAX_NUMBERS
from lcons_core._inequalities import affine, least_values, row_reach
from lcons_core._psi import SparsePsi
from lcons_core._space import MANY_AXES, MAX_VALUES
from lcons_core.reason import parse_rules, rules_text, verify


def test_the_values_of_all_axes_are_counted_first():
    allowed = count("c", ["a"], high=10**6)
    assert len(FeatureSpace([allowed]).axes[0]) == 10**6 + 1
    space = FeatureSpace([count("c", [f"v{i}" for i in range(1 + MAX_VALUES // 10**6)], high=10**6)])
    with pytest.raises(TooLarge, match=r"above the limit of 16,777,216; use lower"):
        _ = space.axes


def test_tables_are_counted_first_and_few_values_need_none():
    space = FeatureSpace([count("c", ["a"], high=10**6)])
    axis, W = space.axes[0], np.linspace(-1.0, 1.0, 100)[:, None]
    with pytest.raises(TooLarge, match=f"above the limit of {MAX_NUMBERS:,}"):
        axis.table(W)
    values = np.array([0, 3, 10**6])
    assert np.array_equal(axis.contributions(W, values), W.T * values[:, None])
    assert np.array_equal(least_values(space, W, np.zeros(100)), np.minimum(0.0, W[:, 0] * 10**6))
    assert np.array_equal(row_reach(space, W), np.abs(W[:, 0]) * 10**6)


def test_many_axes_at_once_are_the_axes_one_by_one():
    rng = np.random.default_rng(0)
    blocks = [one_hot(f"o{i}", "abc", other=i % 2 == 0) for i in range(MANY_AXES)]
    space = FeatureSpace([*blocks, count("c", ["x", "y"], high=3)])
    points = np.stack([rng.integers(0, len(axis), 20) for axis in space.axes], axis=1)
    psi = space.vectors(points)
    assert np.array_equal(space.assignments(psi), points)
    W, b = rng.integers(-8, 8, (3, space.d)) / 4.0, np.array([0.5, 0.0, -1.0])
    one_by_one = b + sum(axis.table(W)[v] for axis, v in zip(space.axes, points.T, strict=True))
    assert np.array_equal(affine(space, W, b, points), one_by_one)


def test_positions_in_products_of_many_axes():
    lengths = [1] * 40 + [2, 3] + [1] * 40
    expected = np.stack(np.unravel_index(np.arange(6), (2, 3)), axis=1)
    assert np.array_equal(unravelled(np.arange(6), lengths)[:, 40:42], expected)


def test_sets_that_use_few_of_many_axes_are_compared():
    space = FeatureSpace([binary("b", [f"v{i}" for i in range(100)])])
    network = RectifierNetwork(np.eye(1, 100) * 2.0, [0.0])
    assert compare(network, parse_rules("forbid: b v0", space), space).equal


def test_products_in_pieces_are_the_product(monkeypatch):
    monkeypatch.setattr("lcons_core._psi._GATHERED", 7)
    rng = np.random.default_rng(1)
    dense = rng.integers(-2, 3, (9, 6)).astype(float) * (rng.random((9, 6)) < 0.5)
    dense[3] = 0.0
    columns = rng.integers(-4, 5, (6, 3)).astype(float)
    assert np.array_equal(SparsePsi.from_dense(dense).dot(columns), dense @ columns)


@pytest.mark.parametrize(
    "rule",
    [
        "forbid: x {}, y a",
        "x {} needs y a",
        "y a needs x {}",
        "y a cannot go with x not {}",
    ],
)
def test_rules_of_ten_thousand_alternatives_are_read_in_linear_time(rule):
    values = [f"value{i}" for i in range(20_000)]
    space = FeatureSpace([one_hot("x", values), one_hot("y", "ab")])
    began = time.process_time()
    rules = parse_rules(rule.format(" or ".join(values[:10_000])), space)
    assert parse_rules(rules_text(rules.forbidden, space), space) == rules
    assert time.process_time() - began < 3.0  # 0.1 s; quadratic time was minutes


def test_rules_of_many_conditions_and_ranges_are_read_in_linear_time():
    names = [f"v{i}" for i in range(10_000)]
    began = time.process_time()
    space = FeatureSpace([binary("e", names)])
    rules = parse_rules("forbid: " + ", ".join(f"e {name}" for name in names), space)
    assert parse_rules(rules_text(rules.forbidden, space), space) == rules
    counts = FeatureSpace([count("c", ["n"], high=10_000)])
    ranges = parse_rules("forbid: c n " + " or ".join(f">= {i}" for i in range(9_000, 0, -1)), counts)
    assert len(ranges.forbidden[0].conditions[0][1]) == 10_000
    assert time.process_time() - began < 5.0


def of_many_units(K):
    space = FeatureSpace([binary("bit", [f"b{j}" for j in range(30)])])
    return LearnedConstraint(RectifierNetwork(np.ones((K, 30)) / 64, np.zeros(K)), space)


def test_networks_of_thousands_of_units_are_refused_before_the_work():
    wide = of_many_units(10_000)
    began = time.process_time()
    with pytest.raises(TooLarge, match="verifying 10,000 units at 10,000 drawn points"):
        verify(wide)
    with pytest.raises(TooLarge, match="explaining 300,000 weights of a network"):
        explain(wide)
    assert time.process_time() - began < 1.0
    assert verify(of_many_units(50), samples=20).witness is None
