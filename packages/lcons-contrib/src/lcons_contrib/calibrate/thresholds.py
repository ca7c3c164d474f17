"""A threshold for the margin such that valid structures are rejected at most alpha of the time.

The score s of a structure is the smallest margin of its psi rows. Let s_(1) <= ... <= s_(n) be the scores of
n valid structures that were not used in training, and k the integer part of (n + 1) alpha. If a new valid
structure and these n are exchangeable, its rank among the n + 1 scores is uniform, so that

    P(s_new < t) <= k / (n + 1) <= alpha        for every t <= s_(k)

(split conformal prediction). "margin >= t" is again a rectifier network, for t < 1,

    1 - sum_k ReLU(a_k) >= t   iff   1 - sum_k ReLU(f a_k) >= 0,      f = 1 / (1 - t)

and for a conjunction (the smallest margin of its parts), f scales every part. f is rounded down to a dyadic
number of few bits, so that f W and f b are exact in float64: no weight is rounded, the accepted set is
exactly {margin >= 1 - 1 / f}, and every form stays exact. Weights that are no multiples of 2^-20 are rounded
to such multiples first, before any score is computed. Rounding f down only lowers t, which keeps the
guarantee.

The guarantee is an average over calibration data. For the share p of valid structures that this very network
rejects, the Clopper-Pearson bound holds with a confidence of 95 %: U(x, n) (`upper_bound`).
If the threshold moves, x = k - 1: the share of scores below s_(k) is at most a variable of the distribution
Beta(k, n - k + 1), whose 95 % quantile is U(k - 1, n). If at most k - 1 structures are rejected already, the
threshold stays, and x is their number. Both together exceed the bound in at most 5 % of the cases: if p(0),
the share rejected without a move, is at most U(k - 1, n), then only the second case can exceed it, as for
every fixed network; if p(0) is larger, then so is the share of scores below s_(k) wherever the bound is
exceeded. The number of rejections after a move is not x: with ties it may be below k - 1, and then its bound
would be too small.

The guarantee does not hold for structures of training: a constraint rejects fewer of them than of new ones.

Not in the paper: all of this. Conformal sets for learned constraints of programs are in C-MICL (Ovalle et al.
2025), which bounds how often an optimum is infeasible; here it is how often what is valid is rejected.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from lcons_core import (
    InvalidInput,
    LconsError,
    LearnedConstraint,
    Recipe,
    RectifierNetwork,
    SparsePsi,
    round_dyadic,
)
from lcons_core._arithmetic import LARGEST_WEIGHT, is_dyadic, rounded_up
from lcons_core._document import hash_psi
from lcons_core._instance import read_instances
from lcons_core._network import Conjunction, Network, as_network
from lcons_core._psi import PsiRows, as_psi
from lcons_core._types import Floats
from lcons_tasks.own_data import upper_bound

MEMBER = "calibration"
# The bits of f; fewer, if the forms of a very large network would otherwise be rounded.
BITS = 12

G = TypeVar("G", RectifierNetwork, Conjunction, LearnedConstraint)


@dataclass(frozen=True)
class Calibration:
    """What is known of a calibrated constraint.

    alpha: the share of valid structures that it rejects at most, on average over calibration data.
    structures, rejected: the held-out valid structures, and how many of them it rejects.
    bound: the share of all valid structures that it rejects at most, with a confidence of 95 %.
    threshold: the margin that the network before calibration needs; 0 if it did not move.
    factor: by what its weights were multiplied, 1 / (1 - threshold); exact.
    """

    alpha: float
    structures: int
    rejected: int
    bound: float
    threshold: float = 0.0
    factor: float = 1.0

    def __str__(self) -> str:
        """One sentence."""
        return (
            f"calibrated: it rejects at most {100 * self.alpha:.4g}% of the valid structures on average, and"
            f" at most {rounded_up(self.bound)} with a confidence of 95 % ({self.rejected:,} of"
            f" {self.structures:,} held-out ones)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def calibrate(target: G, positives: Any, alpha: float = 0.05) -> tuple[G, Calibration]:
    """(the network or constraint with another threshold, what is known of it): valid structures are rejected
    at most alpha of the time.

    `positives` are valid structures that training did not use. For a constraint with a feature they are read
    as in training; otherwise they are psi: (N, d), one row per structure, or `PsiRows`, in which the rows of
    one structure have the same owner. The threshold is only lowered. The provenance of a constraint records
    the guarantee. Warns if a constraint was learned from exactly these structures.

    >>> network = RectifierNetwork([[1.0, 1.0, 1.0]], [0.0])            # at most one of three
    >>> valid = [[1, 0, 0]] * 30 + [[1, 1, 0]] * 8 + [[1, 1, 1]]
    >>> looser, known = calibrate(network, valid, alpha=0.1)
    >>> looser.accepts([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).tolist(), known.rejected, known.threshold
    ([True, True, False], 1, -1.0)
    """
    if not isinstance(target, LearnedConstraint):
        network = as_network(target, "calibrate")
        rows, number = _psi_rows(positives, network.d)
        calibrated: Any = _calibrated(network, rows, number, alpha)
        return calibrated
    if target.feature is None or isinstance(positives, PsiRows | SparsePsi | np.ndarray):
        rows, number = _psi_rows(positives, target.space.d)
    else:
        structures = read_instances(positives, target.feature.column)
        if learned_from(target, structures):
            warnings.warn(
                "the constraint was learned from these structures, so it rejects fewer of them than of"
                " new ones, and the guarantee does not hold; calibrate on others.",
                stacklevel=2,
            )
        pieces = [target.feature.psi(structure) for structure in structures]
        number = len(pieces)
        owner = np.repeat(np.arange(number), [len(piece) for piece in pieces])
        rows = PsiRows.of(SparsePsi.stack(pieces), owner)
    network, known = _calibrated(as_network(target, "calibrate"), rows, number, alpha)
    return replace(target, network=network, provenance={**target.provenance, MEMBER: known.to_dict()}), known


def learned_from(constraint: LearnedConstraint, structures: Sequence[Any]) -> bool:
    """Whether a constraint was learned from exactly these structures, by the recipe and the hash of the data
    in its provenance; False without these."""
    recorded = constraint.provenance
    try:
        recipe = Recipe.from_dict(recorded["recipe"])
        psi, y, weights = recipe.examples(structures).matrix(recipe.by_frequency)
    except (LconsError, KeyError, TypeError, ValueError):
        # No recipe, or these structures have no such examples.
        return False
    return hash_psi(psi, y, weights) == recorded.get("data")


def _calibrated(network: Network, rows: PsiRows, number: int, alpha: float) -> tuple[Network, Calibration]:
    """The calibration from the rows of structures 0, ..., number - 1; one without rows is accepted."""
    k = rank(alpha, number)
    base = network
    if not all(is_dyadic(part.W) and is_dyadic(part.b) for part in network.parts):
        base = _each_part(network, round_dyadic)
    rejected = _rejected(base, rows, number)
    if rejected < k:
        return base, Calibration(float(alpha), number, rejected, upper_bound(rejected, number))
    with np.errstate(over="ignore", invalid="ignore"):
        margins = np.atleast_1d(base.margin(rows.psi))
    scores = np.ones(number)
    np.minimum.at(scores, rows.owner, margins)
    # The true scores differ from the float ones by at most `error`, and so do their order statistics.
    error = max(0.0, *(part.uncertainty(rows.psi) for part in base.parts))
    factor = _factor(base, Fraction(float(np.partition(scores, k - 1)[k - 1])) - Fraction(error))
    moved = _scaled(base, factor)
    threshold = float(1 - 1 / Fraction(factor))
    bound = upper_bound(k - 1, number)
    return moved, Calibration(float(alpha), number, _rejected(moved, rows, number), bound, threshold, factor)


def rank(alpha: float, number: int) -> int:
    """k, the integer part of (n + 1) alpha; raises `InvalidInput` if it is 0.

    >>> rank(0.05, 300), rank(0.29, 99)
    (15, 29)
    """
    if number < needed(alpha):
        raise InvalidInput(
            f"`alpha={alpha:g}` needs at least {needed(alpha):,} held-out valid structures, found {number:,};"
            " pass more of them, or raise the argument `alpha`."
        )
    return int((number + 1) * _written(alpha))


def needed(alpha: float) -> int:
    """The smallest number of structures for alpha: the smallest n with (n + 1) alpha >= 1.

    >>> needed(0.05), needed(0.3)
    (19, 3)
    """
    if not (isinstance(alpha, int | float) and 0 < alpha < 1):
        raise InvalidInput(f"alpha must be between 0 and 1, found {alpha!r}; 0.05 is usual.")
    return math.ceil(1 / _written(alpha)) - 1


def _written(alpha: float) -> Fraction:
    """The decimal that was written: 0.29 * 100 is below 29 in floats."""
    return Fraction(repr(float(alpha)))


def _psi_rows(positives: Any, d: int) -> tuple[PsiRows, int]:
    """The rows of psi, with owners 0, 1, ..., and the number of owners."""
    if not isinstance(positives, PsiRows):
        psi = as_psi(positives, d)
        sparse = psi if isinstance(psi, SparsePsi) else SparsePsi.from_dense(np.atleast_2d(psi))
        return PsiRows.of(sparse), len(sparse)
    if positives.psi.d != d:
        raise InvalidInput(f"positives must have {d} columns, found {positives.psi.d}; use one space.")
    names, owner = np.unique(positives.owner, return_inverse=True)
    return replace(positives, owner=owner.reshape(-1).astype(np.int64)), len(names)


def _rejected(network: Network, rows: PsiRows, number: int) -> int:
    """How many structures have a rejected row, decided exactly."""
    rejected = np.zeros(number, dtype=np.bool_)
    if len(rows):
        rejected[rows.owner[~np.atleast_1d(network.accepts(rows.psi))]] = True
    return int(rejected.sum())


def _each_part(network: Network, change: Callable[[Floats], Floats]) -> Network:
    """The network with the weights and biases of every part changed."""
    parts = tuple(RectifierNetwork(change(part.W), change(part.b)) for part in network.parts)
    return Conjunction(parts) if isinstance(network, Conjunction) else parts[0]


def _scaled(network: Network, factor: float) -> Network:
    return _each_part(network, lambda weights: weights * factor)


def _factor(network: Network, t: Fraction) -> float:
    """The largest f of few bits that is at most 1 / (1 - t), such that no weight exceeds the limit."""
    largest = max(float(np.abs(array).max()) for part in network.parts for array in (part.W, part.b))
    most = Fraction(LARGEST_WEIGHT) / Fraction(largest or 1.0)
    limit = min(1 / (1 - t), most)
    rounded = any(part.rounded for part in network.parts)
    for bits in range(BITS, 1, -1):
        factor = _few_bits(limit, bits)
        if rounded or not any(part.rounded for part in _scaled(network, factor).parts):
            return factor
    return _few_bits(limit, 1)


def _few_bits(value: Fraction, bits: int) -> float:
    """The largest m 2^e <= value with a whole m below 2^bits; value is positive.

    >>> _few_bits(Fraction(1, 3), 2), _few_bits(Fraction(5, 4), 3), _few_bits(Fraction(1), 12)
    (0.25, 1.25, 1.0)
    """
    power = value.numerator.bit_length() - value.denominator.bit_length() - bits
    while value >= Fraction(2) ** (power + bits):
        power += 1
    return math.ldexp(math.floor(value / Fraction(2) ** power), power)
