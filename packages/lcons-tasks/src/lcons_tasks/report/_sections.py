"""The sections of a run: results, constraints, sentences, provenance, and its own report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lcons_tasks.report._constraints import READING, Bodies, Gold, set_view
from lcons_tasks.report._curves import curve_view, picture
from lcons_tasks.report._figures import View
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._old_markdown import render_markdown
from lcons_tasks.report._predictions import Sentence, read_predictions
from lcons_tasks.report._provenance import headed, provenance_view
from lcons_tasks.report._reasons import reasons
from lcons_tasks.report._results import claims_view, gains_table, result_table, text_table
from lcons_tasks.report._run import Run
from lcons_tasks.report._sentences import chosen, colours, sentence_item
from lcons_tasks.report._shown import Limits, gold_file, parts_in_words, shown_files, shown_sets

Tell = Callable[[str], None]
Predictions = Mapping[Path, list[Sentence]]


def run_section(run: Run, view: View, number: int, limits: Limits, tell: Tell, say: Tell) -> Html:
    """Everything about a run; `tell` hears of each constraint before it is looked at, `say` of what is shown
    and what is left out."""
    prefix = f"run-{number}"
    read = _read(run, view, limits)
    for line in parts_in_words(run, view, limits):
        say(f"{run.name}: {line}")
    return element(
        "section",
        element("h2", run.name),
        element("p", headed(run, view), class_="note"),
        _results(run, view, prefix),
        _constraints(run, view, prefix, limits, read, tell),
        _sentences(run, view, prefix, limits, read, say),
        _section(prefix, "provenance", "Provenance", provenance_view(run)),
        _report(run, view),
        id=prefix,
        class_="run",
    )


def _read(run: Run, view: View, limits: Limits) -> dict[Path, list[Sentence]]:
    """The predictions that are shown or tell what gold labels are; without those of an unknown kind."""
    golds = [gold_file(run, one) for one in shown_sets(run, view, limits)]
    wanted = dict.fromkeys([*shown_files(run, view, limits), *(path for path in golds if path is not None)])
    found = {path: read_predictions(path) for path in wanted}
    return {path: sentences for path, sentences in found.items() if sentences}


def _section(prefix: str, name: str, title: str, *content: object) -> Html:
    return element("section", element("h3", title), *content, id=f"{prefix}-{name}")


def _results(run: Run, view: View, prefix: str) -> Html | None:
    """Tables, gains, claims and a curve; of an unknown task, its report and its pictures."""
    if not view.tables and not view.texts:
        pictures = [found for path in run.pictures if (found := picture(path)) is not None]
        parts = [render_markdown(run.report), *pictures]
        return _section(prefix, "results", "Results", *parts) if run.report or pictures else None
    return _section(
        prefix,
        "results",
        "Results",
        element("p", f"{view.said}.") if view.said else None,
        *(result_table(table) for table in view.tables),
        _paper_note(view),
        gains_table(view.gains) if view.gains else None,
        *(text_table(table) for table in view.texts),
        claims_view(view.claims) if view.claims else None,
        _curve(view),
    )


def _curve(view: View) -> Html | None:
    if not view.curve_is:
        return None
    none = f"One size only, so there is no {view.curve_is[:1].lower()}{view.curve_is[1:]}."
    return joined(
        element("h4", view.curve_is),
        element("p", none, class_="note") if view.curve is None else curve_view(view.curve),
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
        path = gold_file(run, one)
        gold = Gold() if path is None else Gold(path, read.get(path, []))
        articles.append(set_view(one, number, gold, bodies, tell))
    controls = element(
        "div",
        _pick("Constraint set ", "set", [one.name for one in shown]),
        _toggle("Open all parts", "open"),
        element("output", aria_live="polite") if len(shown) > 1 else None,
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


def _sentences(
    run: Run, view: View, prefix: str, limits: Limits, read: Predictions, say: Tell
) -> Html | None:
    known = [(path, read[path]) for path in shown_files(run, view, limits) if path in read]
    if not known or limits.sentences < 1:
        for path, sentences in known:
            say(f"{run.name}: {path.stem}: all {len(sentences):,} sentences left out by --sentences")
        return None
    everything = [one for _, sentences in known for one in sentences]
    colour = colours(everything)
    because = reasons(run.results)
    items = []
    notes = []
    for number, (path, sentences) in enumerate(known):
        kept = chosen(sentences, limits.sentences)
        changed = sum(one.changed for one in sentences)
        left_out = len(sentences) - len(kept)
        said = f"{path.stem}: {changed:,} of {len(sentences):,} sentences changed"
        notes.append(
            said + (f", {left_out:,} sentences are not on this page (`--sentences`)" if left_out else "")
        )
        say(
            f"{run.name}: {said}; {len(kept):,} shown"
            + (f", {left_out:,} left out by --sentences" if left_out else "")
        )
        items += [sentence_item(sentences[i], colour, number, because.get(sentences[i].words)) for i in kept]
    with_gold = any(one.gold is not None for one in everything)
    controls = element(
        "div",
        _pick("Predictions ", "file", [path.stem for path, _ in known]),
        element("label", "Containing ", element("input", type="search", data_text=True, size=18)),
        _toggle("Only changed", "changed", pressed=True),
        _toggle("Only with errors", "wrong") if with_gold else None,
        _toggle("Gold", "gold", pressed=True) if with_gold else None,
        element("output", aria_live="polite"),
        class_="controls needs-script",
    )
    dashed = "gold has no such mark" if with_gold else "the other line has no such mark"
    if with_gold and any(one.gold is None for one in everything):
        dashed += ", or where there is no gold, the other line"
    return _section(
        prefix,
        "sentences",
        "Sentences before and after",
        element("p", f"{'; '.join(notes)}. A label stands in each mark. Dashed: {dashed}.", class_="note"),
        element("div", controls, element("ul", *items, class_="sentences"), data_filter="sentences"),
    )


def _pick(label: str, key: str, names: Sequence[str]) -> Html | None:
    """A choice by number; None where there is nothing to choose."""
    if len(names) < 2:
        return None
    options = [element("option", name, value=i) for i, name in enumerate(names)]
    return element("label", label, element("select", *options, data_pick=key))


def _toggle(name: str, key: str, pressed: bool = False) -> Html:
    return element(
        "button", name, type="button", class_="toggle", aria_pressed=str(pressed).lower(), data_toggle=key
    )


def _report(run: Run, view: View) -> Html | None:
    """The run's own report, as it was written; shown as results already where the task is not known."""
    if not run.report or not view.tables:
        return None
    return joined(element("details", element("summary", "The run's own report"), render_markdown(run.report)))
