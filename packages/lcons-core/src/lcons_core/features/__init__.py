"""Constraint features: how psi is made from a structure, as plain data that a file can hold.

Paper: Sec. 2.1 (psi) and the feature lists of Appendices C-E.

| kind | psi row per | columns |
|---|---|---|
| `NgramLabels` | n-gram | n one-hot label blocks |
| `NgramContext` | n-gram | n one-hot context blocks (POS, word class), then n label blocks |
| `Existence` | structure | a bit per label n-gram: does it occur |
| `Counts` | structure | how often each label occurs |
| `Tuples` | tuple | a one-hot block per member (source and relation, say) |

A kind of one's own is a frozen dataclass with the members of `ConstraintFeature`, registered under the entry
point group `lcons.features`, so that files that name it can be loaded.
"""

from lcons_core.features._counts import Counts
from lcons_core.features._existence import Existence
from lcons_core.features._kinds import feature_from_dict, feature_kinds
from lcons_core.features._ngrams import (
    START,
    STOP,
    NgramContext,
    NgramLabels,
    SequenceFeature,
    is_punctuation,
    shape,
)
from lcons_core.features._protocol import ConstraintFeature, GroundedRow, Scope, checked_names
from lcons_core.features._tuples import Tuples

__all__ = [
    "START",
    "STOP",
    "ConstraintFeature",
    "Counts",
    "Existence",
    "GroundedRow",
    "NgramContext",
    "NgramLabels",
    "Scope",
    "SequenceFeature",
    "Tuples",
    "checked_names",
    "feature_from_dict",
    "feature_kinds",
    "is_punctuation",
    "shape",
]
