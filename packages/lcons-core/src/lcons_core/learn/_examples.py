"""Labelled examples: psi of valid structures (positives), and generated psi of invalid ones (negatives).

Equal vectors are folded into one vector with a weight. A positive that occurs fewer than `min_support` times
is dropped (noise in the labels), and a vector that is a positive is never a negative.

Sources of negatives are seeded; their size is known first, and they are read in chunks. A source may contain
positives: `LabelledExamples.of` removes them.

| name | for | a negative is |
|---|---|---|
| `unseen` | tuples, bigrams | any point of the domain that is not a positive |
| `near` | n-grams, n >= 3 | an unseen n-gram whose first or last (n - 1)-gram occurs in a positive |
| `apart` | context windows | an unseen window; its contexts and its labels occur separately |
| `relabel` | n-gram features | a positive with one label changed: one change at random, m, or all |
| `recast` | n-gram features | the same, and a positive with all its labels changed to one label |
| `flip` | existence | a positive with one bit flipped: one bit at random, m, or all |
| `perturb` | counts, any feature | psi of a structure with one label changed |

Paper: Sec. 3 and Appendices B-E.

Not in the paper: all changes instead of one random change; `recast`, whole windows of a wrong label, which
single changes never produce.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lcons_core._blocks import Kind
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._instance import Instance, read_instances
from lcons_core._psi import PsiRows, SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.features._feature import ConstraintFeature
from lcons_core.features._kinds import Counts, Existence
from lcons_core.features._ngrams import NgramContext, SequenceFeature

# The columns of weights (N, 2) of examples with both labels.
INVALID, VALID = 0, 1
MAX_NEGATIVES = 10**7
LARGEST_TABLE = 10**8
CHUNK = 1 << 16

HowMany = int | Literal["all"]


def fold(psi: Any, d: int, min_support: float = 1) -> PsiRows:
    """Equal rows as one row whose weight is their number, in order of first occurrence; rows below
    `min_support` are dropped.

    >>> folded = fold([[1, 0], [0, 1], [1, 0]], d=2)
    >>> folded.psi.dense(), folded.weight
    (array([[1., 0.],
           [0., 1.]]), array([2., 1.]))
    """
    rows = as_psi(psi, d)
    sparse = rows if isinstance(rows, SparsePsi) else SparsePsi.from_dense(np.atleast_2d(rows))
    group, first = sparse.groups()
    number = np.bincount(group, minlength=len(first))
    frequent = number >= min_support
    return PsiRows.of(sparse.take(first[frequent]), weight=number[frequent])


def fold_labelled(psi: SparsePsi, is_valid: Bools, weights: Floats) -> PsiRows:
    """Distinct psi in canonical order, with the total weight of each label (N, 2): training is bit for bit
    the same if an example has weight 2 or occurs twice, has weight 0 or is absent, and for any order."""
    # Weights ascend within a vector, because float sums must not depend on the order of the examples.
    order = np.argsort(weights, kind="stable")
    order = order[weights[order] != 0]
    psi, is_valid, weights = psi.take(order), is_valid[order], weights[order]
    group, first = psi.groups()
    totals = [
        np.bincount(group[side], weights[side], minlength=len(first)).astype(np.float64)
        for side in (~is_valid, is_valid)
    ]
    return canonical(psi.take(first), np.stack(totals, axis=1))


def canonical(psi: SparsePsi, weight: Floats) -> PsiRows:
    """Distinct psi with their weights (N, 2) in an order that depends only on the vectors."""
    keys = psi.row_keys()
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    return PsiRows.of(psi.take(order), weight=weight[order])


def positives_of(feature: ConstraintFeature, structures: Iterable[Any], min_support: float = 1) -> PsiRows:
    """The folded psi rows of valid structures."""
    instances = read_instances(structures, feature.column)
    if isinstance(feature, SequenceFeature):
        rows = feature.psi_of_values(np.concatenate([feature.values(instance) for instance in instances]))
    else:
        rows = SparsePsi.stack([feature.psi(instance) for instance in instances])
    return fold(rows, feature.space.d, min_support)


@dataclass(frozen=True, eq=False)
class LabelledExamples:
    """Positives and negatives on one space; no vector is in both.

    `undecided` are vectors of the source of negatives with too little evidence against them (`_evidence.py`);
    they are learned as valid, but they are no observations.

    >>> from lcons_core._space import one_hot
    >>> space = FeatureSpace([one_hot("label", ["A", "B"])])
    >>> examples = LabelledExamples.of(space, [[1, 0]], [[1, 0], [0, 1], [0, 1]])
    >>> len(examples.positives), len(examples.negatives), examples.negatives.weight
    (1, 1, array([2.]))
    """

    space: FeatureSpace
    positives: PsiRows
    negatives: PsiRows
    undecided: PsiRows = field(default_factory=lambda: PsiRows.of(SparsePsi.from_indices([], 0)))

    @classmethod
    def of(cls, space: FeatureSpace, positives: Any, negatives: Any) -> LabelledExamples:
        """Folds both unless they are folded, and drops negatives that are positives."""
        good, bad = (
            side if isinstance(side, PsiRows) else fold(side, space.d) for side in (positives, negatives)
        )
        seen = set(good.psi.row_keys())
        bad = bad.take(np.array([key not in seen for key in bad.psi.row_keys()], dtype=np.bool_))
        for name, side in (("positives", good), ("negatives", bad)):
            if not len(side):
                raise InvalidInput(f"expected examples of both classes, got no {name}; use more structures.")
            space.check(side.psi)
        return cls(space, good, bad)

    def __len__(self) -> int:
        return len(self.positives) + len(self.undecided) + len(self.negatives)

    def matrix(self, by_frequency: bool = False) -> tuple[SparsePsi, Bools, Floats]:
        """(psi, y, weights) for a learner: positives first, then undecided vectors, y True for both.

        A set is learned, so each distinct vector has weight 1; with `by_frequency` the weight of a positive
        is its number of occurrences. Other vectors are generated and have no frequency.
        """
        y = np.arange(len(self)) < len(self.positives) + len(self.undecided)
        weights = np.ones(len(self))
        if by_frequency:
            weights[: len(self.positives)] = self.positives.weight
        sides = [side.psi for side in (self.positives, self.undecided, self.negatives) if len(side)]
        return SparsePsi.stack(sides), y, weights


@dataclass(frozen=True)
class NegativeSource:
    """At most `size` vectors, in chunks; each call of `chunks` returns the same."""

    name: str
    size: int
    chunks: Callable[[], Iterator[SparsePsi]]

    def collect(self, limit: int = MAX_NEGATIVES) -> PsiRows:
        """All distinct vectors; raises `TooLarge` if `size` exceeds `limit`."""
        if self.size > limit:
            raise TooLarge(f"{self.name!r} has up to {self.size:,} negatives, above the limit of {limit:,}.")
        chunks = list(self.chunks())
        if not chunks:
            raise InvalidInput(f"negatives by {self.name!r} need at least one example, found none.")
        rows = SparsePsi.stack(chunks)
        return fold(rows, rows.d)


def unseen(space: FeatureSpace, positives: SparsePsi) -> NegativeSource:
    """Every point of the domain that is not a positive."""

    def seen() -> Ints:
        return np.unique(_codes(space, space.assignments(positives)))

    def chunks() -> Iterator[SparsePsi]:
        codes = seen()
        for points in space.points(CHUNK):
            fresh = points[~np.isin(_codes(space, points), codes)]
            yield SparsePsi.from_dense(space.vectors(fresh))

    # A source that is too large anyway is refused before its positives are compared.
    known = len(positives) if space.size - len(positives) > MAX_NEGATIVES else len(seen())
    return NegativeSource("unseen", space.size - known, chunks)


def _near(feature: SequenceFeature, positives: SparsePsi) -> NegativeSource:
    space = feature.space
    if len(space.axes) != feature.n or feature.n < 2:
        raise Unsupported("near n-grams need a feature of label n-grams with n >= 2 and no context.")
    if space.size > LARGEST_TABLE:
        raise TooLarge(f"near n-grams need a table of {space.size:,} n-grams, above {LARGEST_TABLE:,}.")
    grams = np.zeros(tuple(len(axis) for axis in space.axes), dtype=np.bool_)
    grams[tuple(space.assignments(positives).T)] = True
    near = np.argwhere(~grams & (grams.any(axis=0, keepdims=True) | grams.any(axis=-1, keepdims=True)))
    near = near[space.possible(near)]
    return NegativeSource("near", len(near), lambda: iter([feature.psi_of_values(near)]))


def _apart(feature: SequenceFeature, positives: SparsePsi) -> NegativeSource:
    space = feature.space
    seen = space.assignments(positives)
    codes = _codes(space, seen)
    contexts = np.unique(seen[:, : -feature.n], axis=0)
    labels = np.unique(seen[:, -feature.n :], axis=0)

    def chunks() -> Iterator[SparsePsi]:
        step = max(1, CHUNK // len(labels))
        for first in range(0, len(contexts), step):
            some = contexts[first : first + step]
            pairs = np.concatenate(
                [np.repeat(some, len(labels), axis=0), np.tile(labels, (len(some), 1))], axis=1
            )
            fresh = pairs[~np.isin(_codes(space, pairs), codes) & space.possible(pairs)]
            yield feature.psi_of_values(fresh)

    return NegativeSource("apart", len(contexts) * len(labels) - len(np.unique(codes)), chunks)


def _changed(
    name: str, seen: Ints, places: int, L: int, many: HowMany, seed: int, psi_of: Callable[[Ints], SparsePsi]
) -> NegativeSource:
    """Rows of value indices with one of the last `places` values changed to another one below L."""
    options = places * (L - 1)
    count = _how_many(many, options)

    def chunks() -> Iterator[SparsePsi]:
        rng = np.random.default_rng(seed)
        step = max(1, CHUNK // max(count, 1))
        for first in range(0, len(seen), step):
            some = seen[first : first + step]
            changed = np.repeat(some, count, axis=0)
            choice = _choices(rng, len(some), options, many)
            position = choice // (L - 1) + some.shape[1] - places
            rows = np.arange(len(changed))
            old = changed[rows, position]
            changed[rows, position] = (old + 1 + choice % (L - 1)) % L
            # The padding symbol is not a label: the padding of a window is given, not predicted.
            yield psi_of(changed[old < L])

    return NegativeSource(name, len(seen) * count, chunks)


def _relabelled(feature: SequenceFeature, positives: SparsePsi, many: HowMany, seed: int) -> NegativeSource:
    seen, L = feature.space.assignments(positives), len(feature.labels)
    return _changed("relabel", seen, feature.n, L, many, seed, feature.psi_of_values)


def _recast(feature: SequenceFeature, positives: SparsePsi, many: HowMany, seed: int) -> NegativeSource:
    single = _relabelled(feature, positives, many, seed)
    seen = feature.space.assignments(positives)
    L, n = len(feature.labels), feature.n

    def chunks() -> Iterator[SparsePsi]:
        yield from single.chunks()
        for label in range(L):
            changed = seen.copy()
            changed[:, -n:] = np.where(seen[:, -n:] < L, label, seen[:, -n:])
            yield feature.psi_of_values(changed)

    return NegativeSource("recast", single.size + len(seen) * L, chunks)


def flipped(space: FeatureSpace, positives: SparsePsi, many: HowMany = 1, seed: int = 0) -> NegativeSource:
    """Positives with one bit flipped: `many` random bits per positive, or "all". For binary blocks."""
    if any(block.kind is not Kind.BINARY for block in space.blocks):
        raise Unsupported("bits can be flipped only in a space of binary blocks; change labels instead.")

    def psi_of(bits: Ints) -> SparsePsi:
        return SparsePsi.from_columns(np.where(bits == 1, np.arange(space.d), -1), space.d)

    return _changed("flip", positives.dense().astype(np.int64), space.d, 2, many, seed, psi_of)


def perturbed_structures(
    feature: ConstraintFeature,
    structures: Iterable[Any],
    labels: tuple[str, ...],
    many: HowMany = 1,
    seed: int = 0,
) -> NegativeSource:
    """psi of structures with one label changed: `many` random changes per structure, or "all"."""
    instances = [i for i in read_instances(structures, feature.column) if len(i.y)]
    L = len(labels)
    ids = {label: v for v, label in enumerate(labels)}

    def chunks() -> Iterator[SparsePsi]:
        rng = np.random.default_rng(seed)
        for instance in instances:
            for choice in _choices(rng, 1, len(instance.y) * (L - 1), many):
                position, shift = divmod(int(choice), L - 1)
                y = list(instance.y)
                y[position] = labels[(ids[y[position]] + 1 + shift) % L]
                yield feature.psi(Instance(instance.x, y))

    size = sum(_how_many(many, len(instance.y) * (L - 1)) for instance in instances)
    return NegativeSource("perturb", size, chunks)


UNSEEN = "unseen"
# By name: functions of a feature, structures, positives, the number of changes of each, and a seed.
NEGATIVES: dict[str, Callable[[Any, Sequence[Instance], PsiRows, HowMany, int], NegativeSource]] = {
    UNSEEN: lambda f, _, p, many, seed: unseen(f.space, p.psi),
    "near": lambda f, _, p, many, seed: _near(f, p.psi),
    "apart": lambda f, _, p, many, seed: _apart(f, p.psi),
    "relabel": lambda f, _, p, many, seed: _relabelled(f, p.psi, many, seed),
    "recast": lambda f, _, p, many, seed: _recast(f, p.psi, many, seed),
    "flip": lambda f, _, p, many, seed: flipped(f.space, p.psi, many, seed),
    "perturb": lambda f, s, p, many, seed: perturbed_structures(f, s, f.labels, many, seed),
}


def usual_negatives(feature: ConstraintFeature) -> str:
    """The paper's source of negatives for a feature (Appendices C-E)."""
    if isinstance(feature, Existence):
        return "flip"
    if isinstance(feature, Counts):
        return "perturb"
    if isinstance(feature, NgramContext):
        return "apart" if feature.n <= 2 else "relabel"
    return "near" if isinstance(feature, SequenceFeature) and feature.n >= 3 else UNSEEN


def negative_source(
    name: str,
    feature: ConstraintFeature,
    instances: Sequence[Instance],
    positives: PsiRows,
    many: HowMany = 1,
    seed: int = 0,
) -> NegativeSource:
    """The source of that name; raises `InvalidInput` if it does not fit the feature."""
    fits = {
        **dict.fromkeys(("relabel", "recast", "near"), isinstance(feature, SequenceFeature)),
        "apart": feature.context_column is not None,
        "perturb": bool(feature.labels),
    }
    if not fits.get(name, True):
        usual = usual_negatives(feature)
        raise InvalidInput(f"negatives {name!r} do not fit the feature {feature.kind!r}, use {usual!r}.")
    return NEGATIVES[name](feature, instances, positives, many, seed)


def _codes(space: FeatureSpace, assignments: Ints) -> Ints:
    """One integer per point, distinct for distinct points."""
    if space.size > 2**62:
        raise TooLarge(f"the domain has {space.size:.3g} points, too many to list; use negatives by changes.")
    return np.ravel_multi_index(tuple(assignments.T), tuple(len(axis) for axis in space.axes))


def _how_many(many: HowMany, options: int) -> int:
    if many != "all" and not (isinstance(many, int) and many >= 1):
        raise InvalidInput(f'many must be a positive integer or "all", found {many!r}.')
    return options if many == "all" else min(many, options)


def _choices(rng: np.random.Generator, rows: int, options: int, many: HowMany) -> Ints:
    """Distinct choices out of `options` for each of `rows`, in the order of the rows."""
    if many == "all":
        return np.tile(np.arange(options), rows)
    if many == 1:
        return rng.integers(0, options, rows)
    count = min(many, options)
    return np.concatenate([rng.choice(options, count, replace=False) for _ in range(rows)])
