"""Learning a rectifier network from labelled psi.

inputs -> folding -> batches -> population (all restarts, one tensor) -> training -> selection -> learner
"""

from lcons_core.learning.grids import GRIDS
from lcons_core.learning.learner import ConstraintLearner
from lcons_core.learning.progress import Progress

__all__ = ["GRIDS", "ConstraintLearner", "Progress"]
