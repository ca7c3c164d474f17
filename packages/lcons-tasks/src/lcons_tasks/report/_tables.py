"""Tables that everyone can read: a caption, headers with a scope, scrolling inside where they are wide."""

from __future__ import annotations

from collections.abc import Sequence

from lcons_tasks.report._html import Html, element, joined

Groups = Sequence[tuple[str, Sequence[str]]]


def data_table(
    caption: str,
    head: Sequence[object],
    rows: Sequence[Sequence[object]],
    *,
    class_: str | None = None,
    groups: Groups | None = None,
) -> Html:
    """A table whose first column names its rows; `groups` are names above runs of the other columns.

    >>> print(data_table("Accuracy", ["row", "20%"], [["exact", "74.3"]]))  # doctest: +ELLIPSIS
    <div class="scroll" role="region" aria-label="Accuracy" tabindex="0"><table><caption><div>...
    """
    body = joined(
        *(
            element(
                "tr",
                element("th", row[0], scope="row"),
                *(cell_of(cell) for cell in row[1:]),
            )
            for row in rows
        )
    )
    return scrolled(
        caption,
        element(
            "table",
            captioned(caption),
            element("thead", _grouped(head[0], groups) if groups else _head(head)),
            element("tbody", body),
            class_=class_,
        ),
    )


def captioned(*content: object) -> Html:
    """A caption whose text stays in sight, and wraps, where the table below is scrolled."""
    return element("caption", element("div", *content))


def scrolled(name: str, content: Html) -> Html:
    """Content that scrolls by itself where it is wider than the page, by keyboard too."""
    return element("div", content, class_="scroll", role="region", aria_label=name, tabindex="0")


def cell_of(value: object) -> Html:
    """A cell; markup that is a cell already stays."""
    if isinstance(value, Html) and value.startswith("<td"):
        return value
    return element("td", value)


def _head(names: Sequence[object]) -> Html:
    return element("tr", *(element("th", name, scope="col") for name in names))


def _grouped(name: object, groups: Groups) -> Html:
    """Two lines of headers, groups and the columns of each; one where no group has several columns."""
    if all(len(own) == 1 for _, own in groups):
        return _head([name, *(group for group, _ in groups)])
    first = element("th", name, scope="col", rowspan="2")
    above = [element("th", group, scope="colgroup", colspan=len(own)) for group, own in groups]
    below = [element("th", column, scope="col") for _, own in groups for column in own]
    return joined(element("tr", first, *above), element("tr", *below))


def fact_table(caption: str, facts: Sequence[tuple[str, object]]) -> Html:
    """Names and what they are, a line each."""
    rows = [element("tr", element("th", name, scope="row"), cell_of(value)) for name, value in facts]
    table = element("table", captioned(caption), element("tbody", *rows), class_="facts")
    return scrolled(caption, table)
