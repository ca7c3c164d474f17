"""Label sequences and tuples as material of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcons_core.errors import InvalidInput
from lcons_core.examples import LabelledExamples, positives_of
from lcons_core.features import ConstraintFeature, Scope
from lcons_core.instance import Instance
from lcons_core.psi import SparsePsi
from lcons_tasks.diagnosis.corrupting import corrupted, one_changed, some_of
from lcons_tasks.diagnosis.samples import TRAINING_CORRUPTIONS, Parts, Sample
from lcons_tasks.labelled.preparing import source_of
from lcons_tasks.labelled.settings import LearnSettings


@dataclass(frozen=True, eq=False)
class StructureMaterial:
    """Structures whose labels the feature knows; `source` is one of `lcons_core.learn.NEGATIVES`; `tuples`
    where their y are tuples."""

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
    def learned(self) -> Parts:
        return parts_of(self.feature, self.train)

    @cached_property
    def gold(self) -> Parts:
        return parts_of(self.feature, self.held_out)

    def sample(self, seed: int) -> Sample | None:
        feature = self.feature
        positives = positives_of(feature, self.train)
        if not len(positives):
            raise InvalidInput(
                "expected training data long enough to have a part of this constraint, found none; give"
                " longer ones or a smaller n."
            )
        settings = LearnSettings(many=TRAINING_CORRUPTIONS, seed=seed)
        made = some_of(source_of(self.source, feature, self.train, positives, settings), seed)
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


def parts_of(feature: ConstraintFeature, structures: Sequence[Instance]) -> Parts:
    """The psi rows of structures, in order."""
    rows = [feature.psi(structure) for structure in structures]
    return Parts(SparsePsi.stack(rows), np.repeat(np.arange(len(rows)), [len(psi) for psi in rows]))


def shuffled_labels(structures: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """The structures with their labels shuffled over all tokens: only the labels' frequencies are left."""
    labels = [label for structure in structures for label in structure.y]
    order = iter(rng.permutation(len(labels)))
    return [Instance(s.x, [labels[next(order)] for _ in s.y]) for s in structures]


def shuffled_members(structures: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """The structures with each member shuffled over all tuples: which values meet is left to chance."""
    members = zip(*(one for structure in structures for one in structure.y), strict=True)
    mixed: Iterator[tuple[str, ...]] = zip(
        *([values[i] for i in rng.permutation(len(values))] for values in members), strict=True
    )
    return [Instance(s.x, [next(mixed) for _ in s.y]) for s in structures]
