"""Decoding a stream of sequences with one decoder, a chunk at a time, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from lcons_core._errors import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding
from lcons_decode._scores import ChainBatch, ChainScores, checked_scores, shares_model
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._best_first import decode_global
from lcons_decode.chains._constrained import constrained_viterbi_batch
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_decode.chains._windows import ChainConstraints, X

CHUNK = 512

Decoder = Callable[..., list[Decoding]]


def _viterbi(batch: ChainBatch, constraints: Any, xs: Any, **options: Any) -> list[Decoding]:
    return viterbi_batch(batch, **options)


def _global(batch: ChainBatch, constraints: Any, xs: Any, **options: Any) -> list[Decoding]:
    columns = [None] * len(batch) if xs is None else xs
    return [decode_global(s, constraints, x, **options) for s, x in zip(batch, columns, strict=True)]


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
    """The answers, in order; `decoder` is one of `DECODERS`, `options` are its own (width, rerank,
    budget, threads).

    >>> streams = (ChainScores([[0.0, 1.0]], labels=["A", "B"]) for _ in range(2))
    >>> [found.y for found in decode_batch(streams)]
    [('B',), ('B',)]
    """
    if decoder not in DECODERS:
        raise InvalidInput(f"unknown decoder {decoder!r}; it is one of {', '.join(DECODERS)}.")
    if chunk < 1:
        raise InvalidInput(f"the chunk must be at least 1 sequence, found {chunk}.")
    given = list(constraints) if not isinstance(constraints, ChainConstraints) else constraints
    return _stream(
        iter(sequences), given, None if xs is None else iter(xs), DECODERS[decoder], chunk, options
    )


def _stream(
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
            raise InvalidInput("x ran out before the sequences did; give one x a sequence.")
        first = 0
        # Sequences of one model are decoded together; a new model starts a new batch.
        for last in range(1, len(some) + 1):
            if last < len(some) and shares_model(some[first], some[last]):
                continue
            if compiled is None or compiled.labels != some[first].labels:
                compiled = ChainConstraints.of(constraints, some[first].labels)
            own = None if columns is None else columns[first:last]
            yield from decoder(ChainBatch.of(some[first:last]), compiled, own, **options)
            first = last
