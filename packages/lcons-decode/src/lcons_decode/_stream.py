"""Decoding streams of sequences, one chunk at a time: scores of any model in, answers out.

    answer = argmax_y score(y) + soft penalties, under the hard constraints

The sequences of a chunk are decoded together, and memory does not grow with the stream. Exact search under
global constraints decodes one sequence at a time and returns each answer at once. Constraints are local or
global, hard or soft, and decoded exactly or by the paper's beam:

| constraints | `beam` None | `beam` N |
|---|---|---|
| local | exact (`constrained_viterbi_batch`) | beam of width N (`beam_search_batch`) |
| with a global one | exact, best first under a budget (`decode_global`) | the same beam |

The answers of `decode_scored` count the labels that the constraints changed. `decode_batch` uses one decoder
for all sequences, and its answers have no such count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import ne
from typing import Any

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_decode._constraints import Constraint, ConstraintSet, Hard, Soft, listed
from lcons_decode._result import Decoding
from lcons_decode._scores import WORDS, ChainBatch, ChainScores, Scored, X, checked_scores, shares_model, x_of
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._viterbi import BUDGET, constrained_viterbi_batch, decode_global, viterbi_batch
from lcons_decode.chains._windows import ChainConstraints

# A chunk of a stream ends when the first of these two is reached.
CHUNK_SEQUENCES = 2048
CHUNK_TOKENS = 2**16
# Sequences per chunk of `decode_batch`.
CHUNK = 512

# The cache of windows holds one entry per kind of window, up to about this many bytes in all.
MOST_KEPT = 2**27

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
    """Each sequence with its answer, in order; `stats["alone"]` is the best labelling without constraints and
    `stats["changed"]` counts the labels of the answer that differ from it.

    Search under global constraints calls `progress(sequence, labellings tried so far)`. Otherwise sequences
    are decoded together, some hundreds at a time. A chunk also ends if the next sequence has not arrived yet
    (`waits()` returns True), so that answers are not delayed.

    >>> from lcons_core import iob2
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> [(_, answer)] = decode_scored([Scored(scores)], [iob2(scores.labels)])
    >>> answer.y, answer.stats["alone"], answer.stats["changed"]
    (('B-X', 'I-X'), ('O', 'I-X'), 1)
    """
    named = listed(constraints)
    sets = ConstraintSet.of(named)
    uses: tuple[Hard | Soft, ...] = (*sets.hard, *sets.soft, *sets.global_hard, *sets.global_soft)
    by_search = beam is None and bool(sets.global_hard or sets.global_soft)
    decode = chunk_decoder(by_search, beam, budget, progress)
    chunks = _chunks(sequences, 1 if by_search else CHUNK_SEQUENCES, waits)
    return _decoded(chunks, named, uses, decode)


_Decode = Callable[[list[Scored], ChainBatch, ChainConstraints], list[Decoding]]


def chunk_decoder(by_search: bool, beam: int | None, budget: int, progress: Tried | None) -> _Decode:
    """The function that decodes a chunk."""
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
            compiled = ChainConstraints.of(constraints, labels)
        for scored in chunk:
            check_columns(scored, uses)
        batch = ChainBatch.of([scored.scores for scored in chunk])
        answers = decode(chunk, batch, compiled)
        for scored, answer, free in zip(chunk, answers, viterbi_batch(batch), strict=True):
            stats = {**answer.stats, "alone": free.y, "changed": sum(map(ne, answer.y, free.y))}
            yield (
                scored,
                Decoding(answer.y, answer.score, answer.status, stats, answer.violations),
            )


def _chunks(sequences: Iterable[Scored], together: int, waits: Callable[[], bool]) -> Iterator[list[Scored]]:
    """Non-empty lists of sequences of one model. A list ends at a number of sequences or of tokens, or if the
    next sequence has not arrived yet."""
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


def check_columns(scored: Scored, uses: Sequence[Hard | Soft]) -> None:
    for use in uses:
        feature = use.constraint.feature
        column = None if feature is None else feature.context_column
        if column is not None and column not in scored.x and len(scored.scores):
            shown = WORDS if column == WORD else column
            present = ", ".join(WORDS if name == WORD else name for name in scored.x)
            raise InvalidInput(
                f"{scored.where}: expected {shown!r} next to the scores, because the constraint {use.name!r}"
                f" reads it, found {present or 'only scores'}; add {shown!r}, one value per token."
            )


Decoder = Callable[..., list[Decoding]]


def _viterbi(batch: ChainBatch, constraints: Any, xs: Any, **options: Any) -> list[Decoding]:
    return viterbi_batch(batch, **options)


def _global(batch: ChainBatch, constraints: Any, xs: Any, **options: Any) -> list[Decoding]:
    return [decode_global(s, constraints, x_of(xs, batch, i), **options) for i, s in enumerate(batch)]


DECODERS: dict[str, Decoder] = {
    "viterbi": _viterbi,
    "exact": constrained_viterbi_batch,
    "beam": beam_search_batch,
    "global": _global,
}


def decode_batch(
    sequences: Iterable[ChainScores],
    constraints: Iterable[Constraint] | ChainConstraints = (),
    xs: Iterable[X] | None = None,
    *,
    decoder: str = "exact",
    chunk: int = CHUNK,
    **options: Any,
) -> Iterator[Decoding]:
    """The answers, in order; `decoder` is one of `DECODERS`, and `options` are passed to it (width, rerank,
    budget, threads).

    >>> streams = (ChainScores([[0.0, 1.0]], labels=["A", "B"]) for _ in range(2))
    >>> [answer.y for answer in decode_batch(streams)]
    [('B',), ('B',)]
    """
    if decoder not in DECODERS:
        raise InvalidInput(f"unknown decoder {decoder!r}; it is one of {', '.join(DECODERS)}.")
    if chunk < 1:
        raise InvalidInput(f"the chunk must be at least 1 sequence, found {chunk}.")
    uses = listed(constraints) if not isinstance(constraints, ChainConstraints) else constraints
    columns = None if xs is None else iter(xs)
    return _decoded_batches(iter(sequences), uses, columns, DECODERS[decoder], chunk, options)


def _decoded_batches(
    sequences: Iterator[ChainScores],
    constraints: Sequence[Constraint] | ChainConstraints,
    xs: Iterator[X] | None,
    decoder: Decoder,
    chunk: int,
    options: dict[str, Any],
) -> Iterator[Decoding]:
    compiled: ChainConstraints | None = None
    while some := list(map(checked_scores, islice(sequences, chunk))):
        columns = None if xs is None else list(islice(xs, len(some)))
        if columns is not None and len(columns) != len(some):
            raise InvalidInput("expected one x per sequence, found fewer; pass as many x as sequences.")
        first = 0
        # Sequences of one model are decoded together; a new model starts a new batch.
        for last in range(1, len(some) + 1):
            if last < len(some) and shares_model(some[first], some[last]):
                continue
            if compiled is None or compiled.labels != some[first].labels:
                compiled = ChainConstraints.of(constraints, some[first].labels)
            batch_columns = None if columns is None else columns[first:last]
            yield from decoder(ChainBatch.of(some[first:last]), compiled, batch_columns, **options)
            first = last
