"""Baselines of soft constraints: rows of the table that read the same windows but have no network.

    maximise  score(y) + sum over windows of weight * s(contexts, labels)

| how | s(contexts c, labels v) |
|---|---|
| table | 0 if training shows the window (as often as `min_support` asks), otherwise -1 |
| counts | log ((#(c, v) + a) / (#c + a V)), where V label n-grams were seen: a smoothed relative frequency |

They are decoded exactly, on the scores of the same base model, and their weights are chosen on dev as those
of soft constraints. With the last two labels (a, b) as state, at position t,

    best_t(b, c) = max_a [best_{t-1}(a, b) + s_t(a, b, c)] + transition(b, c) + emission_t(c)

The decoders of lcons_decode are faster and take any n, but their scores are those of networks.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, Recipe
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch
from lcons_decode._scores import Columns
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data import Sentence

TABLE, COUNTS = "table", "counts"
BASELINES = {TABLE: "look-up table", COUNTS: "smoothed counts"}

LONGEST = 3
# Added to every count of a window, so that one that was not seen is not impossible.
SMOOTHING = 0.1
# Sequences that are decoded side by side have about so many scores of windows at a position.
CELLS = 2**17


@dataclass(frozen=True, eq=False)
class WindowTable:
    """A score per window. `number` has the row of each sequence of contexts that was seen; all others have
    the last row. Label n-grams, numbered as in an array (L, ..., L), score `rest` (rows,), and what is
    `listed`, a sparse matrix (rows, n-grams), in addition."""

    feature: NgramContext
    number: dict[tuple[int, ...], int]
    listed: Any
    rest: Floats

    @classmethod
    def of(cls, how: str, recipe: Recipe, train: Sequence[Sentence]) -> WindowTable:
        """The table of a recipe's windows in training sentences."""
        from scipy.sparse import csr_matrix

        instances = [sentence.instance for sentence in train]
        feature = recipe.complete(instances)[1]
        if not isinstance(feature, NgramContext) or feature.n > LONGEST or feature.pad:
            raise InvalidInput(
                f"a table needs windows with contexts, of at most {LONGEST} labels, without padding."
            )
        n, L = feature.n, len(feature.labels)
        values = np.concatenate([feature.values(instance) for instance in instances])
        contexts, rows = np.unique(values[:, :n], axis=0, return_inverse=True)
        places = values[:, n:] @ L ** np.arange(n)[::-1]
        ones, shape = np.ones(len(values)), (len(contexts) + 1, L**n)
        listed = csr_matrix((ones, (rows.ravel(), places)), shape=shape)
        listed.data[listed.data < recipe.min_support] = 0.0
        listed.eliminate_zeros()
        if how == TABLE:
            rest, listed.data = np.full(shape[0], -1.0), np.ones(listed.nnz)
        else:
            # The logarithms of a / (#c + a V), and of (#(c, v) + a) / a.
            V = max(1, len(np.unique(listed.indices)))
            rest = -np.log(np.asarray(listed.sum(1)).ravel() / SMOOTHING + V)
            listed.data = np.log1p(listed.data / SMOOTHING)
        return cls(feature, {tuple(c): row for row, c in enumerate(contexts.tolist())}, listed, rest)

    def rows(self, xs: Sequence[Columns]) -> Ints:
        """(N,) the row of the window that ends at each token of inputs; -1 if there is none."""
        rows = []
        for x in xs:
            length = len(next(iter(x.values())))
            windows = self.feature.context_windows(Instance(x, [""] * length)).tolist()
            rows += [-1] * (length - len(windows))
            rows += [self.number.get(tuple(contexts), len(self.number)) for contexts in windows]
        return np.array(rows, dtype=np.int64)

    def scores(self, rows: Ints, weight: float = 1.0) -> Floats:
        """(len(rows), 1 or L, 1 or L, L) the scores of all label n-grams in windows with these rows, times a
        weight."""
        n, L = self.feature.n, len(self.feature.labels)
        # As `self.listed[rows].toarray()`, but without another matrix.
        ends = self.listed.indptr
        sizes = ends[rows + 1] - ends[rows]
        window = np.repeat(np.arange(len(rows)), sizes)
        chosen = np.arange(len(window)) + np.repeat(ends[rows] - np.cumsum(sizes) + sizes, sizes)
        scores = np.repeat(weight * self.rest[rows, None], L**n, axis=1)
        scores[window, self.listed.indices[chosen]] += weight * self.listed.data[chosen]
        return scores.reshape(-1, *[1] * (LONGEST - n), *[L] * n)


def decode_windows(
    batch: ChainBatch, windows: Sequence[tuple[WindowTable, Ints]], weights: Sequence[float]
) -> Ints:
    """(N,) the label indices of the best labelling of every sequence; of equal ones, that with the first
    label at its last difference. `windows` are tables, which have the labels of the batch, and their rows of
    its inputs."""
    used = [(*window, weight) for window, weight in zip(windows, weights, strict=True) if weight]
    labels = np.zeros(int(batch.offsets[-1]), dtype=np.int64)
    lengths = np.diff(batch.offsets)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    longest = max((table.feature.n for table, *_ in used), default=1)
    size = max(1, CELLS // len(batch.labels) ** longest)
    for first in range(0, len(order), size):
        block = order[first : first + size]
        _decode_block(batch, batch.offsets[block], lengths[block], used, labels)
    return labels


def _decode_block(
    batch: ChainBatch,
    firsts: Ints,
    lengths: Ints,
    used: Sequence[tuple[WindowTable, Ints, float]],
    labels: Ints,
) -> None:
    """Writes the best labels of sequences, of which the longest is the first."""
    L = len(batch.labels)
    best = np.zeros((0, L, L))
    ends = np.zeros(len(firsts), dtype=np.int64)
    steps = []
    for t in range(int(lengths[0])):
        live = int((lengths > t).sum())
        tokens = firsts[:live] + t
        windows = np.zeros((live, 1, 1, L))
        for table, rows, weight in used:
            if t >= table.feature.n - 1:
                windows = windows + table.scores(rows[tokens], weight)
        if t == 0:
            # The first label has no label before it: its state is (0, label), and the others are impossible.
            best = np.full((live, L, L), -np.inf)
            best[:, 0] = batch.start + batch.emission[tokens] + windows[:, 0, 0]
        else:
            best = best[:live]
            steps.append((best, windows))
            # Windows of one or two labels do not choose the label before these.
            single = windows.shape[1] == 1
            best = best.max(1)[..., None] + windows[:, 0] if single else (best[..., None] + windows).max(1)
            best = best + batch.transition + batch.emission[tokens][:, None]
        done = np.flatnonzero(lengths[:live] == t + 1)
        ends[done] = (best[done] + batch.stop).reshape(len(done), L * L).argmax(1)
    # `ends` becomes the best pair of labels of every sequence, position by position.
    for t in reversed(range(int(lengths[0]))):
        live = int((lengths > t).sum())
        before, last = np.divmod(ends[:live], L)
        labels[firsts[:live] + t] = last
        if t:
            best, windows = steps[t - 1]
            windows = np.broadcast_to(windows, (live, windows.shape[1], L, L))
            sequences = np.arange(live)
            paths = best[sequences, :, before] + windows[sequences, :, before, last]
            ends[:live] = paths.argmax(1) * L + before
