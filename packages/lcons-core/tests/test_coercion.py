"""Every form takes a network, a conjunction, a constraint or a fitted learner, or says what it needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lcons_core as core
from lcons_core import ConstraintLearner, InvalidInput, LearnedConstraint, NotFitted, completions
from lcons_core._network import Conjunction, Network
from lcons_core._tables import named_rows
from lcons_core._theorem import Form, check_form_size, estimate_form, estimate_rows
from lcons_core.features import NgramLabels
from lcons_core.reason._compare import SimplifiedRows
from lcons_core.reason._explain import explain_rejected
from lcons_core.testing import check_theorem1
from lcons_core.torch import expected_penalty

FEATURE = NgramLabels(("A", "B"), 2)
SPACE = FEATURE.space
NETWORK = core.RectifierNetwork([[2.0, 0.0, 0.0, 2.0], [-1.0, 0.0, 0.0, 0.0]], [-2.0, 0.0])
CONJUNCTION = Conjunction((NETWORK, core.RectifierNetwork([[0.0, 3.0, 3.0, 0.0]], [-3.0])))


def _fitted(network: core.RectifierNetwork) -> ConstraintLearner:
    learner = ConstraintLearner(hidden=network.K)
    learner.fit(np.eye(network.d)[:2], [0, 1])
    learner.network_ = network
    return learner


# Each input that must work, with the network that it stands for.
INPUTS: dict[str, tuple[Any, Network]] = {
    "network": (NETWORK, NETWORK),
    "conjunction": (CONJUNCTION, CONJUNCTION),
    "constraint": (LearnedConstraint(NETWORK, SPACE, FEATURE), NETWORK),
    "constraint of several": (LearnedConstraint(CONJUNCTION, SPACE, FEATURE), CONJUNCTION),
    "learner": (_fitted(NETWORK), NETWORK),
}
POINT = SPACE.vectors(np.array([[0, 1]]))[0]
CORNERS = SPACE.vectors(np.array([[0, 1], [1, 1], [1, 0]]))
GOLD = core.LabelledExamples.of(SPACE, CORNERS[:2], CORNERS[2:]).positives
NAMES = [block.name for block in SPACE.blocks]
MARGINALS = torch.full((3, 2), 0.5, dtype=torch.float64)


def _plain(found: Any) -> Any:
    """An answer as something that `==` compares."""
    if isinstance(found, core.LinearInequalities):
        return found.coefficients.tolist(), found.bias.tolist(), np.asarray(found.subsets).tolist()
    if isinstance(found, core.LiftedInequalities):
        return found.A_psi.tolist(), found.A_s.tolist(), found.rhs.tolist()
    if isinstance(found, SimplifiedRows):
        return found.to_dict()
    return str(found)


# Forms that need the weights alone, or the names of columns as `space`.
FORMS: dict[str, Callable[[Any], Any]] = {
    "estimate_rows": estimate_rows,
    "to_inequalities": core.to_inequalities,
    "most_violated": lambda given: core.most_violated(given, POINT),
    "lift": core.lift,
    "estimate_form": lambda given: estimate_form(given, "lifted"),
    "check_form_size": lambda given: check_form_size(given, Form.ROWS, 2**20),
    "verify": lambda given: core.verify(given, SPACE),
    "simplify": lambda given: core.simplify(given, SPACE),
    "compare": lambda given: core.compare(given, NETWORK, SPACE),
    "compare, as the second": lambda given: core.compare(NETWORK, given, SPACE),
    "explain": lambda given: core.explain(given, space=SPACE),
    "explain_rejected": lambda given: explain_rejected(given, GOLD, space=SPACE),
    "why": lambda given: core.why(given, dict.fromkeys(NAMES, "A"), space=SPACE),
    "completions": lambda given: completions(given, {NAMES[0]: "A"}, space=SPACE),
    "check_theorem1": check_theorem1,
    "LearnedConstraint": lambda given: LearnedConstraint(given, SPACE).network,
}

# Forms that need names or a feature, so that only constraints work.
CONSTRAINT_FORMS: dict[str, Callable[[Any], Any]] = {
    "save": lambda given: core.save(given, Path("never written.json")),
    "named_rows": lambda given: list(named_rows(given).csv()),
    "compile_masks": lambda given: core.compile_masks(given).masks().tolist(),
    "expected_penalty": lambda given: expected_penalty(given, MARGINALS, ["A", "B"]),
}

WRONG = {"array": [[1.0]], "path": Path("a/b"), "str": "a.json", "class": core.RectifierNetwork, "none": None}


@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_every_input_is_that_of_its_network(form: str, given: str) -> None:
    value, network = INPUTS[given]
    assert _plain(FORMS[form](value)) == _plain(FORMS[form](network))


@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("form", CONSTRAINT_FORMS)
def test_forms_that_need_names_take_constraints_and_say_so_otherwise(
    form: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    value, network = INPUTS[given]
    if isinstance(value, LearnedConstraint):
        same = LearnedConstraint(network, SPACE, FEATURE)
        assert _plain(CONSTRAINT_FORMS[form](value)) == _plain(CONSTRAINT_FORMS[form](same))
        return
    with pytest.raises(InvalidInput) as caught:
        CONSTRAINT_FORMS[form](value)
    assert type(value).__name__ in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("form", [*FORMS, *CONSTRAINT_FORMS])
def test_other_inputs_raise_one_sentence_that_names_what_was_found(form: str, wrong: str) -> None:
    with pytest.raises(InvalidInput):
        {**FORMS, **CONSTRAINT_FORMS}[form](WRONG[wrong])


@pytest.mark.parametrize("form", FORMS)
def test_an_unfitted_learner_must_be_fitted_first(form: str) -> None:
    with pytest.raises(NotFitted):
        FORMS[form](ConstraintLearner())
