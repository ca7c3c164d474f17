"""report.md as HTML: headings, paragraphs, lists and tables, which is all that reports use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from lcons_tasks.report._html import Html, element, joined, text
from lcons_tasks.report._tables import data_table

_RULE = re.compile(r"\|[\s:|-]+\|?")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")


def render_markdown(source: str, level: int = 4) -> Html:
    """The text as HTML, whose highest headings are of `level`."""
    heading = "Report"
    parts: list[Html] = []
    for block in _blocks(source):
        if match := re.fullmatch(r"(#+) (.*)", block[0]):
            heading = match[2]
            # The title of the report stands above it already.
            if len(match[1]) > 1:
                parts.append(element(f"h{min(level + len(match[1]) - 2, 6)}", inline(heading)))
        elif is_table(block):
            parts.append(_table(block, heading))
        elif block[0].startswith("- "):
            parts.append(_list(block))
        else:
            parts.append(element("p", inline(" ".join(line.strip() for line in block))))
    return joined(*parts)


def is_table(block: Sequence[str]) -> bool:
    """Whether lines are a table: a head, a rule and rows.

    >>> is_table(["| a | b |", "|---|--:|", "| 1 | 2 |"]), is_table(["| a |"])
    (True, False)
    """
    return len(block) > 1 and block[0].startswith("|") and bool(_RULE.fullmatch(block[1]))


def inline(source: str) -> Html:
    """A line with its code and bold text.

    >>> inline("a `<b>` and **c**")
    'a <code>&lt;b&gt;</code> and <strong>c</strong>'
    """
    parts: list[Html] = []
    at = 0
    for match in _INLINE.finditer(source):
        parts.append(text(source[at : match.start()]))
        parts.append(element("code", match[1]) if match[1] else element("strong", match[2]))
        at = match.end()
    return joined(*parts, source[at:])


def _blocks(source: str) -> Iterator[list[str]]:
    for blank, lines in groupby(source.splitlines(), key=lambda line: not line.strip()):
        if not blank:
            yield from _split(list(lines))


def _split(block: list[str]) -> Iterator[list[str]]:
    """A heading is a block by itself, whatever follows it."""
    if block[0].startswith("#") and len(block) > 1:
        yield block[:1]
        yield from _split(block[1:])
    else:
        yield block


def _table(block: Sequence[str], caption: str) -> Html:
    head, _, *rows = ([inline(cell.strip()) for cell in _cells(line)] for line in block)
    width = len(head)
    whole = [[*row, *[Html("")] * width][:width] for row in rows]
    return data_table(caption, head, whole)


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [cell.replace("\\|", "|") for cell in cells]


def _list(block: Sequence[str]) -> Html:
    """Items begin with a dash; lines that do not go on with the item above."""
    items: list[list[str]] = []
    for line in block:
        if line.startswith("- "):
            items.append([line[2:]])
        elif items:
            items[-1].append(line.strip())
    return element(
        "ul",
        *(element("li", joined(*(inline(line) for line in own), by="\n")) for own in items),
        class_="lines",
    )
