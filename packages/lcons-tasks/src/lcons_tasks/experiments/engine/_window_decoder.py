"""Exact decoding under any scores of windows of up to three labels: the decoder of baselines.

    maximise  score(y) + sum over windows of weight * s(contexts, labels)

With the last two labels (a, b) as state, at position t,

    best_t(b, c) = max_a [best_{t-1}(a, b) + s_t(a, b, c)] + s_t(b, c) + s_t(c)
                   + transition(b, c) + emission_t(c)

The decoders of lcons_decode are faster and take any n, but their scores are those of networks.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from lcons_decode import ChainBatch
from lcons_decode.kernels import Floats, Ints

LONGEST = 3
# Sequences that are decoded side by side.
BLOCK = 32

Columns = Mapping[str, Sequence[str]]
# A function of (sequences, position): arrays (sequences, L), (sequences, L, L) or (sequences, L, L, L) with
# what the windows of one, two or three labels that end at this position of these sequences score.
ScoresAt = Callable[[Ints, int], Iterable[Floats]]


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


def decode_windows(
    batch: ChainBatch, used: Sequence[tuple[WindowScores, float]], xs: Sequence[Columns]
) -> Ints:
    """(N,) the label indices of the best labelling of every sequence, under scores with one weight each; of
    equal ones, that with the first label at its last difference."""
    scores = [(one.prepare(xs, tuple(batch.labels)), weight) for one, weight in used if weight]
    found = np.zeros(int(batch.offsets[-1]), dtype=np.int64)
    lengths = np.diff(batch.offsets)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        for i, labels in zip(block, _decode_block(batch, block, lengths[block], scores), strict=True):
            found[batch.offsets[i] : batch.offsets[i + 1]] = labels
    return found


def _decode_block(
    batch: ChainBatch, block: Ints, lengths: Ints, scores: Sequence[tuple[ScoresAt, float]]
) -> list[Ints]:
    """The best labels of sequences, of which the longest is the first."""
    L, firsts = len(batch.labels), batch.offsets[block]
    best = np.zeros((0, L, L))
    ends: list[Floats] = [best] * len(block)
    backs: list[Ints] = []
    for t in range(int(lengths[0])):
        live = int((lengths > t).sum())
        added = {n: np.zeros((live, *[L] * n)) for n in range(1, LONGEST + 1)}
        for at, weight in scores:
            for array in at(block[:live], t):
                added[array.ndim - 1] += weight * array
        here = added[1] + batch.emission[firsts[:live] + t]
        if t == 0:
            # The first label has no label before it: the state is (0, label), and the others are impossible.
            best = np.full((live, L, L), -np.inf)
            best[:, 0] = here + batch.start
        else:
            if t == 1:
                reached, back = best[:live, 0, :, None], np.zeros((live, L, L), dtype=np.int64)
            else:
                paths = best[:live, :, :, None] + added[3]
                back = paths.argmax(1)
                reached = np.take_along_axis(paths, back[:, None], 1)[:, 0]
            best = reached + added[2] + batch.transition + here[:, None]
            backs.append(back)
        for i in np.flatnonzero(lengths[:live] == t + 1):
            ends[i] = best[i] + batch.stop
    return [_trace(ends[i], [back[i] for back in backs[: T - 1]]) for i, T in enumerate(lengths.tolist())]


def _trace(end: Floats, backs: Sequence[Ints]) -> Ints:
    """The labels of the best path that ends in a pair of labels."""
    before, last = divmod(int(end.argmax()), end.shape[1])
    labels = [last]
    for back in reversed(backs):
        labels.append(before)
        before = int(back[before, labels[-2]])
    return np.array(labels[::-1], dtype=np.int64)
