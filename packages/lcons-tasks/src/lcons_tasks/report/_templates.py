"""The templates of the page, which escape every text, and of Markdown.

page.html     the whole page: head, headlines, one run after another
blocks.html   the blocks of a document, and the views of constraints and sentences
chart.svg     a line chart
report.md     a document as Markdown
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import stdev
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from lcons_tasks.report._document import Figure, TableCell
from lcons_tasks.stats import Interval

# Characters that HTML cannot contain, even escaped.
_UNPRINTABLE = dict.fromkeys((*range(9), 11, *range(14, 32), 127), "\N{REPLACEMENT CHARACTER}")
_NUMBER = re.compile(r"[+-]?\d[\d.,]*%?( [±(\[] ?[\d.,+ %-]+[)\]]?)?")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")


@cache
def environment() -> Environment:
    """The environment of the templates, with their filters, tests and functions."""
    found = Environment(
        loader=PackageLoader("lcons_tasks.report"),
        autoescape=select_autoescape(disabled_extensions=("md",), default=True),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_printable,
    )
    found.filters |= {"kind": lambda value: type(value).__name__, "inline": inline, "cell": cell_text}
    found.filters |= {"minus": lambda text: str(text).replace("-", "\N{MINUS SIGN}")}
    found.tests |= {"number": is_number}
    found.globals |= {"paper_note": paper_note, "best_of": best_of}
    return found


def render(name: str, **values: Any) -> str:
    """The text of a template with these values. Texts cannot bring HTML or links into Markdown."""
    templates = environment()
    if name.endswith(".md"):
        templates = templates.overlay(finalize=_plain)
    return templates.get_template(name).render(**values)


def asset(name: str) -> str:
    """The text of a file next to the templates, without rendering."""
    source, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
    return source


def _printable(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return value.translate(_UNPRINTABLE)
    return value


def _plain(value: Any) -> Any:
    """A text without HTML and links, as Markdown.

    >>> _plain("<b> [x](y), 1 < 2")
    '&lt;b> [x]&#40;y), 1 < 2'
    """
    if not isinstance(value, str):
        return value
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", value.translate(_UNPRINTABLE)).replace("](", "]&#40;")


def inline(text: str) -> Iterator[tuple[str, str]]:
    """(HTML element, text) of the parts of a text with markup.

    >>> list(inline("a `<b>` and **c**"))
    [('', 'a '), ('code', '<b>'), ('', ' and '), ('strong', 'c'), ('', '')]
    """
    at = 0
    for match in _INLINE.finditer(text):
        yield "", text[at : match.start()]
        yield ("code", match[1]) if match[1] else ("strong", match[2])
        at = match.end()
    yield "", text[at:]


def is_number(cell: TableCell) -> bool:
    """Whether a cell is a number, which is aligned to the right; text may look like a number.

    >>> is_number(3), is_number("2 (66.7%)"), is_number("5 of 5"), is_number("")
    (True, True, False, False)
    """
    return isinstance(cell, int | float | Figure | Interval) or bool(_NUMBER.fullmatch(cell or ""))


def best_of(rows: tuple[tuple[TableCell, ...], ...], column: int) -> float | None:
    """The largest mean of a column; None if there are fewer than two."""
    means = [row[column].mean for row in rows if isinstance(row[column], Figure)]  # type: ignore[union-attr]
    return max(means) if len(means) > 1 else None


def paper_note(corpus: str) -> str:
    """The note on the paper's figures if they are for another corpus."""
    return (
        f"The paper's figures were measured on {corpus}, not on the data of this run: use them for"
        " orientation, not for comparison."
    )


def mean_spread(values: Sequence[float], digits: int = 2) -> str:
    """The mean of values, and their standard deviation if there are several.

    >>> mean_spread([86.0, 87.0]), mean_spread([86.0])
    ('86.50 ± 0.71', '86.00')
    """
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{sum(values) / len(values):.{digits}f}{spread}"


def cell_text(cell: TableCell) -> str:
    """The text of a cell without the paper's figure.

    >>> cell_text(12000), cell_text(0.5), cell_text(None), cell_text(Figure((1.0,), paper=2.0))
    ('12,000', '0.50', '', '1.00')
    """
    if cell is None:
        return ""
    if isinstance(cell, Figure):
        return mean_spread(cell.values, cell.digits)
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
