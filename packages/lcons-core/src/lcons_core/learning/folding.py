"""Examples with repeats folded into weights.

A learner sees each distinct psi once, with the weight it has as a valid and as an invalid example:

    valid[i] = sum of the weights of the valid examples equal to psi[i],   invalid[i] likewise

in an order that depends on the vectors alone. So a weight of 2 and a repeat, a weight of 0 and an absence,
and any two orders of the examples give the same training, bit for bit. A vector that occurs with both labels
keeps both weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core.exact import Floats
from lcons_core.psi import Ints, SparsePsi


@dataclass(frozen=True, eq=False)
class FoldedExamples:
    """Distinct psi and their weights per label, (N,) each."""

    psi: SparsePsi
    valid: Floats
    invalid: Floats

    def __len__(self) -> int:
        return len(self.psi)

    def accuracy(self, accepted: NDArray[np.bool_]) -> float:
        """The weighted share of examples that a verdict (N,) on the distinct psi gets right."""
        # From the errors, so that none is exactly 1.0 whatever the weights.
        wrong = self.valid[~accepted].sum() + self.invalid[accepted].sum()
        return float(1.0 - wrong / (self.valid.sum() + self.invalid.sum()))


def fold(psi: SparsePsi, is_valid: NDArray[np.bool_], weights: Floats) -> FoldedExamples:
    """Distinct psi in canonical order, with the total weight of each label."""
    present = np.flatnonzero(weights != 0)
    keys = psi.row_keys()
    first: dict[bytes, int] = {}
    owner = np.fromiter((first.setdefault(keys[i], int(i)) for i in present.tolist()), np.int64, len(present))
    rows = np.array([first[key] for key in sorted(first)], dtype=np.int64)
    rank = np.empty(len(psi), dtype=np.int64)
    rank[rows] = np.arange(len(rows))
    # Ascending within a vector: float sums must not depend on the order of the examples.
    order = np.argsort(weights[present], kind="stable")
    present, owner = present[order], rank[owner[order]]
    label, weight = is_valid[present], weights[present]
    return FoldedExamples(
        psi.take(rows),
        _totals(owner[label], weight[label], len(rows)),
        _totals(owner[~label], weight[~label], len(rows)),
    )


def _totals(owner: Ints, weight: Floats, number: int) -> Floats:
    return np.bincount(owner, weight, minlength=number).astype(np.float64)
