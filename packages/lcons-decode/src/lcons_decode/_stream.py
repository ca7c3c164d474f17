"""Decoding sequences whose scores somebody else has made: a stream of them in, a stream of answers out.

    answer = argmax_y score(y) + soft penalties, under the hard constraints; `changed` says what that did

Chunks of a stream are decoded together, so that memory stays flat; what is searched under global constraints
is decoded by itself and given at once. Constraints are local or global, hard or soft, and decoded exactly or
by the paper's beam:

| constraints | `beam` None | `beam` N |
|---|---|---|
| local | exact (`constrained_viterbi_batch`) | beam of width N (`beam_search_batch`) |
| with a global one | exact, best first under a budget (`decode_global`) | the same beam |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import ne
from typing import Any

from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD
from lcons_core.features import NgramContext
from lcons_decode._constraints import Constraint, ConstraintSet, Hard, Soft
from lcons_decode._result import Decoding
from lcons_decode._scores import ChainBatch, ChainScores, shares_model
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._best_first import BUDGET, decode_global
from lcons_decode.chains._constrained import constrained_viterbi_batch
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_decode.chains._windows import ChainConstraints, Columns

WORDS = "words"
NO_LABEL = "_"

# A chunk of a stream ends with the first of these that is reached.
CHUNK_SEQUENCES = 256
CHUNK_TOKENS = 2**14

# What is found of each kind of window is kept for the next one of that kind, up to about this many bytes.
MOST_KEPT = 2**27


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of one sequence, with its columns `x` (words under "word", POS tags under "pos", ...).

    where: what errors call it. id: whatever its maker calls it.
    """

    scores: ChainScores
    x: Columns = field(default_factory=dict)
    where: str = "the sequence"
    id: Any = None

    def __post_init__(self) -> None:
        for name, column in self.x.items():
            if len(column) != len(self.scores):
                raise InvalidInput(
                    f"{self.where}: expected a value of {name!r} for each of {len(self.scores)} tokens,"
                    f" found {len(column)}; give scores and columns of one length."
                )


Tried = Callable[[Scored, int], None]


def decode_scored(
    sequences: Iterable[Scored],
    constraints: Iterable[Constraint] = (),
    *,
    beam: int | None = None,
    budget: int = BUDGET,
    progress: Tried | None = None,
    waits: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Scored, Decoding]]:
    """Each sequence with its answer, in order; `stats["alone"]` is what the scores say without constraints
    and `stats["changed"]` counts the labels that differ from it.

    Where a sequence is searched under global constraints, `progress` is told it and how many of its
    labellings have been tried. Sequences are decoded together, some hundreds at a time, but what is there
    is not kept back where the next one has yet to come (`waits`).

    >>> from lcons_core import iob2
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> [(_, answer)] = decode_scored([Scored(scores)], [iob2(scores.labels)])
    >>> answer.y, answer.stats["alone"], answer.stats["changed"]
    (('B-X', 'I-X'), ('O', 'I-X'), 1)
    """
    named = list(constraints)
    sets = ConstraintSet.of(named)
    uses: tuple[Hard | Soft, ...] = (*sets.hard, *sets.soft, *sets.global_hard, *sets.global_soft)
    by_search = beam is None and bool(sets.global_hard or sets.global_soft)
    decode = _decoder(by_search, beam, budget, progress)
    chunks = _chunks(sequences, 1 if by_search else CHUNK_SEQUENCES, waits)
    return _decoded(chunks, named, uses, decode)


def conll(scored: Scored, answer: Decoding, tabs: bool = False) -> str:
    """A line a token of its word, if there is one, other columns and label, then a blank line; with `tabs`
    one tab is between cells, which may hold blanks.

    >>> scores = ChainScores([[0.0, 1.0]], labels=["B", "O"])
    >>> from lcons_decode._result import Status
    >>> conll(Scored(scores, {"word": ["dog"], "pos": ["NN"]}), Decoding(("B",), 0.0, Status.OPTIMAL))
    'dog NN B\\n\\n'
    """
    columns = [*_in_order(scored.x).values(), answer.y or (NO_LABEL,) * len(scored.scores)]
    for cell in (cell for column in columns for cell in column):
        if tabs and (cell != cell.strip(" ") or "\t" in cell or cell.splitlines() != [cell]):
            raise InvalidInput(
                f"{scored.where}: expected cells without tabs, line ends and blanks at either end, found"
                f" {cell!r:.60}, which columns between tabs cannot hold; write --json."
            )
        if not tabs and (not cell or cell.split() != [cell]):
            raise InvalidInput(
                f"{scored.where}: expected cells without white space, found {cell!r:.60}, which CoNLL columns"
                " cannot hold; write --tabs, with one tab between cells, or --json."
            )
    separator = "\t" if tabs else " "
    return "".join(separator.join(cells) + "\n" for cells in zip(*columns, strict=True)) + "\n"


def described(scored: Scored, answer: Decoding) -> dict[str, Any]:
    """An answer as plain data: id, words and other columns where given, then `labels`, those of the scores
    `without` constraints (both null where nothing has a finite score), `score`, `status`, `changed` and
    `violations`."""
    columns = {WORDS if name == WORD else name: list(column) for name, column in _in_order(scored.x).items()}
    empty = not len(scored.scores)
    found, alone = bool(answer.y) or empty, answer.stats["alone"]
    return {
        **({} if scored.id is None else {"id": scored.id}),
        **columns,
        "labels": list(answer.y) if found else None,
        "without": list(alone) if alone or empty else None,
        "score": answer.score if found else None,
        "status": str(answer.status),
        "changed": answer.stats["changed"],
        "violations": [
            {"constraint": broken.constraint, "position": broken.position} for broken in answer.violations
        ],
    }


_Decode = Callable[[list[Scored], ChainBatch, ChainConstraints], list[Decoding]]


def _decoder(by_search: bool, beam: int | None, budget: int, progress: Tried | None) -> _Decode:
    """What decodes a chunk."""
    if beam is not None:
        if beam < 1:
            raise InvalidInput(f"the beam width must be at least 1, found {beam}.")
        return lambda chunk, batch, compiled: beam_search_batch(
            batch, compiled, [scored.x for scored in chunk], width=beam
        )
    if budget < 1:
        raise InvalidInput(f"the budget must be at least 1 labelling, found {budget}.")
    if not by_search:
        return lambda chunk, batch, compiled: constrained_viterbi_batch(
            batch, compiled, [scored.x for scored in chunk]
        )

    def search(chunk: list[Scored], batch: ChainBatch, compiled: ChainConstraints) -> list[Decoding]:
        return [
            decode_global(
                scored.scores,
                compiled,
                scored.x,
                budget=budget,
                progress=None if progress is None else partial(progress, scored),
            )
            for scored in chunk
        ]

    return search


def _decoded(
    chunks: Iterable[list[Scored]],
    constraints: list[Constraint],
    uses: Sequence[Hard | Soft],
    decode: _Decode,
) -> Iterator[tuple[Scored, Decoding]]:
    compiled: ChainConstraints | None = None
    for chunk in chunks:
        labels = chunk[0].scores.labels
        if compiled is None or compiled.labels != labels or compiled.kept_bytes > MOST_KEPT:
            for use in uses:
                _check_labels(use, labels)
            compiled = ChainConstraints.of(constraints, labels)
        for scored in chunk:
            _check_columns(scored, uses)
        batch = ChainBatch.of([scored.scores for scored in chunk])
        found = decode(chunk, batch, compiled)
        for scored, answer, free in zip(chunk, found, viterbi_batch(batch), strict=True):
            stats = {**answer.stats, "alone": free.y, "changed": sum(map(ne, answer.y, free.y))}
            yield scored, replace(answer, stats=stats)


def _chunks(sequences: Iterable[Scored], together: int, waits: Callable[[], bool]) -> Iterator[list[Scored]]:
    """Sequences of one model in lists, none empty, that are cut by number of sequences and of tokens, and
    where the next one has yet to come."""
    chunk: list[Scored] = []
    tokens = 0
    for scored in sequences:
        if chunk and not shares_model(chunk[-1].scores, scored.scores):
            yield chunk
            chunk, tokens = [], 0
        chunk.append(scored)
        tokens += len(scored.scores)
        if len(chunk) == together or tokens >= CHUNK_TOKENS or waits():
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


def _check_labels(use: Hard | Soft, labels: Sequence[str]) -> None:
    known: Sequence[str] = getattr(use.constraint.feature, "labels", labels)
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise InvalidInput(
            f"expected scores of labels that the constraint {use.name!r} knows ({', '.join(known[:8])}"
            f"{' ...' if len(known) > 8 else ''}), found {unknown[0]!r} ({len(unknown)} of {len(labels)} are"
            " unknown to it); name the columns as in its data, or use a constraint for these labels."
        )


def _check_columns(scored: Scored, uses: Sequence[Hard | Soft]) -> None:
    for use in uses:
        feature = use.constraint.feature
        if isinstance(feature, NgramContext) and feature.column not in scored.x and len(scored.scores):
            shown = WORDS if feature.column == WORD else feature.column
            given = ", ".join(WORDS if name == WORD else name for name in scored.x)
            raise InvalidInput(
                f"{scored.where}: expected {shown!r} beside the scores, which the constraint {use.name!r}"
                f" reads, found {given or 'scores alone'}; give {shown!r}, one value a token."
            )


def _in_order(x: Columns) -> Mapping[str, Sequence[str]]:
    """The columns with the words first."""
    return {name: x[name] for name in sorted(x, key=lambda name: name != WORD)}
