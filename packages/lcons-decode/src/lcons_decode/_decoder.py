"""Constraints as a picklable function of batches, for Ray Data, Dask, Spark and datasets.

    labels of a row = argmax_y score(y) + soft penalties, under the hard constraints

A batch is a dict of columns with one row per sequence. A column is a list, an array of numpy, or an array of
Arrow, which is read without a Python object per score. Each thread of a worker compiles the constraints once,
for all copies of one decoder that it receives, and keeps their cache of windows.

Not in the paper: decoding on clusters.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import ne
from threading import get_ident
from typing import Any

import numpy as np

from lcons_core import CodedColumn, InvalidInput
from lcons_core._instance import WORD
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import WORDS, ChainBatch, ChainScores, Floats, Ints
from lcons_decode._stream import DECODERS, MOST_KEPT
from lcons_decode.chains._viterbi import BUDGET, viterbi_batch
from lcons_decode.chains._windows import ChainConstraints

EMISSION = "emission"
ANSWERS = ("labels", "score", "status", "changed")


class Decoder:
    """A function of batches: `emission`, with one (T, L) cell of scores per sequence, and the columns that
    constraints read in; all columns but `emission`, and these four out:

    labels: one label per token; None if no labelling has a finite score
    score: the score of the labels, with soft penalties; None likewise
    status: as in `Status`
    changed: how many labels differ from the best ones without constraints

    constraints: hard or soft ones, as for `decode_scored`; `lcons_decode.load_constraints` reads files.
    labels, transition, start, stop: what all sequences share, as in `ChainScores`.
    beam, budget: as in `decode_scored`.

    >>> from lcons_core import iob2
    >>> decoder = Decoder([iob2(["B-X", "I-X", "O"])], labels=["B-X", "I-X", "O"])
    >>> decoder({"id": [7], "emission": [[[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]]]})
    {'id': [7], 'labels': [['B-X', 'I-X']], 'score': [2.0], 'status': ['optimal'], 'changed': [1]}
    """

    def __init__(
        self,
        constraints: Iterable[Constraint] = (),
        *,
        labels: Sequence[str],
        transition: Any = None,
        start: Any = None,
        stop: Any = None,
        beam: int | None = None,
        budget: int = BUDGET,
    ) -> None:
        self._model = ChainScores(np.zeros((0, len(labels))), transition, start, stop, labels=labels)
        self._constraints = pickle.dumps(list(constraints))
        sets = _compiled(self._constraints, self._model.labels, get_ident()).named
        if beam is not None:
            self._kind, self._options = "beam", {"width": beam, "threads": 1}
        elif sets.global_hard or sets.global_soft:
            self._kind, self._options = "global", {"budget": budget}
        else:
            self._kind, self._options = "exact", {"threads": 1}

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of the batch without the scores, and the columns of the answers."""
        if EMISSION not in batch:
            raise InvalidInput(f"expected a column {EMISSION!r}, found {', '.join(batch) or 'none'}; add it.")
        if taken := [name for name in ANSWERS if name in batch]:
            raise InvalidInput(f"expected no column {taken[0]!r}, the name of an answer; rename it.")
        model = self._model
        emission, offsets = _scores(batch[EMISSION], model.L)
        shared = (model.transition, model.start, model.stop)
        scores = ChainBatch.packed(emission, offsets, *shared, labels=model.labels)
        compiled = _compiled(self._constraints, model.labels, get_ident())
        if compiled.kept_bytes > MOST_KEPT:
            _compiled.cache_clear()
        xs = _contexts(batch, compiled, offsets)
        answers = DECODERS[self._kind](scores, compiled, xs, **self._options)
        best = viterbi_batch(scores, threads=1)
        changed = [sum(map(ne, answer.y, free.y)) for answer, free in zip(answers, best, strict=True)]
        return {name: batch[name] for name in batch if name != EMISSION} | answer_columns(answers, changed)


def answer_columns(answers: Sequence[Decoding], changed: Sequence[int]) -> dict[str, Any]:
    """The columns of answers."""
    infeasible = [answer.status is Status.INFEASIBLE for answer in answers]
    pairs = list(zip(answers, infeasible, strict=True))
    labels = [None if bad else list(answer.y) for answer, bad in pairs]
    scores = [None if bad else float(answer.score) for answer, bad in pairs]
    statuses = [str(answer.status) for answer in answers]
    return dict(zip(ANSWERS, (labels, scores, statuses, list(changed)), strict=True))


@lru_cache(4)
def _compiled(constraints: bytes, labels: tuple[str, ...], thread: int) -> ChainConstraints:
    """The compiled constraints; their cache of windows grows while a thread decodes, so each has its own."""
    return ChainConstraints.of(pickle.loads(constraints), labels)  # noqa: S301 - of a decoder


def _contexts(batch: Mapping[str, Any], compiled: ChainConstraints, offsets: Ints) -> dict[str, CodedColumn]:
    """The columns that constraints read, all sequences one after another; the decoder names missing ones."""
    columns = {}
    constraints = [use.constraint for uses in (compiled.named.hard, compiled.named.soft) for use in uses]
    for name in {constraint.feature.context_column for constraint in constraints if constraint.feature}:
        shown = WORDS if name == WORD and WORDS in batch else name
        if name is not None and shown is not None and shown in batch:
            values, ends = _flat(batch[shown])
            if not np.array_equal(ends, offsets):
                raise InvalidInput(f"expected as many values of {shown!r} as scores in each row.")
            columns[name] = CodedColumn.of(values)
    return columns


def _scores(column: Any, L: int) -> tuple[Floats, Ints]:
    """The scores (N, L) of all tokens, and the offsets (B + 1,) of sequences."""
    try:
        rows, offsets = _flat(column)
        values, widths = (rows, None) if isinstance(rows, list) else _flat(rows)
        if widths is not None and any(np.diff(widths) != L):
            raise ValueError("another number of scores")
        return np.array(values, dtype=np.float64).reshape(len(rows), L), offsets
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"expected {L} scores per token in {EMISSION!r}, found others ({error})."
        ) from None


def _flat(column: Any) -> tuple[Any, Ints]:
    """The values of a column of lists, one after another, and the offsets (B + 1,) of its rows."""
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if hasattr(column, "value_lengths"):
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return column.flatten(), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return list(chain.from_iterable(column)), np.cumsum([0, *map(len, column)])
