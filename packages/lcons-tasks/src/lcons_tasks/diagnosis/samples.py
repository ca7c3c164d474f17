"""Held-out psi of gold and of corrupted structures, by sentence; and the same sentences with shuffled labels.

The corrupted come from the source of negatives that the constraint learned from (`lcons_core.negatives`),
applied to each held-out sentence. Sources that list points have a like that changes a sentence: for `apart` a
window gets the labels of another one, for `unseen` and `near` one label is changed.

What a change makes is left in even where it is gold elsewhere: leaving it out would make the corrupted easy
to tell (none of them was ever seen) whether there is a constraint or not. So no reference can reach 100%, and
accuracy is to be compared with what the same steps reach on shuffled labels, which have the same frequencies,
lengths and inputs and obey no constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import InvalidInput
from lcons_core.examples import Folded, LabelledExamples, positives_of
from lcons_core.features import ConstraintFeature, Scope, SequenceFeature
from lcons_core.instance import Instance
from lcons_core.learn import NEGATIVES
from lcons_core.negatives import HowMany
from lcons_core.psi import Ints, SparsePsi

Bools = NDArray[np.bool_]

# Sources that change a structure; the others list points.
CHANGES = ("relabel", "flip", "perturb")
# Windows are many, so one corruption each will do; structures are few.
CORRUPTIONS: dict[Scope, HowMany] = {Scope.LOCAL: 1, Scope.GLOBAL: 10}
# For the references more than the paper's one negative a positive: they are to see what there is to see.
TRAINING_CORRUPTIONS = 4


@dataclass(frozen=True, eq=False)
class Parts:
    """psi rows and the sentence that each belongs to."""

    psi: SparsePsi
    owners: Ints

    def __len__(self) -> int:
        return len(self.psi)

    def take(self, rows: Bools) -> Parts:
        """The chosen rows."""
        return Parts(self.psi.take(rows), self.owners[rows])


@dataclass(frozen=True, eq=False)
class Sample:
    """Training examples, and held-out parts of gold and corrupted structures."""

    examples: LabelledExamples
    gold: Parts
    corrupted: Parts


def parts_of(feature: ConstraintFeature, structures: Sequence[Instance]) -> Parts:
    """The psi rows of structures, in order."""
    rows = [feature.psi(structure) for structure in structures]
    return Parts(SparsePsi.stack(rows), np.repeat(np.arange(len(rows)), [len(psi) for psi in rows]))


def draw_sample(
    feature: ConstraintFeature,
    train: Sequence[Instance],
    held_out: Sequence[Instance],
    source: str,
    seed: int,
) -> Sample | None:
    """What references learn from and are measured on; None where all that could be a negative is gold."""
    learned = positives_of(feature, train)
    gold = parts_of(feature, held_out)
    if not len(learned) or not len(gold):
        raise InvalidInput(
            "expected sentences long enough to have a part of this constraint, found none in"
            f" {'training' if not len(learned) else 'the held-out data'}; give more sentences or a smaller n."
        )
    made = NEGATIVES[source](feature, train, learned, TRAINING_CORRUPTIONS, seed).collect()
    seen = set(learned.psi.row_keys())
    if seen.issuperset(made.psi.row_keys()):
        return None
    examples = LabelledExamples.of(feature.space, learned, made)
    return Sample(examples, gold, _corrupted(feature, held_out, gold, source, seed))


def shuffled(structures: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """The structures with their labels shuffled over all tokens: only the labels' frequencies are left."""
    labels = [label for structure in structures for label in structure.y]
    order = iter(rng.permutation(len(labels)))
    return [Instance(s.x, [labels[next(order)] for _ in s.y]) for s in structures]


def _corrupted(
    feature: ConstraintFeature, structures: Sequence[Instance], gold: Parts, source: str, seed: int
) -> Parts:
    rng = np.random.default_rng(seed)
    if source == "apart" and isinstance(feature, SequenceFeature):
        return _recombined(feature, gold, rng)
    if source not in CHANGES:
        source = "relabel" if isinstance(feature, SequenceFeature) else "perturb"
    many = CORRUPTIONS[feature.scope]
    rows, owners = [], []
    seeds = rng.integers(2**31, size=len(structures))
    edges = np.searchsorted(gold.owners, np.arange(len(structures) + 1))
    for i, structure in enumerate(structures):
        own = gold.psi.take(np.arange(edges[i], edges[i + 1]))
        if not len(own):
            continue
        made = NEGATIVES[source](feature, [structure], Folded(own, np.ones(len(own))), many, int(seeds[i]))
        for chunk in made.chunks():
            rows.append(chunk)
            owners.append(np.full(len(chunk), i))
    return Parts(SparsePsi.stack(rows), np.concatenate(owners))


def _recombined(feature: SequenceFeature, gold: Parts, rng: np.random.Generator) -> Parts:
    """Each window's contexts with the labels of a window drawn at random."""
    values = feature.space.assignments(gold.psi)
    drawn = values[rng.integers(len(values), size=len(values)), -feature.n :]
    mixed = np.concatenate([values[:, : -feature.n], drawn], axis=1)
    possible = feature.space.possible(mixed)
    return Parts(feature.psi_of_values(mixed[possible]), gold.owners[possible])
