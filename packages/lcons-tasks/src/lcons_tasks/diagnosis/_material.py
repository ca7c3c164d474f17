"""The material of a diagnosis: training and held-out structures as psi rows, and samples of them.

Shuffling keeps frequencies, lengths and inputs, but obeys no constraint: labels are shuffled over all tokens,
each member of tuples over all tuples. So the accuracy on the data is compared with the accuracy that the same
steps reach on shuffled data.

A sample has training negatives and held-out parts with a change. The change is that of the source of
negatives that the constraint was learned from (`lcons_core.learn`). For a source that lists points, a similar
change is used: with `apart`, a window gets the labels of another window; with the other sources, one label of
a sequence is changed, or one value of a tuple.

A changed part is kept even if it is gold elsewhere. Without these, corrupted parts would be easy to recognise
(none of them was ever seen), whether there is a constraint or not. So no reference can reach 100%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcons_core import FeatureSpace, Instance, InvalidInput, LabelledExamples, SparsePsi
from lcons_core._psi import PsiRows
from lcons_core.features import ConstraintFeature, Scope, SequenceFeature
from lcons_core.learn._examples import (
    MAX_NEGATIVES,
    NEGATIVES,
    NegativeSource,
    fold,
    negative_source,
    perturbed_structures,
    positives_of,
)
from lcons_tasks.own_data._examples import parts_of

# References get more than the paper's one negative per positive, so that they find what can be found.
TRAINING_CORRUPTIONS = 4
# Sources that change a structure; the others list points.
CHANGES = ("relabel", "flip", "perturb")
# There are many windows, so one corruption each is enough; structures are few.
CORRUPTIONS = {Scope.LOCAL: 1, Scope.GLOBAL: 10}
# With more training negatives, references would take minutes and hardly improve.
MOST = 10**6


@dataclass(frozen=True, eq=False)
class Sample:
    """Training examples, and held-out parts of gold and corrupted units (sentences, structures or rows)."""

    examples: LabelledExamples
    gold: PsiRows
    corrupted: PsiRows


@dataclass(frozen=True, eq=False)
class Material:
    """Structures with labels of the feature; `source` is one of `lcons_core.learn.NEGATIVES`; `tuples`:
    whether their y are tuples."""

    feature: ConstraintFeature
    train: Sequence[Instance]
    held_out: Sequence[Instance]
    source: str
    tuples: bool = False

    @property
    def units(self) -> str:
        """The name of its units."""
        return "structures" if self.tuples else "sentences"

    @cached_property
    def learned(self) -> PsiRows:
        """The parts of valid training data."""
        return parts_of(self.feature, self.train).rows

    @cached_property
    def gold(self) -> PsiRows:
        """The parts of valid held-out data."""
        return parts_of(self.feature, self.held_out).rows

    def sample(self, seed: int) -> Sample | None:
        """The examples for references; None if every possible negative is gold."""
        feature = self.feature
        positives = positives_of(feature, self.train)
        source = negative_source(self.source, feature, self.train, positives, TRAINING_CORRUPTIONS, seed)
        if self.tuples:
            changed = one_changed(feature.space, self.gold, np.random.default_rng(seed))
        else:
            changed = corrupted(feature, self.held_out, self.gold, self.source, seed)
        negatives = some_of(source, seed)
        if set(positives.psi.row_keys()).issuperset(negatives.psi.row_keys()):
            return None
        if not len(changed):
            raise InvalidInput("no held-out part can be corrupted, because the space rules out every change")
        return Sample(LabelledExamples.of(feature.space, positives, negatives), self.gold, changed)

    def shuffled(self, rng: np.random.Generator) -> Material:
        """The same data, shuffled, so that they obey no constraint."""
        train, held_out = (shuffled(some, self.tuples, rng) for some in (self.train, self.held_out))
        return replace(self, train=train, held_out=held_out)


def shuffled(structures: Sequence[Instance], tuples: bool, rng: np.random.Generator) -> list[Instance]:
    """The structures with their labels shuffled over all tokens, or each member of tuples over all tuples:
    only the frequencies stay the same."""
    values = [label if tuples else (label,) for structure in structures for label in structure.y]
    members = ([member[i] for i in rng.permutation(len(member))] for member in zip(*values, strict=True))
    mixed = iter([one if tuples else one[0] for one in zip(*members, strict=True)])
    return [Instance(s.x, [next(mixed) for _ in s.y]) for s in structures]


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
    seeds = rng.integers(2**31, size=len(structures)).tolist()
    many = CORRUPTIONS[feature.scope]
    rows, owners = [SparsePsi.from_indices([], feature.space.d)], [np.zeros(0, dtype=np.int64)]
    edges = np.searchsorted(gold.owner, np.arange(len(structures) + 1))
    for i in np.flatnonzero(np.diff(edges)).tolist():
        parts = gold.psi.take(np.arange(edges[i], edges[i + 1]))
        if source == "perturb":
            # Features of other packages may not state their labels.
            changes = perturbed_structures(feature, [structures[i]], feature.labels or labels, many, seeds[i])
        else:
            changes = NEGATIVES[source](feature, [structures[i]], PsiRows.of(parts), many, seeds[i])
        for chunk in changes.chunks():
            local = source == "perturb" and feature.scope is Scope.LOCAL
            rows.append(_changed_rows(chunk, parts) if local else chunk)
            owners.append(np.full(len(rows[-1]), i))
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
    return PsiRows.of(SparsePsi.from_dense(space.vectors(values[possible])), gold.owner[possible])


def _changed_rows(changes: SparsePsi, gold: SparsePsi) -> SparsePsi:
    """The rows that a change of one label changed; all rows if it also changed their number."""
    if len(changes) != len(gold):
        return changes
    differ = [a != b for a, b in zip(changes.row_keys(), gold.row_keys(), strict=True)]
    return changes.take(np.array(differ, dtype=np.bool_))


def _recombined(feature: SequenceFeature, gold: PsiRows, rng: np.random.Generator) -> PsiRows:
    """The contexts of each window with the labels of a window drawn at random."""
    values = feature.space.assignments(gold.psi)
    drawn = values[rng.integers(len(values), size=len(values)), -feature.n :]
    mixed = np.concatenate([values[:, : -feature.n], drawn], axis=1)
    possible = feature.space.possible(mixed)
    return PsiRows.of(feature.psi_of_values(mixed[possible]), gold.owner[possible])
