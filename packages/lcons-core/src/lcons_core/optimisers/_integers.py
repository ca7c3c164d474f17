"""Rows with integer coefficients over integer variables, without rounding; for CP-SAT.

Floats are rationals whose denominator is a power of two, so a row times its common denominator is integral,

    sum of c_j x_j >= r      iff      sum of (C_j / g) x_j >= ceil(R / g),     C = Q c, R = Q r, g = gcd(C)

for integers x. A continuous auxiliary s of a system becomes the integer s' = Q s with one Q for all rows:
every s_k >= a_k then compares s'_k with the integer Q a_k, and the least s'_k is the integer
max(0, Q a_k). So the rows hold for some s' iff they hold for some real s.

The sum of |C_j x_j| over the bounds of the variables must stay below 2^62, the limit of CP-SAT.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from lcons_core._errors import TooLarge

LIMIT = 2**62 - 1


@dataclass(frozen=True)
class RationalRow:
    """`sum of c * variable v >= rhs` (`==` if `equal`) over integer variables and reals, by index."""

    name: str
    terms: tuple[tuple[int, Fraction], ...]
    rhs: Fraction
    equal: bool = False


@dataclass(frozen=True)
class IntegerRow:
    """The same with integers."""

    name: str
    terms: tuple[tuple[int, int], ...]
    rhs: int
    equal: bool = False


def common_scale(rows: Iterable[RationalRow], real: frozenset[int]) -> int:
    """The least Q such that Q times every row that has a real variable is integral."""
    with_real = [row for row in rows if any(v in real for v, _ in row.terms)]
    return math.lcm(*(_denominator(row) for row in with_real))


def integer_row(row: RationalRow, real: frozenset[int], Q: int) -> IntegerRow:
    """The row over integers, where each real variable v is replaced by the integer Q v.

    >>> integer_row(RationalRow("r", ((0, Fraction(3, 2)), (1, Fraction(3))), Fraction(1)), frozenset(), 1)
    IntegerRow(name='r', terms=((0, 1), (1, 2)), rhs=1, equal=False)
    """
    unscaled = tuple((v, c / Q if v in real else c) for v, c in row.terms)
    scale = math.lcm(row.rhs.denominator, *(c.denominator for _, c in unscaled))
    terms = tuple((v, int(c * scale)) for v, c in unscaled)
    rhs = row.rhs * scale
    divisor = math.gcd(*(c for _, c in terms)) or 1
    if row.equal:
        # An equation between integers that no integers solve stays as it is.
        divisor = math.gcd(divisor, int(rhs))
    terms = tuple((v, c // divisor) for v, c in terms)
    return IntegerRow(row.name, terms, math.ceil(rhs / divisor), row.equal)


def check_range(row: IntegerRow, largest: Mapping[int, int]) -> None:
    """Raises `TooLarge` if the row may exceed the limit, for |variable v| <= largest[v]."""
    most = sum(abs(c) * largest[v] for v, c in row.terms) + abs(row.rhs)
    if most > LIMIT:
        raise TooLarge(
            f"CP-SAT needs rows below 2^62, but the row {row.name!r} scaled to integers may reach"
            f" 2^{most.bit_length() - 1}; use weights with fewer bits (round_dyadic), or variables with"
            " smaller bounds."
        )


def _denominator(row: RationalRow) -> int:
    return math.lcm(row.rhs.denominator, *(c.denominator for _, c in row.terms))
