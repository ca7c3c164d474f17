"""The material of a diagnosis: training and held-out structures as psi rows, and samples of them.

Shuffling keeps frequencies, lengths and inputs, but obeys no constraint: labels are shuffled over all tokens.
So the accuracy on the data is compared with the accuracy that the same steps reach on shuffled data.

A sample has training negatives by the paper's source for the feature (`lcons_core.learn`), and held-out parts
with a similar change: with `apart`, a window gets the labels of another window; with `flip`, one bit is
changed; otherwise one label of a sequence.

A changed part is kept even if it is gold elsewhere. Without these, corrupted parts would be easy to recognise
(none of them was ever seen), whether there is a constraint or not. So no reference can reach 100%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcons_core import Instance, InvalidInput, LabelledExamples, SparsePsi
from lcons_core._psi import PsiRows
from lcons_core.features import ConstraintFeature, Scope, SequenceFeature
from lcons_core.learn._examples import (
    MAX_NEGATIVES,
    NEGATIVES,
    NegativeSource,
    fold,
    negative_source,
    usual_negatives,
)
from lcons_tasks.own_data._examples import parts_of

# References get more than the paper's one negative per positive, so that they find what can be found.
TRAINING_CORRUPTIONS = 4
# There are many windows, so one corruption each is enough; structures are few.
CORRUPTIONS = {Scope.LOCAL: 1, Scope.GLOBAL: 10}
# With more training negatives, references would take minutes and hardly improve.
MOST = 10**6


@dataclass(frozen=True, eq=False)
class Sample:
    """Training examples, and held-out parts of gold and corrupted units (sentences)."""

    examples: LabelledExamples
    gold: PsiRows
    corrupted: PsiRows


@dataclass(frozen=True, eq=False)
class Material:
    """Structures with labels of the feature."""

    feature: ConstraintFeature
    train: Sequence[Instance]
    held_out: Sequence[Instance]

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
        feature, name = self.feature, usual_negatives(self.feature)
        positives = fold(self.learned.psi, feature.space.d)
        source = negative_source(name, feature, self.train, positives, TRAINING_CORRUPTIONS, seed)
        changed = corrupted(feature, self.held_out, self.gold, name, seed)
        negatives = some_of(source, seed)
        if set(positives.psi.row_keys()).issuperset(negatives.psi.row_keys()):
            return None
        if not len(changed):
            raise InvalidInput("no held-out part can be corrupted, because the space rules out every change")
        return Sample(LabelledExamples.of(feature.space, positives, negatives), self.gold, changed)

    def shuffled(self, rng: np.random.Generator) -> Material:
        """The same data with their labels shuffled over all tokens, so that they obey no constraint."""
        return replace(self, train=shuffled(self.train, rng), held_out=shuffled(self.held_out, rng))


def shuffled(structures: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """The structures with their labels shuffled over all tokens: only the frequencies stay the same."""
    labels = [label for structure in structures for label in structure.y]
    mixed = iter([labels[i] for i in rng.permutation(len(labels))])
    return [Instance(structure.x, [next(mixed) for _ in structure.y]) for structure in structures]


def corrupted(
    feature: ConstraintFeature, structures: Sequence[Instance], gold: PsiRows, source: str, seed: int
) -> PsiRows:
    """The parts of label sequences, corrupted."""
    rng = np.random.default_rng(seed)
    if source == "apart" and isinstance(feature, SequenceFeature):
        return _recombined(feature, gold, rng)
    if isinstance(feature, SequenceFeature):
        source = "relabel"
    seeds = rng.integers(2**31, size=len(structures)).tolist()
    rows, owners = [SparsePsi.from_indices([], feature.space.d)], [np.zeros(0, dtype=np.int64)]
    edges = np.searchsorted(gold.owner, np.arange(len(structures) + 1))
    for i in np.flatnonzero(np.diff(edges)).tolist():
        parts = PsiRows.of(gold.psi.take(np.arange(edges[i], edges[i + 1])))
        change = NEGATIVES[source if source in ("relabel", "flip") else "perturb"]
        chunks = list(change(feature, [structures[i]], parts, CORRUPTIONS[feature.scope], seeds[i]).chunks())
        rows += chunks
        owners.append(np.full(sum(map(len, chunks)), i))
    return PsiRows.of(SparsePsi.stack(rows), np.concatenate(owners))


def some_of(source: NegativeSource, seed: int) -> PsiRows:
    """The distinct vectors of a source; if it has more than `MOST`, about that many, drawn at random."""
    if not MOST < source.size <= MAX_NEGATIVES:
        return source.collect()
    rng = np.random.default_rng(seed)
    drawn = [chunk.take(rng.random(len(chunk)) < MOST / source.size) for chunk in source.chunks()]
    rows = SparsePsi.stack(drawn)
    return fold(rows, rows.d)


def _recombined(feature: SequenceFeature, gold: PsiRows, rng: np.random.Generator) -> PsiRows:
    """The contexts of each window with the labels of a window drawn at random."""
    values = feature.space.assignments(gold.psi)
    drawn = values[rng.integers(len(values), size=len(values)), -feature.n :]
    mixed = np.concatenate([values[:, : -feature.n], drawn], axis=1)
    possible = feature.space.possible(mixed)
    return PsiRows.of(feature.psi_of_values(mixed[possible]), gold.owner[possible])
