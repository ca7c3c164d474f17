"""`lcons evaluate`: precision, recall and F1 of a tagger on gold labels, against its base model.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import POS, pos_tags, print_answer
from lcons_cli.labelled_file import labelled_options, read_words_and_labels
from lcons_cli.options import INPUT, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_tasks.apps import ConstrainedTagger
    from lcons_tasks.own_data import Structures

PLAIN = "plain"
Labels = Sequence[Sequence[str]]


@click.command()
@click.argument("tagger", type=INPUT, metavar="TAGGER")
@click.argument("gold", type=INPUT, metavar="GOLD")
@click.option("--against", default=PLAIN, metavar="FOLDER", help="What it is compared with.")
@labelled_options
@json_option
def evaluate(
    tagger: str, gold: str, against: str, form: str | None, columns: str | None, as_json: bool
) -> None:
    """Print precision, recall and F1 of TAGGER on the labelled sentences of GOLD, in all and by type.

    TAGGER is a folder that `lcons fit` or `lcons run chunking` wrote. GOLD has words and labels, in any
    format of `lcons learn`; neither model should have seen it. The gain over the other model is printed with
    its 95 % interval, from a paired bootstrap over sentences. Labels that mark no spans are counted one by
    one. It is compared with another tagger, or, by default, with its own model without constraints.

    \b
    Example:
      lcons evaluate tagger test.conll
      lcons evaluate tagger test.conll --against plain-tagger --json
    """
    from lcons_tasks.apps import load_constrained_tagger

    ours = load_constrained_tagger(tagger)
    theirs = ours.alone if against == PLAIN else load_constrained_tagger(INPUT.convert(against, None, None))
    data = read_words_and_labels(gold, form, columns)
    rows = evaluation(data, labels_by(ours, data), labels_by(theirs, data))
    answer = {"tagger": tagger, "gold": gold, "against": against, "rows": rows}
    print_answer(as_json, answer, "\n".join(table(rows, Path(gold).name, against)))


def labels_by(tagger: ConstrainedTagger, data: Structures) -> Labels:
    """The labels of the gold sentences by a tagger, with POS tags of spaCy where there are none."""
    xs: list[dict[str, Any]] = [dict(instance.x) for instance in data.instances]
    if POS in tagger.columns and any(POS not in x for x in xs):
        tags = pos_tags()([x["word"] for x in xs])
        xs = [{**x, POS: of_words} for x, of_words in zip(xs, tags, strict=True)]
    with progress("tagging"):
        answers = tagger.tag_stream(xs)
        return [answer.y or ("_",) * len(x["word"]) for x, answer in zip(xs, answers, strict=True)]


def evaluation(data: Structures, ours: Labels, theirs: Labels) -> list[dict[str, Any]]:
    """Precision, recall and F1 of our labels in percent, F1 of theirs and the gain with its interval: one row
    for all types, then one for each."""
    import numpy as np

    from lcons_tasks.stats import are_spans, bootstrap_f1, chunks, counted_spans, f1, runs_as_iob2

    gold = [instance.y for instance in data.instances]
    spans = are_spans(label for y in gold for label in y)
    sides = [[set(chunks(y if spans else runs_as_iob2(y))) for y in side] for side in (gold, ours, theirs)]
    types = sorted({name for side in sides for sentence in side for name, *_ in sentence} - {"O"})
    rows: list[dict[str, Any]] = []
    for kind in ("all", *types):
        names = set(types if kind == "all" else [kind])
        of_kind = [[{span for span in spans if span[0] in names} for spans in side] for side in sides]
        ours_counts, theirs_counts = (
            np.array([counted_spans(*pair) for pair in zip(of_kind[0], side, strict=True)])
            for side in of_kind[1:]
        )
        right, predicted, there = ours_counts.sum(0).tolist()
        gain = bootstrap_f1([ours_counts], [theirs_counts]) if len(gold) > 1 else None
        rows.append(
            {
                "type": kind,
                "gold": there,
                "precision": 100 * right / max(predicted, 1),
                "recall": 100 * right / max(there, 1),
                "f1": float(f1(ours_counts.sum(0))),
                "against": float(f1(theirs_counts.sum(0))),
                "gain": None if gain is None else [gain.mean, gain.low, gain.high],
            }
        )
    return rows


def table(rows: Sequence[dict[str, Any]], gold: str, against: str) -> list[str]:
    """The rows as lines of text."""
    width = max(len("type"), *(len(row["type"]) for row in rows))
    lines = [f"{'type':{width}} {'gold':>6} precision recall    F1 {against[:12]:>12}  gain [95 % interval]"]
    for row in rows:
        gain = "" if row["gain"] is None else "{:+.2f} [{:+.2f}, {:+.2f}]".format(*row["gain"])
        figures = f"{row['precision']:9.2f} {row['recall']:6.2f} {row['f1']:5.2f} {row['against']:12.2f}"
        lines.append(f"{row['type']:{width}} {row['gold']:6,} {figures}  {gain}")
    return [f"F1 on {gold}:", *lines]
