"""Beam search under constraints: over label sequences, as in the paper, and over structures of any shape.

At each step all width x L candidates are ordered by score. Candidates whose newest n-gram satisfies every
hard local constraint are kept, up to the width; other candidates are dropped even if the beam is not full. If
no candidate satisfies them, the unfiltered best candidates are kept, and this step is counted as a fallback.
With `rerank`, violating candidates fill the rest of the beam, as the text of the chunking section describes.
Soft penalties are added when a window is complete. Global constraints choose from the last beam; if no member
satisfies them, the best member is the answer.

`search` is the same for structures of any shape, where learned constraints filter the actions.

Paper: Sec. 1 and 5 (graph search with filtered actions), Sec. 5 (citation) and Sec. 6 (chunking).
Differs from the paper: one objective for training, Viterbi and beam, with start and stop scores in all three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from lcons_core import InvalidInput
from lcons_decode._constraints import Constraint
from lcons_decode._result import Decoding, Status
from lcons_decode._scores import ChainBatch, ChainScores, Sequences, X, Xs, x_of
from lcons_decode.chains._viterbi import viterbi
from lcons_decode.chains._windows import ChainConstraints, lay_out
from lcons_decode.kernels._arrays import Floats, Ints, share_rows


def beam_search(
    scores: ChainScores,
    constraints: Iterable[Constraint] | ChainConstraints = (),
    x: X = None,
    *,
    width: int = 10,
    rerank: bool = False,
) -> Decoding:
    """The labelling that a beam of that width finds for one sequence.

    >>> from lcons_core._schemes import iob2
    >>> scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    >>> beam_search(scores, [iob2(scores.labels)], width=1).y
    ('O', 'O')
    """
    xs = None if x is None else [x]
    return beam_search_batch(ChainBatch.of([scores]), constraints, xs, width=width, rerank=rerank)[0]


def beam_search_batch(
    batch: Sequences,
    constraints: Iterable[Constraint] | ChainConstraints = (),
    xs: Xs = None,
    *,
    width: int = 10,
    rerank: bool = False,
    threads: int | None = None,
) -> list[Decoding]:
    """The labelling that a beam of that width finds, for each sequence."""
    from lcons_decode.kernels._compiled import beam_many

    if width < 1:
        raise InvalidInput(f"the beam width must be at least 1, found {width}.")
    batch = ChainBatch.of(batch)
    compiled = ChainConstraints.of(constraints, batch.labels)
    layout = lay_out(batch, compiled, xs)
    beams = np.zeros((width, len(batch.emission)), dtype=np.int64)
    scores = np.full((len(batch), width), -np.inf)
    sizes, fallbacks = np.zeros(len(batch), dtype=np.int64), np.zeros(len(batch), dtype=np.int64)
    counts = np.zeros((len(batch), width), dtype=np.int64)

    def search(first: int, last: int) -> None:
        beam_many(
            layout.chain,
            layout.lists,
            layout.units,
            layout.m,
            width,
            rerank,
            first,
            last,
            beams,
            scores,
            sizes,
            fallbacks,
            counts,
        )

    share_rows(search, len(batch), threads)
    answers = []
    for i in range(len(batch)):
        x = x_of(xs, batch, i)
        if not sizes[i]:
            # The beam is empty: the answer is Viterbi's, if any labelling has a finite score.
            tokens = slice(batch.offsets[i], batch.offsets[i + 1])
            alone = ChainScores(
                batch.emission[tokens], batch.transition, batch.start, batch.stop, labels=batch.labels
            )
            answers.append(_without_beam(compiled, viterbi(alone), x, int(fallbacks[i])))
            continue
        ids = beams[: sizes[i], batch.offsets[i] : batch.offsets[i + 1]].tolist()
        candidates = [tuple(batch.labels[c] for c in row) for row in ids]
        answers.append(_choose(compiled, candidates, scores[i], counts[i], x, int(fallbacks[i])))
    return answers


def _choose(
    compiled: ChainConstraints,
    beam: list[tuple[str, ...]],
    scores: Floats,
    counts: Ints,
    x: X,
    fallbacks: int,
) -> Decoding:
    """The first member of the last beam that satisfies the global constraints, or else the first member."""
    totals = [float(score) for score in scores[: len(beam)]]
    order = list(range(len(beam)))
    if compiled.named.global_soft:
        totals = [s + compiled.global_penalty(y, x) for s, y in zip(totals, beam, strict=True)]
        order.sort(key=lambda q: -totals[q])
    broken_globally = False
    if compiled.named.global_hard:
        satisfying = [q for q in order if not compiled.global_violations(beam[q], x)]
        broken_globally = not satisfying
        order = satisfying or order
    chosen = order[0]
    violations = compiled.violations(beam[chosen], x) if counts[chosen] or broken_globally else ()
    status = Status.RELAXED if violations else Status.HEURISTIC
    stats = {"fallbacks": fallbacks + broken_globally, "beam": len(beam)}
    return Decoding(beam[chosen], totals[chosen], status, stats, violations)


def _without_beam(compiled: ChainConstraints, free: Decoding, x: X, fallbacks: int) -> Decoding:
    """The best labelling without constraints, used if the beam is empty, with all its violations."""
    stats = {"fallbacks": fallbacks, "beam": 0}
    if free.status is Status.INFEASIBLE:
        return Decoding((), free.score, free.status, stats)
    violations = compiled.violations(free.y, x)
    status = Status.RELAXED if violations else Status.HEURISTIC
    return Decoding(free.y, free.score + compiled.penalty(free.y, x), status, stats, violations)


State = TypeVar("State")


@dataclass(frozen=True)
class Found(Generic[State]):
    """The last beam, best first, each state with its score; `fallbacks` counts the steps at which no state
    was accepted."""

    beam: tuple[tuple[State, float], ...]
    steps: int
    fallbacks: int


def search(
    start: State,
    expand: Callable[[State], Iterable[tuple[State, float]]],
    accept: Callable[[State], bool],
    width: int = 10,
    max_steps: int = 100_000,
) -> Found[State]:
    """Expands the beam until no state has successors.

    `expand(state)` returns pairs (successor, score of the step); a state without successors is complete and
    stays in the beam. `accept(state)` is called for every new state; if no new state is accepted, the
    unfiltered best ones are kept. Ties go to the state that was expanded first.

    >>> grow = lambda s: [(s + c, v) for c, v in (("a", 1.0), ("b", 2.0))] if len(s) < 2 else []
    >>> search("", grow, lambda s: "bb" not in s, width=2).beam
    (('ba', 3.0), ('ab', 3.0))
    """

    if width < 1:
        raise InvalidInput(f"the beam width must be at least 1, found {width}.")
    beam: list[tuple[State, float]] = [(start, 0.0)]
    fallbacks = steps = 0
    while steps < max_steps:
        complete: list[tuple[State, float]] = []
        fresh: list[tuple[State, float]] = []
        for state, score in beam:
            successors = [(after, score + gain) for after, gain in expand(state)]
            fresh += successors
            if not successors:
                complete.append((state, score))
        if not fresh:
            break
        steps += 1
        accepted = [pair for pair in fresh if accept(pair[0])]
        fallbacks += not accepted
        candidates = complete + (accepted or fresh)
        beam = sorted(candidates, key=lambda pair: -pair[1])[:width]
    return Found(tuple(beam), steps, fallbacks)
