"""A threshold for the margin such that valid structures are rejected at most alpha of the time.

The score s of a structure is the smallest margin of its psi rows. Let s_(1) <= ... <= s_(n) be the scores of
n valid structures that were not used in training, and k the integer part of (n + 1) alpha. If a new valid
structure and these n are exchangeable, its rank among the n + 1 scores is uniform, so that

    P(s_new < t) <= k / (n + 1) <= alpha        for every t <= s_(k)

(split conformal prediction). "margin >= t" is again a rectifier network, for t < 1,

    1 - sum_k ReLU(a_k) >= t   iff   1 - sum_k ReLU(f a_k) >= 0,      f = 1 / (1 - t)

and for a conjunction (the smallest margin of its parts) or any other monotone combination of networks, f
scales every part. f is rounded down to a dyadic number of few bits, so that f W and f b are exact in float64:
no weight is rounded, the accepted set is exactly {margin >= 1 - 1 / f}, and every form stays exact. Weights
that are no multiples of 2^-20 are rounded to such multiples first, before any score is computed. Rounding f
down only lowers t, which keeps the guarantee.

The guarantee is an average over calibration data. For the share p of valid structures that this very network
rejects, the Clopper-Pearson bound holds with a confidence of 95 %: U(x, n) is the largest p with

    P(X <= x) = sum_{i <= x} C(n, i) p^i (1 - p)^(n - i) >= 0.05.

If the threshold moves, x = k - 1: the share of scores below s_(k) is at most a variable of the distribution
Beta(k, n - k + 1), whose 95 % quantile is U(k - 1, n). If at most k - 1 structures are rejected already, the
threshold stays, and x is their number. Both together exceed the bound in at most 5 % of the cases: if p(0),
the share rejected without a move, is at most U(k - 1, n), then only the second case can exceed it, as for
every fixed network; if p(0) is larger, then so is the share of scores below s_(k) wherever the bound is
exceeded. The number of rejections after a move is not x: with ties it may be below k - 1, and then its bound
would be too small.

Not in the paper: all of this. Conformal sets for learned constraints of programs are in C-MICL (Ovalle et al.
2025), which bounds how often an optimum is infeasible; here it is how often what is valid is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from lcons_core._arithmetic import LARGEST_WEIGHT, is_dyadic, round_dyadic
from lcons_core._errors import InvalidInput
from lcons_core._network import Conjunction, RectifierNetwork
from lcons_core._psi import PsiRows, SparsePsi, as_psi
from lcons_core._types import Bools
from lcons_core._union import AnyNetwork, Union

CONFIDENCE = 0.95
MEMBER = "calibration"
# The bits of f; fewer, if the forms of a very large network would otherwise be rounded.
BITS = 12

N = TypeVar("N", bound=AnyNetwork)


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
        return {**vars(self)}

    @classmethod
    def of(cls, provenance: Mapping[str, Any]) -> Calibration | None:
        """The calibration that a provenance records; None if it has none, or one that cannot be read."""
        given = provenance.get(MEMBER)
        if not isinstance(given, Mapping) or set(given) != set(cls.__dataclass_fields__):
            return None
        numbers = [given[name] for name in cls.__dataclass_fields__]
        if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
            return None
        found = cls(*numbers)
        counts = 0 <= found.rejected <= found.structures and type(found.structures) is int
        return found if counts and 0 < found.alpha < 1 and 0 <= found.bound <= 1 else None


def calibrate_network(
    network: N, positives: Any, alpha: float, *, tighten: bool = False
) -> tuple[N, Calibration]:
    """(the network with another threshold, what is known of it), from psi of valid structures; each row, or
    the rows of each owner, are one structure (`lcons_core.calibrate`)."""
    rows = _rows(positives, network.d)
    return calibrate_rows(network, rows, int(rows.owner.max(initial=-1)) + 1, alpha, tighten=tighten)


def calibrate_rows(
    network: N, rows: PsiRows, number: int, alpha: float, *, tighten: bool = False
) -> tuple[N, Calibration]:
    """`calibrate_network` for the rows of structures 0, ..., number - 1; one without rows is accepted."""
    k = rank(alpha, number)
    base = _dyadic(network)
    with np.errstate(over="ignore", invalid="ignore"):
        margins = np.atleast_1d(base.margin(rows.psi)) if len(rows) else np.zeros(0)
    rejected = _rejected(base, rows, number)
    if rejected < k and not tighten:
        return base, Calibration(float(alpha), number, rejected, upper_bound(rejected, number))
    scores = np.ones(number)
    np.minimum.at(scores, rows.owner, margins)
    # The true scores differ from the float ones by at most `error`, and so do their order statistics.
    error = max([0.0, *(part._uncertainty(rows.psi) for part in _networks(base))]) if len(rows) else 0.0
    t = Fraction(float(np.partition(scores, k - 1)[k - 1])) - Fraction(error)
    factor = _factor(base, t)
    moved = _scaled(base, factor)
    known = Calibration(
        float(alpha),
        number,
        _rejected(moved, rows, number),
        upper_bound(k - 1, number),
        float(1 - 1 / Fraction(factor)),
        factor,
    )
    return moved, known


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


def upper_bound(rejected: int, parts: int, confidence: float = CONFIDENCE) -> float:
    """The Clopper-Pearson upper bound on a share, by bisection on the binomial tail; 1 without parts.

    >>> round(upper_bound(0, 300), 4), round(upper_bound(3, 300), 4), upper_bound(2, 2)
    (0.0099, 0.0256, 1.0)
    """
    if rejected >= parts:
        return 1.0
    i = np.arange(1, rejected + 1)
    logs = np.concatenate(([0.0], np.cumsum(np.log((parts - i + 1) / i))))
    i = np.arange(rejected + 1)
    low, high = rejected / parts, 1.0
    for _ in range(60):
        share = (low + high) / 2
        terms = logs + i * math.log(share) + (parts - i) * math.log1p(-share)
        if float(np.exp(terms).sum()) >= 1 - confidence:
            low = share
        else:
            high = share
    return high


def rounded_up(share: float) -> str:
    """A bound in percent, rounded up.

    >>> rounded_up(0.0099), rounded_up(0.01)
    ('1.0%', '1.0%')
    """
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}%"


def _rows(positives: Any, d: int) -> PsiRows:
    if isinstance(positives, PsiRows):
        if positives.psi.d != d:
            raise InvalidInput(f"positives must have {d} columns, found {positives.psi.d}; use one space.")
        _, owner = np.unique(positives.owner, return_inverse=True)
        return replace(positives, owner=owner.reshape(-1).astype(np.int64))
    psi = as_psi(positives, d)
    return PsiRows.of(psi if isinstance(psi, SparsePsi) else SparsePsi.from_dense(np.atleast_2d(psi)))


def _rejected(network: AnyNetwork, rows: PsiRows, number: int) -> int:
    """How many structures have a rejected row, decided exactly."""
    accepted: Bools = np.ones(number, dtype=np.bool_)
    if len(rows):
        accepted[rows.owner[~np.atleast_1d(network.accepts(rows.psi))]] = False
    return number - int(accepted.sum())


def _dyadic(network: N) -> N:
    """The network with weights rounded to multiples of 2^-20; itself if they are."""
    if all(is_dyadic(part.W) and is_dyadic(part.b) for part in _networks(network)):
        return network
    return _each_part(network, round_dyadic)


def _scaled(network: N, factor: float) -> N:
    return _each_part(network, lambda weights: weights * factor)


def _each_part(network: N, change: Any) -> N:
    """The network with the weights and biases of every part changed."""
    if isinstance(network, RectifierNetwork):
        made: Any = RectifierNetwork(change(network.W), change(network.b))
    elif isinstance(network, Union):
        made = Union([_each_part(member, change) for member in network.members])
    else:
        made = Conjunction(tuple(_each_part(part, change) for part in network.parts))
    return made


def _networks(network: AnyNetwork) -> list[RectifierNetwork]:
    """All networks that a combination is made of."""
    return [part for member in network.alternatives() for part in member.networks()]


def _factor(network: AnyNetwork, t: Fraction) -> float:
    """The largest f of few bits that is at most 1 / (1 - t), such that no weight exceeds the limit."""
    weights = [array for part in _networks(network) for array in (part.W, part.b)]
    largest = max(float(np.abs(array).max()) for array in weights)
    most = Fraction(LARGEST_WEIGHT) / Fraction(largest or 1.0)
    limit = most if t >= 1 else min(1 / (1 - t), most)
    rounded = any(part.rounded for part in _networks(network))
    for bits in range(BITS, 1, -1):
        factor = _few_bits(limit, bits)
        if rounded or not any(part.rounded for part in _networks(_scaled(network, factor))):
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
