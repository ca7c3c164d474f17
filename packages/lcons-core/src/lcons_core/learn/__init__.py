"""Learning a rectifier network from labelled psi.

    recipe -> examples (negatives) -> estimator -> search -> schedule -> population (all restarts, one tensor)

`Recipe` describes as data how a constraint is learned; `ConstraintLearner` is only the training, with the
interface of scikit-learn; sources of negatives are functions of this package.
"""

from lcons_core.learn._estimator import ConstraintLearner, estimate_seconds
from lcons_core.learn._evidence import (
    EVIDENCE,
    Needed,
    fold_bounds,
    refuted_by_folds,
    sort_negatives,
)
from lcons_core.learn._examples import LabelledExamples, fold, positives_of
from lcons_core.learn._negatives import (
    MAX_NEGATIVES,
    NEGATIVES,
    UNSEEN,
    HowMany,
    NegativeSource,
    cheaper_flips,
    cheaper_solutions,
    flipped,
    joined,
    near_ngrams,
    negative_source,
    perturbed_structures,
    predictions,
    recast,
    relabelled,
    unseen,
    usual_negatives,
    windows_seen_apart,
)
from lcons_core.learn._recipe import (
    AUTO,
    DOUBLED,
    FEATURES,
    OFTEN,
    Before,
    Fitted,
    Recipe,
    learn_constraints,
    learn_from_examples,
    learned_from,
    make_examples,
)
from lcons_core.learn._settings import BASE_GRIDS, ER_HIDDEN, GRIDS, Grid, Progress

__all__ = [
    "AUTO",
    "BASE_GRIDS",
    "DOUBLED",
    "ER_HIDDEN",
    "EVIDENCE",
    "FEATURES",
    "GRIDS",
    "MAX_NEGATIVES",
    "NEGATIVES",
    "OFTEN",
    "UNSEEN",
    "Before",
    "ConstraintLearner",
    "Fitted",
    "Grid",
    "HowMany",
    "LabelledExamples",
    "Needed",
    "NegativeSource",
    "Progress",
    "Recipe",
    "cheaper_flips",
    "cheaper_solutions",
    "estimate_seconds",
    "flipped",
    "fold",
    "fold_bounds",
    "joined",
    "learn_constraints",
    "learn_from_examples",
    "learned_from",
    "make_examples",
    "near_ngrams",
    "negative_source",
    "perturbed_structures",
    "positives_of",
    "predictions",
    "recast",
    "refuted_by_folds",
    "relabelled",
    "sort_negatives",
    "unseen",
    "usual_negatives",
    "windows_seen_apart",
]
