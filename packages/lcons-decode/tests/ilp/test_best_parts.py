"""The best solutions of a program without rows come in order, and make a solver needless."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import RectifierNetwork
from lcons_core.testing import networks
from lcons_decode import Status
from lcons_decode.ilp import Program, Variable, graph_program, ground_columns, solve
from lcons_decode.ilp import _backend as backend
from lcons_decode.ilp._parts import _changes, _parts, best_accepted, best_of_parts

halves = st.integers(-6, 6).map(lambda n: n / 2)
programs = st.builds(
    lambda decisions, free: Program(
        {
            **graph_program(decisions).variables,
            **{name: Variable(name, objective) for name, objective in free.items()},
        },
        graph_program(decisions).decisions,
    ),
    st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.sampled_from("XYZ"), halves, min_size=1), max_size=3
    ),
    st.dictionaries(st.integers(0, 4), halves, max_size=4),
)


def every_solution(program):
    """All solutions as sets of variables that are one."""
    decisions = [list(labels.values()) for labels in program.decisions.values()]
    free = [[(), (name,)] for name in program.free]
    for chosen in product(*decisions):
        for some in product(*free):
            yield frozenset([*chosen, *(name for own in some for name in own)])


@given(programs)
def test_all_solutions_come_once_and_the_better_ones_first(program):
    best = best_of_parts(program)
    assert best is not None
    values = [best, *({**best, **changes} for changes in _changes(_parts(program, best)))]
    found = [frozenset(name for name, value in own.items() if value) for own in values]
    every = list(every_solution(program))
    assert len(found) == len(every)
    assert set(found) == set(every)
    objectives = [program.objective(own) for own in values]
    assert objectives == sorted(objectives, reverse=True)


@given(networks(max_K=3, d=5), networks(max_K=2, d=5), st.lists(halves, min_size=5, max_size=5))
def test_the_best_accepted_solution_is_that_of_enumeration(one, other, costs):
    program = Program({j: Variable(j, cost) for j, cost in enumerate(costs)})
    points = np.array(list(product([0.0, 1.0], repeat=5)))
    accepted = points[one.accepts(points) & other.accepts(points)]
    best = max((float(point @ costs) for point in accepted), default=-math.inf)
    grounded = [ground_columns(own, range(5), name=name) for name, own in (("one", one), ("other", other))]
    found = solve(program, grounded)
    assert found.score == best
    assert (found.status is Status.OPTIMAL) == bool(len(accepted))


def no_solver(*_):
    raise AssertionError("a solver was asked")


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_no_solver_is_asked_where_a_good_solution_is_accepted(monkeypatch, solver):
    monkeypatch.setattr(backend.MipModel, "optimise", no_solver)
    program = Program({j: Variable(j, float(j + 1)) for j in range(8)})
    network = RectifierNetwork(np.ones((1, 8)), [-5.0])
    found = solve(program, [ground_columns(network, range(8))], solver=solver)
    assert found.score == 33.0  # all but the two that are worth the least
    assert found.stats["rounds"] == 0


def test_hinges_and_other_variables_are_left_to_the_solver():
    network = RectifierNetwork(np.ones((1, 2)), [0.0])
    hard, soft = (ground_columns(network, range(2), weight=weight) for weight in (None, 0.5))
    program = Program({0: Variable(0, 3.0), 1: Variable(1, 2.0)})
    wide = Program({0: Variable(0, 3.0, 0.0, 2.0), 1: Variable(1, 2.0)})
    assert best_accepted(program, [hard], {0: 1.0, 1: 1.0}, [(0, 0)], 64) == {0: 1.0}
    assert best_accepted(program, [soft], {0: 1.0, 1: 1.0}, [(0, 0)], 64) is None
    assert best_accepted(wide, [hard], {0: 2.0, 1: 1.0}, [(0, 0)], 64) is None


def test_a_label_that_bounds_require_is_kept():
    program = graph_program({"a": {"X": 2.0, "Y": 1.0}, "b": {"X": 1.0, "Y": 0.0}})
    required = replace(program.variables["a", "Y"], low=1.0)
    program = replace(program, variables={**program.variables, required.name: required})
    assert best_of_parts(program) == {("a", "Y"): 1.0, ("b", "X"): 1.0}
    other = replace(program.variables["a", "X"], low=1.0)
    both = replace(program, variables={**program.variables, other.name: other})
    assert best_of_parts(both) is None
    assert solve(program, []).labels == {"a": "Y", "b": "X"}
