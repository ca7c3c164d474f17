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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lcons_core import Instance, InvalidInput, Recipe
from lcons_core._types import Bools
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch
from lcons_decode.kernels._arrays import Floats, Ints
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._window_decoder import (
    LONGEST,
    Columns,
    ScoresAt,
    Triples,
    decode_windows,
)

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
        return self.prepare_codes(context_codes(self.feature, xs), labels)

    def prepare_codes(self, codes: Ints, labels: tuple[str, ...]) -> ScoresAt:
        """As `prepare`, for inputs with these `context_codes`."""
        n, L = self.feature.n, len(labels)
        sizes = np.array([*map(len, self.scores.values()), 0], dtype=np.int64)
        kind = np.repeat(np.arange(len(sizes)), sizes)
        listed = [pair for own in self.scores.values() for pair in own.items()]
        place = _places(np.array([code for code, _ in listed], dtype=np.int64), self.feature, labels)
        value = np.array([value for _, value in listed])[place >= 0]
        kind, place = kind[place >= 0], place[place >= 0]
        base = np.array([*(self.missing.get(code, self.unknown) for code in self.scores), self.unknown])
        number = {code: i for i, code in enumerate(self.scores)}
        rows = np.array([number.get(code, len(number)) for code in codes.tolist()], dtype=np.int64)
        free = np.array([label not in self.feature.labels for label in labels])
        if n == LONGEST:
            return _triples_at(rows, base, kind * L**n + place, value, free)
        table = np.repeat(base[:, None], L**n, axis=1)
        table[kind, place] = value
        table = table.reshape(len(base), *[L] * n)
        for axis in range(1, n + 1):
            np.moveaxis(table, axis, 1)[:, free] = 0.0

        def at(tokens: Ints, t: int) -> Iterator[Floats]:
            if t >= n - 1:
                yield table[rows[tokens]]

        return at


def _triples_at(rows: Ints, base: Floats, codes: Ints, values: Floats, free: Bools) -> ScoresAt:
    """The scores of windows of three labels: `base` by the row of contexts, and those of codes (row, a, b, c)
    over L labels. A window with a free label scores 0."""
    L = len(free)
    row, a, pair = codes // L**3, codes // L**2 % L, codes % L**2
    # Without free labels, only few pairs have scores of their own.
    pairs = np.arange(len(base) * L**2) if free.any() else np.unique(row * L**2 + pair)
    own = np.repeat(base[pairs // L**2, None], L, axis=1)
    own[np.searchsorted(pairs, row * L**2 + pair), a] = values
    own[free[pairs // L % L] | free[pairs % L]] = 0.0
    own[:, free] = 0.0
    first = np.searchsorted(pairs, np.arange(len(base) + 1) * L**2)
    return triples_of(rows, base, first, pairs % L**2, own)


def triples_of(rows: Ints, base: Floats, first: Ints, pairs: Ints, own: Floats) -> ScoresAt:
    """The scores of windows of three labels, by the row of each token: `base` of the row, except for its
    `pairs` b * L + c, from first[row] to first[row + 1], which score `own` (pairs, L)."""
    L = own.shape[1]

    def at(tokens: Ints, t: int) -> Iterator[Triples]:
        if t >= LONGEST - 1:
            row = rows[tokens]
            size = first[row + 1] - first[row]
            chosen = np.arange(size.sum()) + np.repeat(first[row] - np.cumsum(size) + size, size)
            keys = np.repeat(np.arange(len(row)) * L**2, size) + pairs[chosen]
            yield Triples(base[row], keys, own[chosen])

    return at


def context_codes(feature: NgramContext, xs: Sequence[Columns]) -> Ints:
    """(N,) the code of the contexts of the window that ends at each token of inputs; -1 if there is none."""
    codes = []
    for x in xs:
        length = len(next(iter(x.values())))
        windows = feature.context_windows(Instance(x, [""] * length))
        own = np.full(length, -1, dtype=np.int64)
        own[length - len(windows) :] = _codes(windows, len(feature.contexts) + 1)
        codes.append(own)
    return np.concatenate(codes) if codes else np.zeros(0, dtype=np.int64)


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
    known = set(features[0].labels) if features else set()
    xs = [sentence.x for sentence in held_out]
    taught = [known.issuperset(sentence.labels) for sentence in held_out]
    parts = [_Windows(feature, xs, taught, tuple(batch.labels)) for feature in features]
    index = {label: i for i, label in enumerate(batch.labels)}
    gold = np.array([index.get(label, -1) for sentence in held_out for label in sentence.labels])
    right = [part.counted(gold) for part in parts]
    now: list[dict[tuple[int, int], float]] = [{} for _ in features]
    squares: list[dict[tuple[int, int], float]] = [{} for _ in features]
    sums: list[dict[tuple[int, int], float]] = [{} for _ in features]
    for _ in range(passes):
        found = decode_windows(batch, [(part.under(own), 1.0) for part, own in zip(parts, now, strict=True)])
        for part, wanted, own, square, total in zip(parts, right, now, squares, sums, strict=True):
            change = part.counted(found)
            change.subtract(wanted)
            for window, g in change.items():
                if g:
                    square[window] = square.get(window, 0.0) + g * g
                    own[window] = max(0.0, own.get(window, 0.0) + rate * g / square[window] ** 0.5)
            for window, value in own.items():
                total[window] = total.get(window, 0.0) + value / passes
    return [_penalised(feature, total) for feature, total in zip(features, sums, strict=True)]


class _Windows:
    """The windows of sentences with any labels of a model; those of some sentences are counted."""

    def __init__(
        self,
        feature: NgramContext,
        xs: Sequence[Columns],
        counts: Sequence[bool],
        labels: tuple[str, ...],
    ) -> None:
        self.feature, self.labels = feature, labels
        self.contexts = context_codes(feature, xs)
        index = {label: i for i, label in enumerate(feature.labels)}
        self.order = np.array([index.get(label, -1) for label in labels] + [-1])
        lengths = [len(next(iter(x.values()))) for x in xs]
        self.within = (self.contexts >= 0) & np.repeat(np.array(counts, dtype=np.bool_), lengths)

    def under(self, penalties: Mapping[tuple[int, int], float]) -> ScoresAt:
        """The scores of the windows under penalties."""
        return _penalised(self.feature, penalties).prepare_codes(self.contexts, self.labels)

    def counted(self, y: Ints) -> Counter[tuple[int, int]]:
        """How often each window occurs with labels y (N,); windows with unknown labels are left out."""
        n, own = self.feature.n, self.order[y]
        codes, inside = np.zeros(len(y), dtype=np.int64), self.within.copy()
        for back in reversed(range(n)):
            label = np.roll(own, back)
            codes, inside = codes * len(self.feature.labels) + label, inside & (label >= 0)
        return Counter(zip(self.contexts[inside].tolist(), codes[inside].tolist(), strict=True))


def _penalised(feature: NgramContext, penalties: Mapping[tuple[int, int], float]) -> WindowTable:
    scores: dict[int, dict[int, float]] = {}
    for (context, labels), value in penalties.items():
        if value > 0:
            scores.setdefault(context, {})[labels] = -value
    return WindowTable(feature, scores)
