"""`add_to` in every modelling tool, by solving.

The best accepted point is that of enumeration; with psi fixed to a point, the model is feasible exactly where
the constraint accepts it, also where the margin is 0 or just below.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from optimiser_models import MODELS

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    add_to,
    count,
    one_hot,
)

pytestmark = pytest.mark.integrations

TOOLS = [
    pytest.param(name, marks=pytest.mark.ortools if kind.ortools else ()) for name, kind in MODELS.items()
]
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("with_*.py"))
FORMS = ["rows", "lifted"]


def grid(bounds):
    return np.array(list(product(*(range(low, high + 1) for low, high in bounds))), dtype=float)


def drawn(seed: int, d: int, sizes: list[int], bounds):
    """A network, or a conjunction, of weights that are multiples of 1/16, with points on its boundary."""
    rng = np.random.default_rng(seed)
    points = grid(bounds)
    while True:
        parts = []
        for K in sizes:
            W = rng.integers(-32, 33, (K, d)) / 16
            W[rng.random(W.shape) < 0.3] = 0.0
            b = rng.integers(-32, 17, K) / 16
            # One unit alone is 1 at some point: the boundary, if no other unit is active there.
            b[0] = 1.0 - W[0] @ points[rng.integers(len(points))]
            parts.append(RectifierNetwork(W, b))
        network = parts[0] if len(parts) == 1 else parts[0] & parts[1]
        margins = network.margin(points)
        if 2 <= (margins >= 0).sum() <= len(points) - 2 and (margins == 0).any():
            return network


BITS, COUNTS = [(0, 1)] * 4, [(-1, 2), (0, 3)]
CASES = [
    (drawn(0, 4, [2], BITS), BITS),
    (drawn(1, 4, [4], BITS), BITS),
    (drawn(2, 4, [1, 4], BITS), BITS),
    (drawn(3, 2, [3], COUNTS), COUNTS),
]


@pytest.mark.parametrize("form", [None, *FORMS])
@pytest.mark.parametrize("tool", TOOLS)
def test_the_best_accepted_point_is_that_of_enumeration(tool, form):
    rng = np.random.default_rng(0)
    for network, bounds in CASES:
        points = grid(bounds)
        gain = rng.integers(-5, 6, network.d).astype(float)
        program = MODELS[tool]()
        x = program.variables(bounds)
        added = add_to(program.model, network, x, form=form)
        assert program.solve(gain, x)
        psi = added.psi(program.solution)
        assert gain @ psi == (points[network.accepts(points)] @ gain).max()
        assert added.check(program.solution)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tool", TOOLS)
def test_with_psi_fixed_the_model_is_feasible_where_the_network_accepts(tool, form):
    for network, bounds in CASES:
        points = grid(bounds)
        margins = network.margin(points)
        # All points on the boundary, the nearest rejected ones, and some others.
        near = np.flatnonzero((margins <= 0) & (margins >= np.sort(margins[margins < 0])[-2:].min()))
        chosen = sorted({*near.tolist(), *range(0, len(points), 3)})
        for point in points[chosen]:
            program = MODELS[tool]()
            x = program.variables([(int(value), int(value)) for value in point])
            add_to(program.model, network, x, form=form)
            assert program.solve(np.zeros(len(x)), x) == network.accepts(point), point


@pytest.mark.parametrize("tool", TOOLS)
def test_expressions_numbers_and_repeated_variables_are_entries_of_psi(tool):
    network = drawn(4, 4, [4], BITS)
    for third, point in product([0, 1], grid([(0, 1)] * 2)):
        program = MODELS[tool]()
        x = program.variables([(int(value), int(value)) for value in point])
        negated = [1 - entry for entry in x]
        added = add_to(program.model, network, [x[0], program.expressions(x)[0], negated[1], third])
        psi = np.array([point[0], point[0], 1 - point[1], third])
        feasible = program.solve(np.zeros(2), x)
        assert feasible == network.accepts(psi), psi
        if feasible:
            assert added.psi(program.solution).tolist() == psi.tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tool", TOOLS)
def test_entries_that_cancel_leave_a_row_that_holds_or_never_holds(tool, form):
    for bias, feasible in ((0.0, True), (0.0625, False)):
        program = MODELS[tool]()
        x = program.variables([(0, 1)])
        add_to(program.model, RectifierNetwork([[1.0, 1.0]], [bias]), [x[0], 1 - x[0]], form=form)
        assert program.solve(np.ones(1), x) == feasible


@pytest.mark.parametrize("tool", TOOLS)
def test_only_points_of_the_space_are_feasible_with_its_equations(tool):
    space = FeatureSpace([one_hot("tag", "AB"), count("length", ["n"], high=2, low=1)])
    constraint = LearnedConstraint(RectifierNetwork([[1.0, 0.0, 1.0]] * 4, [-2.75] * 4), space)
    assert constraint.accepts([1, 0, 2])
    assert not constraint.accepts([1, 1, 3])
    for form in (None, *FORMS, "simplified"):
        for point in grid([(0, 1), (0, 1), (0, 3)]):
            program = MODELS[tool]()
            x = program.variables([(int(value), int(value)) for value in point])
            named = dict(zip(space.columns, x, strict=True))
            added = add_to(program.model, constraint, named, form=form, domain=True)
            assert added.form == (form or "lifted")
            expected = bool(space.contains(point)[0]) and constraint.accepts(point)
            assert program.solve(np.zeros(3), x) == expected, (form, point)


@pytest.mark.parametrize("tool", TOOLS)
def test_two_constraints_share_a_model_and_every_new_name_is_there(tool):
    first, second = drawn(5, 4, [4], BITS), drawn(6, 4, [2], BITS)
    program = MODELS[tool]()
    x = program.variables(BITS)
    added = [add_to(program.model, network, x, form="lifted") for network in (first, second)]
    names = [name for each in added for name in (*each.rows, *each.variables)]
    if tool != "cvxpy":  # which has no names of rows
        assert len({*names}) == len(names)
    points = grid(BITS)
    both = points[first.accepts(points) & second.accepts(points)]
    gain = np.array([1.0, -2.0, 3.0, -4.0])
    assert program.solve(gain, x) == (len(both) > 0)
    if len(both):
        assert gain @ added[0].psi(program.solution) == (both @ gain).max()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_of_a_tool_finds_the_best_accepted_point(path):
    assert len(path.read_text().splitlines()) <= 20
    # In a process of its own, as users run it.
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[1. 0. 1.] True"


@pytest.mark.ortools
@pytest.mark.parametrize("form", FORMS)
def test_cp_sat_is_exact_to_the_last_bit_of_learned_weights(form):
    ulp = 2.0**-20
    W = np.array(
        [[1.0 + ulp, 3 * ulp, -ulp], [0.125 - ulp, 0.25, ulp], [-ulp, 2.0, 349525 * ulp], [-9, ulp, 0]]
    )
    for shift in (0.0, ulp):
        b = np.array([-1.0, -3 * ulp, -2.0, 0.0])
        b[0] += 1.0 - np.maximum(W.sum(1) + b, 0.0).sum() + shift
        network = RectifierNetwork(W, b)
        assert network.margin([1, 1, 1]) == -shift
        program = MODELS["cpsat"]()
        x = program.variables([(1, 1)] * 3)
        add_to(program.model, network, x, form=form)
        assert program.solve(np.zeros(3), x) == (shift == 0.0)


@pytest.mark.ortools
def test_cp_sat_refuses_what_it_cannot_hold_before_the_model_changes():
    program = MODELS["cpsat"]()
    x = program.variables([(0, 2**40)] * 2)
    with pytest.raises(TooLarge):
        add_to(program.model, RectifierNetwork([[0.1, 1.0]], [0.0]), x)
    assert not program.model.proto.constraints
    with pytest.raises(InvalidInput):
        add_to(program.model, RectifierNetwork([[0.5, 1.0]], [0.0]), [x[0], 0.5 * x[1]])
    # The largest coefficients that are not refused are valid.
    exact = RectifierNetwork([[2.0**20, 2.0**20]], [0.0])
    add_to(program.model, exact, x)
    assert program.model.validate() == ""
    added = add_to(program.model, exact, x, form="lifted")
    with pytest.raises(InvalidInput):
        added.check()


@pytest.mark.ortools
def test_cp_sat_reads_literals():
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{j}") for j in range(2)]
    network = RectifierNetwork([[2.0, 2.0]], [-2.0])
    added = add_to(model, network, [x[0], ~x[1]])
    model.maximize(x[0] - 2 * x[1])
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    assert added.psi(solver).tolist() == [0.0, 1.0]


def test_vectors_of_variables_are_entries_of_psi():
    import cvxpy as cp
    import gurobipy

    network, gain = (
        RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 1.0, 1.5]], [-2.0, -1.0]),
        np.array([3.0, 2.0, 1.0]),
    )
    x = cp.Variable(3, boolean=True)
    problem = cp.Problem(cp.Maximize(gain @ x), [x[1] == 1])
    added = add_to(problem, network, 1 - x, form="lifted")
    added.model.solve(solver="HIGHS")
    assert len(problem.constraints) == 1
    assert (x.value.round().tolist(), added.check()) == ([1.0, 1.0, 1.0], True)
    model = gurobipy.Model(env=gurobipy.Env(params={"OutputFlag": 0}))
    y = model.addMVar(3, vtype="B")
    vectors = [add_to(model, network, psi) for psi in (y, 1 - y)]
    model.setObjective(gain @ y, gurobipy.GRB.MAXIMIZE)
    model.optimize()
    for psi in (cp.Variable((1, 3)), [cp.norm(x), 0, 0]):
        with pytest.raises(InvalidInput):
            add_to([], network, psi)
    model.optimize()
    assert [added.psi().tolist() for added in vectors] == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
