"""Learning curves: a chart, and the same as a table."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

from lcons_tasks.report._figures import Curve
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._plot import COLOURS, Points, line_chart
from lcons_tasks.report._tables import data_table

_LARGEST_PICTURE = 2**21


def curve_view(curve: Curve) -> Html:
    """The chart of a curve and its table."""
    chart = Html(line_chart(curve.title, curve.across, curve.up, curve.lines))
    return joined(element("figure", chart, class_="chart"), curve_table(curve))


def curve_table(curve: Curve) -> Html:
    """A row a line, a column a size."""
    sizes = sorted({size for points in curve.lines.values() for size in points})
    rows = [
        [name, *(element("td", f"{points[s]:.2f}" if s in points else "", class_="n") for s in sizes)]
        for name, points in curve.lines.items()
    ]
    return data_table(curve.title, [curve.across, *(f"{size:,g}" for size in sizes)], rows)


def joint_curve(curves: Mapping[str, Curve]) -> Curve | None:
    """The first and the last own line of each run in one chart; None where fewer than two have a curve."""
    if len(curves) < 2:
        return None
    lines: dict[str, Points] = {}
    for name, curve in curves.items():
        own = [line for line in curve.lines if not line.startswith("the paper")]
        for line in dict.fromkeys((own[0], own[-1])):
            lines[f"{name}: {line}"] = curve.lines[line]
    first = next(iter(curves.values()))
    shown = dict(list(lines.items())[: len(COLOURS)])
    return Curve(f"{first.up}, runs side by side", first.across, first.up, shown)


def picture(path: Path) -> Html | None:
    """An SVG of a run as an image, in which nothing can run; None where it is too large or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) > _LARGEST_PICTURE:
        return None
    source = content.decode("utf-8", "replace")
    title = re.search(r"<title>([^<]*)</title>", source)
    said = re.search(r"<desc>([^<]*)</desc>", source)
    alt = ". ".join(unescape(match[1]) for match in (title, said) if match) or path.stem
    data = base64.b64encode(content).decode("ascii")
    return element(
        "figure", element("img", src=f"data:image/svg+xml;base64,{data}", alt=alt), class_="picture"
    )
