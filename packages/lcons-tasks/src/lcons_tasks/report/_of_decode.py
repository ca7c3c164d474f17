"""Decoded sequences of one's own as figures: what changed and, where there are gold labels, accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcons_tasks.report._figures import Figure, Gain, Headline, ResultTable, TextTable, View
from lcons_tasks.report._results_json import interval

SIDES = {"without": "without constraints", "with": "with constraints"}
HEADLINE = "token accuracy"


def view(results: Mapping[str, Any]) -> View:
    """Counts of changes; with gold labels, a column a measure, and token accuracy as the headline."""
    sequences, labels, gold = results["sequences"], results["labels"], results["gold"]
    said = (
        f"{sequences['changed']:,} of {sequences['all']:,} sequences changed, {labels['changed']:,} of"
        f" {labels['all']:,} labels"
    )
    figures: Mapping[str, Any] = gold["figures"] if gold else {}
    where = f"{sequences['gold']:,} sequences"
    return View(
        "Decoded sequences",
        _headline(figures, where) if gold else None,
        (_table(figures, f"{gold['labels']:,} labels of {where} with gold labels, %"),) if gold else (),
        tuple(
            Gain(f"with over without constraints, {name}", where, interval(one))
            for name, one in figures.items()
            if one.get("interval")
        ),
        said=said,
        texts=tuple(_texts(results)),
        curve_is="",
    )


def _figure(one: Mapping[str, Any], side: str) -> Figure:
    return Figure((float(one[side]),))


def _headline(figures: Mapping[str, Any], where: str) -> Headline:
    own = figures[HEADLINE]
    gain = interval(own) if own["interval"] else None
    return Headline(
        f"{HEADLINE}, {where}", _figure(own, "without"), _figure(own, "with"), gain, "with those given"
    )


def _table(figures: Mapping[str, Any], measure: str) -> ResultTable:
    cells = {(row, name): _figure(one, side) for name, one in figures.items() for side, row in SIDES.items()}
    return ResultTable("Against gold", measure, tuple(SIDES.values()), tuple(figures), cells, "labels")


def _texts(results: Mapping[str, Any]) -> list[TextTable]:
    sequences, labels, gold = results["sequences"], results["labels"], results["gold"]
    rows = [
        ("in all", f"{sequences['all']:,}", f"{labels['all']:,}"),
        ("changed by constraints", *(_share(own) for own in (sequences, labels))),
    ]
    if gold:
        became = gold["became"]
        rows += [
            ("changed to right", "", f"{became['right']:,}"),
            ("changed from right to wrong", "", f"{became['wrong']:,}"),
            ("changed from wrong to wrong", "", f"{became['neither']:,}"),
        ]
    rows += [(f"decoded: {status}", f"{number:,}", "") for status, number in results["statuses"].items()]
    if sequences["words"] < sequences["all"]:
        rows.append(("no words: positions stand for them", f"{sequences['all'] - sequences['words']:,}", ""))
    found = [TextTable("What the constraints changed", ("", "sequences", "labels"), tuple(rows))]
    broken = results["violations"]
    if broken:
        body = tuple((name, f"{one['sequences']:,}", f"{one['places']:,}") for name, one in broken.items())
        found.append(TextTable("Violations that remain", ("constraint", "sequences", "places"), body))
    return found


def _share(own: Mapping[str, int]) -> str:
    return f"{own['changed']:,} ({100 * own['changed'] / max(own['all'], 1):.1f}%)"
