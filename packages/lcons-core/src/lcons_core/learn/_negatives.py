"""Sources of negatives: seeded, with a size that is known first, and read in chunks.

Paper: Sec. 3 and Appendices B-E.

| source | for | a negative is |
|---|---|---|
| `unseen` | tuples, bigrams | any point of the domain that is not a positive |
| `near_ngrams` | n-grams, n >= 3 | an unseen n-gram whose first or last (n - 1)-gram occurs in a positive |
| `windows_seen_apart` | context windows | an unseen window; its contexts and its labels occur separately |
| `relabelled` | n-gram features | a positive with one label changed: one change at random, m, or all |
| `recast` | n-gram features | a positive with all its labels changed to one and the same label |
| `flipped` | existence | a positive with one bit flipped: one bit at random, m, or all |
| `perturbed_structures` | counts, any feature | psi of a structure with one label changed |
| `cheaper_flips` | integer programs | an optimum with one bit flipped such that it costs less |

Not in the paper: all changes instead of one random change; `recast`, whole windows of a wrong label, which
single changes never produce; `joined`, several sources as one; `predictions`, psi of structures that a
decoder proposes; `cheaper_solutions`, for an integer program with a *proven* optimum.

A source may contain positives: `LabelledExamples.of` removes them. `NEGATIVES` has the names of the sources
that need only a feature, structures and positives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lcons_core._arithmetic import checked_array
from lcons_core._blocks import Kind
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._instance import Instance, read_instances
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats, Ints
from lcons_core.features import ConstraintFeature, Counts, Existence, NgramContext, SequenceFeature
from lcons_core.learn._examples import fold

MAX_NEGATIVES = 10**7
LARGEST_TABLE = 10**8
CHUNK = 1 << 16

HowMany = int | Literal["all"]


@dataclass(frozen=True)
class NegativeSource:
    """At most `size` vectors, in chunks; each call of `chunks` returns the same."""

    name: str
    size: int
    chunks: Callable[[], Iterator[SparsePsi]]

    def collect(self, limit: int = MAX_NEGATIVES) -> PsiRows:
        """All distinct vectors; raises `TooLarge` if `size` exceeds `limit`."""
        if self.size > limit:
            raise TooLarge(
                f"there can be up to {self.size:,} negatives by {self.name!r}, above the limit of {limit:,};"
                " choose a sampled source, a smaller n, or raise the limit."
            )
        chunks = list(self.chunks())
        if not chunks:
            raise InvalidInput(f"negatives by {self.name!r} need at least one example, found none.")
        rows = SparsePsi.stack(chunks)
        return fold(rows, rows.d)


def unseen(space: FeatureSpace, positives: SparsePsi) -> NegativeSource:
    """Every point of the domain that is not a positive."""
    seen = _codes(space, space.assignments(positives))

    def chunks() -> Iterator[SparsePsi]:
        for points in space.points(CHUNK):
            fresh = points[~np.isin(_codes(space, points), seen)]
            yield SparsePsi.from_dense(space.vectors(fresh))

    return NegativeSource("unseen", space.size - len(np.unique(seen)), chunks)


def near_ngrams(feature: SequenceFeature, positives: SparsePsi) -> NegativeSource:
    """Unseen n-grams whose first or last (n - 1)-gram occurs in a positive."""
    space = feature.space
    if len(space.axes) != feature.n or feature.n < 2:
        raise Unsupported("near n-grams need a feature of label n-grams with n >= 2 and no context.")
    if space.size > LARGEST_TABLE:
        raise TooLarge(
            f"near n-grams need a table of all {space.size:,} n-grams, above the limit of"
            f" {LARGEST_TABLE:,}; use a smaller n, or negatives by 'relabel'."
        )
    seen = space.assignments(positives)
    shape = tuple(len(axis) for axis in space.axes)
    grams = np.zeros(shape, dtype=np.bool_)
    grams[tuple(seen.T)] = True
    near = ~grams & (grams.any(axis=0, keepdims=True) | grams.any(axis=-1, keepdims=True))
    found = np.argwhere(near)
    found = found[space.possible(found)]

    def chunks() -> Iterator[SparsePsi]:
        yield feature.psi_of_values(found)

    return NegativeSource("near n-grams", len(found), chunks)


def windows_seen_apart(feature: SequenceFeature, positives: SparsePsi) -> NegativeSource:
    """Unseen windows whose tuple of contexts and whose tuple of labels each occur in a positive."""
    space = feature.space
    seen = space.assignments(positives)
    codes = _codes(space, seen)
    contexts = np.unique(seen[:, : -feature.n], axis=0)
    labels = np.unique(seen[:, -feature.n :], axis=0)
    if not contexts.shape[1]:
        raise Unsupported("this feature has no context; use `unseen` or `near_ngrams`.")

    def chunks() -> Iterator[SparsePsi]:
        step = max(1, CHUNK // len(labels))
        for first in range(0, len(contexts), step):
            some = contexts[first : first + step]
            pairs = np.concatenate(
                [np.repeat(some, len(labels), axis=0), np.tile(labels, (len(some), 1))], axis=1
            )
            fresh = pairs[~np.isin(_codes(space, pairs), codes) & space.possible(pairs)]
            yield feature.psi_of_values(fresh)

    size = len(contexts) * len(labels) - len(np.unique(codes))
    return NegativeSource("windows seen apart", size, chunks)


def relabelled(
    feature: SequenceFeature, positives: SparsePsi, many: HowMany = 1, seed: int = 0
) -> NegativeSource:
    """Positives with one label of the n-gram changed: `many` random changes per positive, or "all"."""
    space = feature.space
    seen = space.assignments(positives)
    L, n = len(feature.labels), feature.n
    options = n * (L - 1)
    count = _how_many(many, options)

    def chunks() -> Iterator[SparsePsi]:
        rng = np.random.default_rng(seed)
        step = max(1, CHUNK // max(count, 1))
        for first in range(0, len(seen), step):
            some = seen[first : first + step]
            changed = np.repeat(some, count, axis=0)
            choice = _choices(rng, len(some), options, many)
            position = choice // (L - 1) + some.shape[1] - n
            rows = np.arange(len(changed))
            old = changed[rows, position]
            # The padding symbol is not a label: the padding of a window is given, not predicted.
            real = old < L
            changed[rows, position] = np.where(real, (old + 1 + choice % (L - 1)) % L, old)
            yield feature.psi_of_values(changed[real])

    return NegativeSource("relabelled", len(seen) * count, chunks)


def recast(feature: SequenceFeature, positives: SparsePsi) -> NegativeSource:
    """Positives with every label of the n-gram changed to one label, for each label."""
    seen = feature.space.assignments(positives)
    L, n = len(feature.labels), feature.n

    def chunks() -> Iterator[SparsePsi]:
        # The padding symbol is not a label: the padding of a window is given, not predicted.
        real = seen[:, -n:] < L
        for label in range(L):
            changed = seen.copy()
            changed[:, -n:] = np.where(real, label, seen[:, -n:])
            yield feature.psi_of_values(changed)

    return NegativeSource("recast", len(seen) * L, chunks)


def joined(*sources: NegativeSource) -> NegativeSource:
    """The vectors of several sources, one source after another."""

    def chunks() -> Iterator[SparsePsi]:
        for source in sources:
            yield from source.chunks()

    return NegativeSource(" and ".join(s.name for s in sources), sum(s.size for s in sources), chunks)


def flipped(space: FeatureSpace, positives: SparsePsi, many: HowMany = 1, seed: int = 0) -> NegativeSource:
    """Positives with one bit flipped: `many` random bits per positive, or "all". For binary blocks."""
    if any(block.kind is not Kind.BINARY for block in space.blocks):
        raise Unsupported("bits can be flipped only in a space of binary blocks; change labels instead.")
    count = _how_many(many, space.d)

    def chunks() -> Iterator[SparsePsi]:
        rng = np.random.default_rng(seed)
        step = max(1, CHUNK // count)
        for first in range(0, len(positives), step):
            rows = []
            for i in range(first, min(first + step, len(positives))):
                ones = positives.indices[positives.indptr[i] : positives.indptr[i + 1]]
                bits = _choices(rng, 1, space.d, many)
                rows += [np.setxor1d(ones, [bit], assume_unique=True) for bit in bits]
            yield SparsePsi.from_indices(rows, space.d)

    return NegativeSource("flipped", len(positives) * count, chunks)


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
    sizes = [_how_many(many, len(i.y) * (L - 1)) for i in instances]

    def chunks() -> Iterator[SparsePsi]:
        rng = np.random.default_rng(seed)
        for instance in instances:
            for choice in _choices(rng, 1, len(instance.y) * (L - 1), many):
                position, shift = divmod(int(choice), L - 1)
                y = list(instance.y)
                y[position] = labels[(ids[y[position]] + 1 + shift) % L]
                yield feature.psi(Instance(instance.x, y))

    return NegativeSource("perturbed structures", sum(sizes), chunks)


def cheaper_flips(costs: ArrayLike, solutions: ArrayLike) -> NegativeSource:
    """Optima with one bit flipped such that the cost falls: such a vector must be infeasible.

    `costs` and `solutions` are (N, d), each solution optimal (a minimum) for its costs. Paper: Appendix B.
    """
    c, z = _programs(costs, solutions)
    helpful = np.where(z == 1, c > 0, c < 0)

    def chunks() -> Iterator[SparsePsi]:
        for point, bits in zip(z, helpful, strict=True):
            flips = np.repeat(point[None], int(bits.sum()), axis=0)
            flips[np.arange(len(flips)), np.flatnonzero(bits)] = 1 - point[bits]
            yield SparsePsi.from_dense(flips)

    return NegativeSource("cheaper flips", int(helpful.sum()), chunks)


def cheaper_solutions(costs: ArrayLike, optima: ArrayLike, found: ArrayLike) -> NegativeSource:
    """Found solutions that cost strictly less than a proven optimum: they must be infeasible.

    All arrays are (N, d). Costs must be integers, so that "strictly less" does not depend on rounding. Pass
    only optima that a solver proved: an answer at a time limit proves nothing.
    """
    c, z = _programs(costs, optima)
    _, other = _programs(costs, found)
    if not (c == np.rint(c)).all():
        raise InvalidInput("costs must be integers to compare them exactly; scale and round them first.")
    cheaper = (c * other).sum(1) < (c * z).sum(1)

    def chunks() -> Iterator[SparsePsi]:
        yield SparsePsi.from_dense(other[cheaper])

    return NegativeSource("cheaper solutions", int(cheaper.sum()), chunks)


def predictions(feature: ConstraintFeature, structures: Iterable[Any]) -> NegativeSource:
    """psi of structures that a decoder proposed (hard negatives); positives among them are removed later."""
    instances = read_instances(structures, feature.column)

    def chunks() -> Iterator[SparsePsi]:
        return (feature.psi(instance) for instance in instances)

    return NegativeSource("predictions", sum(max(1, len(i.y) + 1) for i in instances), chunks)


Source = Callable[[Any, Sequence[Instance], PsiRows, HowMany, int], NegativeSource]

UNSEEN = "unseen"
NEGATIVES: dict[str, Source] = {
    UNSEEN: lambda f, _, p, many, seed: unseen(f.space, p.psi),
    "near": lambda f, _, p, many, seed: near_ngrams(f, p.psi),
    "apart": lambda f, _, p, many, seed: windows_seen_apart(f, p.psi),
    "relabel": lambda f, _, p, many, seed: relabelled(f, p.psi, many, seed),
    "recast": lambda f, _, p, many, seed: joined(relabelled(f, p.psi, many, seed), recast(f, p.psi)),
    "flip": lambda f, _, p, many, seed: flipped(f.space, p.psi, many, seed),
    "perturb": lambda f, s, p, many, seed: perturbed_structures(f, s, f.labels, many, seed),
}
# The feature classes that some of the sources need.


def usual_negatives(feature: ConstraintFeature) -> str:
    """The paper's source of negatives for a feature (Appendices C-E)."""
    if isinstance(feature, Existence):
        return "flip"
    if isinstance(feature, Counts):
        return "perturb"
    if isinstance(feature, NgramContext):
        return "apart" if feature.n <= 2 else "relabel"
    return "near" if isinstance(feature, SequenceFeature) and feature.n >= 3 else UNSEEN


def checked_negatives(name: str) -> str:
    """The name of a source; raises `InvalidInput` if there is no source of that name."""
    if name not in NEGATIVES:
        raise InvalidInput(f"unknown negatives {name!r}; use one of {', '.join(NEGATIVES)}.")
    return name


def negative_source(
    name: str,
    feature: ConstraintFeature,
    instances: Sequence[Instance],
    positives: PsiRows,
    many: HowMany = 1,
    seed: int = 0,
) -> NegativeSource:
    """The source of that name; raises `InvalidInput` if it does not fit the feature."""
    make = NEGATIVES[checked_negatives(name)]
    fits = {
        **dict.fromkeys(("relabel", "recast", "near"), isinstance(feature, SequenceFeature)),
        "apart": feature.context_column is not None,
        "perturb": bool(feature.labels),
    }
    if not fits.get(name, True):
        raise InvalidInput(
            f"expected negatives that fit the feature {feature.kind!r}, found {name!r}; the usual ones are"
            f" {usual_negatives(feature)!r}."
        )
    return make(feature, instances, positives, many, seed)


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


def _programs(costs: ArrayLike, solutions: ArrayLike) -> tuple[Floats, Floats]:
    c, z = checked_array(costs, "costs", 2), checked_array(solutions, "solutions", 2)
    if c.shape != z.shape or not np.isin(z, (0, 1)).all():
        raise InvalidInput(
            f"costs and 0/1 solutions must have the same shape (N, d), found {c.shape} and {z.shape}."
        )
    return c, z
