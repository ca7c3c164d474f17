"""Exact arithmetic on floats: bounds on rounding, rationals and scaled integers.

A sum of multiples of 2^-q whose absolute terms add up to less than 2^(53-q) is exact in float64, in any
order. Learning therefore ends by rounding weights to multiples of 2^-20 of magnitude at most 2^10: over
integral psi every margin and every subset sum of Theorem 1 is then exact if K * d * max|psi| < 2^23. For
other weights a float value decides a sign only if it is farther from zero than `rounding_bound`; other
values are computed again as integers: a float is a rational whose denominator is a power of two, so
`W psi + b` times 2^q is an integer (`exact_values`).

No number that enters lcons (weights, psi, scores) exceeds `LARGEST_MAGNITUDE`: then products and sums of
float64 never overflow, and no NaN or infinity arises that a comparison could take for a verdict.

`many` and `plain` write very large numbers: there are 2^K - 1 rows, and domains of 10^3000 points.

Not in the paper: the paper uses real numbers and does not discuss rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core._errors import InvalidInput
from lcons_core._types import Floats as Floats
from lcons_core._types import Objects

DYADIC_BITS = 20
LARGEST_WEIGHT = 2.0**10
LARGEST_MAGNITUDE = 2.0**200  # about 1.6e60, above every float32
_MANTISSA = 53


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """`array` itself, which becomes read-only."""
    array.flags.writeable = False
    return array


def unravelled(flat: NDArray[np.int64], lengths: Sequence[int]) -> NDArray[np.int64]:
    """(N, axes) the indices of positions in a product of axes, as `np.unravel_index` for any number of axes.

    >>> unravelled(np.array([0, 5]), [2, 3]).tolist()
    [[0, 0], [1, 2]]
    """
    indices = np.empty((len(flat), len(lengths)), dtype=np.int64)
    for i in reversed(range(len(lengths))):
        flat, indices[:, i] = np.divmod(flat, lengths[i])
    return indices


def checked_array(value: ArrayLike, name: str, ndim: int) -> Floats:
    """`value` as float64, checked to be numeric, finite, at most `LARGEST_MAGNITUDE`, of `ndim` dimensions;
    copied only if needed."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"dtype {array.dtype}")
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be an array of numbers ({error}).") from None
    if array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), found shape {array.shape}.")
    if not _moderate(array):
        if not np.isfinite(array).all():
            raise InvalidInput(f"{name} must be finite, found NaN or infinite values.")
        check_magnitude(array, name)
    return array


def check_magnitude(array: Floats, name: str) -> None:
    """Raises `InvalidInput` if an entry is so large that sums could overflow; infinities are not checked."""
    if not _moderate(array):
        largest = float(np.abs(array).max(initial=0.0, where=np.isfinite(array)))
        if largest > LARGEST_MAGNITUDE:
            raise InvalidInput(f"{name} must be at most 2^200 in magnitude, found {largest:.3g}.")


def _moderate(array: Floats) -> bool:
    """Whether all entries are finite and at most `LARGEST_MAGNITUDE`, without a copy of the array."""
    limit = LARGEST_MAGNITUDE
    return bool(array.max(initial=0.0) <= limit and array.min(initial=0.0) >= -limit)


def finite_array(value: ArrayLike, name: str, ndim: int) -> Floats:
    """A read-only float64 copy of `value`, checked as in `checked_array`."""
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
    """An upper bound on the error of a float64 sum; 0.0 if every partial sum is exact.

    `total` is a bound on the sum of absolute terms, `terms` the number of additions and products, and every
    term is a multiple of 2^-exponent (`None` if the exponent is not known: then products may also underflow).
    """
    # A total that is itself rounded is never below the limit if the exact one is not.
    if exponent is not None and total < np.ldexp(1.0, _MANTISSA - exponent):
        return 0.0
    unit = (terms + 2) * np.ldexp(1.0, -_MANTISSA)
    underflow = 0.0 if exponent is not None else (terms + 2) * np.ldexp(1.0, -1074)
    return float(1.01 * unit * total / (1.0 - min(unit, 0.5)) + underflow)


def round_dyadic(array: ArrayLike) -> Floats:
    """`array` rounded to multiples of 2^-20; raises `InvalidInput` if a magnitude exceeds 2^10."""
    values = np.asarray(array, dtype=np.float64)
    if values.size and not np.abs(values).max() <= LARGEST_WEIGHT:
        raise InvalidInput(f"weights must be finite and at most {LARGEST_WEIGHT:g} in magnitude.")
    scale = 2.0**DYADIC_BITS
    return np.rint(values * scale) / scale + 0.0


def is_dyadic(array: Floats) -> bool:
    """True iff `round_dyadic` would not change `array`."""
    fits = bool(np.abs(array).max(initial=0.0) <= LARGEST_WEIGHT)
    return fits and exponent(array) <= DYADIC_BITS


def rational_dot(weights: Floats, psi: Floats, bias: float) -> Fraction:
    """`weights . psi + bias` as an exact rational; each float has exactly the value that it stores."""
    total = Fraction(float(bias))
    for j in np.flatnonzero(psi):
        total += Fraction(float(weights[j])) * Fraction(float(psi[j]))
    return total


def exact_values(W: Floats, b: Floats, psi: Floats) -> tuple[NDArray[Any], int]:
    """(N, M) `(psi @ W.T + b) 2^q` without rounding, and q: floats and 0 if float64 adds them exactly,
    otherwise Python integers.

    >>> exact_values(np.array([[0.5, 3.0]]), np.array([0.25]), np.array([[1.0, 1.0]]))
    (array([[3.75]]), 0)
    """
    weight_bits, psi_bits = exponent(W, b), exponent(psi)
    q = weight_bits + psi_bits
    total = float(np.abs(psi).max(initial=0.0) * np.abs(W).sum() + np.abs(b).sum())
    if q < 1000 and total < np.ldexp(1.0, _MANTISSA - q):  # no product underflows, and no sum rounds
        return psi @ W.T + b, 0
    values: Objects = scaled(psi, psi_bits).dot(scaled(W, weight_bits).T) + scaled(b, q)
    return values, q


LARGEST = 10**15
LARGEST_PLAIN = 10**4000  # Python does not print integers of more than 4300 digits


def many(number: int) -> str:
    """A count as text with commas; a very large one as a power of ten.

    >>> many(38025), many(2**100)
    ('38,025', 'about 10^30')
    """
    return f"{number:,}" if number < LARGEST else f"about 10^{int(math.log10(number))}"


def plain(number: int) -> int | None:
    """The same number, for files; None if it is too large to be written."""
    return number if number < LARGEST_PLAIN else None


def scaled(array: Floats, q: int) -> Objects:
    """`array` times 2^q as Python integers; every entry must be a multiple of 2^-q.

    >>> scaled(np.array([0.5, -3.0]), 2)
    array([2, -12], dtype=object)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.ldexp(array, q)
        if bool((np.abs(whole) < 2.0**62).all() and (whole == np.rint(whole)).all()):
            return whole.astype(np.int64).astype(object)
    out = np.empty(array.shape, dtype=object)
    out.ravel()[:] = [
        (numerator << q) // denominator
        for numerator, denominator in (x.as_integer_ratio() for x in array.ravel().tolist())
    ]
    return out


def rounded_up(share: float) -> str:
    """A bound in percent, rounded up.

    >>> rounded_up(0.0099), rounded_up(0.01)
    ('1.0%', '1.0%')
    """
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}%"
