"""Answers of a base model on held-out data, without constraints: by a model, by scores, or from a file.

If they differ from the held-out data in number, length or words, an error is raised.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from lcons_core import Instance, InvalidInput
from lcons_core._instance import WORD
from lcons_core._types import OnProgress
from lcons_decode import ChainScores, Scored
from lcons_decode._stream import decode_scored
from lcons_decode.files._scores import read_scored
from lcons_tasks.data import Sentence
from lcons_tasks.data._lines import unreadable
from lcons_tasks.diagnosis._diagnose import Predictions
from lcons_tasks.models._tagger import Tagger
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._examples import check_columns
from lcons_tasks.own_data._formats import CONLL, JSON, read_data, tell_format
from lcons_tasks.own_data._records import LABEL

# The number of sequences that a model scores between two calls of `progress`.
CHUNK = 256


def predict_scores(
    model: Tagger, sentences: Sequence[Sentence | Instance], progress: OnProgress | None = None
) -> list[Scored]:
    """The scores of sentences by a model."""
    data = Structures.of(sentences)
    instances = data.instances
    for column in (WORD, *model.columns):
        check_columns(data, column)
    sequences: list[Scored] = []
    for first in range(0, len(instances), CHUNK):
        some = instances[first : first + CHUNK]
        batch = model.scores([instance.x for instance in some])
        transitions = (batch.transition, batch.start, batch.stop)
        for instance, (start, stop) in zip(some, pairwise(batch.offsets.tolist()), strict=True):
            scores = ChainScores(batch.emission[start:stop], *transitions, labels=batch.labels)
            sequences.append(Scored(scores, instance.x))
        if progress is not None:
            progress(len(sequences), len(instances))
    return sequences


def predict(model: Tagger, sentences: Sequence[Sentence | Instance]) -> list[tuple[str, ...]]:
    """The best labels of sentences by a model, without constraints, found exactly."""
    return [tuple(answer.y) for _, answer in decode_scored(predict_scores(model, sentences))]


def read_scores(path: str | os.PathLike[str], held_out: Structures) -> list[Scored]:
    """The scores of the held-out sequences in a file of `lcons_decode.files`."""
    try:
        with Path(path).open("rb") as file:
            sequences = list(read_scored(file, os.fspath(path)))
    except OSError as error:
        raise unreadable(path, error) from None
    _check_same(held_out, [(len(sequence.scores), sequence.x.get(WORD)) for sequence in sequences], path)
    return sequences


def read_predictions(
    path: str | os.PathLike[str], held_out: Structures, columns: str | None = None, tabs: bool = False
) -> Predictions:
    """The predictions in a file: CoNLL columns, with the word first and the label last unless `columns`
    states others, or JSON lines with `labels` and optionally `words`."""
    form = tell_format(path, columns=True)
    usual = {CONLL: f"{WORD}=1,{LABEL}=-1", JSON: f"{LABEL}=labels"}
    answers = read_data(path, form, columns or usual.get(form), tabs and form == CONLL)
    if form not in usual or not isinstance(answers, Structures) or answers.tuples:
        raise InvalidInput(f"{os.fspath(path)}: expected CoNLL columns or JSON lines like the held-out data.")
    _check_same(held_out, [(len(instance.y), instance.x.get(WORD)) for instance in answers.instances], path)
    return [instance.y for instance in answers.instances]


def _check_same(
    held_out: Structures,
    answers: Sequence[tuple[int, Sequence[str] | None]],
    path: str | os.PathLike[str],
) -> None:
    """Raises an error if answers, with their lengths and words, are not of the held-out structures."""
    if len(answers) != len(held_out):
        raise InvalidInput(
            f"{os.fspath(path)}: expected the {len(held_out):,} held-out structures: got {len(answers):,}."
        )
    for number, (gold, (length, words)) in enumerate(zip(held_out.instances, answers, strict=True), start=1):
        other_words = words is not None and WORD in gold.x and tuple(words) != tuple(gold.x[WORD])
        if length != len(gold.y) or other_words:
            text = " ".join(gold.x.get(WORD, ()))
            raise InvalidInput(
                f"{os.fspath(path)}: structure {number} must have {len(gold.y)} labels, of {text!r:.60}."
            )
