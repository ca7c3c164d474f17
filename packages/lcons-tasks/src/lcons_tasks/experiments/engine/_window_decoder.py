"""Exact decoding under any scores of windows of up to three labels: the decoder of baselines.

    maximise  score(y) + sum over windows of weight * s(contexts, labels)

With the last two labels (a, b) as state, at position t,

    best_t(b, c) = max_a [best_{t-1}(a, b) + s_t(a, b, c)] + s_t(b, c) + s_t(c)
                   + transition(b, c) + emission_t(c)

Most windows of three labels have the same score, `base`, whatever their labels are, and

    max_a [best(a, b) + base] = max_a best(a, b) + base,

also as computed, because rounding keeps the order. So only pairs (b, c) of which a window has a score of its
own take the maximum over sums. Which a it was is computed on the way back, for the best pairs alone.

The decoders of lcons_decode are faster and take any n, but their scores are those of networks.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Floats, Ints

LONGEST = 3
# Sequences that are decoded side by side.
BLOCK = 64

Columns = Mapping[str, Sequence[str]]


class Triples(NamedTuple):
    """What windows of three labels score at one position of some sequences: `base` (sequences,), except
    those whose last two labels are a pair of `keys` (K,): these score `own` (K, L), by their first label.
    The key of labels (b, c) of the sequence in place i is (i * L + b) * L + c; keys ascend."""

    base: Floats
    keys: Ints
    own: Floats

    def of(self, keys: Ints) -> Floats:
        """(keys, L) the scores of the windows that end in pairs, by their first label."""
        L = self.own.shape[1]
        scores = np.repeat(self.base[keys // L**2, None], L, axis=1)
        places = np.searchsorted(self.keys, keys)
        known = np.append(self.keys, -1)[places] == keys
        scores[known] = self.own[places[known]]
        return scores

    def __add__(self, other: Triples) -> Triples:  # type: ignore[override]
        keys = np.union1d(self.keys, other.keys)
        return Triples(self.base + other.base, keys, self.of(keys) + other.of(keys))

    def weighted(self, weight: float) -> Triples:
        """The scores, times a weight."""
        return Triples(weight * self.base, self.keys, weight * self.own)


# A function of (tokens, position): what the windows of one, two or three labels score that end at these
# tokens, all of which have this position in their sequences: (tokens, L), (tokens, L, L), or triples.
ScoresAt = Callable[[Ints, int], Iterable[Floats | Triples]]


class WindowScores(Protocol):
    """A score for every window of contexts and labels."""

    @property
    def parameters(self) -> int:
        """The number of its weights."""
        ...

    def prepare(self, xs: Sequence[Columns], labels: tuple[str, ...]) -> ScoresAt:
        """The scores of the windows of inputs, for labels in the order of a model; a window with a label that
        it does not know scores 0."""
        ...

    def __hash__(self) -> int: ...


def decode_windows(batch: ChainBatch, scores: Sequence[tuple[ScoresAt, float]]) -> Ints:
    """(N,) the label indices of the best labelling of every sequence, under prepared scores with one weight
    each; of equal ones, that with the first label at its last difference."""
    used = [(at, weight) for at, weight in scores if weight]
    found = np.zeros(int(batch.offsets[-1]), dtype=np.int64)
    lengths = np.diff(batch.offsets)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        _decode_block(batch, batch.offsets[block], lengths[block], used, found)
    return found


class _Step(NamedTuple):
    """The state of a position: `best` (sequences, L, L) before it, and what leads from there."""

    best: Floats
    triples: Triples | None


def _decode_block(
    batch: ChainBatch, firsts: Ints, lengths: Ints, scores: Sequence[tuple[ScoresAt, float]], found: Ints
) -> None:
    """Writes the best labels of sequences, of which the longest is the first, to `found`."""
    L = len(batch.labels)
    best = np.zeros((0, L, L))
    steps: list[_Step] = []
    ends = np.zeros(len(firsts), dtype=np.int64)
    for t in range(int(lengths[0])):
        live = int((lengths > t).sum())
        tokens = firsts[:live] + t
        single, pair, triples = _added(scores, tokens, t)
        here = single + batch.emission[tokens]
        if t == 0:
            # The first label has no label before it: the state is (0, label), and the others are impossible.
            best = np.full((live, L, L), -np.inf)
            best[:, 0] = here + batch.start
        else:
            best = best[:live]
            steps.append(_Step(best, triples))
            best = _reached(best, triples) + pair + batch.transition + here[:, None]
        done = np.flatnonzero(lengths[:live] == t + 1)
        ends[done] = (best[done] + batch.stop).reshape(len(done), L * L).argmax(1)
    # `ends` becomes the best pair of labels of every sequence, position by position.
    for t in reversed(range(int(lengths[0]))):
        live = int((lengths > t).sum())
        before, found[firsts[:live] + t] = np.divmod(ends[:live], L)
        if t:
            ends[:live] = _first_label(steps[t - 1], ends[:live]) * L + before


def _added(
    scores: Sequence[tuple[ScoresAt, float]], tokens: Ints, t: int
) -> tuple[Floats | float, Floats | float, Triples | None]:
    """What windows of one, two and three labels add at a position."""
    single: Floats | float = 0.0
    pair: Floats | float = 0.0
    triples: Triples | None = None
    for at, weight in scores:
        for one in at(tokens, t):
            if isinstance(one, Triples):
                own = one.weighted(weight)
                triples = own if triples is None else triples + own
            elif one.ndim == 2:
                single = single + weight * one
            else:
                pair = pair + weight * one
    return single, pair, triples


def _reached(best: Floats, triples: Triples | None) -> Floats:
    """(sequences, L, L or 1) the best scores of the pairs (b, c) before their own scores are added."""
    top: Floats = best.max(1)[:, :, None]
    if triples is None:
        return top
    L = best.shape[1]
    reached = np.repeat(top + triples.base[:, None, None], L, axis=2)
    owner, b = np.divmod(triples.keys // L, L)
    reached.reshape(-1)[triples.keys] = (best[owner, :, b] + triples.own).max(1)
    return reached


def _first_label(step: _Step, pairs: Ints) -> Ints:
    """(sequences,) the label before the best pair (b, c) of each sequence, which is b * L + c."""
    L = step.best.shape[1]
    sequences = np.arange(len(pairs))
    paths = step.best[sequences, :, pairs // L]
    if step.triples is not None:
        paths = paths + step.triples.of(sequences * L**2 + pairs)
    first: Ints = paths.argmax(1)
    return first
