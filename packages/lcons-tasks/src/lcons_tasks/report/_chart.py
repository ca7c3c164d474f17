"""A line chart as a small, self-contained SVG: figures by size, on a logarithmic scale.

It uses the colours of the page, and has a title and a description for screen readers, and a tooltip per
point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

from lcons_tasks.report._document import Curve
from lcons_tasks.report._templates import render

WIDTH, HEIGHT = 680, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 32, 46
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "12 4")
STEPS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
# The legend has columns below the chart.
COLUMNS, LINE, LONGEST = 2, 19, 48
# The least distance between two numbers on the axis of sizes.
APART = 36.0


def to_svg(curve: Curve) -> str:
    """The chart of a curve as SVG, to put into a page.

    >>> chart = to_svg(Curve("Curve", "references", "accuracy", {"exact": {5: 60.0, 300: 90.0}}))
    >>> chart.startswith("<svg") and "exact" in chart
    True
    """
    sizes = curve.sizes
    values = [value for points in curve.lines.values() for value in points.values()]
    low, high, ticks = _scale(min(values), max(values))
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    first, last = math.log(sizes[0]), math.log(sizes[-1])

    def x(size: float) -> float:
        return LEFT + width * ((math.log(size) - first) / (last - first) if last > first else 0.5)

    def y(value: float) -> float:
        return TOP + height * (high - value) / (high - low)

    return render(
        "chart.svg",
        curve=curve,
        lines=zip(curve.lines.items(), cycle(COLOURS), cycle(DASHES)),
        x=x,
        y=y,
        columns=COLUMNS,
        line_height=LINE,
        column_width=width / COLUMNS,
        ticks=[(tick, y(tick)) for tick in ticks],
        sizes=_apart([(size, x(size)) for size in sizes]),
        width=WIDTH,
        height=HEIGHT + LINE * math.ceil(len(curve.lines) / COLUMNS),
        bottom=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        middle=(LEFT + width / 2, TOP + height / 2),
        longest=LONGEST,
    )


def _scale(low: float, high: float) -> tuple[float, float, list[float]]:
    """Round bounds of the figures, and the ticks between them."""
    step = next((step for step in STEPS if (high - low) / step <= 8), (high - low) / 8)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return first * step, last * step, [i * step for i in range(first, last + 1)]


def _apart(sizes: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The sizes whose numbers fit on the axis; the largest size comes first."""
    kept: list[tuple[float, float]] = []
    for size, x in reversed(sizes):
        if not kept or kept[-1][1] - x >= APART:
            kept.append((size, x))
    return kept[::-1]
