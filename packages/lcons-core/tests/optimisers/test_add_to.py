"""`add_to` reads psi by order and by name, recognises models, and names what it adds; with highspy."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import highspy
import numpy as np
import pytest
from optimiser_models import MODELS

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    add_to,
    one_hot,
    real,
    to_inequalities,
)

NETWORK = RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0])
SPACE = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
NO_PLACE_KILLS = LearnedConstraint(RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0]), SPACE)
TWO_A = LearnedConstraint(
    RectifierNetwork(np.ones((1, 4)), [-1.0]), FeatureSpace([one_hot("first", "AB"), one_hot("second", "AC")])
)
FITTED = SimpleNamespace(network_=NETWORK)  # a fitted learner, as far as forms need one


def binaries(d: int):
    model = highspy.Highs()
    model.silent()
    return model, [model.addBinary() for _ in range(d)]


def best(model, terms) -> None:
    model.maximize(model.qsum(c * x for c, x in terms))
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal


FORMS = [(constraint, None) for constraint in (NETWORK & NETWORK, to_inequalities(NETWORK), FITTED)]


@pytest.mark.parametrize(
    ("constraint", "form"), [*((NETWORK, form) for form in (None, "rows", "lifted")), *FORMS]
)
def test_the_best_accepted_point_of_every_kind_of_constraint_is_found_and_checked(constraint, form):
    model, x = binaries(3)
    added = add_to(model, constraint, x, form=form)
    best(model, zip([3.0, 2.0, 1.0], x, strict=True))
    assert added.psi().tolist() == [1.0, 0.0, 1.0]
    assert added.check()
    assert not added.check([1, 1, 0])
    assert model.numConstrs == len(added.rows)
    assert model.numVariables == 3 + len(added.variables)


def test_a_model_of_python_mip_is_extended_and_read_as_well():
    tool = MODELS["mip"]()
    x = tool.variables([(0, 1)] * 3)
    added = [add_to(tool.model, NETWORK, x, form=form) for form in ("rows", "lifted")]
    added.append(add_to(tool.model, NETWORK, [x[0], 1 - x[0], x[2]]))
    assert tool.solve(np.array([3.0, 2.0, 1.0]), x)
    assert [form.psi().tolist() for form in added] == [[1.0, 0.0, 1.0]] * 3


@pytest.mark.parametrize("key", [lambda block, value: (block, value), lambda block, value: value])
@pytest.mark.parametrize(
    "constraint", [NO_PLACE_KILLS, Rules(SPACE, [{"source": "Place", "relation": "Kill"}])]
)
def test_psi_by_name_has_the_columns_of_the_space_in_any_order(constraint, key):
    model, x = binaries(4)
    named = {key(*SPACE.columns[j]): x[j] for j in (2, 0, 3, 1)}
    added = add_to(model, constraint, named, domain=True)
    best(model, [(2.0, x[1]), (1.0, x[3])])
    assert added.psi().tolist() == [0.0, 1.0, 1.0, 0.0]
    assert SPACE.describe(added.psi()) == {"source": "Place", "relation": "NoRel"}


def test_expressions_and_numbers_take_the_place_of_variables():
    model, (x,) = binaries(1)
    added = add_to(model, NO_PLACE_KILLS, [1 - x, x, 0, 1])
    best(model, [(1.0, x)])
    assert added.psi().tolist() == [1.0, 0.0, 0.0, 1.0]
    assert added.check()
    assert add_to(model, NO_PLACE_KILLS, [1, 0, 0, 1]).rows == ()
    added = add_to(model, NO_PLACE_KILLS, [0, 1, 0, 1])
    model.maximize(x)
    assert model.getModelStatus() == highspy.HighsModelStatus.kInfeasible
    assert not added.check([0, 1, 0, 1])


def test_values_within_a_solvers_tolerance_are_rounded_only_where_psi_is_integral():
    model = highspy.Highs()
    model.silent()
    below = 1.0 - 2.0**-24
    x = model.addVariable(below, below)
    plain = add_to(model, RectifierNetwork([[1.0]], [0.0]), [x])
    named = add_to(model, NO_PLACE_KILLS, [x, 0, x, 0])
    length = LearnedConstraint(RectifierNetwork([[1.0]], [0.0]), FeatureSpace([real("length", ["m"], -2, 2)]))
    measured = add_to(model, length, {"m": x}, domain=True)
    model.minimize(x)
    assert measured.psi().tolist() == [below]
    assert plain.psi().tolist() == [below]
    assert named.psi().tolist() == [1.0, 0.0, 1.0, 0.0]


def test_names_that_are_taken_get_a_number():
    model, x = binaries(3)
    names = [add_to(model, NETWORK, x, form=form).rows[0] for form in ("rows", "lifted", "rows", "lifted")]
    assert names == ["lcons_row0", "lcons_unit0", "lcons_2_row0", "lcons_2_unit0"]
    assert add_to(model, NETWORK, x, name="mine").rows == ("mine_row0", "mine_row1", "mine_row2")


@pytest.mark.parametrize(
    ("constraint", "psi"),
    [
        (NETWORK, lambda x: x[:2]),
        (NETWORK, lambda x: [*x[:2], "x"]),
        (NETWORK, lambda x: [*x[:2], np.nan]),
        (NETWORK, lambda x: {"a": x[0]}),
        (NO_PLACE_KILLS, lambda x: {"Person": 1, "Place": 0, "Kill": 0}),
        (NO_PLACE_KILLS, lambda x: {"Person": 1, "Place": 0, "Kill": 0, ("source", "Person"): 1}),
        (NO_PLACE_KILLS, lambda x: dict.fromkeys([*SPACE.columns, "Person"], 0)),
        (TWO_A, lambda x: {"A": 1, "B": 0, "C": 0, ("second", "A"): 0}),
        ([[1.0]], lambda x: x),
    ],
)
def test_what_does_not_fit_is_refused_before_the_model_changes(constraint, psi):
    model, x = binaries(3)
    with pytest.raises(InvalidInput):
        add_to(model, constraint, psi(x))
    assert model.numConstrs == 0


def test_a_model_of_no_known_tool_is_refused():
    with pytest.raises(InvalidInput):
        add_to({}, NETWORK, [0, 0, 0])


def test_no_tool_is_imported_before_a_model_of_it_is_given():
    code = (
        "import sys; from lcons_core import add_to\n"
        "tools = {'cvxpy', 'gurobipy', 'highspy', 'mip', 'ortools', 'pulp', 'pyomo', 'pyscipopt', 'torch'}\n"
        "sys.exit(bool(tools & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
