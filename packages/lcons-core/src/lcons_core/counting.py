"""Numbers for people, however large: there are 2^K - 1 rows, and domains of 10^3000 points."""

from __future__ import annotations

import math

LARGEST = 10**15
LARGEST_PLAIN = 10**4000  # Python writes no integers of more than 4300 digits


def many(number: int) -> str:
    """A count with commas; of very large ones only the size.

    >>> many(38025), many(2**100)
    ('38,025', 'about 10^30')
    """
    return f"{number:,}" if number < LARGEST else f"about 10^{int(math.log10(number))}"


def plain(number: int) -> int | None:
    """The number as it is, for files; None where it is too large to be written."""
    return number if number < LARGEST_PLAIN else None
