"""Affine forms in exact arithmetic: scaled integers, as fast as floats allow.

Floats are rationals with a power of two below the line, so `C psi + c` over integral psi is an integer after
scaling by 2^q. Integers too long for float64 are cut into digits of w bits,

    C 2^q = sum_i D_i 2^(w i),      0 <= D_i < 2^w  (the last digit carries the sign)

with w so small that every product `D_i psi` is an exact float64 matrix product. Carrying from digit to digit
gives the sign of each value, and adding the digits up the value itself. Forms of one digit, which is most of
them, need no carrying: their values are int64.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import Unsupported
from lcons_core.exact import Floats, exponent

Objects = NDArray[Any]


def scaled(array: Floats, q: int) -> Objects:
    """`array` times 2^q as Python integers; every entry must be a multiple of 2^-q.

    >>> scaled(np.array([0.5, -3.0]), 2)
    array([2, -12], dtype=object)
    """
    out = np.empty(array.shape, dtype=object)
    out.ravel()[:] = [
        (numerator << q) // denominator
        for numerator, denominator in (x.as_integer_ratio() for x in array.ravel().tolist())
    ]
    return out


@dataclass(frozen=True, eq=False)
class ScaledForms:
    """M forms `(C psi + c) / 2^q` with Python integers C (M, d) and c (M,)."""

    C: Objects
    c: Objects
    q: int
    _splits: dict[int, list[tuple[Floats, Floats]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, C: Floats, c: Floats, q: int | None = None) -> ScaledForms:
        """The forms `C psi + c`, each float read as the rational it stores."""
        q = exponent(C, c) if q is None else q
        return cls(scaled(C, q), scaled(c, q), q)

    def __len__(self) -> int:
        return len(self.c)

    def times(self, shift: int) -> ScaledForms:
        """The same forms of psi 2^shift in place of psi, scaled by 2^(q + shift)."""
        return ScaledForms(self.C, self.c * (1 << shift), self.q + shift) if shift else self

    def values(self, psi: Floats) -> Objects:
        """(N, M) values times 2^q at integral psi (N, d), all added up below 2^62: int64; else Python's."""
        digits = self._digits(psi)
        if len(digits) == 1 and len(self) <= 2**10:
            return digits[0].astype(np.int64)
        total = np.zeros((len(psi), len(self)), dtype=object)
        for i, digit in enumerate(digits):
            total += digit.astype(np.int64).astype(object) * (1 << i * self._width(psi))
        return total

    def signs(self, psi: Floats) -> NDArray[np.int8]:
        """(N, M) signs -1, 0, 1 of the values at integral psi (N, d)."""
        width = self._width(psi)
        digits = self._digits(psi)
        if len(digits) == 1:
            return np.sign(digits[0]).astype(np.int8)
        carry = np.zeros((len(psi), len(self)), dtype=np.int64)
        rest = np.zeros(carry.shape, dtype=np.bool_)
        for i, digit in enumerate(digits):
            carry += digit.astype(np.int64)
            if i < len(digits) - 1:
                rest |= (carry & ((1 << width) - 1)) != 0
                carry >>= width
        # carry 2^(w i) + rest, with 0 <= rest < 2^(w i): the sign is that of the carry unless it is 0.
        signs: NDArray[np.int8] = np.where(carry == 0, rest, np.sign(carry)).astype(np.int8)
        return signs

    def all_hold(self, psi: Floats) -> NDArray[np.bool_]:
        """(N,) whether no value is negative at integral psi (N, d)."""
        digits = self._digits(psi)
        signs = digits[0] if len(digits) == 1 else self.signs(psi)
        return np.min(signs, axis=1, initial=0) >= 0

    def _digits(self, psi: Floats) -> list[Floats]:
        """The products of the digits of (C, c) with (psi, 1), all exact, lowest digit first."""
        return [psi @ C.T + c for C, c in self._split(self._width(psi))]

    def _split(self, width: int) -> list[tuple[Floats, Floats]]:
        """The digits of C and c, lowest first; kept for the next call."""
        if width not in self._splits:
            C, c, digits = self.C, self.c, []
            while max((abs(x) for x in (*C.flat, *c.flat)), default=0) >= 1 << width:
                low = 1 << width
                digits.append(((C % low).astype(np.float64), (c % low).astype(np.float64)))
                C, c = C >> width, c >> width
            digits.append((C.astype(np.float64), c.astype(np.float64)))
            self._splits[width] = digits
        return self._splits[width]

    def _width(self, psi: Floats) -> int:
        """The bits of a digit: a sum of |psi| + 1 such digits stays below 2^52."""
        if not bool((psi == np.rint(psi)).all()):
            raise Unsupported("exact values need integral psi, found fractions; scale psi to integers first.")
        mass = float(np.abs(psi).sum(1).max(initial=0.0)) + 1.0
        width = 52 - int(np.ceil(np.log2(mass + 1.0)))
        if width < 1:
            raise Unsupported(f"psi with entries that add up to {mass:g} is too large to check exactly.")
        return width
