"""`lcons diagnose`: why a constraint helps a model, or why not.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import print_answer, say, warn
from lcons_cli.labelled_file import TABS, labelled_options, read_labelled
from lcons_cli.options import INPUT, in_options, json_option, seed_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint
    from lcons_tasks.diagnosis._diagnose import Predictions
    from lcons_tasks.own_data import Structures


@click.command()
@click.argument("constraint", type=INPUT, metavar="CONSTRAINT.json")
@click.option("--train", required=True, type=INPUT, help="The data that the constraint was learned from.")
@click.option("--held-out", type=INPUT, help="Data that neither the constraint nor the model has seen.")
@click.option("--model", type=INPUT, metavar="MODEL.npz", help="The base model, a tagger.")
@click.option("--scores", type=INPUT, help="Instead of a model: its scores of the held-out sentences.")
@click.option("--predictions", type=INPUT, help="Instead of a model: its predictions for the held-out data.")
@labelled_options
@seed_option
@json_option
def diagnose(
    constraint: str,
    train: str,
    held_out: str | None,
    model: str | None,
    scores: str | None,
    predictions: str | None,
    form: str | None,
    columns: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Find out why the constraint in CONSTRAINT.json helps a model, or why not.

    Is there such a constraint in the data, did the learner find it, and does the base model already obey it?
    The answers are measured on held-out label sequences, as for `lcons learn`. Default: the last 20 % of the
    training data, if `lcons learn --held-out-end` learned only from the others.

    Without a model, scores or predictions, the last question stays open. Scores are as for `lcons decode`.
    Predicted labels are the same sentences in CoNLL columns, the word first and the predicted label last, or
    JSON lines with `labels`.

    Warnings come first, for example if psi is unlike training. The last line is advice; with a model or
    scores it is the choice of `lcons decode --choose`.

    \b
    Example:
      lcons diagnose pos-3.json --train train.txt --held-out dev.txt --model model.npz

    \b
    With the scores of your own model:
      lcons diagnose bigrams.json --train train.conll --held-out dev.conll --scores scores.npz
    """
    if sum(file is not None for file in (model, scores, predictions)) > 1:
        raise click.UsageError("use one of --model, --scores and --predictions.")
    if held_out is not None and Path(held_out).resolve() == Path(train).resolve():
        raise click.UsageError("--held-out names the training data: name other data.")
    from lcons_core import InvalidInput, load
    from lcons_tasks import diagnosis
    from lcons_tasks.own_data import Structures

    learned = load(constraint)
    division = diagnosis.divide(learned, read_labelled(train, form, columns))
    held = division.held_out if held_out is None else read_labelled(held_out, form, columns)
    if held is None:
        raise InvalidInput(
            f"expected --held-out FILE, because {division.why}; or learn with `lcons learn --held-out-end`."
        )
    if not isinstance(held, Structures) or held.tuples:
        raise InvalidInput("a diagnosis is of label sequences: got other data.")
    if division.held_out is not None:
        say(f"{division.why}, as it records" + ("; the others are held out" if held_out is None else ""))
    doubts: tuple[str, ...] = ()
    if predictions is None:
        judged, doubts = _answers(learned, held, model, scores)
    else:
        judged = diagnosis.read_predictions(predictions, held, tabs=form == TABS)
    with progress("measuring references, on original and shuffled data") as report:
        diagnosed = diagnosis.diagnose(learned, division.train, held, judged, seed, report)
    command = click.get_current_context().command
    warnings = tuple(" ".join(text.split()) for text in (*doubts, *diagnosed.warnings))
    not_asked = tuple(in_options(text, command) for text in diagnosed.not_asked)
    diagnosed = replace(diagnosed, warnings=warnings, not_asked=not_asked)
    for text in warnings if as_json else ():
        warn(text)
    print_answer(as_json, diagnosed.to_dict(), diagnosed.report())


def _answers(
    constraint: LearnedConstraint, held_out: Structures, model: str | None, scores: str | None
) -> tuple[Predictions | None, tuple[str, ...]]:
    """(answers, warnings): the answers of the model or of the scores in a file."""
    from lcons_decode import Hard
    from lcons_decode._constraints import unknown_labels
    from lcons_tasks.diagnosis import read_scores
    from lcons_tasks.diagnosis._predictions import predict_scores
    from lcons_tasks.models import load_tagger

    if model is None and scores is None:
        return None, ()
    with progress("labelling") as report:
        if model is not None:
            return predict_scores(load_tagger(model), held_out.instances, report), ()
        assert scores is not None
        scored = read_scores(scores, held_out)
    known = dict.fromkeys(label for sequence in scored for label in sequence.scores.labels)
    doubts = tuple(unknown_labels([Hard(constraint, "the constraint")], tuple(known)))
    return scored, tuple(f"{text}; sentences with one of these are left out" for text in doubts)
