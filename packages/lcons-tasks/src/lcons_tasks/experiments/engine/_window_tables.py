"""Tables of window scores: the baselines of soft constraints that need no network.

A soft constraint adds weight * log sigmoid(margin) for every window of contexts c and labels v. These tables
read the same windows of the same sentences and add weight * s(c, v):

| how | s(c, v) |
|---|---|
| table | 0 if the window was seen in training (as often as `min_support` asks), otherwise -1 |
| counts | log ((#(c, v) + a) / (#c + a V)), where V label n-grams were seen: a smoothed relative frequency |
| penalties | -p(c, v), p >= 0, learned from the errors of the base model on sentences that it has not seen |

The penalties are those of Anzaroot et al. (2014), one per part, by a perceptron on top of a fixed model:
p += rate * g / sqrt(sum of the squares of g so far), g = windows of the answers - windows of gold, at least
0, averaged over passes. Differs from them: parts of the answers are the candidates, in place of a list that
statistics prune, and all sentences are decoded before a step.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from lcons_core import Instance, InvalidInput, Recipe
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch
from lcons_decode.kernels import Floats, Ints
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._window_decoder import LONGEST, Columns, ScoresAt, decode_windows

# Added to every count of a window, so that one that was not seen is not impossible.
SMOOTHING = 0.1
PASSES, RATE = 20, 0.5

Scores = Mapping[int, Mapping[int, float]]


@dataclass(frozen=True, eq=False)
class WindowTable:
    """A score per window: `scores` by the codes of contexts and labels, `missing` by the code of contexts for
    windows that are not listed, and `unknown` for contexts that are not."""

    feature: NgramContext
    scores: Scores
    missing: Mapping[int, float] = field(default_factory=dict)
    unknown: float = 0.0

    def __post_init__(self) -> None:
        if self.feature.n > LONGEST or self.feature.pad:
            raise InvalidInput(
                f"a table has windows of at most {LONGEST} labels without padding: got n = {self.feature.n}"
                f"{' with padding' if self.feature.pad else ''}."
            )

    @property
    def parameters(self) -> int:
        """The number of windows with a score of their own."""
        return sum(map(len, self.scores.values()))

    def prepare(self, xs: Sequence[Columns], labels: tuple[str, ...]) -> ScoresAt:
        """As `WindowScores.prepare`."""
        n, L = self.feature.n, len(labels)
        kinds = {code: i for i, code in enumerate(self.scores)}
        base = np.array([*(self.missing.get(code, self.unknown) for code in kinds), self.unknown])
        sizes = np.array([*map(len, self.scores.values()), 0], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        listed = [pair for own in self.scores.values() for pair in own.items()]
        places = _places(np.array([code for code, _ in listed], dtype=np.int64), self.feature, labels)
        values = np.array([value for _, value in listed])
        rows = [self._rows(x, kinds) for x in xs]
        free = np.array([label not in self.feature.labels for label in labels])

        def at(which: Ints, t: int) -> Iterator[Floats]:
            if t < n - 1:
                return
            own = np.array([rows[i][t - n + 1] for i in which])
            total = np.repeat(base[own], L**n).reshape(len(own), -1)
            counts = sizes[own]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            chosen = np.repeat(starts[own], counts) + within
            owner, place = np.repeat(np.arange(len(own)), counts), places[chosen]
            total[owner[place >= 0], place[place >= 0]] = values[chosen[place >= 0]]
            total = total.reshape(len(own), *[L] * n)
            for axis in range(1, n + 1) if free.any() else ():
                np.moveaxis(total, axis, 1)[:, free] = 0.0
            yield total

        return at

    def _rows(self, x: Columns, kinds: Mapping[int, int]) -> list[int]:
        """The row of the contexts of each window of an input."""
        length = len(next(iter(x.values())))
        contexts = self.feature.context_windows(Instance(x, [""] * length))
        codes = _codes(contexts, len(self.feature.contexts) + 1)
        return [kinds.get(code, len(kinds)) for code in codes.tolist()]


def _codes(values: Ints, base: int) -> Ints:
    """(N, n) digits below `base` -> (N,) numbers."""
    codes = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        codes = codes * base + column
    return codes


def _places(codes: Ints, feature: NgramContext, labels: Sequence[str]) -> Ints:
    """The codes of label n-grams over the labels of a model, -1 if it lacks one."""
    index = {label: i for i, label in enumerate(labels)}
    order = np.array([index.get(label, -1) for label in feature.labels], dtype=np.int64)
    digits = np.empty((len(codes), feature.n), dtype=np.int64)
    for i in reversed(range(feature.n)):
        codes, digits[:, i] = np.divmod(codes, len(feature.labels))
    own = order[digits]
    return np.where((own >= 0).all(1), _codes(own, len(labels)), -1)


def windows_of(feature: NgramContext, sentences: Iterable[Sentence]) -> Iterator[tuple[int, int]]:
    """The codes of contexts and of labels of every window of labelled sentences."""
    for sentence in sentences:
        values = feature.values(sentence.instance)
        contexts = _codes(values[:, : feature.n], len(feature.contexts) + 1)
        yield from zip(
            contexts.tolist(), _codes(values[:, feature.n :], len(feature.labels)).tolist(), strict=True
        )


def feature_of(recipe: Recipe, train: Sequence[Sentence]) -> NgramContext:
    """The feature of a recipe, with the vocabularies of training sentences."""
    _, feature = recipe.complete([sentence.instance for sentence in train])
    if not isinstance(feature, NgramContext):
        raise InvalidInput(f"a table needs windows with contexts: got the feature {feature.kind!r}.")
    return feature


def count_windows(feature: NgramContext, train: Iterable[Sentence], least: float = 1) -> Scores:
    """How often each window occurs; those that occur fewer than `least` times are left out."""
    counts: dict[int, dict[int, float]] = {}
    for context, labels in windows_of(feature, train):
        own = counts.setdefault(context, {})
        own[labels] = own.get(labels, 0) + 1
    return {
        context: {labels: number for labels, number in own.items() if number >= least}
        for context, own in counts.items()
    }


def seen_table(recipe: Recipe, train: Sequence[Sentence]) -> WindowTable:
    """The look-up: a window that was not seen costs 1."""
    feature = feature_of(recipe, train)
    counts = count_windows(feature, train, recipe.min_support)
    scores = {context: dict.fromkeys(own, 0.0) for context, own in counts.items()}
    return WindowTable(feature, scores, unknown=-1.0)


def counts_table(recipe: Recipe, train: Sequence[Sentence], smoothing: float = SMOOTHING) -> WindowTable:
    """The logarithm of the smoothed frequency of the labels of a window, given its contexts."""
    feature = feature_of(recipe, train)
    counts = count_windows(feature, train, recipe.min_support)
    V = max(1, len({labels for own in counts.values() for labels in own}))
    scores, missing = {}, {}
    for context, own in counts.items():
        total = float(np.log(sum(own.values()) + smoothing * V))
        scores[context] = {labels: float(np.log(n + smoothing)) - total for labels, n in own.items()}
        missing[context] = float(np.log(smoothing)) - total
    return WindowTable(feature, scores, missing, -float(np.log(V)))


def learn_penalties(
    recipes: Sequence[Recipe],
    train: Sequence[Sentence],
    batch: ChainBatch,
    held_out: Sequence[Sentence],
    passes: int = PASSES,
    rate: float = RATE,
) -> list[WindowTable]:
    """Tables of penalties; `batch` are the scores of the base model on the held-out sentences. Those with a
    label that `train` lacks teach nothing."""
    features = [feature_of(recipe, train) for recipe in recipes]
    labels = set(features[0].labels) if features else set()
    taught = [i for i, sentence in enumerate(held_out) if labels.issuperset(sentence.labels)]
    gold = [held_out[i] for i in taught]
    xs = [sentence.x for sentence in held_out]
    now: list[dict[tuple[int, int], float]] = [{} for _ in features]
    squares: list[dict[tuple[int, int], float]] = [{} for _ in features]
    sums: list[dict[tuple[int, int], float]] = [{} for _ in features]
    for _ in range(passes):
        tables = map(_penalised, features, now)
        found = [batch.labels[i] for i in decode_windows(batch, [(table, 1.0) for table in tables], xs)]
        texts = [tuple(found[a:b]) for a, b in pairwise(batch.offsets.tolist())]
        answers = [Sentence(held_out[i].words, texts[i], held_out[i].columns) for i in taught]
        for feature, own, square, total in zip(features, now, squares, sums, strict=True):
            change: dict[tuple[int, int], int] = {}
            for side, sign in ((answers, 1), (gold, -1)):
                for window in windows_of(feature, side):
                    change[window] = change.get(window, 0) + sign
            for window, g in change.items():
                if g:
                    square[window] = square.get(window, 0.0) + g * g
                    own[window] = max(0.0, own.get(window, 0.0) + rate * g / square[window] ** 0.5)
            for window, value in own.items():
                total[window] = total.get(window, 0.0) + value / passes
    return [_penalised(feature, total) for feature, total in zip(features, sums, strict=True)]


def _penalised(feature: NgramContext, penalties: Mapping[tuple[int, int], float]) -> WindowTable:
    scores: dict[int, dict[int, float]] = {}
    for (context, labels), value in penalties.items():
        if value > 0:
            scores.setdefault(context, {})[labels] = -value
    return WindowTable(feature, scores)
