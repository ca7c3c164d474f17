"""When is a float sum exact, and what to do when it is not.

A sum of multiples of 2^-q whose absolute terms add up to at most 2^(53-q) is exact in float64, in any order.
Learning therefore ends by rounding weights to multiples of 2^-20 of magnitude at most 2^10: over integral
psi every margin and every Theorem-1 subset sum is then exact while K * d * max|psi| <= 2^23. For other
weights a float value decides a sign only if it clears `rounding_bound`; values nearer to zero are computed
again as rationals.

Not in the paper: the paper reasons in real numbers and does not treat rounding.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core.errors import InvalidInput

Floats = NDArray[np.float64]

DYADIC_BITS = 20
LARGEST_WEIGHT = 2.0**10
_MANTISSA = 53


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """`array`, made read-only in place."""
    array.flags.writeable = False
    return array


def checked_array(value: ArrayLike, name: str, ndim: int) -> Floats:
    """`value` as float64, checked to be numeric, finite and of `ndim` dimensions; not copied if it fits."""
    try:
        found = np.asarray(value)
        if found.dtype.kind not in "biufO":
            raise TypeError(f"dtype {found.dtype}")
        array = found.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{name} must be an array of numbers, found {type(value).__name__} ({error});"
            f" pass a numeric array with {ndim} dimension(s)."
        ) from None
    if array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), found shape {array.shape}; reshape it.")
    if not np.isfinite(array).all():
        raise InvalidInput(
            f"{name} must be finite, found {int((~np.isfinite(array)).sum())} NaN or infinite value(s);"
            " replace or drop them."
        )
    return array


def finite_array(value: ArrayLike, name: str, ndim: int) -> Floats:
    """A read-only float64 copy of `value`, checked to be numeric, finite and of `ndim` dimensions."""
    return frozen(checked_array(value, name, ndim).copy())


def exponent(*arrays: Floats) -> int:
    """The smallest q >= 0 such that every entry is a multiple of 2^-q.

    >>> exponent(np.array([0.5, 3.0])), exponent(np.array([0.1])) > 50
    (1, True)
    """
    smallest = 0
    for array in arrays:
        mantissa, power = np.frexp(array[array != 0])
        if mantissa.size:
            whole = np.ldexp(mantissa, _MANTISSA).astype(np.int64)
            lowest_bit = np.frexp((whole & -whole).astype(np.float64))[1] - 1
            smallest = max(smallest, int((_MANTISSA - power - lowest_bit).max()))
    return smallest


def rounding_bound(total: float, terms: int, exponent: int | None) -> float:
    """An upper bound on the error of a float64 sum; 0.0 where every partial sum is exact.

    `total` bounds the sum of absolute terms, `terms` counts additions and products, and every term is a
    multiple of 2^-exponent (`None` where that is not known).
    """
    if exponent is not None and total <= np.ldexp(1.0, _MANTISSA - exponent):
        return 0.0
    unit = (terms + 2) * np.ldexp(1.0, -_MANTISSA)
    return float(1.01 * unit * total / (1.0 - min(unit, 0.5)))


def round_dyadic(array: ArrayLike) -> Floats:
    """`array` rounded to multiples of 2^-20; refused where a magnitude exceeds 2^10."""
    values = np.asarray(array, dtype=np.float64)
    if values.size and not np.abs(values).max() <= LARGEST_WEIGHT:
        raise InvalidInput(
            f"weights must be finite and at most {LARGEST_WEIGHT:g} in magnitude to be rounded exactly, found"
            f" {np.abs(values).max():g}; rescale psi or lower the learning rate."
        )
    scale = 2.0**DYADIC_BITS
    return np.rint(values * scale) / scale + 0.0


def is_dyadic(array: Floats) -> bool:
    """True iff `round_dyadic` would leave `array` as it is."""
    fits = bool(np.abs(array).max(initial=0.0) <= LARGEST_WEIGHT)
    return fits and exponent(array) <= DYADIC_BITS


def rational_dot(weights: Floats, psi: Floats, bias: float) -> Fraction:
    """`weights . psi + bias` as an exact rational, reading each float as the number it stores."""
    total = Fraction(float(bias))
    for j in np.flatnonzero(psi):
        total += Fraction(float(weights[j])) * Fraction(float(psi[j]))
    return total
