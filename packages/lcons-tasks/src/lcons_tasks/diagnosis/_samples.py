"""The samples of a diagnosis, for any kind of data: psi rows with their units, and corrupted parts.

    kind of data      a unit is        shuffled are
    label sequences   a sentence       labels, over all tokens            `StructureMaterial`
    tuples            a structure      each member, over all tuples       `StructureMaterial`
    psi vectors       a row            the column `valid`                 `TableMaterial`

Shuffling keeps frequencies, lengths and inputs, but obeys no constraint. So the accuracy on the data is
compared with the accuracy that the same steps reach on shuffled data.

Samples need parts that are not gold: training negatives, and held-out parts with a change. The change is that
of the source of negatives that the constraint was learned from (`lcons_core.learn`). For a source that lists
points, a similar change is used: with `apart`, a window gets the labels of another window; with the other
sources, one label of a sequence is changed, or one value of a tuple or vector.

A changed part is kept even if it is gold elsewhere. Without these, corrupted parts would be easy to recognise
(none of them was ever seen), whether there is a constraint or not. So no reference can reach 100%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lcons_core import FeatureSpace, Instance, LabelledExamples, SparsePsi
from lcons_core._psi import PsiRows
from lcons_core._types import Ints
from lcons_core.features import ConstraintFeature, Scope, SequenceFeature
from lcons_core.learn._examples import (
    MAX_NEGATIVES,
    NEGATIVES,
    HowMany,
    NegativeSource,
    fold,
    perturbed_structures,
)

Bools = NDArray[np.bool_]

# References get more than the paper's one negative per positive, so that they find what can be found.
TRAINING_CORRUPTIONS = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """Training examples, and held-out parts of gold and corrupted units (sentences, structures or rows)."""

    examples: LabelledExamples
    gold: PsiRows
    corrupted: PsiRows


class Material(Protocol):
    """Training and held-out data of one kind that a constraint can read."""

    @property
    def units(self) -> str:
        """The name of its units."""
        ...

    @property
    def shuffling(self) -> str:
        """What `shuffled` shuffles, in words."""
        ...

    @property
    def scope(self) -> Scope:
        """LOCAL if `seen in training` looks psi up, GLOBAL if it compares the range of each column."""
        ...

    @property
    def ranged(self) -> bool:
        """Whether psi is unlike training if a column is out of range, not if the psi is new."""
        ...

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of training and of held-out units."""
        ...

    @property
    def learned(self) -> PsiRows:
        """The parts of valid training data."""
        ...

    @property
    def gold(self) -> PsiRows:
        """The parts of valid held-out data."""
        ...

    def sample(self, seed: int) -> Sample | None:
        """The examples for references, for training and for measurement; None if every possible negative is
        gold. Raises an `LconsError` with the reason if there can be no sample."""
        ...

    def shuffled(self, rng: np.random.Generator) -> Self:
        """The same data, shuffled, so that they obey no constraint."""
        ...


# Sources that change a structure; the others list points.
CHANGES = ("relabel", "flip", "perturb")
# There are many windows, so one corruption each is enough; structures are few.
CORRUPTIONS: dict[Scope, HowMany] = {Scope.LOCAL: 1, Scope.GLOBAL: 10}
# With more training negatives, references would take minutes and hardly improve.
MOST = 10**6


def corrupted(
    feature: ConstraintFeature, structures: Sequence[Instance], gold: PsiRows, source: str, seed: int
) -> PsiRows:
    """The parts of label sequences, corrupted."""
    rng = np.random.default_rng(seed)
    if source == "apart" and isinstance(feature, SequenceFeature):
        return _recombined(feature, gold, rng)
    if source not in CHANGES:
        source = "relabel" if isinstance(feature, SequenceFeature) else "perturb"
    labels = tuple(sorted({label for structure in structures for label in structure.y}))
    seeds = rng.integers(2**31, size=len(structures))
    edges = np.searchsorted(gold.owner, np.arange(len(structures) + 1))
    rows, owners = [SparsePsi.from_indices([], feature.space.d)], [np.zeros(0, dtype=np.int64)]
    for i, structure in enumerate(structures):
        own = gold.psi.take(np.arange(edges[i], edges[i + 1]))
        if not len(own):
            continue
        made = _changes(feature, structure, own, source, labels, int(seeds[i]))
        for chunk in made.chunks():
            found = chunk
            if source == "perturb" and feature.scope is Scope.LOCAL:
                found = _changed_rows(chunk, own)
            rows.append(found)
            owners.append(np.full(len(found), i))
    return PsiRows.of(SparsePsi.stack(rows), np.concatenate(owners))


def some_of(source: NegativeSource, seed: int) -> PsiRows:
    """The distinct vectors of a source; if it has more than `MOST`, about that many, drawn at random."""
    if not MOST < source.size <= MAX_NEGATIVES:
        return source.collect()
    rng = np.random.default_rng(seed)
    drawn = [chunk.take(rng.random(len(chunk)) < MOST / source.size) for chunk in source.chunks()]
    rows = SparsePsi.stack(drawn)
    return fold(rows, rows.d)


def one_changed(space: FeatureSpace, gold: PsiRows, rng: np.random.Generator) -> PsiRows:
    """The parts with one value each, drawn at random, changed to another value; results outside the space
    are left out."""
    values = space.assignments(gold.psi)
    sizes = np.array([len(axis) for axis in space.axes])
    free = np.flatnonzero(sizes > 1)
    if not len(free):
        return gold.take(np.zeros(len(gold), dtype=np.bool_))
    rows, axes = np.arange(len(values)), free[rng.integers(len(free), size=len(values))]
    values[rows, axes] = (values[rows, axes] + rng.integers(1, sizes[axes])) % sizes[axes]
    possible = space.possible(values)
    return PsiRows.of(psi_of(space, values[possible]), gold.owner[possible])


def psi_of(space: FeatureSpace, values: Ints) -> SparsePsi:
    """The psi of value indices (N, axes); `space.vectors` without the zeros."""
    columns = space.columns_of(values)
    numbers = np.stack([a.coefficients[v] for a, v in zip(space.axes, values.T, strict=True)], axis=1)
    present = (columns >= 0) & (numbers != 0)
    indptr = np.concatenate(([0], np.cumsum(present.sum(1))))
    return SparsePsi(indptr, columns[present], numbers[present], space.d)


def _changes(
    feature: ConstraintFeature,
    structure: Instance,
    own: SparsePsi,
    source: str,
    labels: tuple[str, ...],
    seed: int,
) -> NegativeSource:
    many = CORRUPTIONS[feature.scope]
    if source == "perturb":
        # Features of other packages may not state their labels.
        return perturbed_structures(feature, [structure], feature.labels or labels, many, seed)
    return NEGATIVES[source](feature, [structure], PsiRows.of(own), many, seed)


def _changed_rows(made: SparsePsi, own: SparsePsi) -> SparsePsi:
    """The rows that a change of one label changed; all rows if it also changed their number."""
    if len(made) != len(own):
        return made
    differ = [a != b for a, b in zip(made.row_keys(), own.row_keys(), strict=True)]
    return made.take(np.array(differ, dtype=np.bool_))


def _recombined(feature: SequenceFeature, gold: PsiRows, rng: np.random.Generator) -> PsiRows:
    """The contexts of each window with the labels of a window drawn at random."""
    values = feature.space.assignments(gold.psi)
    drawn = values[rng.integers(len(values), size=len(values)), -feature.n :]
    mixed = np.concatenate([values[:, : -feature.n], drawn], axis=1)
    possible = feature.space.possible(mixed)
    return PsiRows.of(feature.psi_of_values(mixed[possible]), gold.owner[possible])
