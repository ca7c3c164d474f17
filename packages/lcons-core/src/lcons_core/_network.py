"""The rectifier network: a set of psi described by K hidden ReLUs.

    accepts(psi)  iff  margin(psi) = 1 - sum_k ReLU(a_k) >= 0,   a_k = w_k . psi + b_k

Paper: Sec. 2.3, Eq. 7. sgn(0) = +1, so the boundary is accepted. `accepts` is exact: it is the sign of the
margin as a rational number, whatever the weights.

Not in the paper: `Conjunction`, an intersection of several such sets on one psi, which has the same forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core._arithmetic import Floats, exponent, finite_array, rational_dot, rounding_bound
from lcons_core._errors import InvalidInput
from lcons_core._psi import Psi, SparsePsi, as_psi


@dataclass(frozen=True, eq=False)
class RectifierNetwork:
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
                f" {self.b.shape}; pass one bias a hidden unit."
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
        """The networks whose accepted sets intersect to this one: itself."""
        return (self,)

    def activations(self, psi: Any) -> Floats:
        """a = W psi + b: (K,) for one psi, (N, K) for many."""
        checked = as_psi(psi, self.d)
        product = checked.dot(self.W.T) if isinstance(checked, SparsePsi) else checked @ self.W.T
        return product + self.b

    def margin(self, psi: Any) -> Any:
        """1 - sum_k ReLU(a_k): a float for one psi, (N,) for many."""
        margin = 1.0 - np.maximum(self.activations(psi), 0.0).sum(-1)
        return float(margin) if margin.ndim == 0 else margin

    def accepts(self, psi: Any) -> Any:
        """Whether margin >= 0, decided exactly: a bool for one psi, (N,) for many."""
        checked = as_psi(psi, self.d)
        with np.errstate(over="ignore", invalid="ignore"):
            margin = np.atleast_1d(self.margin(checked))
            # An overflow (NaN) is as uncertain as a margin near zero: rationals decide both.
            uncertain = ~(np.abs(margin) > self._uncertainty(checked))
        verdict = margin >= 0
        for i in np.flatnonzero(uncertain):
            verdict[i] = self.rational_margin(_row(checked, int(i))) >= 0
        single = not isinstance(checked, SparsePsi) and checked.ndim == 1
        return bool(verdict[0]) if single else verdict

    def rational_margin(self, psi: Floats) -> Fraction:
        """The margin of one psi without rounding."""
        activations = (rational_dot(w, psi, b) for w, b in zip(self.W, self.b, strict=True))
        return 1 - sum((a for a in activations if a > 0), Fraction(0))

    @cached_property
    def exponent(self) -> int:
        """The smallest q such that all weights are multiples of 2^-q."""
        return exponent(self.W, self.b)

    def magnitude(self, largest: float) -> float:
        """A bound on the sum of all absolute terms of the margin where |psi_j| <= largest."""
        return float(1.0 + largest * np.abs(self.W).sum() + np.abs(self.b).sum())

    def _uncertainty(self, psi: Psi) -> float:
        """Float margins of at most this magnitude need rationals; -1 where none does."""
        entries = psi.values if isinstance(psi, SparsePsi) else psi
        largest = float(np.abs(entries).max(initial=0.0))
        integral = bool((entries == np.rint(entries)).all())
        q = self.exponent if integral else None
        return rounding_bound(self.magnitude(largest), self.d + self.K + 1, q) or -1.0

    def __and__(self, other: RectifierNetwork | Conjunction) -> Conjunction:
        return Conjunction(self.parts + other.parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RectifierNetwork):
            return NotImplemented
        return np.array_equal(self.W, other.W) and np.array_equal(self.b, other.b)

    def __hash__(self) -> int:
        return hash(((self.W + 0.0).tobytes(), (self.b + 0.0).tobytes()))


@dataclass(frozen=True)
class Conjunction:
    """The intersection of the sets that `parts` accept; all parts have one d.

    Its margin is the least margin of its parts, its rows are all their rows.
    """

    parts: tuple[RectifierNetwork, ...]

    def __post_init__(self) -> None:
        widths = {part.d for part in self.parts}
        if len(widths) != 1:
            raise InvalidInput(
                f"the parts of a conjunction must share one psi, found widths {sorted(widths)};"
                " combine constraints of one space."
            )

    @property
    def K(self) -> int:
        """The number of hidden units of all parts together."""
        return sum(part.K for part in self.parts)

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.parts[0].d

    def activations(self, psi: Any) -> Floats:
        """The activations of all parts side by side."""
        return np.concatenate([part.activations(psi) for part in self.parts], axis=-1)

    def margin(self, psi: Any) -> Any:
        """The least margin of the parts."""
        margin = np.min([part.margin(psi) for part in self.parts], axis=0)
        return float(margin) if margin.ndim == 0 else margin

    def accepts(self, psi: Any) -> Any:
        """Whether every part accepts, decided exactly."""
        verdict: NDArray[np.bool_] = np.all([part.accepts(psi) for part in self.parts], axis=0)
        return bool(verdict) if verdict.ndim == 0 else verdict

    def rational_margin(self, psi: Floats) -> Fraction:
        """The least margin of the parts, without rounding."""
        return min(part.rational_margin(psi) for part in self.parts)

    def __and__(self, other: Network) -> Conjunction:
        return Conjunction(self.parts + other.parts)


Network = RectifierNetwork | Conjunction


def _row(psi: Psi, i: int) -> Floats:
    if isinstance(psi, SparsePsi):
        return psi.take(np.array([i])).dense()[0]
    return psi if psi.ndim == 1 else psi[i]
