"""`lcons diagnose`: why a constraint helps a model, or does not.

Only click is imported here; what the command needs is imported when it runs.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import FILE, shared
from lcons_cli.progress import Progress, waiting, working

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_tasks.diagnosis._given import Predictions
    from lcons_tasks.own_data import Data


@click.command(short_help="Tell why a constraint helps a model, or does not.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json")
@click.option(
    "--train",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The data that the constraint learned from.",
)
@click.option(
    "--held-out",
    type=FILE,
    metavar="FILE",
    help="Data that neither it nor the model has seen. Default: what `lcons learn` held out of the training"
    " data, the last 20 %, where the constraint records that.",
)
@click.option(
    "--model",
    type=FILE,
    metavar="MODEL.npz",
    help="The base model, a tagger, whose predictions are judged.",
)
@click.option(
    "--scores",
    type=FILE,
    metavar="FILE",
    help="In place of a model: its scores of the held-out sentences (npz or JSON lines, as for `lcons"
    " decode`). What they say without constraints is judged.",
)
@click.option(
    "--predictions",
    type=FILE,
    metavar="FILE",
    help="In place of a model: its predictions for the held-out data. Labels: the same sentences in CoNLL"
    " columns, or JSON lines with `labels`. Tuples: JSON lines. psi vectors: a table with a row for each"
    " valid held-out row, whose own `valid` is not read.",
)
@click.option(
    "--predicted-column",
    default=-1,
    show_default=True,
    metavar="NUMBER",
    help="The column of predicted labels in CoNLL columns, from 1, or from -1 at the end.",
)
@labelled_options
@click.option(
    "--negatives",
    metavar="NAME",
    help="Where the constraint's negatives came from (relabel, flip, unseen, ...). Default: as it was"
    " recorded, else the paper's for its feature; of tables the invalid rows.",
)
@shared("Show each reference, with intervals, and who judges what.")
def diagnose(
    constraint: str,
    train: str,
    held_out: str | None,
    model: str | None,
    scores: str | None,
    predictions: str | None,
    predicted_column: int,
    form: str | None,
    columns: str | None,
    tabs: bool,
    negatives: str | None,
    as_json: bool,
    seed: int,
    quiet: bool,
    verbose: bool,
) -> None:
    """Tell why the constraint in CONSTRAINT.json helps a model, or does not.

    Is there such a constraint in the data, did the learner find it, and does the base model obey it already?
    Measured on held-out data, which are label sequences, tuples or psi vectors as for `lcons learn`; without
    a model, scores or predictions, the last question stays open. A warning comes first where psi leaves what
    training saw.

    \b
    Example:
      lcons diagnose pos-3.json --train train.txt --held-out dev.txt --model model.npz

    \b
    With scores of one's own, with tuples, and with psi vectors:
      lcons diagnose bigrams.json --train train.conll --held-out dev.conll --scores scores.npz
      lcons diagnose pairs.json --train pairs.jsonl --predictions predicted.jsonl
      lcons diagnose psi.json --train psi.csv
    """
    if sum(given is not None for given in (model, scores, predictions)) > 1:
        raise click.UsageError("give one of --model, --scores and --predictions, not several.")
    from lcons_core import load
    from lcons_core._errors import InvalidInput
    from lcons_tasks import diagnosis

    if held_out is not None and Path(held_out).resolve() == Path(train).resolve():
        raise InvalidInput(
            f"expected held-out data that the constraint has not seen, found {held_out!r}, which it learned"
            " from; name another file."
        )
    say: Say = say_nothing if quiet else say_on_stderr
    learned = load(constraint)
    with working(f"reading {Path(train).name}", say):
        division = diagnosis.divide(learned, read_labelled(train, form, columns, tabs, say))
        held = division.held_out
        if held_out is not None:
            held = read_labelled(held_out, form, columns, tabs, say)
    if held is None:
        raise InvalidInput(
            f"expected --held-out FILE, found none, and {division.why}; name data that it has not seen."
        )
    if division.held_out is not None:
        say(f"{division.why}, as it records" + ("; the others are held out" if held_out is None else ""))
    answers, doubts = _answers(
        learned, held, (model, scores, predictions), predicted_column, columns, tabs, say
    )
    with ExitStack() as stack:
        shown: list[Progress] = []

        def progress(done: int, total: int) -> None:
            # The clock starts here, as what is imported before is not the pace of the work.
            if not shown:
                what = "measuring references, on the data as they are and shuffled"
                shown.append(stack.enter_context(waiting(what, say)))
            shown[0](done, total)

        found = diagnosis.diagnose(learned, division.train, held, answers, seed, negatives, progress)
    warnings = tuple(" ".join(text.split()) for text in (*doubts, *found.warnings))
    found = replace(found, warnings=warnings)
    warned = [f"warning: {text}" for text in warnings]
    if as_json:
        for text in warned:
            click.echo(text, err=True)
        click.echo(json.dumps(found.to_dict(), indent=2))
        return
    for line in found.report(verbose).split("\n"):
        click.secho(line, bold=True if line in warned else None)


def _answers(
    constraint: LearnedConstraint,
    held_out: Data,
    files: tuple[str | None, str | None, str | None],
    column: int,
    columns: str | None,
    tabs: bool,
    say: Say,
) -> tuple[Predictions | None, tuple[str, ...]]:
    """(what the model, the scores or the predictions in one of the files say, what is doubtful about it)."""
    from lcons_core._errors import InvalidInput
    from lcons_tasks.diagnosis import predict, read_predictions, read_scores
    from lcons_tasks.models._tagger import load_tagger
    from lcons_tasks.own_data import Structures

    model, scores, predictions = files
    if predictions is not None:
        return read_predictions(predictions, held_out, _words(columns), column, tabs), ()
    file = model or scores
    if file is None:
        return None, ()
    if not isinstance(held_out, Structures) or held_out.tuples:
        kind = "tuples" if isinstance(held_out, Structures) else "psi vectors"
        raise InvalidInput(
            f"expected label sequences for {file!r} to be about, found {kind}; give what was predicted with"
            " --predictions."
        )
    if model is not None:
        with waiting("labelling by the model", say) as progress:
            return predict(load_tagger(model), held_out.instances, progress), ()
    with waiting("labelling by the scores", say) as progress:
        labels, known = read_scores(file, held_out, progress)
    return labels, _doubts(constraint, known, file)


def _words(columns: str | None) -> int:
    """The column of words that `--columns` states; the first where it states members of JSON lines."""
    from lcons_core._errors import InvalidInput
    from lcons_tasks.data._stream import column_layout

    try:
        words = 1 if columns is None else column_layout(columns).words
    except InvalidInput:
        return 1
    return words if isinstance(words, int) else 1


def _doubts(constraint: LearnedConstraint, labels: tuple[str, ...], file: str) -> tuple[str, ...]:
    """A warning where scores are of labels that the constraint does not know."""
    from lcons_core._errors import InvalidInput

    known = constraint.labels or labels
    unknown = [label for label in labels if label not in known]
    if not unknown:
        return ()
    shown = ", ".join(unknown[:4]) + (" ..." if unknown[4:] else "")
    if len(unknown) == len(labels):
        raise InvalidInput(
            f"expected scores of labels that the constraint knows ({', '.join(known[:6])}"
            f"{' ...' if known[6:] else ''}), found others in {file!r} ({shown}); name the columns as in its"
            " data."
        )
    return (
        f"the scores are of {len(labels)} labels, {len(unknown)} of which the constraint does not know"
        f" ({shown}); sentences that get one of these are left out",
    )
