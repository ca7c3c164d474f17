"""The evidence for forbidding a window of labels: how often chance would have shown it.

A window w has one value per axis: n labels, and n contexts if the feature has them. For a set S of axes let
N(S) be the number of training windows that agree with w on S, and N = N({}) the number of all windows. The
part of w on S is *unseen* if N(S) = 0. If two of its axes i and j were independent given the others, training
would have shown it

    chance(S) = min over i < j in S of  N(S - i) N(S - j) / N(S - i - j)

times. For a pair of labels a, b this is N(a) N(b) / N; for three labels it is the smallest of the three
models with one pair independent given the third label, one of which is the Markov chain. If a smaller part is
unseen, too, chance(S) = 0. A single label that never occurs at a place of the window (S = {i}) is expected
there as often as at the average place.

Templates: labels like B-PER have a prefix and a type. Two labels belong to the class (prefix or label, prefix
or label, same type or not), such as (O, I-*) or (B-X, I-Y with another type Y). The counts of a class are the
sums over its pairs, so that a class that is never seen also covers types that occur once:

    chance(class) = sum over its pairs (a, b) of  N(a) N(b) / N

One label error per 50 windows that chance would have shown does not count: such a class still covers its
other pairs.

Contiguous folds of the training structures test both kinds of evidence: a window that one fold contains
although the other folds have evidence against it refutes this evidence, unless it may be a label error. With
refuted_parts and refuted_classes the largest evidence that was refuted (0 if none was, scaled from the folds
to all data),

    w is forbidden  iff  chance(S) >= e and chance(S) > refuted_parts for an unseen part S of w,
                     or  the same for an unseen class of w and refuted_classes.

Labels that follow each other freely refute much (universal POS tags), the span labels of a scheme little.
The negatives that are not forbidden are *undecided*: too rare to tell. They are learned as valid, because a
network that is not told about them may reject them by generalisation.

Not in the paper: all of this. Parts have at most four axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, pairwise

import numpy as np

from lcons_core._errors import TooLarge
from lcons_core._psi import PsiRows
from lcons_core._types import Bools, Floats, Ints
from lcons_core.features._ngrams import SequenceFeature, type_of
from lcons_core.learn._examples import LabelledExamples, fold

EVIDENCE = 3.0
FOLDS = 5
MOST_AXES = 4
# What occurs at most this often, of the times by chance, may be a label error.
NOISE = 0.02
_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class WindowCounts:
    """Counts of the windows of training: windows (N, axes) as value indices, each with its weight."""

    feature: SequenceFeature
    windows: Ints
    weights: Floats

    @classmethod
    def of(cls, feature: SequenceFeature, rows: PsiRows) -> WindowCounts:
        """The counts of folded psi."""
        return cls(feature, feature.space.assignments(rows.psi), rows.weight)

    @property
    def total(self) -> float:
        """The number of windows."""
        return float(self.weights.sum())

    def evidence(self, windows: Ints, held: WindowCounts | None = None) -> tuple[Floats, Floats]:
        """(C,) how often chance would have shown the unseen parts of each window, and its unseen classes; 0
        if all of them were seen. With other windows `held`, only evidence that these refute."""
        chunks = [windows[first : first + _CHUNK] for first in range(0, len(windows), _CHUNK)]
        none = np.zeros(0)
        parts = np.concatenate([none, *(self._of_parts(some, held) for some in chunks)])
        return parts, np.concatenate([none, *(self._of_classes(some, held) for some in chunks)])

    def _of_parts(self, windows: Ints, held: WindowCounts | None) -> Floats:
        counts: dict[tuple[int, ...], Floats] = {(): np.full(len(windows), self.total)}
        best = np.zeros(len(windows))
        axes = range(len(self.feature.space.axes))
        for S in chain.from_iterable(combinations(axes, size + 1) for size in range(MOST_AXES)):
            counts[S] = self._count(S, windows)
            if len(S) == 1:
                chance = self._at_other_places(S[0])[windows[:, S[0]]]
            else:
                chance = np.full(len(windows), np.inf)
                for i, j in combinations(S, 2):
                    less_i, less_j, rest = (tuple(a for a in S if a not in out) for out in ({i}, {j}, {i, j}))
                    shown = counts[less_i] * counts[less_j] / np.maximum(counts[rest], 1e-300)
                    chance = np.minimum(chance, np.where(counts[rest] > 0, shown, 0.0))
            against = counts[S] == 0
            if held is not None:
                against &= held._count(S, windows) > NOISE * chance
            best = np.where(against, np.maximum(best, chance), best)
        return best

    def _count(self, S: tuple[int, ...], windows: Ints) -> Floats:
        keys, totals = self._table(S)
        codes = self._codes(S, windows)
        at = np.minimum(np.searchsorted(keys, codes), len(keys) - 1)
        return np.where(keys[at] == codes, totals[at], 0.0)

    def _table(self, S: tuple[int, ...]) -> tuple[Ints, Floats]:
        if S not in self._tables:
            keys, which = np.unique(self._codes(S, self.windows), return_inverse=True)
            self._tables[S] = keys, _sums(which.reshape(-1), self.weights, len(keys))
        return self._tables[S]

    @cached_property
    def _tables(self) -> dict[tuple[int, ...], tuple[Ints, Floats]]:
        return {}

    def _codes(self, S: tuple[int, ...], windows: Ints) -> Ints:
        shape = tuple(len(self.feature.space.axes[i]) for i in S)
        if math.prod(shape) > 2**62:
            raise TooLarge(f"windows of {max(shape):,} values are too many to count; use evidence=None.")
        return np.ravel_multi_index(tuple(windows[:, i] for i in S), shape)

    def _at_other_places(self, axis: int) -> Floats:
        """(values,) the mean count of each value over the places of its kind; 0 for padding."""
        n, axes = self.feature.n, self.feature.space.axes
        first = len(axes) - n
        places = range(first, len(axes)) if axis >= first else range(first)
        shown = np.zeros(len(axes[axis]))
        width = len(self.feature.labels) if axis >= first else len(shown)
        for place in places:
            keys, totals = self._table((place,))
            real = keys < width
            shown[keys[real]] += totals[real] / len(places)
        return shown

    def _of_classes(self, windows: Ints, held: WindowCounts | None) -> Floats:
        best = np.zeros(len(windows))
        if not self._types.any():
            return best
        first = len(self.feature.space.axes) - self.feature.n
        for i, j in combinations(range(first, len(self.feature.space.axes)), 2):
            seen, chance = self._classes(i, j)
            classes = self._class_of(windows[:, i], windows[:, j])
            expected = chance[classes]
            against = (seen[classes] <= NOISE * expected) & (self._count((i, j), windows) == 0)
            if held is not None:
                against &= held._classes(i, j)[0][classes] > NOISE * expected
            best = np.where(against, np.maximum(best, expected), best)
        return best

    def _classes(self, i: int, j: int) -> tuple[Floats, Floats]:
        """The number of windows in each class of the labels at two places, and the number by chance."""
        size = 2 * (int(self._heads.max()) + 1) ** 2
        seen = _sums(self._class_of(*self.windows[:, (i, j)].T), self.weights, size)
        (a, count_a), (b, count_b) = self._table((i,)), self._table((j,))
        pairs = self._class_of(np.repeat(a, len(b)), np.tile(b, len(a)))
        shown = np.outer(count_a, count_b).reshape(-1) / self.total
        return seen, _sums(pairs, shown, size)

    def _class_of(self, a: Ints, b: Ints) -> Ints:
        heads, types = self._heads, self._types
        same = (types[a] == types[b]) & (types[a] > 0)
        return (heads[a] * (int(heads.max()) + 1) + heads[b]) * 2 + same

    @cached_property
    def _heads(self) -> Ints:
        """(labels + 1,) the class of each label: that of its prefix, or its own; last, that of padding."""
        known: dict[tuple[str, str], int] = {}
        heads = []
        for label in self.feature.labels:
            prefix, _ = type_of(label)
            heads.append(known.setdefault((prefix, "" if prefix else label), len(known)))
        return np.array([*heads, len(known)], dtype=np.int64)

    @cached_property
    def _types(self) -> Ints:
        """(labels + 1,) the type of each label, from 1; 0 for labels without a type and for padding."""
        known: dict[str, int] = {}
        kinds = [type_of(label)[1] for label in self.feature.labels]
        return np.array([0 if not kind else known.setdefault(kind, len(known) + 1) for kind in kinds] + [0])


@dataclass(frozen=True)
class Needed:
    """The evidence that a part and a class need: at least `least`, and more than what folds refuted."""

    least: float
    refuted_parts: float = 0.0
    refuted_classes: float = 0.0

    def enough(self, parts: Floats, classes: Floats) -> Bools:
        """Which windows have enough evidence, given that of their parts and of their classes."""
        by_parts = (parts >= self.least) & (parts > self.refuted_parts)
        by_classes = (classes >= self.least) & (classes > self.refuted_classes)
        return by_parts | by_classes


def sort_negatives(
    feature: SequenceFeature, windows: Sequence[Ints], examples: LabelledExamples, least: float = EVIDENCE
) -> tuple[LabelledExamples, Needed]:
    """The examples with the negatives that have enough evidence; the others are undecided, each with the
    evidence against it as its weight. `windows` are the value indices of each structure.

    >>> from lcons_core.learn._recipe import Recipe
    >>> sentences = [["B-X", "I-X", "O"], ["O", "B-X", "O"], ["B-Y", "O", "O"], ["O", "B-Y", "I-Y"]] * 5
    >>> examples = Recipe(evidence=3).examples(sentences)
    >>> [tuple(examples.space.describe(psi).values()) for psi in examples.negatives.psi.dense()]
    [('O', 'I-X'), ('O', 'I-Y')]
    """
    needed = refuted_by_folds(feature, windows, least)
    negatives = examples.negatives
    counts = WindowCounts.of(feature, examples.positives)
    parts, classes = counts.evidence(feature.space.assignments(negatives.psi))
    enough = needed.enough(parts, classes)
    undecided = PsiRows.of(negatives.psi.take(~enough), weight=np.maximum(parts, classes)[~enough])
    return replace(examples, negatives=negatives.take(enough), undecided=undecided), needed


def refuted_by_folds(
    feature: SequenceFeature, windows: Sequence[Ints], least: float, folds: int = FOLDS
) -> Needed:
    """The evidence that is needed, given what contiguous folds refute; `windows` has one array per
    structure."""
    refuted = [0.0, 0.0]
    bounds = fold_bounds(len(windows), folds)
    parts = [np.concatenate(windows[first:stop]) for first, stop in bounds]
    counted = [WindowCounts.of(feature, fold(feature.psi_of_values(part), feature.space.d)) for part in parts]
    for held in counted:
        others = [part for part in counted if part is not held and len(part.windows)]
        if not others or not len(held.windows):
            continue
        rest = WindowCounts(
            feature,
            np.concatenate([part.windows for part in others]),
            np.concatenate([part.weights for part in others]),
        )
        scale = len(bounds) / (len(bounds) - 1)
        for i, chance in enumerate(rest.evidence(held.windows, held)):
            refuted[i] = max(refuted[i], scale * float(chance.max()))
    return Needed(least, *refuted)


def fold_bounds(number: int, folds: int) -> list[tuple[int, int]]:
    """(first, stop) of contiguous folds of almost equal size, none of them empty.

    >>> fold_bounds(7, 3), fold_bounds(1, 5)
    ([(0, 2), (2, 4), (4, 7)], [(0, 1)])
    """
    folds = max(1, min(folds, number))
    edges = [number * fold // folds for fold in range(folds + 1)]
    return list(pairwise(edges))


def _sums(groups: Ints, weights: Floats, number: int) -> Floats:
    """(number,) the sum of the weights of each group."""
    return np.bincount(groups, weights, minlength=number).astype(np.float64)
