"""Programs over named parts: their variables and rows, and that their encodings are exact."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import Instance, InvalidInput, LearnedConstraint, RectifierNetwork, Unsupported
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_decode import ChainScores
from lcons_decode.ilp import Program, Row, Sense, Variable
from lcons_decode.ilp._decoders import chain_program
from lcons_decode.ilp._ground import ground_chain, ground_columns, ground_tuples
from lcons_decode.ilp._program import Type, graph_program
from lcons_decode.ilp._solve import row_holds
from lcons_decode.ilp._solver import Solver, optimise


def test_a_chain_has_an_indicator_a_label_and_a_variable_a_pair():
    scores = ChainScores(
        [[1.0, 2.0], [3.0, -math.inf]], [[4.0, 5.0], [6.0, 7.0]], [8, 9], [10, 11], labels="AB"
    )
    program = chain_program(scores)
    assert {name: v.objective for name, v in program.variables.items() if v.type is Type.BINARY} == {
        (0, "A"): 9.0,
        (0, "B"): 11.0,
        (1, "A"): 13.0,
        (1, "B"): 0.0,
    }
    assert program.variables[1, "B"].high == 0.0
    assert program.variables["pair", 0, 1, "B", "A"].objective == 6.0
    assert len(program.rows) == 4
    values = {(0, "B"): 1.0, (1, "A"): 1.0, ("pair", 0, 1, "B", "A"): 1.0}
    assert program.objective(values) == scores.score("BA")
    assert program.labels(values) == {0: "B", 1: "A"}
    assert all(row_holds(program, row, values) for row in program.all_rows())


def test_no_pair_variables_where_nothing_depends_on_pairs():
    assert len(chain_program(ChainScores(np.zeros((5, 3)))).variables) == 15


FEATURES = [
    NgramLabels(("A", "B"), 2),
    NgramLabels(("A", "B"), 3, pad=True),
    NgramContext(("A", "B"), ("DT",), 2),
    Existence(("A", "B"), 1),
    Existence(("A", "B"), 2),
    Existence(("A", "B"), 3),
    Counts(("A", "B"), high=8),
]


@pytest.mark.parametrize("feature", FEATURES, ids=lambda f: f"{f.kind} {getattr(f, 'n', '')}")
@pytest.mark.parametrize("pairs", [True, False])
@settings(max_examples=6)
@given(y=st.lists(st.sampled_from("AB"), min_size=1, max_size=4))
def test_fixing_the_labels_fixes_every_psi_column(feature, pairs, y):
    transition = np.eye(2) if pairs else np.zeros((2, 2))
    program = chain_program(ChainScores(np.zeros((len(y), 2)), transition, labels="AB"))
    flat = {name: replace(variable, objective=0.0) for name, variable in program.variables.items()}
    program = Program(flat, program.decisions, program.rows)
    network = RectifierNetwork(np.ones((1, feature.space.d)), [0.0])
    x = {"pos": ["DT", "NN", "DT", "DT"][: len(y)]}
    grounded = ground_chain(program, LearnedConstraint(network, feature.space, feature), x)
    chosen = [Row(("fix", t), (((t, label), 1.0),), Sense.EQUAL, 1.0) for t, label in enumerate(y)]
    fixed = program.extended(grounded.variables, [*grounded.rows, *chosen])
    expected = feature.psi(Instance(x, y)).dense()
    assert len(grounded.psi_rows) == len(expected)
    for sign in (1.0, -1.0):
        # Maximised or minimised, each column keeps the value of psi.
        pushed = dict(fixed.variables)
        for row in grounded.psi_rows:
            for name in {name for expression in row.columns.values() for name, _ in expression}:
                pushed[name] = replace(pushed[name], objective=sign)
        values = optimise(Program(pushed, fixed.decisions, fixed.rows), (), Solver.CBC, None).values
        for row, psi in zip(grounded.psi_rows, expected, strict=True):
            for j in range(feature.space.d):
                total = row.constant.get(j, 0.0) + sum(c * values[v] for v, c in row.columns.get(j, ()))
                assert total == pytest.approx(psi[j], abs=1e-6)


def test_pair_variables_serve_as_the_indicators_of_bigrams():
    feature = Existence(("A", "B"), 2)
    network = RectifierNetwork(np.ones((1, 4)), [0.0])
    constraint = LearnedConstraint(network, feature.space, feature)
    with_pairs = chain_program(ChainScores(np.zeros((3, 2)), np.eye(2), labels="AB"))
    without = chain_program(ChainScores(np.zeros((3, 2)), labels="AB"))
    assert not [v for v in ground_chain(with_pairs, constraint).variables if v.name[0] == "and"]
    assert len([v for v in ground_chain(without, constraint).variables if v.name[0] == "and"]) == 8


def test_columns_that_no_unit_looks_at_cost_nothing():
    feature = Existence(("A", "B"), 3)
    network = RectifierNetwork(np.eye(1, 8), [0.0])
    program = chain_program(ChainScores(np.zeros((5, 2)), labels="AB"))
    grounded = ground_chain(program, LearnedConstraint(network, feature.space, feature))
    assert list(grounded.psi_rows[0].columns) == [0]


def test_rows_are_checked_without_rounding():
    program = Program({name: Variable(name) for name in "ab"})
    row = Row("r", (("a", 0.1), ("b", 0.2)), Sense.AT_MOST, 0.3)
    # 0.1 + 0.2 > 0.3 for the exact values of these floats.
    assert not row_holds(program, row, {"a": 1.0, "b": 1.0})
    assert row_holds(program, replace(row, sense=Sense.AT_LEAST), {"a": 1.0, "b": 1.0})
    assert row_holds(program, row, {"a": 1.0})


@pytest.mark.parametrize(
    "make",
    [
        lambda: graph_program({"a": {}}),
        lambda: graph_program({"a": {"X": math.nan}}),
        lambda: graph_program({"a": {"b": 0.0}, ("a",): {"b": 0.0}}),
        lambda: graph_program({"a": {"X": 0.0}}, {("a", "b"): {}}),
        lambda: graph_program({"a": {"X": 0.0}, "b": {"X": 0.0}}, {("a", "b"): {("X", "Y"): 1.0}}),
        lambda: Program({}, rows=(Row("r", (("x", 1.0),), Sense.EQUAL, 0.0),)),
        lambda: Program({"x": Variable("x")}, rows=(Row("r", (("x", 1.0),) * 2, Sense.EQUAL, 0.0),)),
        lambda: Program({"x": Variable("x")}, rows=(Row("r", (("x", math.inf),), Sense.EQUAL, 0.0),)),
        lambda: Variable("x", math.inf),
        lambda: Program({"x": Variable("x")}).extended([Variable("x", 1.0)]),
    ],
)
def test_programs_that_make_no_sense_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_constraints_that_a_program_cannot_hold_are_refused_by_name():
    def accept_everything(feature):
        network = RectifierNetwork(np.zeros((1, feature.space.d)), [0.0])
        return LearnedConstraint(network, feature.space, feature)

    program = chain_program(ChainScores([[1.0, 2.0]], labels="AB"))
    pairs = accept_everything(Tuples(("source", "target"), (("A", "B"), ("A", "B"))))
    with pytest.raises(Unsupported):
        ground_tuples(program, pairs, [(0,)])
    with pytest.raises(InvalidInput):
        ground_tuples(program, pairs, [(0, 7)])
    with pytest.raises(Unsupported):
        ground_tuples(program, accept_everything(Counts("AB")), [(0, 0)])
    for columns, weight in (([0], None), (range(4), -1.0)):
        with pytest.raises(InvalidInput):
            ground_columns(pairs.network, columns, weight=weight)
