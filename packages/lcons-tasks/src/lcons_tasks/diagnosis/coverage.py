"""Does held-out psi leave what training saw? There a constraint extrapolates, and that is worth a warning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core.features import ConstraintFeature, NgramContext, Scope
from lcons_core.instance import Instance
from lcons_tasks.diagnosis.references import Reference, seen_in_training
from lcons_tasks.diagnosis.samples import Bools, Parts, parts_of

# A share of held-out input that is unlike training and that one would want to hear of, in percent.
WORTH_A_WARNING = 10.0


@dataclass(frozen=True)
class Coverage:
    """How much of the held-out data training never saw, in percent, and sentences left out.

    `unknown_labels`: held-out sentences left out, as gold or prediction has a label that the constraint does
    not know; `unknown_training_labels`: the same of training. `other_tokens`: tokens whose context is OTHER;
    `unseen_contexts`: windows whose tuple of contexts did not occur; both None for features without context.
    `unseen_psi`: parts of gold whose psi did not occur (global: with a column outside its range);
    `unseen_columns`: how many columns never were nonzero (global). `rejected_seen`, `rejected_unseen`: the
    share of gold that the constraint rejects among each.
    """

    unknown_labels: int
    unknown_training_labels: int
    other_tokens: float | None
    unseen_contexts: float | None
    unseen_psi: float
    unseen_columns: int | None
    rejected_seen: float | None
    rejected_unseen: float | None

    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the constraint on such data."""
        said = []
        if self.unknown_labels:
            said.append(
                f"left out: {self.unknown_labels} held-out sentences with labels that it does not know"
            )
        if self.unknown_training_labels:
            said.append(
                f"left out: {self.unknown_training_labels} training sentences with labels that it does not"
                " know; it cannot have been learned from these"
            )
        if (self.other_tokens or 0) > WORTH_A_WARNING:
            said.append(f"{self.other_tokens:.1f}% of held-out tokens have a context that training never saw")
        if (self.unseen_contexts or 0) > WORTH_A_WARNING:
            said.append(
                f"{self.unseen_contexts:.1f}% of held-out windows have contexts that never met in training"
            )
        if self.unseen_psi > WORTH_A_WARNING:
            columns = "" if self.unseen_columns is None else f" ({self.unseen_columns} such columns)"
            text = f"{self.unseen_psi:.1f}% of held-out gold psi leave what training saw{columns}"
            if self.rejected_seen is not None and self.rejected_unseen is not None:
                text += (
                    f"; the constraint rejects {self.rejected_unseen:.1f}% of these, and"
                    f" {self.rejected_seen:.1f}% of the others"
                )
            said.append(text)
        return tuple(said)


def coverage(
    feature: ConstraintFeature,
    constraint: Reference,
    train: Sequence[Instance],
    held_out: Sequence[Instance],
    unknown: tuple[int, int],
) -> Coverage:
    """The coverage of held-out structures by training ones; `unknown`: sentences left out of both."""
    learned, gold = parts_of(feature, train), parts_of(feature, held_out)
    seen = seen_in_training(learned.psi, feature.scope)(gold.psi)
    rejected = ~constraint.accepts(gold.psi)
    other, unseen = None, None
    if isinstance(feature, NgramContext):
        tokens = sum(len(structure.y) for structure in held_out)
        # Through a word class, OTHER is most words, and seen.
        if feature.word_class is None:
            other = 100 * sum(map(feature.unknown, held_out)) / tokens
        known = {tuple(row) for s in train for row in feature.context_windows(s).tolist()}
        rows = [tuple(row) for s in held_out for row in feature.context_windows(s).tolist()]
        unseen = 100 * float(np.mean([row not in known for row in rows]))
    columns = _unseen_columns(learned, gold) if feature.scope is Scope.GLOBAL else None
    return Coverage(
        *unknown,
        other,
        unseen,
        float(100 * np.mean(~seen)),
        columns,
        _percent(rejected, seen),
        _percent(rejected, ~seen),
    )


def _unseen_columns(learned: Parts, gold: Parts) -> int:
    """How many columns are nonzero in held-out gold and never were in training."""
    return len(np.setdiff1d(gold.psi.indices, learned.psi.indices))


def _percent(values: Bools, among: Bools) -> float | None:
    return float(100 * values[among].mean()) if among.any() else None
