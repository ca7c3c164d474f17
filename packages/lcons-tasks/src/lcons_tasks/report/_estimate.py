"""How long a page will take, before it is made: the work is in explaining and comparing constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lcons_core import LearnedConstraint, load
from lcons_core.reason._points import ENUMERATION_LIMIT
from lcons_tasks.report._page import comparisons, constraint_files
from lcons_tasks.report._run import Run
from lcons_tasks.report._shown import Limits

# Seconds for a constraint, as measured: of a domain too large to enumerate, of many units, of few.
LARGE, MANY_UNITS, SMALL = 2.5, 1.5, 0.05
MANY = 8


@dataclass(frozen=True)
class Estimate:
    """How many constraints a page shows, and how long that takes."""

    constraints: int
    seconds: float


def estimate(runs: Sequence[Run], limits: Limits | None = None) -> Estimate:
    """The work of a page; `DamagedFile` where one of its constraints cannot be read."""
    found = [load(path) for path in constraint_files(runs, limits)]
    return Estimate(len(found), sum(map(_seconds, found)) + comparisons(runs, limits).seconds)


def _seconds(constraint: LearnedConstraint) -> float:
    if constraint.space.size > ENUMERATION_LIMIT:
        return LARGE
    return MANY_UNITS if constraint.network.K >= MANY else SMALL
