"""`lcons diagnose`: why a constraint helps a model, or does not.

Only click is imported here; what the command needs is imported when it runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lcons_tasks.corpus import Columns, Sentence

LABEL = "label"


@click.command()
@click.argument("constraint", metavar="CONSTRAINT.json")
@click.option(
    "--train", required=True, metavar="FILE", help="The sentences that the constraint learned from."
)
@click.option(
    "--held-out", required=True, metavar="FILE", help="Sentences that neither it nor the model has seen."
)
@click.option("--model", metavar="MODEL.npz", help="The base model, whose predictions are judged.")
@click.option(
    "--predictions",
    metavar="FILE",
    help="In place of a model: the held-out sentences in CoNLL columns with its predicted labels.",
)
@click.option(
    "--predicted-column",
    default=-1,
    show_default=True,
    metavar="NUMBER",
    help="The column of predicted labels in that file, from 1, or from -1 at the end.",
)
@click.option(
    "--columns",
    default=f"word,pos,{LABEL}",
    show_default=True,
    metavar="COLUMNS",
    help="The columns of the files: names are the first ones in order, `_` skips one, and numbers are given"
    f" as in `word=1,pos=2,{LABEL}=-1`, from the end where negative. Others are not read.",
)
@click.option(
    "--negatives",
    metavar="NAME",
    help="Where the constraint's negatives came from (relabel, flip, unseen, ...). Default: as it was"
    " recorded, else the paper's for its feature.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--seed", default=0, show_default=True, help="Start of the random numbers.")
def diagnose(
    constraint: str,
    train: str,
    held_out: str,
    model: str | None,
    predictions: str | None,
    predicted_column: int,
    columns: str,
    negatives: str | None,
    as_json: bool,
    seed: int,
) -> None:
    """Tell why the constraint in CONSTRAINT.json helps a model, or does not.

    Is there such a constraint in the data, did the learner find it, and does the base model obey it already?
    Measured on held-out sentences; without a model or predictions, the last question stays open.

    \b
    Example:
      lcons diagnose pos-3.json --train train.txt --held-out dev.txt --model model.npz
    """
    if model is not None and predictions is not None:
        raise click.UsageError("give --model or --predictions, not both.")
    from lcons_core import load
    from lcons_tasks import diagnosis
    from lcons_tasks.corpus import read_columns
    from lcons_tasks.models.tagger import load_tagger

    learned = load(constraint)
    layout = _layout(columns)
    sentences = list(read_columns(held_out, layout))
    labels = None
    if model is not None:
        labels = diagnosis.predict(load_tagger(model), sentences)
    elif predictions is not None:
        labels = _predicted(predictions, sentences, layout, predicted_column)
    with _working():
        found = diagnosis.diagnose(
            learned, list(read_columns(train, layout)), sentences, labels, seed, negatives
        )
    click.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))


def _layout(text: str) -> Columns:
    """The layout that `--columns` states."""
    from lcons_core.errors import InvalidInput
    from lcons_tasks.corpus import Columns
    from lcons_tasks.tagging.reading import column_layout

    found = column_layout(text)
    context = dict(found.context)
    if LABEL not in context:
        raise InvalidInput(
            f"expected a column named `{LABEL}`, found `{text}`; name the column of labels so."
        )
    labels = context.pop(LABEL)
    return Columns(words=found.words, labels=labels, context=context)


def _predicted(path: str, sentences: list[Sentence], layout: Columns, column: int) -> list[tuple[str, ...]]:
    """The predicted labels of a file, which must have the words of the held-out sentences."""
    from lcons_core.errors import InvalidInput
    from lcons_tasks.corpus import Columns, read_columns

    found = list(read_columns(path, Columns(words=layout.words, labels=column)))
    for i, (held_out, predicted) in enumerate(zip(sentences, found, strict=False), start=1):
        if held_out.words != predicted.words:
            raise InvalidInput(
                f"expected the words of the held-out sentences in {path!r}, found others in sentence {i};"
                " predict these very sentences."
            )
    if len(found) != len(sentences):
        raise InvalidInput(
            f"expected {len(sentences)} sentences in {path!r}, as many as are held out, found {len(found)};"
            " predict these very sentences."
        )
    return [sentence.labels for sentence in found]


@contextmanager
def _working() -> Iterator[None]:
    """A sign of life on stderr if that is a terminal, gone when the block ends."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status("measuring references, with the labels as they are and shuffled"):
        yield
