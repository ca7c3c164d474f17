"""Results as tables: beside the paper's figures, gains with their intervals, and runs beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lcons_tasks.report._figures import Figure, Gain, Headline, ResultTable, TextTable, View
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._tables import data_table
from lcons_tasks.report._text_tables import mean_spread
from lcons_tasks.stats import Interval

HERE, PAPER = "here", "paper"


def result_table(table: ResultTable) -> Html:
    """Rows by columns, the paper's figure beside ours where it has one; the best of a column in bold."""
    groups = []
    for column in table.columns:
        stated = any(figure.paper is not None for (_, own), figure in table.cells.items() if own == column)
        groups.append((column, (HERE, PAPER) if stated else (HERE,)))
    rows = []
    for row in table.rows:
        cells: list[object] = [row]
        for column, parts in groups:
            figure = table.cells.get((row, column))
            cells.append(_here(figure, _best(table, column)))
            if PAPER in parts:
                cells.append(_stated(figure))
        rows.append(cells)
    return data_table(
        f"{table.title}: {table.measure}", [table.rows_are], rows, groups=groups, class_="results"
    )


def _best(table: ResultTable, column: str) -> float:
    return max(figure.mean for (_, own), figure in table.cells.items() if own == column)


def _here(figure: Figure | None, best: float) -> Html:
    if figure is None:
        return element("td", class_="n")
    value = mean_spread(figure.values)
    return element("td", element("strong", value) if figure.mean == best else value, class_="n")


def _stated(figure: Figure | None) -> Html:
    value = "" if figure is None or figure.paper is None else f"{figure.paper:.2f}"
    return element("td", value, class_="n paper")


def gains_table(gains: Sequence[Gain]) -> Html:
    """Gains in points, with their 95% intervals as text and as a picture."""
    reach = max(abs(bound) for gain in gains for bound in (gain.interval.low, gain.interval.high)) or 1.0
    rows = [
        [
            gain.what,
            gain.where,
            element("td", str(gain.interval), class_="n"),
            element("td", whisker(gain.interval, reach), class_="plot"),
        ]
        for gain in gains
    ]
    return data_table("Gains in points, with 95% intervals", ["gain", "where", "points", ""], rows)


def whisker(interval: Interval, reach: float) -> Html:
    """An interval as a line with a dot, beside zero; the text beside it says the same."""

    def x(value: float) -> float:
        return 70 + 64 * value / reach

    sure = "sure" if interval.low > 0 or interval.high < 0 else "open"
    return Html(
        '<svg viewBox="0 0 140 14" width="140" height="14" aria-hidden="true" class="whisker">'
        '<path d="M70 0v14" class="zero"/>'
        f'<path d="M{x(interval.low):.1f} 7H{x(interval.high):.1f}" class="{sure}"/>'
        f'<circle cx="{x(interval.mean):.1f}" cy="7" r="3" class="{sure}"/></svg>'
    )


def claims_view(claims: Sequence[tuple[str, bool, str]]) -> Html:
    """Claims of the paper, and whether they held."""
    rows = [[claim, "held" if held else "not held", figures] for claim, held, figures in claims]
    return data_table("Claims of the paper", ["claim", "here", "figures"], rows, class_="claims")


def text_table(table: TextTable) -> Html:
    """A table of text."""
    return data_table(table.title, table.head, table.rows)


def card(headline: Headline, with_paper: bool) -> Html:
    """The headline in large figures."""
    gain, verdict = headline.gain, headline.verdict
    figures = {"without": headline.without.paper, "with": headline.within.paper}
    stated = ", ".join(f"{name} {value:.1f}" for name, value in figures.items() if value is not None)
    state = "" if verdict is None else f" {verdict.name.lower()}"
    return element(
        "div",
        element("p", headline.measure, class_="note"),
        element(
            "p",
            element("span", f"{headline.without.mean:.1f}", class_="from"),
            element("span", " → ", class_="arrow", aria_hidden="true"),
            element("span", " to ", class_="aside"),
            element("span", f"{headline.within.mean:.1f}", class_=f"to{state}"),
            None if verdict is None else element("span", str(verdict), class_=f"badge{state}"),
            class_="big",
        ),
        element(
            "p",
            f"without constraints, and {headline.given}",
            f"; gain {gain}" if gain is not None else None,
            f"; in the paper, {stated}" if stated and with_paper else None,
            class_="note",
        ),
        class_="card",
    )


def overview(views: Mapping[str, View], corpora: Mapping[str, str]) -> Html:
    """A line a run, the headline of each; without columns that no run fills."""
    rows = [_overview_row(name, view, corpora[name]) for name, view in views.items()]
    measured = any(view.headline is not None for view in views.values())
    said = "measure" if measured else "in short"
    names = ["run", "task", "corpus", said, "without", "with constraints", "gain [95%]", "paper"]
    classes = [None] * 4 + ["n"] * 3 + ["n paper"]
    kept = [k for k in range(1, len(names)) if any(row[k] for row in rows)]
    body: list[list[object]] = [
        [
            element("a", row[0], href=f"#run-{i}"),
            *(element("td", row[k], class_=classes[k]) for k in kept),
        ]
        for i, row in enumerate(rows, 1)
    ]
    return data_table("The runs of this page", [names[0], *(names[k] for k in kept)], body)


def _overview_row(name: str, view: View, corpus: str) -> list[str]:
    head = view.headline
    if head is None:
        return [name, view.title, corpus, view.said, "", "", "", ""]
    gain = "" if head.gain is None else str(head.gain)
    figures = [mean_spread(figure.values) for figure in (head.without, head.within)]
    return [name, view.title, corpus, head.measure, *figures, gain, _paper(head)]


def _paper(head: Headline) -> str:
    """The paper's two figures; where it has one only, which of them that is.

    >>> _paper(Headline("F1", Figure((1.0,)), Figure((2.0,), 38.2), None))
    'with 38.2'
    """
    without, within = head.without.paper, head.within.paper
    if without is not None and within is not None:
        return f"{without:.1f} → {within:.1f}"
    sides = {"without": without, "with": within}
    return "".join(f"{side} {value:.1f}" for side, value in sides.items() if value is not None)


def side_by_side(views: Mapping[str, View]) -> Html | None:
    """The tables of runs of one task beside each other, first tables first; None for a single run."""
    if len(views) < 2 or not all(view.tables for view in views.values()):
        return None
    firsts = {name: view.tables[0] for name, view in views.items()}
    columns = list(dict.fromkeys(column for table in firsts.values() for column in table.columns))
    rows = list(dict.fromkeys(row for table in firsts.values() for row in table.rows))
    groups = [(column, tuple(n for n, t in firsts.items() if column in t.columns)) for column in columns]
    body = []
    for row in rows:
        cells: list[object] = [row]
        for column, names in groups:
            figures = [firsts[name].cells.get((row, column)) for name in names]
            means = [figure.mean for figure in figures if figure is not None]
            best = max(means) if len(means) > 1 else float("inf")
            cells += [_here(figure, best) for figure in figures]
        body.append(cells)
    said = "; ".join(f"{name}: {table.title}" for name, table in firsts.items())
    task = next(iter(views.values())).title
    first = next(iter(firsts.values()))
    measure, rows_are = first.measure, first.rows_are
    return joined(
        data_table(
            f"{task}, runs side by side: {measure}", [rows_are], body, groups=groups, class_="results"
        ),
        element("p", f"In bold, the best run of a row. {said}.", class_="note"),
    )
