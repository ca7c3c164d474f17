"""lcons-core: learn a rectifier network and turn it into linear constraints, exactly.

    structures -> features -> examples -> learner -> network -> constraint -> rows, lifted, cuts, masks, words

Everything here needs numpy alone; learning needs torch (the extra `torch`). A name is imported when it is
first used, so that `import lcons_core` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcons_core._blocks import binary, count, one_hot
    from lcons_core._constraint import LearnedConstraint
    from lcons_core._cuts import most_violated
    from lcons_core._errors import LconsError
    from lcons_core._inequalities import LinearInequalities, ThresholdNetwork, estimate_rows, to_inequalities
    from lcons_core._instance import Instance
    from lcons_core._lifted import LiftedInequalities, lift
    from lcons_core._masks import MaskTable, compile_masks
    from lcons_core._network import Conjunction, RectifierNetwork
    from lcons_core._psi import PsiRows, SparsePsi
    from lcons_core._schemes import bilou, iob2
    from lcons_core._space import FeatureSpace
    from lcons_core.learn import (
        ConstraintLearner,
        LabelledExamples,
        Recipe,
        learn_constraints,
        learn_from_examples,
        make_examples,
    )
    from lcons_core.reason._compare import Comparison, compare
    from lcons_core.reason._explanation import Explanation, explain, why
    from lcons_core.reason._rules import Rules
    from lcons_core.reason._rules_text import load_rules, parse_rules
    from lcons_core.reason._sides import Verification
    from lcons_core.reason._simplify import SimplifiedRows, simplify
    from lcons_core.reason._verify import verify
    from lcons_core.storage import load, save

_HOMES = {
    "Comparison": "reason._compare",
    "Conjunction": "_network",
    "ConstraintLearner": "learn",
    "Explanation": "reason._explanation",
    "FeatureSpace": "_space",
    "Instance": "_instance",
    "LabelledExamples": "learn",
    "LconsError": "_errors",
    "LearnedConstraint": "_constraint",
    "LiftedInequalities": "_lifted",
    "LinearInequalities": "_inequalities",
    "MaskTable": "_masks",
    "PsiRows": "_psi",
    "Recipe": "learn",
    "RectifierNetwork": "_network",
    "Rules": "reason._rules",
    "SimplifiedRows": "reason._simplify",
    "SparsePsi": "_psi",
    "ThresholdNetwork": "_inequalities",
    "Verification": "reason._sides",
    "bilou": "_schemes",
    "binary": "_blocks",
    "compare": "reason._compare",
    "compile_masks": "_masks",
    "count": "_blocks",
    "estimate_rows": "_inequalities",
    "explain": "reason._explanation",
    "iob2": "_schemes",
    "learn_constraints": "learn",
    "learn_from_examples": "learn",
    "lift": "_lifted",
    "load": "storage",
    "load_rules": "reason._rules_text",
    "make_examples": "learn",
    "most_violated": "_cuts",
    "one_hot": "_blocks",
    "parse_rules": "reason._rules_text",
    "save": "storage",
    "simplify": "reason._simplify",
    "to_inequalities": "_inequalities",
    "verify": "reason._verify",
    "why": "reason._explanation",
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
    "PsiRows",
    "Recipe",
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
