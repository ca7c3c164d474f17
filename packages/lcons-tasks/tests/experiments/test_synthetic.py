"""Synthetic programs: proved optima, sound negatives, the table, and a whole run."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import RectifierNetwork, load
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._run import run, write_run
from lcons_tasks.experiments.synthetic._answers import Cell, as_constraint
from lcons_tasks.experiments.synthetic._corpus import (
    ProgramFamily,
    generate,
    optimum,
)
from lcons_tasks.experiments.synthetic._experiment import EXPERIMENT, Options, claims
from lcons_tasks.experiments.synthetic._measures import (
    UNCONSTRAINED,
    baselines,
    network_figures,
    rows_that_hold,
)
from lcons_tasks.experiments.synthetic._model import (
    FIXED,
    flip_examples,
    learn,
    predict,
    unconstrained,
)

TINY = ProgramFamily(
    variables=9, programs=14, training=10, constraints=5, strictness=0.5, scale=4, largest_cost=20
)
QUICK = replace(FIXED, learning_rate=0.03, epochs=300, restarts=4, patience=20)
EVERY = np.array(list(product([0.0, 1.0], repeat=9)))


@pytest.fixture(scope="module")
def programs():
    return generate(3, TINY)


def feasible_points(one):
    return EVERY[one.feasible(EVERY)]


@settings(max_examples=8)
@given(seed=st.integers(0, 1000))
def test_optima_are_feasible_and_no_feasible_point_is_cheaper(seed):
    one = generate(seed, replace(TINY, programs=6, training=4))
    allowed = feasible_points(one)
    assert one.feasible(one.planted[None]).all()
    assert (np.rint(one.A) == one.A).all()
    for part in (one.train, one.test):
        assert one.feasible(part.optima).all()
        assert np.array_equal(part.values, (part.costs @ allowed.T).min(1))


def test_negatives_are_infeasible(programs):
    examples = flip_examples(programs.train)
    assert programs.feasible(examples.positives).all()
    assert not programs.feasible(examples.negatives).any()


def test_centred_training_gives_a_network_of_the_points_themselves(programs):
    examples = flip_examples(programs.train)
    found = learn(examples, 4, QUICK, 0)
    assert found.network.K == 4
    assert examples.accuracy(found.network)["network"] >= 90
    # Weights are multiples of 2^-20, so every margin on 0/1 points is exact.
    for array in (found.network.W, found.network.b):
        assert np.array_equal(array * 2**20, np.rint(array * 2**20))


def test_every_form_predicts_solutions_of_one_cost(programs):
    network = learn(flip_examples(programs.train), 3, QUICK, 0).network
    costs = programs.test.costs
    found = {form: predict(network, costs, form=form) for form in ("auto", "rows", "lifted", "cuts")}
    for one in found.values():
        assert network.accepts(one.points).all() or one.infeasible
        assert np.array_equal((one.points * costs).sum(1), (found["lifted"].points * costs).sum(1))
    allowed = EVERY[np.asarray(network.accepts(EVERY))]
    assert len(allowed)
    assert np.array_equal((found["lifted"].points * costs).sum(1), (costs @ allowed.T).min(1))


def test_constraints_that_allow_nothing_are_broken_as_little_as_pays():
    network = RectifierNetwork([[4.0, 0.0, 0.0]], [2.0])  # at least 2 everywhere, 6 where z1 is 1
    found = predict(network, np.array([[-3.0, -2.0, 5.0]]))
    assert found.infeasible == (0,)
    assert found.points.tolist() == [[0.0, 1.0, 0.0]]


def test_a_network_that_accepts_what_is_feasible_has_perfect_figures():
    one = generate(3, replace(TINY, constraints=1))
    network = RectifierNetwork(-2 * one.A, 2 * one.b)  # at most 0 where the row holds, else at least 2
    figures, found = network_figures(network, one)
    for figure in ("network", "held-out", "bitwise", "satisfied", "optimal", "gold accepted", "gold rows"):
        assert figures[figure] == 100, figure
    assert figures["infeasible"] == 0
    assert np.array_equal((found.points * one.test.costs).sum(1), one.test.values)


def test_a_network_that_accepts_nothing_is_told_by_every_figure_that_should(programs):
    network = RectifierNetwork(np.zeros((2, 9)), [2.0, 2.0])
    figures, _ = network_figures(network, programs)
    assert figures["gold accepted"] == figures["gold rows"] == figures["network positives"] == 0
    assert figures["network negatives"] == 100
    assert figures["network balanced"] == 50
    assert figures["infeasible"] == len(programs.test)


def test_rows_of_many_units_are_sampled():
    none = RectifierNetwork(np.zeros((13, 2)), np.zeros(13))
    assert rows_that_hold(none, np.ones((3, 2))) == 1
    one_bad = RectifierNetwork(np.zeros((13, 2)), [9.0] + [0.0] * 12)  # half of the subsets have unit 1
    assert rows_that_hold(one_bad, np.ones((3, 2))) == pytest.approx(0.5, abs=0.05)


def test_baselines_are_what_their_names_say(programs):
    plain = {name: figures for name, (figures, _) in baselines(programs).items()}
    free = unconstrained(programs.test.costs)
    assert plain[UNCONSTRAINED]["bitwise"] == pytest.approx(100 * (free == programs.test.optima).mean())
    assert plain["the cheapest training optimum"]["satisfied"] == 100


def test_an_optimum_that_cannot_be_is_refused():
    from lcons_core import LconsError

    with pytest.raises(LconsError, match="use another seed"):
        optimum(np.array([1.0]), np.array([[1.0]]), np.array([2.0]))


# The run


@pytest.fixture
def tiny(monkeypatch):
    """A tiny recipe and short training; everything else as it is."""
    monkeypatch.setattr("lcons_tasks.experiments.synthetic._answers.SEARCHED", QUICK)
    monkeypatch.setattr("lcons_tasks.experiments.synthetic._answers.FIXED", QUICK)
    monkeypatch.setattr(
        "lcons_tasks.experiments.synthetic._experiment.Cell", lambda *given: Cell(*given, recipe=TINY)
    )


@pytest.mark.usefixtures("tiny")
def test_a_run_leaves_everything_behind_and_a_rerun_the_same_bytes(tmp_path):
    stages = Stages(tmp_path / "stages")
    options = Options((1, 2), (2, 3))
    record = run(EXPERIMENT, options, stages, 1)
    write_run(tmp_path / "run", EXPERIMENT, options, record, stages)
    results = json.loads((tmp_path / "run/results.json").read_text(encoding="utf-8"))
    assert results["task"] == "synthetic"
    assert len(results["cells"]) == 4
    constraint = load(tmp_path / "run/constraints/instance-1/K3.json")
    assert constraint == as_constraint(Cell(1, 3, TINY).learned(stages).network)
    assert (tmp_path / "run/curve.svg").is_file()
    assert len(claims(record)) >= 3
    write_run(tmp_path / "again", EXPERIMENT, options, run(EXPERIMENT, options, stages, 1), stages)
    for path in sorted((tmp_path / "run").rglob("*.*")):
        assert (tmp_path / "again" / path.relative_to(tmp_path / "run")).read_bytes() == path.read_bytes()
