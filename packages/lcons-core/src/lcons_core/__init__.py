"""lcons-core: learn a rectifier network and turn it into linear constraints, exactly.

    structures -> features -> examples -> learner -> network -> constraint -> rows, lifted, cuts, masks, words

The package needs only numpy; learning needs torch (the extra `torch`). Each name is imported at its first
use, so `import lcons_core` takes almost no time.

Paper: Sec. 2 (representing constraints) and Sec. 3 (learning constraints).
"""

from typing import TYPE_CHECKING, Any

from lcons_core._lazy import names_to_import

if TYPE_CHECKING:
    from lcons_core._arithmetic import round_dyadic as round_dyadic
    from lcons_core._blocks import binary as binary
    from lcons_core._blocks import count as count
    from lcons_core._blocks import integer as integer
    from lcons_core._blocks import one_hot as one_hot
    from lcons_core._blocks import real as real
    from lcons_core._constraint import LearnedConstraint as LearnedConstraint
    from lcons_core._document import load as load
    from lcons_core._document import save as save
    from lcons_core._errors import DamagedFile as DamagedFile
    from lcons_core._errors import FitWarning as FitWarning
    from lcons_core._errors import InvalidInput as InvalidInput
    from lcons_core._errors import LconsError as LconsError
    from lcons_core._errors import MissingExtra as MissingExtra
    from lcons_core._errors import NotFitted as NotFitted
    from lcons_core._errors import TooLarge as TooLarge
    from lcons_core._errors import Unsupported as Unsupported
    from lcons_core._instance import CodedColumn as CodedColumn
    from lcons_core._instance import Instance as Instance
    from lcons_core._masks import compile_masks as compile_masks
    from lcons_core._network import LinearInequalities as LinearInequalities
    from lcons_core._network import RectifierNetwork as RectifierNetwork
    from lcons_core._network import ThresholdNetwork as ThresholdNetwork
    from lcons_core._psi import SparsePsi as SparsePsi
    from lcons_core._schemes import bilou as bilou
    from lcons_core._schemes import bioes as bioes
    from lcons_core._schemes import detect_scheme as detect_scheme
    from lcons_core._schemes import iob2 as iob2
    from lcons_core._space import FeatureSpace as FeatureSpace
    from lcons_core._space import space_of_columns as space_of_columns
    from lcons_core._theorem import LiftedInequalities as LiftedInequalities
    from lcons_core._theorem import lift as lift
    from lcons_core._theorem import most_violated as most_violated
    from lcons_core._theorem import to_inequalities as to_inequalities
    from lcons_core.learn._estimator import ConstraintLearner as ConstraintLearner
    from lcons_core.learn._examples import LabelledExamples as LabelledExamples
    from lcons_core.learn._recipe import Recipe as Recipe
    from lcons_core.learn._recipe import learn_constraints as learn_constraints
    from lcons_core.optimisers._add import add_to as add_to
    from lcons_core.reason._compare import compare as compare
    from lcons_core.reason._compare import simplify as simplify
    from lcons_core.reason._explain import explain as explain
    from lcons_core.reason._rules import Rules as Rules
    from lcons_core.reason._rules_text import parse_rules as parse_rules
    from lcons_core.reason._verify import verify as verify
    from lcons_core.reason._why import completions as completions
    from lcons_core.reason._why import why as why
    from lcons_core.reason._words import Explanation as Explanation

_HOMES = names_to_import(__file__)
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("lcons-core")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
