"""Some values of one axis in words: the shorter of what they are and what they leave out.

few values                "relation Kill or LiveIn"
all but a few             "any relation but Kill"
many inside and outside   "any of 20 of 43 values of relation (Kill, LiveIn, WorkFor, ...)"
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lcons_core.domain import Bools
from lcons_core.space import Axis

LONGEST_LIST = 6
LONGEST_SHORTER_SIDE = 8
SHOWN = 3


def listed(names: Sequence[str], last: str = "or") -> str:
    """Names joined by commas and a last word.

    >>> listed(["Kill", "LiveIn", "WorkFor"])
    'Kill, LiveIn or WorkFor'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def noun(axis: Axis, mask: Bools) -> str:
    """ "relation Kill or LiveIn", "any relation but Kill", "any of 20 of 43 values of relation (...)"."""
    inside, outside = _sides(mask)
    if _is_spelt_out(inside, outside):
        return f"{axis.name} {listed(picked(axis, mask))}"
    if _is_complement(inside, outside):
        return f"any {axis.name} but {listed(picked(axis, ~mask))}"
    return _counted(axis, mask, f" of {axis.name}")


def values(axis: Axis, mask: Bools) -> str:
    """ "Kill or LiveIn", "anything but Kill", "any of 20 of 43 values (...)"."""
    inside, outside = _sides(mask)
    if _is_spelt_out(inside, outside):
        return listed(picked(axis, mask))
    if _is_complement(inside, outside):
        return f"anything but {listed(picked(axis, ~mask))}"
    return _counted(axis, mask)


def _counted(axis: Axis, mask: Bools, of: str = "") -> str:
    """Values too many to name, with the first of the shorter side."""
    inside, outside = _sides(mask)
    if not outside:
        return f"any value{of}"
    fewer = picked(axis, mask if inside <= outside else ~mask)[:SHOWN]
    shown = f"{'' if inside <= outside else 'all but '}{', '.join(fewer)}, ..."
    return f"any of {inside} of {len(mask)} values{of} ({shown})"


def spelt_out(names: list[str]) -> str:
    """The names, or how many they are and the first few."""
    if len(names) <= LONGEST_LIST:
        return listed(names)
    return f"any of {len(names)} ({', '.join(names[:SHOWN])}, ...)"


def _sides(mask: Bools) -> tuple[int, int]:
    inside = int(mask.sum())
    return inside, len(mask) - inside


def _is_spelt_out(inside: int, outside: int) -> bool:
    """Whether the values are named: they are few, or a little more and the shorter side."""
    return inside <= LONGEST_LIST or inside <= min(outside, LONGEST_SHORTER_SIDE)


def _is_complement(inside: int, outside: int) -> bool:
    """Whether the values are named by what they leave out."""
    return not _is_spelt_out(inside, outside) and 0 < outside <= LONGEST_SHORTER_SIDE


def picked(axis: Axis, mask: Bools) -> list[str]:
    """Names of values; quoted where they would read as punctuation."""
    values = [axis.values[v] for v in np.flatnonzero(mask)]
    return [v if any(c.isalnum() for c in v) else f'"{v}"' for v in values]


def names_of(inside: int, outside: int) -> int:
    """How many names a reader has to take in; a counted side is worse than any that is spelt out."""
    if _is_spelt_out(inside, outside):
        return inside
    if _is_complement(inside, outside):
        return outside + 1
    return LONGEST_SHORTER_SIDE + 2 + (inside > outside)
