"""The templates: those of the page escape every text, and those of Markdown all that would be markup.

page.html     the whole page: head, headlines, one run after another
blocks.html   the blocks of a document, and the views of constraints and sentences
chart.svg     a line chart
report.md     a document as Markdown
headline.txt  the headline of a document in words
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from statistics import stdev
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from lcons_tasks.report._document import Figure, Headline, TableCell
from lcons_tasks.stats import Interval

# Characters that HTML cannot contain, even escaped.
_UNPRINTABLE = dict.fromkeys((*range(9), 11, *range(14, 32), 127), "\N{REPLACEMENT CHARACTER}")
_NUMBER = re.compile(r"[+-]?\d[\d.,]*%?( [±(\[] ?[\d.,+ %-]+[)\]]?)?")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")


@cache
def environment() -> Environment:
    """The environment of the templates, with their filters, tests and functions."""
    templates = Environment(
        loader=PackageLoader("lcons_tasks.report"),
        autoescape=select_autoescape(disabled_extensions=("md", "txt"), default=True),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_printable,
    )
    templates.filters |= {"kind": lambda value: type(value).__name__, "inline": inline, "cell": cell_text}
    templates.filters |= {"minus": lambda text: str(text).replace("-", "\N{MINUS SIGN}")}
    templates.tests |= {"number": is_number}
    templates.globals["headline_lines"] = headline_lines
    return templates


def render(name: str, **values: Any) -> str:
    """The text of a template with these values; texts cannot bring markup into Markdown."""
    templates = environment()
    if name.endswith(".md"):
        templates = templates.overlay(finalize=escaped)
    return templates.get_template(name).render(**values)


def asset(name: str) -> str:
    """The text of a file next to the templates, without rendering."""
    source, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
    return source


def headline_lines(head: Headline) -> list[str]:
    """The headline; with a baseline, also the gain over it; and the verdicts in one sentence.

    >>> sides, gain = [Figure((57.7,)), Figure((60.8,))], Interval(3.1, 1.0, 5.2)
    >>> headline_lines(Headline("F1", *sides, gain, "before", "after"))
    ['F1: 57.7 before, 60.8 after; gain [95% interval] +3.10 [+1.00, +5.20], better']
    >>> over = Interval(-0.8, -1.4, -0.2)
    >>> headline_lines(Headline("F1", *sides, gain, baseline=sides[1], gain_over_baseline=over))[-1]
    'With learned constraints: better than without constraints, but worse than the look-up table.'
    """
    return [line for line in render("headline.txt", head=head).splitlines() if line]


def _printable(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return value.translate(_UNPRINTABLE)
    return value


def escaped(value: Any) -> Any:
    """A text without HTML, links and emphasis, as Markdown, but with the markup of `inline`.

    >>> print(escaped("<b> [x](y), *a_b*, `*` and 1 < 2"))
    &lt;b> [x]&#40;y), \\*a\\_b\\*, `*` and 1 < 2
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    marks = {"": "{}", "code": "`{}`", "strong": "**{}**"}
    texts = (marks[tag].format(text if tag == "code" else plain(text)) for tag, text in inline(value))
    return Markup(_inert("".join(texts)))


def plain(text: str) -> Markup:
    """A text as Markdown that has no markup at all.

    >>> print(plain("`a*"))
    \\`a\\*
    """
    return Markup(_inert(re.sub(r"[\\`*_~]", r"\\\g<0>", text)))


def _inert(text: str) -> str:
    """Without the beginnings of HTML and of the target of a link."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text.translate(_UNPRINTABLE)).replace("](", "]&#40;")


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


def cell_text(cell: TableCell) -> str:
    """The text of a cell without the paper's figure; a figure is a mean and the deviation of several values.

    >>> cell_text(12000), cell_text(0.5), cell_text(None), cell_text(Figure((86.0, 87.0), paper=2.0))
    ('12,000', '0.50', '', '86.50 ± 0.71')
    """
    if isinstance(cell, Figure):
        spread = f" ± {stdev(cell.values):.{cell.digits}f}" if len(cell.values) > 1 else ""
        return f"{sum(cell.values) / len(cell.values):.{cell.digits}f}{spread}"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else "" if cell is None else str(cell)
