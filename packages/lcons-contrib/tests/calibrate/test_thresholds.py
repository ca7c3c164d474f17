"""Calibration: the new threshold is the stated one, exactly, and its guarantee is recorded."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_contrib.calibrate.thresholds import BITS, Calibration, calibrate, rank
from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    SparsePsi,
    binary,
)
from lcons_core._network import Conjunction
from lcons_core._psi import PsiRows
from lcons_core.features import NgramLabels
from lcons_core.testing import check_theorem1, conjunctions, networks
from lcons_tasks.own_data import upper_bound

BIT = FeatureSpace([binary("bit", "abc")])
# The margin of psi is 1 minus the number of its ones.
AT_MOST_ONE = RectifierNetwork([[1.0, 1.0, 1.0]], [0.0])
VALID = [[1, 0, 0]] * 30 + [[1, 1, 0]] * 8 + [[1, 1, 1]]


@st.composite
def problems(draw):
    """(network, alpha, psi rows with owners): enough structures, some of several rows."""
    network = draw(st.one_of(networks(max_d=4), conjunctions(max_d=4)))
    alpha = draw(st.sampled_from([0.1, 0.25, 0.5]))
    number = draw(st.integers(rank_needs(alpha), 12))
    sizes = draw(st.lists(st.integers(1, 2), min_size=number, max_size=number))
    values = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=network.d, max_size=network.d)
    psi = np.array([draw(values) for _ in range(sum(sizes))])
    return network, alpha, PsiRows.of(SparsePsi.from_dense(psi), np.repeat(np.arange(number), sizes))


def rank_needs(alpha):
    return int(np.ceil(1 / alpha)) - 1


def rational_scores(network, rows):
    """The smallest rational margin of each structure."""
    margins = [network.rational_margin(psi) for psi in rows.psi.dense()]
    return [
        min(m for m, own in zip(margins, rows.owner, strict=True) if own == i)
        for i in range(rows.owner.max() + 1)
    ]


@settings(max_examples=60)
@given(problems())
def test_the_calibrated_set_is_exactly_where_the_margin_reaches_the_threshold(problem):
    network, alpha, rows = problem
    found, known = calibrate(network, rows, alpha)
    assert found.rounded == network.rounded
    check_theorem1(found)
    threshold = 1 - 1 / Fraction(known.factor)
    scores = sorted(rational_scores(network, rows))
    k = rank(alpha, len(scores))
    assert threshold <= scores[k - 1]
    assert known.rejected == sum(score < threshold for score in scores) <= k - 1
    assert float(threshold) == known.threshold
    assert threshold <= 0
    assert (known.factor == 1) == (scores[k - 1] >= 0)
    for psi in product([0.0, 1.0, 2.0], repeat=network.d):
        assert found.accepts(psi) == (network.rational_margin(np.array(psi)) >= threshold)
    # Few bits cost little: a threshold that is a little higher would reject the k-th structure.
    if known.factor != 1:
        assert 1 / (1 - scores[k - 1]) < known.factor * (1 + Fraction(2, 2**BITS))


def test_the_boundary_is_accepted_and_only_rejections_above_alpha_move_the_threshold():
    found, known = calibrate(AT_MOST_ONE, VALID, 0.1)
    assert known == Calibration(0.1, 39, 1, upper_bound(3, 39), -1.0, 0.5)
    assert found == RectifierNetwork([[0.5, 0.5, 0.5]], [0.0])
    same, known = calibrate(AT_MOST_ONE, VALID, 0.3)
    assert same == AT_MOST_ONE
    assert known == Calibration(0.3, 39, 9, upper_bound(9, 39))


def test_a_large_network_gets_a_factor_of_fewer_bits_before_its_rows_would_be_rounded():
    W = np.full((64, 512), 1023 + 2.0**-20)
    network = RectifierNetwork(W, np.zeros(64))
    assert not network.rounded
    found, known = calibrate(network, np.eye(512)[:9], 0.5)
    assert known.rejected == 0
    assert not found.rounded
    assert known.factor <= 1 / (64 * 1023 + 64 * 2.0**-20)


def test_a_structure_is_as_bad_as_its_worst_part_and_one_without_parts_is_valid():
    feature = NgramLabels(("A", "B"), 2)
    # Rejects the pair A A with margin -1, and B B with margin -3.
    pairs = ([[2.0, 0.0, 2.0, 0.0]], [-2.0]), ([[0.0, 4.0, 0.0, 4.0]], [-4.0])
    network = Conjunction(tuple(RectifierNetwork(*one) for one in pairs))
    constraint = LearnedConstraint(network, feature.space, feature)
    sentences = [["A", "B", "A"]] * 12 + [["A", "A", "B"]] * 3 + [["A", "A", "B", "B"]] * 2 + [["B"], []]
    looser, known = calibrate(constraint, sentences, 0.2)
    assert Calibration(**looser.provenance["calibration"]) == known
    assert (known.structures, known.rejected, known.threshold) == (19, 2, -1.0)
    assert [looser.satisfied(y) for y in (["A", "A"], ["B", "B"])] == [True, False]
    rows = PsiRows.of(
        SparsePsi.stack([feature.psi(y) for y in sentences]),
        np.repeat(np.arange(19), [len(feature.psi(y)) for y in sentences]),
    )
    # Without the two that have no parts, there are 17, of which 3 may be below the threshold.
    assert calibrate(network, rows, 0.2)[1].structures == 17


def test_too_few_structures_are_refused_with_the_number_that_is_needed():
    calibrate(AT_MOST_ONE, [[1, 0, 0]] * 19, 0.05)
    for alpha, psi in ((0.05, [[1, 0, 0]] * 18), (0.05, np.zeros((0, 3))), (1, VALID), (float("nan"), VALID)):
        with pytest.raises(InvalidInput):
            calibrate(AT_MOST_ONE, psi, alpha)
    assert rank(0.29, 99) == 29


def test_the_guarantee_stays_with_the_constraint_until_it_rejects_more_than_what_was_counted():
    constraint = calibrate(LearnedConstraint(AT_MOST_ONE, BIT, provenance={"seed": 1}), VALID, 0.1)[0]
    assert (constraint.provenance["seed"], constraint.provenance["calibration"]["alpha"]) == (1, 0.1)
    assert "calibration" not in constraint.forbid({"bit": "a"}).provenance
    assert "calibration" not in (constraint & constraint).provenance
