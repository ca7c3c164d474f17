"""`lcons diagnose`: why a constraint helps a model, or why not.

Only click is imported here; other modules are imported when the command runs.
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
from lcons_cli.options import FILE, common_options, in_options
from lcons_cli.progress import waiting, working

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_core._types import OnProgress
    from lcons_tasks.diagnosis._diagnose import Predictions
    from lcons_tasks.own_data import Structures


@click.command(short_help="Find out why a constraint helps a model, or why not.")
@click.argument("constraint", type=FILE, metavar="CONSTRAINT.json")
@click.option(
    "--train",
    required=True,
    type=FILE,
    metavar="FILE",
    help="The data that the constraint was learned from.",
)
@click.option(
    "--held-out",
    type=FILE,
    metavar="FILE",
    help="Data that neither the constraint nor the model was trained on. Default: the last 20 % of the"
    " training data, if `lcons learn --held-out-end` learned only from the others.",
)
@click.option(
    "--model",
    type=FILE,
    metavar="MODEL.npz",
    help="The base model (a tagger); its predictions are judged.",
)
@click.option(
    "--scores",
    type=FILE,
    metavar="FILE",
    help="Instead of a model: its scores of the held-out sentences (npz or JSON lines, as for `lcons"
    " decode`). Their best labels without constraints are judged.",
)
@click.option(
    "--predictions",
    type=FILE,
    metavar="FILE",
    help="Instead of a model: its predictions for the held-out data. Labels: the same sentences in CoNLL"
    " columns, or JSON lines with `labels`. Tuples: JSON lines.",
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
    help="The source of the constraint's negatives (relabel, flip, unseen, ...). Default: the recorded"
    " source, or else the paper's for its feature.",
)
@common_options("Show each reference, with intervals, and each judge.")
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
    """Find out why the constraint in CONSTRAINT.json helps a model, or why not.

    Is there such a constraint in the data, did the learner find it, and does the base model already obey it?
    The answers are measured on held-out data: label sequences or tuples, as for `lcons learn`. Without a
    model, scores or predictions, the last question stays open. Warnings come first, for example if psi is
    unlike training. The last line is advice; with a model or scores it is the choice of `lcons decode
    --choose`.

    \b
    Example:
      lcons diagnose pos-3.json --train train.txt --held-out dev.txt --model model.npz

    \b
    With your own scores, and with tuples:
      lcons diagnose bigrams.json --train train.conll --held-out dev.conll --scores scores.npz
      lcons diagnose pairs.json --train pairs.jsonl --predictions predicted.jsonl
    """
    if sum(given is not None for given in (model, scores, predictions)) > 1:
        raise click.UsageError("use one of --model, --scores and --predictions, not several.")
    from lcons_core import InvalidInput, load
    from lcons_tasks import diagnosis
    from lcons_tasks.own_data import PsiTable

    if held_out is not None and Path(held_out).resolve() == Path(train).resolve():
        raise InvalidInput(
            f"expected held-out data that the constraint was not learned from, found {held_out!r}, which is"
            " also the training data; name another file."
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
            f"expected --held-out FILE, found none, and {division.why}; name data that it was not learned"
            " from, or learn it with `lcons learn --held-out-end`."
        )
    if division.held_out is not None:
        say(f"{division.why}, as it records" + ("; the others are held out" if held_out is None else ""))
    if isinstance(held, PsiTable):
        raise InvalidInput("a diagnosis is of label sequences or tuples: got a table of psi vectors.")
    answers, doubts = _answers(
        learned, held, (model, scores, predictions), predicted_column, columns, tabs, say
    )
    with ExitStack() as stack:
        shown: list[OnProgress] = []

        def progress(done: int, total: int) -> None:
            # The clock starts here, because the imports before are not part of the work.
            if not shown:
                what = "measuring references, on original and shuffled data"
                shown.append(stack.enter_context(waiting(what, say)))
            shown[0](done, total)

        found = diagnosis.diagnose(learned, division.train, held, answers, seed, negatives, progress)
    ctx = click.get_current_context()
    warnings = tuple(" ".join(text.split()) for text in (*doubts, *found.warnings))
    not_asked = tuple(in_options(text, ctx.command, ctx) for text in found.not_asked)
    found = replace(found, warnings=warnings, not_asked=not_asked)
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
    held_out: Structures,
    files: tuple[str | None, str | None, str | None],
    column: int,
    columns: str | None,
    tabs: bool,
    say: Say,
) -> tuple[Predictions | None, tuple[str, ...]]:
    """(answers, warnings): the answers of the model, the scores or the predictions in one of the files."""
    from lcons_core import InvalidInput
    from lcons_tasks.diagnosis import predict_scores, read_predictions, read_scores
    from lcons_tasks.models import load_tagger

    model, scores, predictions = files
    if predictions is not None:
        return read_predictions(predictions, held_out, _words(columns), column, tabs), ()
    file = model or scores
    if file is None:
        return None, ()
    if held_out.tuples:
        raise InvalidInput(f"expected held-out label sequences with {file!r}: got tuples; use --predictions.")
    if model is not None:
        with waiting("scoring by the model", say) as progress:
            return predict_scores(load_tagger(model), held_out.instances, progress), ()
    with working("reading scores", say):
        scored = read_scores(file, held_out)
    known = dict.fromkeys(label for one in scored for label in one.scores.labels)
    return scored, _doubts(constraint, tuple(known), file)


def _words(columns: str | None) -> int:
    """The column of words in `--columns`; the first column if it names members of JSON lines."""
    from lcons_core import InvalidInput
    from lcons_tasks.data._stream import column_layout

    try:
        words = 1 if columns is None else column_layout(columns).words
    except InvalidInput:
        return 1
    return words if isinstance(words, int) else 1


def _doubts(constraint: LearnedConstraint, labels: tuple[str, ...], file: str) -> tuple[str, ...]:
    """A warning if the scores have labels that the constraint does not have."""
    from lcons_core import InvalidInput

    known = constraint.labels or labels
    unknown = [label for label in labels if label not in known]
    if not unknown:
        return ()
    shown = ", ".join(unknown[:4]) + (" ..." if unknown[4:] else "")
    if len(unknown) == len(labels):
        raise InvalidInput(
            f"expected scores of the labels of the constraint ({', '.join(known[:6])}"
            f"{' ...' if known[6:] else ''}), found others in {file!r} ({shown}); name the columns as in its"
            " data."
        )
    return (
        f"the scores have {len(labels)} labels, {len(unknown)} of which the constraint does not have"
        f" ({shown}); sentences with one of these are left out",
    )
