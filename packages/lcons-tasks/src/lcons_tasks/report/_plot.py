"""A line chart of figures by a size."""

from __future__ import annotations

from collections.abc import Mapping

from lcons_tasks.report._chart import to_svg
from lcons_tasks.report._document import Curve


def line_chart(title: str, across: str, up: str, lines: Mapping[str, Mapping[float, float]]) -> str:
    """An SVG of `lines`: a name, and figures by size."""
    return to_svg(Curve(title, across, up, lines))
