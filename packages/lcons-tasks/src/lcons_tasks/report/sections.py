"""The sections of a run: results, constraints, sentences, provenance, and its own report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lcons_tasks.report.constraints import READING, Bodies, set_view
from lcons_tasks.report.curves import curve_view, picture
from lcons_tasks.report.figures import View
from lcons_tasks.report.html import Html, element, joined
from lcons_tasks.report.markdown import render_markdown
from lcons_tasks.report.predictions import Sentence, read_predictions
from lcons_tasks.report.provenance import headed, provenance_view
from lcons_tasks.report.reasons import reasons
from lcons_tasks.report.results import claims_view, gains_table, result_table
from lcons_tasks.report.run import ConstraintSet, Run
from lcons_tasks.report.sentences import chosen, colours, sentence_item

Tell = Callable[[str], None]
Predictions = Mapping[Path, list[Sentence]]


@dataclass(frozen=True)
class Limits:
    """How much of each run is shown: sets of constraints, files of predictions as many, and sentences."""

    sets: int = 2
    sentences: int = 200


def run_section(run: Run, view: View, number: int, limits: Limits, tell: Tell) -> Html:
    """Everything about a run; `tell` hears of each constraint before it is looked at."""
    prefix = f"run-{number}"
    read = _read(run, view, limits)
    return element(
        "section",
        element("h2", run.name),
        element("p", headed(run, view), class_="note"),
        _results(run, view, prefix),
        _constraints(run, view, prefix, limits, read, tell),
        _sentences(run, view, prefix, limits, read),
        _section(prefix, "provenance", "Provenance", provenance_view(run, view)),
        _report(run, view),
        id=prefix,
        class_="run",
    )


def shown_sets(run: Run, view: View, limits: Limits) -> list[ConstraintSet]:
    """The sets of constraints that are shown, those of the first cells first."""
    ordered = sorted(run.sets, key=lambda one: _rank(_cell(one), view.cells))
    return ordered[: limits.sets]


def _cell(one: ConstraintSet) -> str:
    return one.name.split("/")[0]


def _rank(name: str, cells: Sequence[str]) -> int:
    """The place of a file or folder among cells, by the cell that its name ends with."""
    return next((i for i, cell in enumerate(cells) if _is_of(name, cell)), len(cells))


def _is_of(name: str, cell: str) -> bool:
    return name == cell or name.endswith(f"-{cell}")


def _files(run: Run, view: View, limits: Limits) -> list[Path]:
    """The files of predictions whose sentences are shown."""
    return sorted(run.predictions, key=lambda path: _rank(path.stem, view.cells))[: limits.sets]


def _gold_file(one: ConstraintSet, files: Sequence[Path]) -> Path | None:
    """The predictions of the cell that a set belongs to."""
    return next((path for path in files if _is_of(path.stem, _cell(one))), None)


def _read(run: Run, view: View, limits: Limits) -> dict[Path, list[Sentence]]:
    """The predictions that are shown or tell what gold labels are; without those of an unknown kind."""
    golds = [_gold_file(one, run.predictions) for one in shown_sets(run, view, limits)]
    wanted = dict.fromkeys([*_files(run, view, limits), *(path for path in golds if path is not None)])
    found = {path: read_predictions(path) for path in wanted}
    return {path: sentences for path, sentences in found.items() if sentences}


def _section(prefix: str, name: str, title: str, *content: object) -> Html:
    return element("section", element("h3", title), *content, id=f"{prefix}-{name}")


def _results(run: Run, view: View, prefix: str) -> Html | None:
    """Tables, gains, claims and a curve; of an unknown task, its report and its pictures."""
    if not view.tables:
        pictures = [found for path in run.pictures if (found := picture(path)) is not None]
        parts = [render_markdown(run.report), *pictures]
        return _section(prefix, "results", "Results", *parts) if run.report or pictures else None
    one_size = element("p", "One size of training data, so there is no learning curve.", class_="note")
    return _section(
        prefix,
        "results",
        "Results",
        *(result_table(table) for table in view.tables),
        _paper_note(view),
        gains_table(view.gains) if view.gains else None,
        claims_view(view.claims) if view.claims else None,
        element("h4", "Learning curve"),
        one_size if view.curve is None else curve_view(view.curve),
    )


def _paper_note(view: View) -> Html | None:
    stated = any(figure.paper is not None for table in view.tables for figure in table.cells.values())
    if view.paper_corpus is None or not stated:
        return None
    return element(
        "p",
        f"The paper's figures are on {view.paper_corpus}, another corpus than here: they are for orientation,"
        " not for comparison.",
        class_="note",
    )


def _constraints(
    run: Run, view: View, prefix: str, limits: Limits, read: Predictions, tell: Tell
) -> Html | None:
    shown = shown_sets(run, view, limits)
    if not shown:
        return None
    bodies = Bodies()
    articles = []
    for number, one in enumerate(shown):
        path = _gold_file(one, list(read))
        gold = read[path] if path is not None else []
        articles.append(set_view(one, number, gold, str(path), bodies, tell))
    names = [element("option", one.name, value=i) for i, one in enumerate(shown)]
    controls = element(
        "div",
        element("label", "Constraint set ", element("select", *names, data_pick="set")),
        _toggle("Open all parts", "open"),
        element("output", aria_live="polite"),
        class_="controls needs-script",
    )
    note = None
    if len(run.sets) > len(shown):
        said = (
            f"{len(shown)} of {len(run.sets)} sets of constraints are on this page; `--sets` says how many."
        )
        note = element("p", said, class_="note")
    return _section(
        prefix,
        "constraints",
        "Constraints",
        READING,
        note,
        element("div", controls, *articles, data_filter="constraints"),
    )


def _sentences(run: Run, view: View, prefix: str, limits: Limits, read: Predictions) -> Html | None:
    known = [(path, read[path]) for path in _files(run, view, limits) if path in read]
    if not known or limits.sentences < 1:
        return None
    colour = colours([one for _, sentences in known for one in sentences])
    because = reasons(run.results)
    items = []
    notes = []
    for number, (path, sentences) in enumerate(known):
        kept = chosen(sentences, limits.sentences)
        changed = sum(one.changed for one in sentences)
        left_out = len(sentences) - len(kept)
        notes.append(
            f"{path.stem}: {changed:,} of {len(sentences):,} sentences changed"
            + (f", {left_out:,} sentences are not on this page (`--sentences`)" if left_out else "")
        )
        items += [sentence_item(sentences[i], colour, number, because.get(sentences[i].words)) for i in kept]
    options = [element("option", path.stem, value=i) for i, (path, _) in enumerate(known)]
    controls = element(
        "div",
        element("label", "Predictions ", element("select", *options, data_pick="file")),
        element("label", "Containing ", element("input", type="search", data_text=True, size=18)),
        _toggle("Only changed", "changed", pressed=True),
        _toggle("Only with errors", "wrong"),
        _toggle("Gold", "gold", pressed=True),
        element("output", aria_live="polite"),
        class_="controls needs-script",
    )
    legend = "A label stands in each mark. Dashed: gold has no such mark."
    return _section(
        prefix,
        "sentences",
        "Sentences before and after",
        element("p", f"{'; '.join(notes)}. {legend}", class_="note"),
        element("div", controls, element("ul", *items, class_="sentences"), data_filter="sentences"),
    )


def _toggle(name: str, key: str, pressed: bool = False) -> Html:
    return element(
        "button", name, type="button", class_="toggle", aria_pressed=str(pressed).lower(), data_toggle=key
    )


def _report(run: Run, view: View) -> Html | None:
    """The run's own report, as it was written; shown as results already where the task is not known."""
    if not run.report or not view.tables:
        return None
    return joined(element("details", element("summary", "The run's own report"), render_markdown(run.report)))
