"""Integer programs and decoders take what they can use of a network, conjunction, constraint or learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lcons_core import ConstraintLearner, InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core._network import Conjunction
from lcons_core.features import NgramLabels
from lcons_decode import ChainScores, Hard, RelationRules, Soft, constrained_viterbi
from lcons_decode.ilp import decode_ilp
from lcons_decode.ilp._ground import ground_columns

FEATURE = NgramLabels(("A", "B"), 2)
SPACE = FEATURE.space
NETWORK = RectifierNetwork([[2.0, 0.0, 0.0, 2.0], [-1.0, 0.0, 0.0, 0.0]], [-2.0, 0.0])
CONJUNCTION = Conjunction((NETWORK, RectifierNetwork([[0.0, 3.0, 3.0, 0.0]], [-3.0])))
LEARNER = ConstraintLearner(hidden=2)
LEARNER.network_ = NETWORK
INPUTS: dict[str, Any] = {
    "network": NETWORK,
    "conjunction": CONJUNCTION,
    "constraint": LearnedConstraint(NETWORK, SPACE, FEATURE),
    "learner": LEARNER,
}
SCORES = ChainScores(np.array([[1.0, 0.0], [0.0, 2.0]]), labels=["A", "B"])

NEED_A_CONSTRAINT: dict[str, Callable[[Any], Any]] = {
    "Hard": lambda given: Hard(given).constraint.network,
    "Soft": lambda given: Soft(given, 1.0).constraint.network,
    "constrained_viterbi": lambda given: constrained_viterbi(SCORES, [given]).y,
    "decode_ilp": lambda given: decode_ilp(SCORES, [given]).y,
}


@pytest.mark.parametrize("given", INPUTS)
def test_columns_take_every_input(given: str) -> None:
    network = CONJUNCTION if given == "conjunction" else NETWORK
    assert ground_columns(INPUTS[given], list("abcd")).network == network


@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("form", NEED_A_CONSTRAINT)
def test_forms_that_need_a_feature_or_names_refuse_weights(form: str, given: str) -> None:
    value = INPUTS[given]
    if given == "constraint":
        assert NEED_A_CONSTRAINT[form](value)
        return
    with pytest.raises(InvalidInput):
        NEED_A_CONSTRAINT[form](value)


def test_other_inputs_are_refused() -> None:
    with pytest.raises(InvalidInput):
        ground_columns("a.json", list("abcd"))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        RelationRules.of([NETWORK], ["A"], ["B"])  # type: ignore[list-item]
