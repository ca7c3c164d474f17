"""Pieces of results.json that tasks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lcons_tasks.stats import Interval


def interval(gain: Mapping[str, Any]) -> Interval:
    """The interval of a gain.

    >>> print(interval({"interval": {"mean": 1.0, "low": 0.5, "high": 1.5}}))
    +1.00 [+0.50, +1.50]
    """
    found = gain["interval"]
    return Interval(float(found["mean"]), float(found["low"]), float(found["high"]))


def claims(found: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, bool, str], ...]:
    """(claim of the paper, whether it held, the figures)."""
    return tuple((str(one["text"]), bool(one["held"]), str(one["figures"])) for one in found)
