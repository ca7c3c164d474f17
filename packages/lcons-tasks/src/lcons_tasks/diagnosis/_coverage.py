"""How much of the held-out psi is unlike training? There a constraint extrapolates, so a warning is printed.

A part of local psi is unlike training if no training part has the same psi. A psi of counts, of existence or
of a table is unlike training if some column is outside the range that it had in training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core._psi import PsiRows
from lcons_core.features import NgramContext, Scope
from lcons_tasks.diagnosis._material import StructureMaterial
from lcons_tasks.diagnosis._references import Reference, seen_in_training
from lcons_tasks.diagnosis._samples import Bools, Material
from lcons_tasks.own_data._data import Structures

# A warning is printed if more than this share of held-out input is unlike training, in percent.
WORTH_A_WARNING = 10.0
# How often chance must show a label that held-out data lack before this is worth a warning.
MISSED = 5.0


@dataclass(frozen=True)
class LeftOut:
    """`count` of `of` units that the constraint cannot read, and the reason for the first of them."""

    count: int
    of: int
    example: str = ""


@dataclass(frozen=True)
class Coverage:
    """The share of the held-out data that is not in training, in percent, and the units left out.

    `left_out`: held-out units whose gold or prediction the constraint cannot read, because it lacks a label
    or a value, or a count is out of bounds; `left_out_training`: the same for training. `other_tokens`:
    tokens whose context is OTHER (None if training has such tokens); `unseen_contexts`: windows whose tuple
    of contexts is not in training; both are None for features without context. `unseen_psi` and
    `unseen_predicted`: parts of gold and of predictions that are unlike training; `unseen_columns`: the
    number of columns that are nonzero in gold, but never in training (None if parts are looked up).
    `rejected`: the share of gold that the constraint rejects; `rejected_seen` and `rejected_unseen`: the same
    among gold that is like training and unlike it.
    """

    units: str
    left_out: LeftOut
    left_out_training: LeftOut
    other_tokens: float | None
    unseen_contexts: float | None
    unseen_psi: float
    unseen_predicted: float | None
    unseen_columns: int | None
    rejected: float
    rejected_seen: float | None
    rejected_unseen: float | None

    def warnings(self) -> tuple[str, ...]:
        """The warnings to read before the constraint is trusted on such data."""
        said = []
        if self.unseen_psi > WORTH_A_WARNING:
            columns = f" ({self.unseen_columns:,} columns are new)" if self.unseen_columns else ""
            text = f"{self.unseen_psi:.1f}% of held-out gold psi are unlike training{columns}"
            if self.rejected_seen is not None and self.rejected_unseen is not None:
                text += (
                    f"; the constraint rejects {self.rejected_unseen:.1f}% of these, and"
                    f" {self.rejected_seen:.1f}% of the others"
                )
            said.append(text)
        if (self.unseen_predicted or 0) > WORTH_A_WARNING:
            said.append(f"{self.unseen_predicted:.1f}% of predicted psi are unlike training")
        if (self.other_tokens or 0) > WORTH_A_WARNING:
            said.append(f"{self.other_tokens:.1f}% of held-out tokens have a context that is not in training")
        if (self.unseen_contexts or 0) > WORTH_A_WARNING:
            said.append(
                f"{self.unseen_contexts:.1f}% of held-out windows have a combination of contexts that is not"
                " in training"
            )
        for which, left, what in (
            ("held-out", self.left_out, ""),
            ("training", self.left_out_training, "; the constraint was not learned from these"),
        ):
            if left.count:
                said.append(
                    f"left out: {left.count:,} of {left.of:,} {which} {self.units}, which the constraint"
                    f" cannot read ({left.example}){what}"
                )
        return tuple(said)


def label_warnings(train: Structures, held_out: Structures) -> tuple[str, ...]:
    """Warnings if the labels of training and held-out sequences differ, so that one does not stand for the
    other. A label of training that is missing in held-out data counts if chance would show it `MISSED`
    times."""
    if train.tuples or held_out.tuples:
        return ()
    ours, theirs = (Counter(label for one in data.instances for label in one.y) for data in (train, held_out))
    scale = theirs.total() / max(ours.total(), 1)
    said = []
    if new := [label for label in theirs if label not in ours]:
        said.append(f"labels of held-out data that are not in training: {_listed(new)}")
    if gone := [label for label, n in ours.most_common() if label not in theirs and n * scale >= MISSED]:
        said.append(
            f"labels of training that are not in held-out data: {_listed(gone)}; nothing is measured for"
            " them, so hold out data that are like training"
        )
    return tuple(said)


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels[:6]) + (f" and {len(labels) - 6} more" if labels[6:] else "")


def coverage(
    material: Material,
    constraint: Reference,
    predicted: PsiRows | None,
    left_out: LeftOut,
    left_out_training: LeftOut,
) -> Coverage:
    """The coverage of held-out data by training data."""
    learned, gold = material.learned, material.gold
    seen_before = seen_in_training(learned.psi, Scope.GLOBAL if material.ranged else Scope.LOCAL)
    seen = seen_before(gold.psi)
    rejected = ~constraint.accepts(gold.psi)
    other, unseen = _contexts(material)
    # The number of columns that are nonzero in held-out gold and never in training.
    columns = len(np.setdiff1d(gold.psi.indices, learned.psi.indices)) if material.ranged else None
    return Coverage(
        material.units,
        left_out,
        left_out_training,
        other,
        unseen,
        float(100 * np.mean(~seen)),
        None if predicted is None else float(100 * np.mean(~seen_before(predicted.psi))),
        columns,
        float(100 * rejected.mean()),
        _percent(rejected, seen),
        _percent(rejected, ~seen),
    )


def _contexts(material: Material) -> tuple[float | None, float | None]:
    """The share of tokens whose context is OTHER, and of windows whose tuple of contexts is new."""
    if not isinstance(material, StructureMaterial) or not isinstance(material.feature, NgramContext):
        return None, None
    feature, other = material.feature, None
    # If rare words or words without a class are OTHER, training has OTHER, too.
    if feature.word_class is None and not any(map(feature.unknown, material.train)):
        tokens = sum(len(structure.y) for structure in material.held_out)
        other = 100 * sum(map(feature.unknown, material.held_out)) / tokens
    known = {tuple(row) for s in material.train for row in feature.context_windows(s).tolist()}
    rows = [tuple(row) for s in material.held_out for row in feature.context_windows(s).tolist()]
    return other, 100 * float(np.mean([row not in known for row in rows]))


def _percent(values: Bools, among: Bools) -> float | None:
    return float(100 * values[among].mean()) if among.any() else None
