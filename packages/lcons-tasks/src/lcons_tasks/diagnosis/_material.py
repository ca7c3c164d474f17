"""The material of a diagnosis: label sequences and tuples, or psi vectors that are valid or not.

If some training rows of psi vectors are invalid, negatives are the invalid rows of each part, and shuffling
permutes the column `valid`. If all are valid, negatives are made (`unseen`, `flip`), a corrupted row has one
value changed, and shuffling permutes the values of each block separately, as for tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcons_core import FeatureSpace, Instance, InvalidInput, LabelledExamples, SparsePsi
from lcons_core._psi import PsiRows
from lcons_core.features import ConstraintFeature, Scope
from lcons_core.learn._examples import NegativeSource, flipped, fold, negative_source, positives_of, unseen
from lcons_tasks.diagnosis._samples import (
    TRAINING_CORRUPTIONS,
    Bools,
    Sample,
    corrupted,
    one_changed,
    some_of,
)
from lcons_tasks.own_data._data import PsiTable
from lcons_tasks.own_data._examples import GIVEN


@dataclass(frozen=True, eq=False)
class StructureMaterial:
    """Structures with labels of the feature; `source` is one of `lcons_core.learn.NEGATIVES`; `tuples`:
    whether their y are tuples."""

    feature: ConstraintFeature
    train: Sequence[Instance]
    held_out: Sequence[Instance]
    source: str
    tuples: bool = False

    @property
    def units(self) -> str:
        return "structures" if self.tuples else "sentences"

    @property
    def shuffling(self) -> str:
        return "shuffled members" if self.tuples else "shuffled labels"

    @property
    def scope(self) -> Scope:
        return self.feature.scope

    @property
    def ranged(self) -> bool:
        return self.feature.scope is Scope.GLOBAL

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.train), len(self.held_out)

    @cached_property
    def learned(self) -> PsiRows:
        return parts_of(self.feature, self.train)

    @cached_property
    def gold(self) -> PsiRows:
        return parts_of(self.feature, self.held_out)

    def sample(self, seed: int) -> Sample | None:
        feature = self.feature
        positives = positives_of(feature, self.train)
        if not len(positives):
            raise InvalidInput(
                "expected training data that are long enough for this constraint, found none; use longer"
                " ones or a smaller n."
            )
        source = negative_source(self.source, feature, self.train, positives, TRAINING_CORRUPTIONS, seed)
        made = some_of(source, seed)
        if set(positives.psi.row_keys()).issuperset(made.psi.row_keys()):
            return None
        examples = LabelledExamples.of(feature.space, positives, made)
        if self.tuples:
            changed = one_changed(feature.space, self.gold, np.random.default_rng(seed))
        else:
            changed = corrupted(feature, self.held_out, self.gold, self.source, seed)
        return Sample(examples, self.gold, changed)

    def shuffled(self, rng: np.random.Generator) -> StructureMaterial:
        mixed = shuffled_members if self.tuples else shuffled_labels
        return replace(self, train=mixed(self.train, rng), held_out=mixed(self.held_out, rng))


def parts_of(feature: ConstraintFeature, structures: Sequence[Instance]) -> PsiRows:
    """The psi rows of structures, in order."""
    rows = [feature.psi(structure) for structure in structures]
    return PsiRows.of(SparsePsi.stack(rows), np.repeat(np.arange(len(rows)), [len(psi) for psi in rows]))


def shuffled_labels(structures: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """The structures with their labels shuffled over all tokens: only the label frequencies stay the same."""
    labels = [label for structure in structures for label in structure.y]
    order = iter(rng.permutation(len(labels)))
    return [Instance(s.x, [labels[next(order)] for _ in s.y]) for s in structures]


def shuffled_members(structures: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """The structures with each member shuffled over all tuples: values are combined at random."""
    members = zip(*(one for structure in structures for one in structure.y), strict=True)
    mixed: Iterator[tuple[str, ...]] = zip(
        *([values[i] for i in rng.permutation(len(values))] for values in members), strict=True
    )
    return [Instance(s.x, [next(mixed) for _ in s.y]) for s in structures]


SOURCES: dict[str, Callable[[FeatureSpace, SparsePsi, int], NegativeSource]] = {
    "unseen": lambda space, valid, seed: unseen(space, valid),
    "flip": lambda space, valid, seed: flipped(space, valid, TRAINING_CORRUPTIONS, seed),
}


@dataclass(frozen=True, eq=False)
class TableMaterial:
    """Rows that are vectors of the space; `source` is `GIVEN`, or the source of made negatives."""

    space: FeatureSpace
    train: PsiTable
    held_out: PsiTable
    source: str | None

    @property
    def units(self) -> str:
        return "rows"

    @property
    def shuffling(self) -> str:
        return "a shuffled column `valid`" if self.source == GIVEN else "shuffled columns"

    @property
    def scope(self) -> Scope:
        return Scope.LOCAL

    @property
    def ranged(self) -> bool:
        return True

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.train), len(self.held_out)

    @cached_property
    def learned(self) -> PsiRows:
        return rows_where(self.train, self.train.valid)

    @cached_property
    def gold(self) -> PsiRows:
        return rows_where(self.held_out, self.held_out.valid)

    def sample(self, seed: int) -> Sample | None:
        positives = fold(self.learned.psi, self.space.d)
        if self.source == GIVEN:
            made = fold(rows_where(self.train, ~self.train.valid).psi, self.space.d)
            changed = rows_where(self.held_out, ~self.held_out.valid)
            if not len(changed):
                raise InvalidInput(
                    "expected invalid rows among the held-out ones, too, found only valid ones; add some."
                )
        else:
            if self.source not in SOURCES:
                raise InvalidInput(
                    "expected invalid training rows, or a source of them, found only valid rows"
                    f"{f' and {self.source!r}' if self.source else ''}; add rows with valid = 0, or make some"
                    f" with {' or '.join(f'`negatives={name!r}`' for name in SOURCES)}."
                )
            made = some_of(SOURCES[self.source](self.space, positives.psi, seed), seed)
            changed = one_changed(self.space, self.gold, np.random.default_rng(seed))
        if set(positives.psi.row_keys()).issuperset(made.psi.row_keys()):
            return None
        return Sample(LabelledExamples.of(self.space, positives, made), self.gold, changed)

    def shuffled(self, rng: np.random.Generator) -> TableMaterial:
        def mixed(table: PsiTable) -> PsiTable:
            if self.source == GIVEN:
                return replace(table, valid=rng.permutation(table.valid))
            values = rng.permuted(self.space.assignments(table.X), axis=0)
            possible = self.space.possible(values)
            return PsiTable(table.names, self.space.vectors(values[possible]), table.valid[possible])

        return replace(self, train=mixed(self.train), held_out=mixed(self.held_out))


def rows_where(table: PsiTable, chosen: Bools) -> PsiRows:
    """The chosen rows, each as one part."""
    return PsiRows.of(SparsePsi.from_dense(table.X[chosen]), np.flatnonzero(chosen))
