"""Constraint features: how psi is computed from a structure, as plain data that a file can store.

Paper: Sec. 2.1 (psi) and the feature lists of Appendices C-E.

| kind | one psi row per | columns |
|---|---|---|
| `NgramLabels` | n-gram | n one-hot label blocks |
| `NgramContext` | n-gram | n one-hot context blocks (POS, word class), then n label blocks |
| `Existence` | structure | one bit per label n-gram: 1 if it occurs |
| `Counts` | structure | the number of occurrences of each label |
| `Tuples` | tuple | one one-hot block per member (for example source and relation) |

To add a kind, write a frozen dataclass that is a `ConstraintFeature`. Files with this kind can be loaded
where the class has been defined or imported, and everywhere if it is in the entry point group
`lcons.features`.
"""

from lcons_core.features._feature import ConstraintFeature, Scope
from lcons_core.features._kinds import Counts, Existence, Tuples
from lcons_core.features._ngrams import NgramContext, NgramLabels, SequenceFeature

__all__ = [
    "ConstraintFeature",
    "Counts",
    "Existence",
    "NgramContext",
    "NgramLabels",
    "Scope",
    "SequenceFeature",
    "Tuples",
]
