"""A line chart as a small SVG that stands by itself: figures by a size, on a logarithmic scale.

Readable in light and dark (it takes the page's colours), with a title and a description for those who do not
see it, and a point's figures as its tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 190, 32, 44
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "12 4")
STEPS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

Points = Mapping[float, float]


def line_chart(title: str, across: str, up: str, lines: Mapping[str, Points]) -> str:
    """An SVG of `lines`: a name, and figures by size.

    >>> chart = line_chart("Curve", "references", "accuracy", {"exact": {5: 60.0, 300: 90.0}})
    >>> chart.startswith("<svg") and "exact" in chart
    True
    """
    sizes = sorted({size for points in lines.values() for size in points})
    values = [value for points in lines.values() for value in points.values()]
    low, high, ticks = _scale(min(values), max(values))
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    first, last = math.log(sizes[0]), math.log(sizes[-1])

    def x(size: float) -> float:
        return LEFT + width * ((math.log(size) - first) / (last - first) if last > first else 0.5)

    def y(value: float) -> float:
        return TOP + height * (high - value) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        ' font-family="sans-serif" font-size="12" fill="currentColor">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(_described(across, lines))}</desc>",
        f'<text x="{LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
    ]
    for tick in ticks:
        parts.append(
            f'<path d="M{LEFT} {y(tick):.1f}h{width}" stroke="currentColor" stroke-opacity="0.15"/>'
            f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    for size in sizes:
        parts.append(f'<text x="{x(size):.1f}" y="{HEIGHT - 24}" text-anchor="middle">{size:g}</text>')
    parts.append(
        f'<text x="{LEFT + width / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>'
    )
    parts.append(
        f'<text x="14" y="{TOP + height / 2:.1f}" text-anchor="middle"'
        f' transform="rotate(-90 14 {TOP + height / 2:.1f})">{escape(up)}</text>'
    )
    for i, (name, points) in enumerate(lines.items()):
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        path = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in sorted(points.items()))
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dash}"/>'
        )
        parts += [
            f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}">'
            f"<title>{escape(name)}, {size:g}: {value:.2f}</title></circle>"
            for size, value in sorted(points.items())
        ]
        at = TOP + 8 + 18 * i
        parts.append(
            f'<path d="M{WIDTH - RIGHT + 12} {at}h22" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dash}"/>'
            f'<text x="{WIDTH - RIGHT + 40}" y="{at + 4}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _scale(low: float, high: float) -> tuple[float, float, list[float]]:
    """Round bounds around the figures, and the ticks between."""
    step = next((step for step in STEPS if (high - low) / step <= 8), STEPS[-1])
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return first * step, last * step, [i * step for i in range(first, last + 1)]


def _described(across: str, lines: Mapping[str, Points]) -> str:
    said: Sequence[str] = [
        f"{name}: " + ", ".join(f"{size:g} {across} {value:.1f}" for size, value in sorted(points.items()))
        for name, points in lines.items()
    ]
    return "; ".join(said)
