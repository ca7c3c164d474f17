"""lcons-core: learn a rectifier network and turn it into linear constraints, exactly.

    structures -> features -> examples -> learner -> network -> constraint -> rows, lifted, cuts, masks, words

Everything here needs numpy alone; learning needs torch (the extra `torch`).
"""

from typing import Any

from lcons_core.compare import Comparison, compare
from lcons_core.constraint import LearnedConstraint
from lcons_core.cuts import most_violated
from lcons_core.errors import LconsError
from lcons_core.examples import LabelledExamples
from lcons_core.explain import Explanation, explain, why
from lcons_core.files import load, save
from lcons_core.instance import Instance
from lcons_core.learn import learn_constraints, learn_from_examples, make_examples
from lcons_core.learning import ConstraintLearner
from lcons_core.lifted import LiftedInequalities, lift
from lcons_core.masks import MaskTable, compile_masks
from lcons_core.psi import SparsePsi
from lcons_core.rectifier import Conjunction, RectifierNetwork
from lcons_core.rules import Rules
from lcons_core.schemes import bilou, iob2
from lcons_core.simplify import SimplifiedRows, simplify
from lcons_core.space import FeatureSpace, binary, count, one_hot
from lcons_core.theorem1 import LinearInequalities, estimate_rows, to_inequalities
from lcons_core.threshold import ThresholdNetwork
from lcons_core.verify import Verification, verify

__all__ = [
    "Comparison",
    "Conjunction",
    "ConstraintLearner",
    "Explanation",
    "FeatureSpace",
    "Instance",
    "LabelledExamples",
    "LconsError",
    "LearnedConstraint",
    "LiftedInequalities",
    "LinearInequalities",
    "MaskTable",
    "RectifierNetwork",
    "Rules",
    "SimplifiedRows",
    "SparsePsi",
    "ThresholdNetwork",
    "Verification",
    "__version__",
    "bilou",
    "binary",
    "compare",
    "compile_masks",
    "count",
    "estimate_rows",
    "explain",
    "iob2",
    "learn_constraints",
    "learn_from_examples",
    "lift",
    "load",
    "make_examples",
    "most_violated",
    "one_hot",
    "save",
    "simplify",
    "to_inequalities",
    "verify",
    "why",
]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Read only when asked for: importing importlib.metadata takes half as long as numpy.
    from importlib.metadata import version

    return version("lcons-core")
