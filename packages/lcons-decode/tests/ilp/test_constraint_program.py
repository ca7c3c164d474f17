"""A constraint as a complete model: python-mip reads the files and finds the same optima as enumeration."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcons_core._blocks import OTHER, binary, count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput
from lcons_core._network import RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core.testing import conjunctions, networks, spaces
from lcons_decode.ilp import Type, constraint_program, program_lines, read_program

FORMS = ("rows", "lifted", "simplified")
ENDINGS = (".lp", ".mps")


def read_by_mip(path):
    import mip

    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    model.read(str(path))
    model.max_mip_gap = model.max_mip_gap_abs = 0.0
    model.preprocess = 0
    return model, model.optimize()


@st.composite
def scored_constraints(draw):
    space = draw(spaces())
    network = draw(st.one_of(networks(max_K=3, d=space.d), conjunctions(max_parts=2, max_K=2, d=space.d)))
    scores: dict[str, dict[str, float]] = {}
    for block in space.blocks:
        values = (*block.values, OTHER) if block.other else block.values
        scores[block.name] = {value: draw(st.integers(-8, 8)) / 4 for value in values}
    return LearnedConstraint(network, space), scores


def best(constraint, scores):
    """The largest score of an accepted point, by enumeration; None if there is none."""
    space = constraint.space
    points = np.concatenate(list(space.points()))
    points = points[constraint.network.verdicts(space, points)]
    totals = [0.0] * len(points)
    for i, psi in enumerate(space.vectors(points)):
        for j, (block, value) in enumerate(space.columns):
            totals[i] += psi[j] * scores[block][value]
        for block, axis_value in space.describe(psi).items():
            totals[i] += scores[block][OTHER] if axis_value == OTHER else 0.0
    return max(totals, default=None)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=scored_constraints())
def test_mip_reads_the_model_back_and_finds_the_optimum_of_enumeration(tmp_path, form, ending, case):
    constraint, scores = case
    program = constraint_program(constraint, form, scores)
    path = tmp_path / f"model{ending}"
    path.write_text("\n".join([*program_lines(program, path, readable=True), ""]))
    model, status = read_by_mip(path)
    wanted = best(constraint, scores)
    if wanted is None:
        assert "INFEASIBLE" in status.name
        return
    assert status.name == "OPTIMAL"
    sign = 1.0 if ending == ".lp" else -1.0
    assert sign * model.objective_value == pytest.approx(wanted, abs=1e-6)
    assert model.num_int == sum(v.type in (Type.BINARY, Type.INTEGER) for v in program.variables.values())
    assert read_program(path).variables == program.variables


def test_variables_keep_their_names_types_and_bounds(tmp_path):
    space = FeatureSpace(
        [
            one_hot("label 1", ["B-NP", "O"], other=True),
            binary("exists", ["x"]),
            count("n", ["a"], low=1, high=7),
        ]
    )
    constraint = LearnedConstraint(RectifierNetwork(np.ones((1, 4)), [-4.0]), space)
    program = constraint_program(constraint, "rows")
    integer = program.variables["n", "a"]
    assert (integer.type, integer.low, integer.high) == (Type.INTEGER, 1.0, 7.0)
    path = tmp_path / "model.lp"
    path.write_text("\n".join([*program_lines(program, path, readable=True), ""]))
    model, _ = read_by_mip(path)
    assert [v.name for v in model.vars] == [
        "x0_label_1_B_NP",
        "x1_label_1_O",
        "x2_label_1_other",
        "x3_exists_x",
        "x4_n_a",
    ]
    assert [(v.lb, v.ub) for v in model.vars] == [(0, 1)] * 4 + [(1, 7)]
    assert [row.name for row in model.constrs] == ["o0_label_1", "r0_row_constraint_0_0"]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"sauce": {"B": 1.0}}, "unknown block 'sauce'"),
        ({"label": {"X": 1.0}}, "unknown value 'X' for block 'label'"),
        ({"label": 3}, "by block and value, found 3"),
        ({"label": {"B": "much"}}, "expected a number for label B, found 'much'"),
        ({"label": {"B": float("nan")}}, "finite"),
    ],
)
def test_scores_that_do_not_fit_are_refused(scores, message):
    space = FeatureSpace([one_hot("label", "BIO")])
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 3)), [0.0]), space)
    with pytest.raises(InvalidInput, match=message):
        constraint_program(constraint, "lifted", json.loads(json.dumps(scores)))
