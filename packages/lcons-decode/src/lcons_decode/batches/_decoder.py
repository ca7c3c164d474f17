"""Constraint files as a picklable function of batches.

    labels of a row = argmax_y score(y) + soft penalties, under the hard constraints

A `Decoder` holds plain data: the texts of its constraint files, labels and numbers. Each thread of a worker
compiles the constraints once, for all copies of one decoder that it receives, and keeps the cache of windows.
Local constraints are decoded exactly on packed arrays; a beam, and search under global constraints, decode as
`decode_scored` does.

Not in the paper: decoding on clusters.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from os import PathLike, fspath
from typing import Any

import numpy as np

from lcons_core import WORD, InvalidInput
from lcons_core.storage import digest, dumps, loads
from lcons_decode._constraints import Constraint, ConstraintSet, Hard, Soft
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import WORDS, ChainBatch, Columns, Ints, Scored, read_scores
from lcons_decode._stream import MOST_KEPT, check_columns, chunk_decoder
from lcons_decode.batches._answers import ANSWERS, STATUSES, Answers
from lcons_decode.batches._batch import BatchFunction, Rows, plain
from lcons_decode.chains._constrained import BUDGET, constrained_ids
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_decode.chains._windows import ChainConstraints
from lcons_decode.files._constraints import load_constraints
from lcons_decode.files._model import MODEL, ScoreModel, agreed, label_names, string_columns
from lcons_decode.kernels import How

EMISSION = "emission"
# Sequences are decoded together up to about this many tokens: memory does not grow with the batch.
MOST_TOKENS = 2**16
# The number of decoders whose compiled constraints a thread keeps.
MOST_DECODERS = 4


class Decoder(BatchFunction):
    """A function of batches: scores in the column `emission`, one (T, L) cell per sequence, and the columns
    that constraints read in; labels out (`ANSWERS`), next to all columns but the scores.

    constraints: constraint files, each `FILE` (hard) or `FILE:WEIGHT` (soft), or constraints.
    labels, transition, start, stop: what all sequences share, as in `ChainScores`. Without labels, the
        batches are pyarrow tables whose schema has them in its metadata under "lcons", as JSON.
    soft, cost: as in `load_constraints`. beam, budget: as in `decode_scored`.
    threads: threads per call; None: all cores.

    >>> from lcons_core import iob2
    >>> decoder = Decoder([iob2(["B-X", "I-X", "O"])], labels=["B-X", "I-X", "O"])
    >>> decoder({"id": [7], "emission": [[[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]]]})
    {'id': [7], 'labels': [['B-X', 'I-X']], 'score': [2.0], 'status': ['optimal'], 'changed': [1]}
    """

    answers = ANSWERS
    drops = (EMISSION,)

    def __init__(
        self,
        constraints: Iterable[str | PathLike[str] | Constraint] = (),
        *,
        labels: Sequence[str] | None = None,
        transition: Any = None,
        start: Any = None,
        stop: Any = None,
        soft: float | None = None,
        cost: str | None = None,
        beam: int | None = None,
        budget: int = BUDGET,
        threads: int | None = 1,
    ) -> None:
        uses = tuple(map(_Use.of, _loaded(constraints, soft, cost)))
        shared = {"transition": transition, "start": start, "stop": stop}
        names = None if labels is None else label_names(list(labels), "the decoder")
        given = {name: value for name, value in shared.items() if value is not None}
        if names is None and given:
            raise InvalidInput(f"`{next(iter(given))}` needs the names of the labels; pass `labels=`.")
        chunk_decoder(False, beam, budget, None)  # checks both
        self.model = None if names is None else ScoreModel.of(names, given, "the decoder")
        self.threads = threads
        self._plan = _Plan(uses, beam, budget)

    def __repr__(self) -> str:
        names = ", ".join(use.name for use in self._plan.uses) or "none"
        return f"Decoder(constraints: {names}; {digest(self.settings())[:12]})"

    def settings(self) -> dict[str, Any]:
        """All that the answers depend on besides the batch, as plain data."""
        model = self.model
        if model is None:
            return self._plan.settings()
        arrays = {name: sha256(model.shared[name].tobytes()).hexdigest() for name in MODEL}
        return {**self._plan.settings(), "labels": list(model.labels), **arrays}

    def answer_rows(self, rows: Rows, places: Sequence[str], model: ScoreModel | None = None) -> Answers:
        """The answers for records of one model; `places` are their names in errors."""
        model = self._model(model)
        read = {WORDS if name == WORD else name for name in self._plan.columns} | set(self._plan.columns)
        chunk = []
        for row, place in zip(rows, places, strict=True):
            if EMISSION not in row:
                found = ", ".join(map(str, row)) or "nothing"
                raise InvalidInput(f"{place}: expected {EMISSION!r}, the scores, found {found}; add them.")
            columns = {name: plain(row[name]) for name in read if name in row}
            columns = string_columns(columns, place)
            chunk.append(model.scored(plain(row[EMISSION]), columns, place))
        if not chunk:
            return _no_answers(model.labels)
        for scored in chunk:
            check_columns(scored, self._plan.constraints)
        batch = ChainBatch.of([scored.scores for scored in chunk])
        return self._decoded(batch, [scored.x for scored in chunk])

    def answer_table(self, table: Any, where: str = "the batch") -> Answers:
        """The answers for a pyarrow table."""
        from lcons_decode.batches._arrow import emission_of, shared_model, strings_of

        members = shared_model(table.schema, where)
        model = self._model(model_of(members, self.model, where) if members else None)
        emission, offsets = emission_of(table, EMISSION, len(model.labels), where)
        xs: list[dict[str, Sequence[str]]] = [{} for _ in range(len(offsets) - 1)]
        for name in self._plan.columns:
            own = WORDS if name == WORD and WORDS in table.schema.names else name
            values, bounds = strings_of(table, own, where)
            if not np.array_equal(bounds, offsets):
                at = int(np.flatnonzero(np.diff(bounds) != np.diff(offsets))[0])
                raise InvalidInput(
                    f"{where}: expected a value of {own!r} for each of {np.diff(offsets)[at]} tokens, found"
                    f" {np.diff(bounds)[at]} in row {at}; write scores and columns of the same length."
                )
            for x, first, last in zip(xs, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                x[name] = values[first:last]
        try:
            checked = read_scores(emission, EMISSION, 2)
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error}") from None
        return self._decoded(ChainBatch(checked, offsets, **model.shared, labels=model.labels), xs)

    def _model(self, model: ScoreModel | None) -> ScoreModel:
        found = model or self.model
        if found is None:
            raise InvalidInput("expected the names of the labels, found none; pass `labels=` to the decoder.")
        return found

    def _rows(self, rows: Rows, places: Sequence[str]) -> Rows:
        return list(self.answer_rows(rows, places).rows())

    def _table(self, table: Any) -> Any:
        from lcons_decode.batches._arrow import answer_arrays, replaced

        return replaced(table, self.drops, answer_arrays(self.answer_table(table)))

    def _decoded(self, batch: ChainBatch, xs: Sequence[Columns]) -> Answers:
        parts = [
            self._plan.decode(ChainBatch(emission, offsets, *model), xs[first:last], self.threads)
            for model in [(batch.transition, batch.start, batch.stop, batch.labels)]
            for first, last, emission, offsets in _parts(batch)
        ]
        return Answers.joined(parts) if parts else _no_answers(batch.labels)


def model_of(members: Mapping[str, Any], given: ScoreModel | None, where: str) -> ScoreModel:
    """The model of a JSON object with labels and shared scores; `given`, if there is one, must agree."""
    own = label_names(members["labels"], where) if "labels" in members else None
    shared = {name: members[name] for name in MODEL if members.get(name) is not None}
    names = agreed(own, None if given is None else given.labels, where)
    if given is not None and not shared:
        return given
    return ScoreModel.of(names, shared, where)


def _loaded(
    constraints: Iterable[str | PathLike[str] | Constraint], soft: float | None, cost: str | None
) -> Iterator[Hard | Soft]:
    """Constraints of files, and others, all with names."""
    given = list(constraints) if not isinstance(constraints, str | PathLike) else [constraints]
    files = [fspath(one) for one in given if isinstance(one, str | PathLike)]
    of_files = iter(load_constraints(files, soft, cost))
    named = [next(of_files) if isinstance(one, str | PathLike) else one for one in given]
    sets = ConstraintSet.of(named)
    uses: tuple[Hard | Soft, ...] = (*sets.hard, *sets.soft, *sets.global_hard, *sets.global_soft)
    yield from uses


@dataclass(frozen=True)
class _Use:
    """A constraint as text, with how it is used: hard if the weight is None."""

    text: str
    name: str
    weight: float | None
    cost: str

    @classmethod
    def of(cls, use: Hard | Soft) -> _Use:
        text = dumps(use.constraint)
        return cls(text, use.name, *((use.weight, use.cost) if isinstance(use, Soft) else (None, "")))

    def load(self) -> Hard | Soft:
        constraint = loads(self.text, self.name)
        if self.weight is None:
            return Hard(constraint, self.name)
        return Soft(constraint, self.weight, self.name, self.cost)


@dataclass(frozen=True)
class _Plan:
    """How to decode, as plain data; the constraints are loaded and compiled on first use."""

    uses: tuple[_Use, ...]
    beam: int | None
    budget: int

    def settings(self) -> dict[str, Any]:
        uses = [
            {"sha256": digest(use.text), "name": use.name, "weight": use.weight, "cost": use.cost}
            for use in self.uses
        ]
        return {"constraints": uses, "beam": self.beam, "budget": self.budget}

    @property
    def constraints(self) -> tuple[Hard | Soft, ...]:
        return _load(self.uses)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that constraints read."""
        features = (use.constraint.feature for use in self.constraints)
        return tuple(dict.fromkeys(f.context_column for f in features if f is not None and f.context_column))

    def compiled(self, labels: tuple[str, ...]) -> ChainConstraints:
        """The constraints for these labels, which this thread keeps."""
        kept: dict[Any, ChainConstraints] = _OF_THREAD.__dict__.setdefault("kept", {})
        key = (self.uses, labels)
        found = kept.pop(key, None)  # the last one used is the last one of the dict
        if found is None or found.kept_bytes > MOST_KEPT:
            found = ChainConstraints.of(self.constraints, labels)
        kept[key] = found
        while len(kept) > MOST_DECODERS:
            del kept[next(iter(kept))]
        return found

    def decode(self, batch: ChainBatch, xs: Sequence[Columns], threads: int | None) -> Answers:
        """The answers for sequences that are decoded together."""
        compiled = self.compiled(batch.labels)
        by_search = self.beam is None and bool(compiled.named.global_hard or compiled.named.global_soft)
        if by_search or self.beam is not None:
            chunk = [Scored(scores, x) for scores, x in zip(batch, xs, strict=True)]
            found = chunk_decoder(by_search, self.beam, self.budget, None)(chunk, batch, compiled)
            return _packed(batch, found, viterbi_ids(batch, threads)[0])
        y, scores, how = constrained_ids(batch, compiled, xs, threads)
        return _exact(batch, y, scores, how, threads)


@lru_cache(MOST_DECODERS)
def _load(uses: tuple[_Use, ...]) -> tuple[Hard | Soft, ...]:
    return tuple(use.load() for use in uses)


# The cache of windows grows while a thread decodes, so threads do not share it.
_OF_THREAD: Any = threading.local()
_STATUS_OF_HOW = np.array([STATUSES.index(how.status) for how in sorted(How)])


def _exact(batch: ChainBatch, y: Ints, scores: Any, how: Ints, threads: int | None) -> Answers:
    """The answers of exact decoding, with the number of labels that constraints changed."""
    lengths = np.diff(batch.offsets)
    open_ones = np.flatnonzero((how != How.INFEASIBLE) & (lengths > 0))
    changed = np.zeros(len(batch), dtype=np.int64)
    if len(open_ones):
        tokens = np.repeat(np.isin(np.arange(len(batch)), open_ones), lengths)
        bounds = np.concatenate([[0], np.cumsum(lengths[open_ones])])
        free, _ = viterbi_ids(replace(batch, emission=batch.emission[tokens], offsets=bounds), threads)
        changed[open_ones] = np.add.reduceat(y[tokens] != free, bounds[:-1], dtype=np.int64)
    return Answers(y, batch.offsets, batch.labels, scores, _STATUS_OF_HOW[how], changed)


def _packed(batch: ChainBatch, found: Sequence[Decoding], free: Ints) -> Answers:
    """The answers of another decoder as arrays."""
    index = {label: i for i, label in enumerate(batch.labels)}
    y = np.zeros(len(batch.emission), dtype=np.int64)
    changed = np.zeros(len(batch), dtype=np.int64)
    for i, (answer, first) in enumerate(zip(found, batch.offsets[:-1].tolist(), strict=True)):
        if answer.status is not Status.INFEASIBLE:
            own = slice(first, first + len(answer.y))
            y[own] = [index[label] for label in answer.y]
            changed[i] = (y[own] != free[own]).sum()
    scores = np.array([answer.score for answer in found], dtype=np.float64)
    statuses = np.array([STATUSES.index(answer.status) for answer in found], dtype=np.int64)
    return Answers(y, batch.offsets, batch.labels, scores, statuses, changed)


def _parts(batch: ChainBatch) -> Iterator[tuple[int, int, Any, Ints]]:
    """The batch in parts of about `MOST_TOKENS` tokens: first sequence, end, emission and offsets of each."""
    first, offsets = 0, batch.offsets
    while first < len(batch):
        last = int(np.searchsorted(offsets, offsets[first] + MOST_TOKENS, side="right")) - 1
        last = min(max(last, first + 1), len(batch))
        own = offsets[first : last + 1]
        yield first, last, batch.emission[own[0] : own[-1]], own - own[0]
        first = last


def _no_answers(labels: tuple[str, ...]) -> Answers:
    none = np.zeros(0, dtype=np.int64)
    return Answers(none, np.zeros(1, np.int64), labels, np.zeros(0), none, none)
