"""Learning a rectifier network from labelled psi.

    recipe -> examples (negatives, evidence) -> estimator -> search -> schedule -> population -> constraint

`Recipe` describes as data how a constraint is learned; `ConstraintLearner` is only the training, with the
interface of scikit-learn; a population is all restarts as one tensor.
"""

from lcons_core.learn._estimator import AUTO, GRID, ConstraintLearner, Progress
from lcons_core.learn._evidence import EVIDENCE, Needed, fold_bounds, refuted_by_folds, sort_negatives
from lcons_core.learn._examples import (
    MAX_NEGATIVES,
    NEGATIVES,
    UNSEEN,
    HowMany,
    LabelledExamples,
    NegativeSource,
    flipped,
    fold,
    negative_source,
    perturbed_structures,
    positives_of,
    unseen,
    usual_negatives,
)
from lcons_core.learn._recipe import DOUBLED, FEATURES, OFTEN, Fitted, Recipe, learn_constraints

__all__ = [
    "AUTO",
    "DOUBLED",
    "EVIDENCE",
    "FEATURES",
    "GRID",
    "MAX_NEGATIVES",
    "NEGATIVES",
    "OFTEN",
    "UNSEEN",
    "ConstraintLearner",
    "Fitted",
    "HowMany",
    "LabelledExamples",
    "Needed",
    "NegativeSource",
    "Progress",
    "Recipe",
    "flipped",
    "fold",
    "fold_bounds",
    "learn_constraints",
    "negative_source",
    "perturbed_structures",
    "positives_of",
    "refuted_by_folds",
    "sort_negatives",
    "unseen",
    "usual_negatives",
]
