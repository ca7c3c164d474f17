"""The rectifier network: a set of psi described by K hidden ReLUs.

    accepts(psi)  iff  margin(psi) = 1 - sum_k ReLU(a_k) >= 0,   a_k = w_k . psi + b_k

Paper: Sec. 2.3, Eq. 7 (repeated as Eq. 10 in Appendix A). sgn(0) = +1, so the boundary is accepted. `accepts`
is exact for all weights: it is the sign of the margin as a rational number.

Not in the paper: `Conjunction`, the intersection of several such sets of the same psi, with the same forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lcons_core._arithmetic import exponent, finite_array, many, rational_dot, rounding_bound
from lcons_core._coercion import Parts
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._inequalities import AffineSet, Decider, LinearInequalities, PsiSet, SumDecider, row_reach
from lcons_core._psi import Psi, SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._theorem1 import estimate_rows, most_violated, to_inequalities
from lcons_core._types import Bools, Floats, Ints


class _Forms:
    """The forms of the intersection of the sets that `parts` accept."""

    space: ClassVar[None] = None

    def inequalities(self: Parts, most: int | None = None) -> LinearInequalities:
        """The rows of Theorem 1; raises `TooLarge` if there are more than `most`."""
        rows = estimate_rows(self).rows
        if most is not None and rows > most:
            raise TooLarge(f"expected at most {most:,} rows, found {many(rows)}; allow more rows.")
        return to_inequalities(self)

    def cut(self: Parts, psi: Any) -> LinearInequalities:
        """The most violated row at psi (d,)."""
        return most_violated(self, psi)


@dataclass(frozen=True, eq=False)
class RectifierNetwork(_Forms, AffineSet):
    """z = sgn(1 - sum_k ReLU(W psi + b)_k) with W (K, d) and b (K,), both read-only.

    >>> net = RectifierNetwork([[2.0, 2.0]], [-2.0])      # rejects exactly (1, 1)
    >>> net.margin([[1, 0], [1, 1]]), net.accepts([1, 1])
    (array([ 1., -1.]), False)
    """

    W: Floats
    b: Floats

    def __init__(self, W: ArrayLike, b: ArrayLike) -> None:
        object.__setattr__(self, "W", finite_array(W, "W", 2))
        object.__setattr__(self, "b", finite_array(b, "b", 1))
        if not self.W.size or self.b.shape != self.W.shape[:1]:
            raise InvalidInput(
                f"W must be (K, d) and b (K,) with K >= 1 and d >= 1, found {self.W.shape} and"
                f" {self.b.shape}; pass one bias per hidden unit."
            )

    @property
    def K(self) -> int:
        """The number of hidden units."""
        return self.W.shape[0]

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.W.shape[1]

    @property
    def parts(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose accepted sets have this one as intersection: only itself."""
        return (self,)

    @property
    def affine(self) -> tuple[Floats, Floats]:
        """W (K, d) and b (K,)."""
        return self.W, self.b

    def activations(self, psi: Any) -> Floats:
        """a = W psi + b: (K,) for one psi, (N, K) for many."""
        return self._values(as_psi(psi, self.d))

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set: only itself."""
        return (self,)

    def rational_margin(self, psi: Floats) -> Fraction:
        """The margin of one psi without rounding."""
        activations = (rational_dot(w, psi, b) for w, b in zip(self.W, self.b, strict=True))
        return 1 - sum((a for a in activations if a > 0), Fraction(0))

    @cached_property
    def exponent(self) -> int:
        """The smallest q such that all weights are multiples of 2^-q."""
        return exponent(self.W, self.b)

    def magnitude(self, largest: float) -> float:
        """A bound on the sum of all absolute terms of the margin, for |psi_j| <= largest."""
        return float(1.0 + largest * np.abs(self.W).sum() + np.abs(self.b).sum())

    @property
    def rounded(self) -> bool:
        """Whether some subset sums of Theorem 1 are not exact in float64, so that the rows are rounded."""
        return rounding_bound(self.magnitude(1.0), 0, self.exponent) > 0

    def _uncertainty(self, psi: Psi) -> float:
        """Float margins of at most this magnitude are computed again as rationals; -1 if none needs it."""
        entries = psi.values if isinstance(psi, SparsePsi) else psi
        largest = float(np.abs(entries).max(initial=0.0))
        integral = bool((entries == np.rint(entries)).all())
        q = self.exponent if integral else None
        return rounding_bound(self.magnitude(largest), self.d + self.K + 1, q) or -1.0

    def error_bound(self, space: FeatureSpace) -> float:
        """The largest possible error of a float margin on the domain; 0.0 if all margins are exact."""
        total = 1.0 + row_reach(space, self.W).sum() + np.abs(self.b).sum()
        q = self.exponent if space.integral else None
        return rounding_bound(float(total), 2 * len(space.axes) + self.K + 1, q)

    def _margin_of(self, values: Floats) -> Floats:
        margin: Floats = 1.0 - np.maximum(values, 0.0).sum(-1)
        return margin

    def _accepted(self, psi: Psi) -> Bools:
        with np.errstate(over="ignore", invalid="ignore"):
            margin = np.atleast_1d(self._margins(psi))
            # An overflow (NaN) is as uncertain as a margin near zero: both are decided by rationals.
            uncertain = ~(np.abs(margin) > self._uncertainty(psi))
        verdict = margin >= 0
        for i in np.flatnonzero(uncertain):
            verdict[i] = self.rational_margin(_row(psi, int(i))) >= 0
        return verdict

    def _sum_decider(self, low: Floats, bound: float) -> SumDecider:
        def decide(high: Floats, tail: slice) -> tuple[Bools, Ints]:
            total = np.zeros((high.shape[1], tail.stop - tail.start))
            activation = np.empty_like(total)
            for k in range(self.K):
                np.add.outer(high[k], low[k, tail], out=activation)
                np.maximum(activation, 0.0, out=activation)
                total += activation
            accepted: Bools = (total <= 1.0).ravel()
            near = ~(np.abs(1.0 - total.ravel()) > bound) if bound else np.zeros(0, np.bool_)
            return accepted, np.flatnonzero(near)

        return decide

    def __and__(self, other: Network) -> Conjunction:
        if not isinstance(other, RectifierNetwork | Conjunction):
            return NotImplemented
        return Conjunction(self.parts + other.parts)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return np.array_equal(self.W, other.W) and np.array_equal(self.b, other.b)

    def __hash__(self) -> int:
        return hash(((self.W + 0.0).tobytes(), (self.b + 0.0).tobytes()))


@dataclass(frozen=True)
class Conjunction(_Forms, PsiSet):
    """The intersection of the sets that `parts` accept; all parts have the same d.

    Its margin is the smallest margin of its parts, and its rows are all rows of its parts.
    """

    parts: tuple[RectifierNetwork, ...]

    def __post_init__(self) -> None:
        widths = {part.d for part in self.parts}
        if len(widths) != 1:
            raise InvalidInput(
                f"the parts of a conjunction must have the same number of columns, found {sorted(widths)};"
                " combine constraints on one space."
            )

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.parts[0].d

    @property
    def K(self) -> int:
        """The total number of hidden units of all parts."""
        return sum(part.K for part in self.parts)

    @property
    def width(self) -> int:
        """The number of affine values that a verdict needs."""
        return self.K

    @property
    def cost(self) -> int:
        """The approximate cost of a verdict on one point, in hidden units."""
        return self.K

    @property
    def rounded(self) -> bool:
        """Whether some subset sums of Theorem 1 are not exact in float64, so that the rows are rounded."""
        return any(part.rounded for part in self.parts)

    def networks(self) -> tuple[RectifierNetwork, ...]:
        """The networks whose intersection is the set: its parts."""
        return self.parts

    def activations(self, psi: Any) -> Floats:
        """The activations of all parts side by side."""
        return np.concatenate([part.activations(psi) for part in self.parts], axis=-1)

    def rational_margin(self, psi: Floats) -> Fraction:
        """The smallest margin of the parts, without rounding."""
        return min(part.rational_margin(psi) for part in self.parts)

    def margins(self, space: FeatureSpace, assignments: Ints) -> Floats:
        """(N,) the smallest float margin of the parts at value indices (N, axes)."""
        return np.min([part.margins(space, assignments) for part in self.parts], axis=0)

    def verdicts(self, space: FeatureSpace, assignments: Ints) -> Bools:
        """(N,) whether every part accepts the points with value indices (N, axes), exactly."""
        return np.all([part.verdicts(space, assignments) for part in self.parts], axis=0)

    def decider(self, space: FeatureSpace, split: int) -> Decider:
        """A function that decides blocks of points; the first `split` axes are the head."""
        parts = [part.decider(space, split) for part in self.parts]
        return lambda head, tail, flat: np.all([part(head, tail, flat) for part in parts], axis=0)

    def __and__(self, other: Network) -> Conjunction:
        if not isinstance(other, RectifierNetwork | Conjunction):
            return NotImplemented
        return Conjunction(self.parts + other.parts)

    def _margins(self, psi: Psi) -> Floats:
        return np.min([part._margins(psi) for part in self.parts], axis=0)

    def _accepted(self, psi: Psi) -> Bools:
        return np.all([part._accepted(psi) for part in self.parts], axis=0)


Network = RectifierNetwork | Conjunction


def _row(psi: Psi, i: int) -> Floats:
    if isinstance(psi, SparsePsi):
        return psi.take(np.array([i])).dense()[0]
    return psi if psi.ndim == 1 else psi[i]
