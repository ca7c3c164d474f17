"""Labelled examples: psi of valid structures and psi of invalid ones, which are always disjoint.

Paper: Sec. 3. Equal vectors are folded into one vector with a weight. A positive that occurs fewer than
`min_support` times is dropped (noise in the labels), and a vector that is a positive is never a negative.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import finite_array
from lcons_core._errors import InvalidInput
from lcons_core._instance import read_instances
from lcons_core._psi import PsiRows, SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats
from lcons_core.features._feature import ConstraintFeature
from lcons_core.features._ngrams import SequenceFeature


def fold(psi: Any, d: int, weights: Any = None, min_support: float = 1) -> PsiRows:
    """Equal rows as one row with the sum of their weights, in order of first occurrence; rows below
    `min_support` are dropped.

    >>> folded = fold([[1, 0], [0, 1], [1, 0]], d=2)
    >>> folded.psi.dense(), folded.weight
    (array([[1., 0.],
           [0., 1.]]), array([2., 1.]))
    """
    rows = as_psi(psi, d)
    sparse = rows if isinstance(rows, SparsePsi) else SparsePsi.from_dense(np.atleast_2d(rows))
    given = np.ones(len(sparse)) if weights is None else finite_array(weights, "weights", 1)
    if len(given) != len(sparse):
        raise InvalidInput(f"weights needs one entry per row: got {len(given)} for {len(sparse)} rows.")
    group, first = sparse.groups()
    totals = np.bincount(group, weights=given, minlength=len(first))
    kept = totals >= min_support
    return PsiRows.of(sparse.take(first[kept]), weight=finite_array(totals[kept], "weights", 1))


def positives_of(feature: ConstraintFeature, structures: Iterable[Any], min_support: float = 1) -> PsiRows:
    """The folded psi rows of valid structures."""
    instances = read_instances(structures, feature.column)
    if isinstance(feature, SequenceFeature):
        windows = np.concatenate([feature.values(instance) for instance in instances])
        return fold(feature.psi_of_values(windows), feature.space.d, min_support=min_support)
    rows = SparsePsi.stack([feature.psi(instance) for instance in instances])
    return fold(rows, feature.space.d, min_support=min_support)


@dataclass(frozen=True, eq=False)
class LabelledExamples:
    """Positives and negatives on one space; no vector is in both.

    `undecided` are vectors of the source of negatives with too little evidence against them (`_evidence.py`);
    they are learned as valid, but they are no observations.

    >>> from lcons_core._space import one_hot
    >>> space = FeatureSpace([one_hot("label", ["A", "B"])])
    >>> examples = LabelledExamples.of(space, [[1, 0]], [[1, 0], [0, 1], [0, 1]])
    >>> len(examples.positives), len(examples.negatives), examples.negatives.weight
    (1, 1, array([2.]))
    """

    space: FeatureSpace
    positives: PsiRows
    negatives: PsiRows
    undecided: PsiRows = field(default_factory=lambda: PsiRows.of(SparsePsi.from_indices([], 0)))

    @classmethod
    def of(
        cls, space: FeatureSpace, positives: Any, negatives: Any, min_support: float = 1
    ) -> LabelledExamples:
        """Folds both, drops rare positives, and drops negatives that are positives."""
        good = positives if isinstance(positives, PsiRows) else fold(positives, space.d)
        good = good.take(good.weight >= min_support)
        bad = negatives if isinstance(negatives, PsiRows) else fold(negatives, space.d)
        seen = set(good.psi.row_keys())
        bad = bad.take(np.array([key not in seen for key in bad.psi.row_keys()], dtype=np.bool_))
        for what, side in (("positives", good), ("negatives", bad)):
            if not len(side):
                raise InvalidInput(
                    f"expected at least one example of each class, found no {what} (after folding"
                    f"{f' and min_support={min_support:g}' if what == 'positives' else ''});"
                    " pass more structures or another source of negatives."
                )
            space.check(side.psi)
        return cls(space, good, bad)

    def __len__(self) -> int:
        return len(self.positives) + len(self.undecided) + len(self.negatives)

    def matrix(self, by_frequency: bool = False) -> tuple[SparsePsi, NDArray[np.bool_], Floats]:
        """(psi, y, weights) for a learner: positives first, then undecided vectors, y True for both.

        A set is learned, so each distinct vector has weight 1; with `by_frequency` the weight of a positive
        is its number of occurrences. Other vectors are generated and have no frequency.
        """
        y = np.arange(len(self)) < len(self.positives) + len(self.undecided)
        weights = np.ones(len(self))
        if by_frequency:
            weights[: len(self.positives)] = self.positives.weight
        sides = [side.psi for side in (self.positives, self.undecided, self.negatives) if len(side)]
        return SparsePsi.stack(sides), y, weights
