"""Figures of labels, and how sure they are.

F1 of chunks over IOB, BIOES and BILOU labels is by the rules of conlleval and seqeval (`lcons_core.chunks`):
a predicted chunk is right iff the gold labels have a chunk of that type at exactly those tokens. Counts are
(right, predicted, gold) in the last axis.

The bootstrap draws units (sentences, structures or rows) with replacement, the same ones for both sides of a
difference and for every run (seed, split). A draw is a vector of weights: how often each unit is drawn. An
interval is that between the 2.5th and 97.5th percentiles of a statistic of the draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcons_core import InvalidInput
from lcons_core._schemes import chunks as chunks
from lcons_core._types import Floats, Ints

DRAWS = 2000
# Draws that are in memory at once.
CHUNK = 100


@dataclass(frozen=True)
class Interval:
    """A mean difference and the bounds of its interval, in percentage points."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, figure: Floats) -> Interval:
        """The interval of a vector: a difference first, then the same of each draw."""
        low, high = np.percentile(figure[1:], [2.5, 97.5])
        return cls(float(figure[0]), float(low), float(high))

    @property
    def verdict(self) -> str:
        """Whether the difference is clearly above or below 0."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no clear difference"

    def __str__(self) -> str:
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def drawn_weights(n: int, draws: int = DRAWS, seed: int = 0, singly: bool = False) -> Iterator[Floats]:
    """Weights (at most `CHUNK`, n) of bootstrap draws of n units. `singly` draws unit after unit; otherwise
    the weights are drawn as such, which gives other draws of the same distribution.

    >>> [float(weights.sum()) for weights in drawn_weights(5, 2)]
    [10.0]
    """
    rng = np.random.default_rng(seed)
    for first in range(0, draws, CHUNK):
        size = min(CHUNK, draws - first)
        if singly:
            picks = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
            yield np.bincount(picks.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        else:
            yield rng.multinomial(n, np.full(n, 1 / n), size).astype(np.float64)


def _interval(statistic: Callable[[Floats], Floats], n: int, weights: Iterable[Floats]) -> Interval:
    """The statistic, a function of weights (draws, n), on all n units, and its interval."""
    return Interval.of(np.concatenate([statistic(np.ones((1, n))), *map(statistic, weights)]))


def paired_bootstrap(
    better: Sequence[ArrayLike], worse: Sequence[ArrayLike], totals: ArrayLike, seed: int = 0
) -> Interval:
    """The difference in accuracy of `better` over `worse`: right labels a sentence, one array a run.

    >>> print(paired_bootstrap([[2, 2]], [[1, 2]], [2, 2]))
    +25.00 [+0.00, +50.00]
    """
    gain = np.mean([np.asarray(a) - np.asarray(b) for a, b in zip(better, worse, strict=True)], axis=0)
    sizes = np.asarray(totals)
    weights = drawn_weights(len(sizes), seed=seed, singly=True)
    return _interval(lambda w: 100 * (w @ gain) / (w @ sizes), len(sizes), weights)


# The label of a token for which none was found.
NO_LABEL = "_"


@dataclass(frozen=True)
class ChunkF1:
    """Counts of right, predicted and gold chunks, and what follows from them (0 where nothing is counted)."""

    right: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """The share of predicted chunks that are right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold chunks that are found."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.right / (self.predicted + self.gold) if self.predicted + self.gold else 0.0


_SPAN_LABEL = re.compile(r"O|[BIESLU](-.+)?", re.DOTALL)


def are_spans(labels: Iterable[str]) -> bool:
    """Whether labels mark spans (IOB, BIOES or BILOU), and some of them are not O.

    >>> are_spans(["B-NP", "I-NP", "O"]), are_spans(["U-NP", "O"]), are_spans(["author", "O"]), are_spans("O")
    (True, True, False, False)
    """
    distinct = set(labels)
    return bool(distinct - {"O"}) and all(map(_SPAN_LABEL.fullmatch, distinct))


def counted_spans(gold: Iterable[Any], found: Iterable[Any]) -> tuple[int, int, int]:
    """The numbers of right, found and gold spans of one sentence."""
    there, claimed = set(gold), set(found)
    return len(there & claimed), len(claimed), len(there)


def count_right(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]], spans: bool = True) -> Ints:
    """(N, 3) right, predicted and gold chunks of each sentence; of tokens if labels are no `spans`, which
    makes F1 accuracy.

    >>> count_right([["B-X", "O"]], [["B-X", "B-X"]]).tolist()
    [[1, 2, 1]]
    """
    rows = [
        counted_spans(chunks(y), chunks(z)) if spans else (sum(map(eq, y, z)), len(y), len(y))
        for y, z in zip(gold, found, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def chunk_f1(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> ChunkF1:
    """The counts over all sentences: one list of labels per sentence, in the same order.

    >>> chunk_f1([["B-X", "O"]], [["B-X", "B-X"]])
    ChunkF1(right=1, predicted=2, gold=1)
    """
    of_lists = all(isinstance(y, Sequence | np.ndarray) and not isinstance(y, str) for y in (*gold, *found))
    if not of_lists or not all(isinstance(label, str) for y in (*gold, *found) for label in y):
        raise InvalidInput("`gold` and `found` need one list of labels, as text, per sentence.")
    if list(map(len, gold)) != list(map(len, found)):
        raise InvalidInput("`found` needs as many sentences and labels as `gold`.")
    return ChunkF1(*count_right(gold, found).sum(0).tolist())


def runs_as_iob2(labels: Sequence[str]) -> list[str]:
    """Labels without prefixes, a chunk a run of one label, as IOB2.

    >>> runs_as_iob2(["author", "author", "date"])
    ['B-author', 'I-author', 'B-date']
    """
    before = [None, *labels[:-1]] if labels else []
    return [f"{'I' if old == label else 'B'}-{label}" for old, label in zip(before, labels, strict=True)]


def f1(counts: ArrayLike) -> NDArray[np.float64]:
    """F1 in percent, 0 where nothing is counted.

    >>> float(f1([1, 2, 2]))
    50.0
    """
    right, predicted, gold = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return 200 * right / np.maximum(predicted + gold, 1)


def bootstrap_f1(better: Sequence[ArrayLike], worse: Sequence[ArrayLike], seed: int = 0) -> Interval:
    """The difference in F1 of `better` over `worse`, averaged over runs: counts (sentences, 3), one array a
    run. The same sentences are drawn for every run, so row i is the same sentence in each; where a run did
    not see it, it counts nothing.

    >>> print(bootstrap_f1([[[1, 1, 1], [0, 1, 1]]], [[[0, 1, 1], [0, 1, 1]]]))
    +50.00 [+0.00, +100.00]
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (better, worse)]

    def difference(w: Floats) -> Floats:
        """(draws,): the mean difference over runs."""
        ours, theirs = (f1(np.einsum("ds,rsc->drc", w, side, optimize=True)) for side in sides)
        return np.asarray((ours - theirs).mean(1))

    n = sides[0].shape[1]
    return _interval(difference, n, drawn_weights(n, seed=seed))


# The most units from which the sentences of a tally are drawn; neighbours are drawn together above it.
MOST_DRAWN = 4000


@dataclass(frozen=True)
class Gain:
    """A measure in percent before and after a change of labels, and the gain in points with its 95% interval
    (None for a single sentence)."""

    measure: str
    before: float
    after: float
    interval: Interval | None


class LabelTally:
    """Labels before and after a change, compared with gold sentence by sentence, as counts alone.

    >>> tally = LabelTally()
    >>> tally.add(["B-X", "I-X", "O"], before=["B-X", "O", "O"], after=["B-X", "I-X", "O"])
    >>> [(gain.measure, round(gain.before), round(gain.after)) for gain in tally.gains()]
    [('span F1', 0, 100), ('token accuracy', 67, 100)]
    """

    def __init__(self) -> None:
        self._labels: set[str] = set()
        self._counts: list[tuple[int, ...]] = []

    @property
    def sentences(self) -> int:
        """The number of sentences that were added."""
        return len(self._counts)

    @property
    def labels(self) -> int:
        """The number of gold labels that were added."""
        return sum(counts[0] for counts in self._counts)

    def add(self, gold: Sequence[str], before: Sequence[str], after: Sequence[str]) -> None:
        """Adds one sentence; `_` stands for a label that was not found."""
        counts = [len(gold)]
        for labels in (before, after):
            counts += [sum(map(eq, gold, labels)), *counted_spans(chunks(gold), chunks(labels))]
        self._labels.update(gold, before, after)
        self._counts.append(tuple(counts))

    def gains(self, seed: int = 0) -> tuple[Gain, ...]:
        """Span F1, if the labels are spans, and token accuracy."""
        counts, several, gains = _pooled(np.array(self._counts)), self.sentences > 1, []
        if are_spans(self._labels - {NO_LABEL}):
            before, after = counts[:, 2:5], counts[:, 6:9]
            interval = bootstrap_f1([after], [before], seed=seed) if several else None
            gains.append(Gain("span F1", float(f1(before.sum(0))), float(f1(after.sum(0))), interval))
        sizes, before, after = counts[:, 0], counts[:, 1], counts[:, 5]
        interval = paired_bootstrap([after], [before], sizes, seed=seed) if several else None
        old, new = (float(100 * right.sum() / max(sizes.sum(), 1)) for right in (before, after))
        return (*gains, Gain("token accuracy", old, new, interval))


def _pooled(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts (N, ...) by sentence, with neighbours added up if there are more than `MOST_DRAWN`."""
    if len(counts) <= MOST_DRAWN:
        return counts
    firsts = np.linspace(0, len(counts), MOST_DRAWN, endpoint=False).astype(np.intp)
    return np.asarray(np.add.reduceat(counts, firsts, axis=0))


RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A figure and the bounds of its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, figure: Floats, scale: float = 100) -> Estimate | None:
        """The estimate of a vector of draws, in percent unless scaled otherwise; None if undefined."""
        if np.isnan(figure[0]) or np.isnan(figure[1:]).all():
            return None
        low, high = np.nanpercentile(figure[1:], [2.5, 97.5])
        return cls(float(scale * figure[0]), float(scale * low), float(scale * high))

    def __str__(self) -> str:
        digits = 1 if max(abs(self.value), abs(self.low), abs(self.high)) >= 1 else 2
        return f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def certain(figure: Floats) -> Estimate:
    """The estimate of a figure that is defined, in percent."""
    estimate = Estimate.of(figure)
    assert estimate is not None
    return estimate


class Resampler:
    """The draws of `size` units. A figure is a vector of 1 + `RESAMPLES` numbers: first on the units as they
    are, then on each draw. All figures of one `Resampler` use the same draws, so arithmetic on such vectors
    (differences, shares of differences) is paired by construction.

    >>> shares = Resampler(4, seed=0).ratio([1, 1, 0, 0], [1, 1, 1, 1])
    >>> shares.shape, float(shares[0])
    ((1001,), 0.5)
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.length = 1 + RESAMPLES
        # No unit is drawn more than 255 times, in practice; a byte each keeps large data in memory.
        drawn = [np.minimum(chunk, 255).astype(np.uint8) for chunk in drawn_weights(size, RESAMPLES, seed)]
        self._counts: NDArray[np.uint8] = np.concatenate([np.ones((1, size), dtype=np.uint8), *drawn])

    def sums(self, values: ArrayLike) -> Floats:
        """(1 + RESAMPLES,) sums of a value a unit."""
        summed, firsts = np.asarray(values, dtype=np.float64), range(0, len(self._counts), CHUNK)
        return np.concatenate([self._counts[i : i + CHUNK].astype(np.float64) @ summed for i in firsts])

    def ratio(self, numerators: ArrayLike, denominators: ArrayLike) -> Floats:
        """(1 + RESAMPLES,) sums of numerators over sums of denominators; nan where the latter are 0."""
        above, below = self.sums(numerators), self.sums(denominators)
        return np.divide(above, below, out=np.full(len(below), np.nan), where=below != 0)
