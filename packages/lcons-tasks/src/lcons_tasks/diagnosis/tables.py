"""psi vectors, valid or not, as material of a diagnosis.

Where the training rows are not all valid, negatives are the invalid rows of each part, and shuffling permutes
the column `valid`. Where they are, negatives are made (`unseen`, `flip`), a corrupted row has one value
changed, and shuffling permutes the values of each block by themselves, as for tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcons_core.errors import InvalidInput
from lcons_core.examples import LabelledExamples, fold
from lcons_core.features import Scope
from lcons_core.negatives import NegativeSource, flipped, unseen
from lcons_core.psi import SparsePsi
from lcons_core.space import FeatureSpace
from lcons_tasks.diagnosis.corrupting import one_changed, some_of
from lcons_tasks.diagnosis.samples import TRAINING_CORRUPTIONS, Bools, Parts, Sample
from lcons_tasks.labelled.data import PsiTable
from lcons_tasks.labelled.preparing import GIVEN

SOURCES: dict[str, Callable[[FeatureSpace, SparsePsi, int], NegativeSource]] = {
    "unseen": lambda space, valid, seed: unseen(space, valid),
    "flip": lambda space, valid, seed: flipped(space, valid, TRAINING_CORRUPTIONS, seed),
}


@dataclass(frozen=True, eq=False)
class TableMaterial:
    """Rows that are vectors of the space; `source` is `GIVEN`, or what makes negatives."""

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
    def learned(self) -> Parts:
        return rows_where(self.train, self.train.valid)

    @cached_property
    def gold(self) -> Parts:
        return rows_where(self.held_out, self.held_out.valid)

    def sample(self, seed: int) -> Sample | None:
        positives = fold(self.learned.psi, self.space.d)
        if self.source == GIVEN:
            made = fold(rows_where(self.train, ~self.train.valid).psi, self.space.d)
            changed = rows_where(self.held_out, ~self.held_out.valid)
            if not len(changed):
                raise InvalidInput(
                    "expected invalid rows among the held-out ones too, found valid ones only; add some."
                )
        else:
            if self.source not in SOURCES:
                raise InvalidInput(
                    "expected invalid training rows, or a source of them, found valid rows only"
                    f"{f' and {self.source!r}' if self.source else ''}; add rows with valid = 0, or make some"
                    f" with --negatives {' or '.join(SOURCES)}."
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


def rows_where(table: PsiTable, chosen: Bools) -> Parts:
    """The chosen rows, each a part of its own."""
    return Parts(SparsePsi.from_dense(table.X[chosen]), np.flatnonzero(chosen))
