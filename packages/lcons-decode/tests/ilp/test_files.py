"""A constraint as an LP or MPS file: other readers find the optimum of enumeration, with the same numbers."""

import highspy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcons_core import FeatureSpace, InvalidInput, LearnedConstraint, RectifierNetwork, one_hot
from lcons_core._theorem import Form
from lcons_core.testing import conjunctions, networks, spaces
from lcons_decode.ilp._files import constraint_model

TARGETS = ("lp", "mps")


def read_by_mip(path):
    import mip

    model = mip.Model(solver_name="CBC")
    model.verbose = 0
    model.read(str(path))
    model.max_mip_gap = model.max_mip_gap_abs = 0.0
    model.preprocess = 0
    status = model.optimize().name
    return "INFEASIBLE" not in status, model.objective_value, model.num_int


def read_by_highs(path):
    model = highspy.Highs()
    model.silent()
    model.readModel(str(path))
    model.run()
    integral = sum(kind == highspy.HighsVarType.kInteger for kind in model.getLp().integrality_)
    return model.getModelStatus() == highspy.HighsModelStatus.kOptimal, model.getObjectiveValue(), integral


@st.composite
def scored_constraints(draw):
    space = draw(spaces())
    network = draw(st.one_of(networks(max_K=3, d=space.d), conjunctions(max_parts=2, max_K=2, d=space.d)))
    scores = {b.name: {value: draw(st.integers(-8, 8)) / 4 for value in b.values} for b in space.blocks}
    return LearnedConstraint(network, space), scores


@pytest.mark.parametrize("read", [read_by_mip, read_by_highs])
@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=scored_constraints(), form=st.sampled_from([Form.ROWS, Form.LIFTED, Form.SIMPLIFIED]))
def test_other_readers_find_the_optimum_of_enumeration(tmp_path, target, read, case, form):
    constraint, scores = case
    space = constraint.space
    psi = np.concatenate([space.vectors(points) for points in space.points()])
    gains = np.array([scores[block][value] for block, value in space.columns])
    totals = psi[constraint.accepts(psi)] @ gains
    path = tmp_path / f"model.{target}"
    path.write_text("\n".join([*constraint_model(constraint, target, form, scores)[0], ""]))
    feasible, value, integral = read(path)
    assert feasible == (len(totals) > 0)
    assert integral == space.d
    if feasible:
        assert (value if target == "lp" else -value) == pytest.approx(totals.max(), abs=1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_names_are_readable_and_numbers_are_exact(tmp_path, target):
    space = FeatureSpace([one_hot("label 1", ["B-NP", "O"], other=True)])
    constraint = LearnedConstraint(RectifierNetwork([[1 / 3, 0.1]], [2.0**-40]), space)
    lines, variables, rows = constraint_model(constraint, target)
    path = tmp_path / f"model.{target}"
    path.write_text("\n".join([*lines, ""]))
    model = highspy.Highs()
    model.silent()
    model.readModel(str(path))
    program = model.getLp()
    assert [*program.col_names_] == ["x0_label_1_B_NP", "x1_label_1_O", "s0"]
    assert (variables, rows) == (program.num_col_, program.num_row_)
    assert {1 / 3, 0.1} <= {abs(value) for value in program.a_matrix_.value_}
    assert 2.0**-40 in [*program.row_lower_]


@pytest.mark.parametrize(
    "scores",
    [{"sauce": {"B": 1.0}}, {"tag": {"X": 1.0}}, {"tag": 3}, {"tag": {"B": "much"}}, {"tag": {"B": np.nan}}],
)
def test_scores_that_do_not_fit_are_refused(scores):
    space = FeatureSpace([one_hot("tag", "BIO")])
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 3)), [0.0]), space)
    with pytest.raises(InvalidInput):
        constraint_model(constraint, "lp", scores=scores)
