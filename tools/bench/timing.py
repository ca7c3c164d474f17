"""Medians of wall times, and a ratio held against its target."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_seconds(*runs: Callable[[], object], repeats: int = 7) -> list[float]:
    """The median time of each run; the runs take turns, so that all see the same machine."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, taken in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def report(claim: str, ratio: float, *, at_most: float | None = None, at_least: float | None = None) -> bool:
    """Prints the ratio beside its target; whether it is met."""
    met = (at_most is None or ratio <= at_most) and (at_least is None or ratio >= at_least)
    target = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:,g}"
    print(f"{'ok  ' if met else 'FAIL'} {claim}: {ratio:,.2f}x (target: {target})")
    return met
