"""Learning a rectifier network from labelled psi.

inputs -> folding -> batches -> population (all restarts, one tensor) -> training -> selection -> learner
"""

from lcons_core.learn._estimator import ConstraintLearner
from lcons_core.learn._settings import GRIDS, Progress

__all__ = ["GRIDS", "ConstraintLearner", "Progress"]
