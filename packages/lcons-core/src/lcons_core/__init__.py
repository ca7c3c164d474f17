"""lcons-core: learn a rectifier network and turn it into linear constraints, exactly.

    structures -> features -> examples -> learner -> network -> constraint -> rows, lifted, cuts, masks, words

Everything here needs numpy alone; learning needs torch (the extra `torch`). A name is imported when it is
first used, so that `import lcons_core` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcons_core.comparison import Comparison, compare
    from lcons_core.constraint import LearnedConstraint
    from lcons_core.cuts import most_violated
    from lcons_core.errors import LconsError
    from lcons_core.examples import LabelledExamples
    from lcons_core.explanation import Explanation, explain, why
    from lcons_core.files import load, save
    from lcons_core.instance import Instance
    from lcons_core.learn import learn_constraints, learn_from_examples, make_examples
    from lcons_core.learning import ConstraintLearner
    from lcons_core.lifted import LiftedInequalities, lift
    from lcons_core.masks import MaskTable, compile_masks
    from lcons_core.psi import SparsePsi
    from lcons_core.rectifier import Conjunction, RectifierNetwork
    from lcons_core.rules import Rules
    from lcons_core.rules_file import load_rules, parse_rules
    from lcons_core.schemes import bilou, iob2
    from lcons_core.simplification import SimplifiedRows, simplify
    from lcons_core.space import FeatureSpace, binary, count, one_hot
    from lcons_core.theorem1 import LinearInequalities, estimate_rows, to_inequalities
    from lcons_core.threshold import ThresholdNetwork
    from lcons_core.verification import Verification, verify

_HOMES = {
    "Comparison": "comparison",
    "Conjunction": "rectifier",
    "ConstraintLearner": "learning",
    "Explanation": "explanation",
    "FeatureSpace": "space",
    "Instance": "instance",
    "LabelledExamples": "examples",
    "LconsError": "errors",
    "LearnedConstraint": "constraint",
    "LiftedInequalities": "lifted",
    "LinearInequalities": "theorem1",
    "MaskTable": "masks",
    "RectifierNetwork": "rectifier",
    "Rules": "rules",
    "SimplifiedRows": "simplification",
    "SparsePsi": "psi",
    "ThresholdNetwork": "threshold",
    "Verification": "verification",
    "bilou": "schemes",
    "binary": "space",
    "compare": "comparison",
    "compile_masks": "masks",
    "count": "space",
    "estimate_rows": "theorem1",
    "explain": "explanation",
    "iob2": "schemes",
    "learn_constraints": "learn",
    "learn_from_examples": "learn",
    "lift": "lifted",
    "load": "files",
    "load_rules": "rules_file",
    "make_examples": "learn",
    "most_violated": "cuts",
    "one_hot": "space",
    "parse_rules": "rules_file",
    "save": "files",
    "simplify": "simplification",
    "to_inequalities": "theorem1",
    "verify": "verification",
    "why": "explanation",
}

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
    "load_rules",
    "make_examples",
    "most_violated",
    "one_hot",
    "parse_rules",
    "save",
    "simplify",
    "to_inequalities",
    "verify",
    "why",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lcons-core")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
