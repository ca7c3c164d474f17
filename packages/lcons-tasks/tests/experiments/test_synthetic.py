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
from lcons_tasks.experiments.synthetic._answers import (
    BITS,
    CHEAPEST,
    UNCONSTRAINED,
    Cell,
    baselines,
    network_figures,
    rows_that_hold,
    solution_figures,
)
from lcons_tasks.experiments.synthetic._corpus import ProgramFamily, generate
from lcons_tasks.experiments.synthetic._experiment import EXPERIMENT, Options
from lcons_tasks.experiments.synthetic._model import FIXED, flip_examples, learn, predict

TINY = ProgramFamily(
    variables=9, programs=14, training=10, constraints=5, strictness=0.5, scale=4, largest_cost=20
)
QUICK = replace(FIXED, learning_rate=0.03, epochs=300, restarts=4, patience=20)
EVERY = np.array(list(product([0.0, 1.0], repeat=9)))


@pytest.fixture(scope="module")
def programs():
    return generate(3, TINY)


@settings(max_examples=8)
@given(seed=st.integers(0, 1000))
def test_optima_are_feasible_and_no_feasible_point_is_cheaper(seed):
    drawn = generate(seed, replace(TINY, programs=6, training=4))
    allowed = EVERY[drawn.satisfied(EVERY).all(1)]
    for part in (drawn.train, drawn.test):
        assert drawn.satisfied(part.optima).all()
        assert np.array_equal((part.costs * part.optima).sum(1), (part.costs @ allowed.T).min(1))


def test_negatives_are_infeasible(programs):
    examples = flip_examples(programs.train)
    assert programs.satisfied(examples.positives).all()
    assert not programs.satisfied(examples.negatives).all(1).any()


def test_centred_training_gives_a_network_of_the_points_themselves(programs):
    examples = flip_examples(programs.train)
    network = learn(examples, 4, QUICK, 0).network
    assert network.K == 4
    assert examples.accuracy(network) >= 90
    # Weights are multiples of 2^-20, so every margin on 0/1 points is exact.
    for array in (network.W, network.b):
        assert np.array_equal(array * 2**20, np.rint(array * 2**20))


@pytest.mark.parametrize("form", ["auto", "rows", "lifted", "cuts"])
def test_predictions_are_the_cheapest_points_that_a_network_accepts(programs, form):
    network = learn(flip_examples(programs.train), 3, QUICK, 0).network
    costs = programs.test.costs
    points, infeasible = predict(network, costs, form)
    allowed = EVERY[np.asarray(network.accepts(EVERY))]
    assert infeasible == 0
    assert network.accepts(points).all()
    assert np.array_equal((points * costs).sum(1), (costs @ allowed.T).min(1))


def test_constraints_that_allow_nothing_are_broken_as_little_as_pays():
    network = RectifierNetwork([[4.0, 0.0, 0.0]], [2.0])  # at least 2 everywhere, 6 where z1 is 1
    points, infeasible = predict(network, np.array([[-3.0, -2.0, 5.0]]))
    assert (points.tolist(), infeasible) == ([[0.0, 1.0, 0.0]], 1)


def test_a_network_that_accepts_what_is_feasible_has_perfect_figures():
    drawn = generate(3, replace(TINY, constraints=1))
    network = RectifierNetwork(-2 * drawn.A, 2 * drawn.b)  # at most 0 where the row holds, else at least 2
    figures = network_figures(network, drawn) | solution_figures(drawn, predict(network, drawn.test.costs)[0])
    assert set(figures.values()) == {100.0}
    nothing = network_figures(RectifierNetwork(np.zeros((2, 9)), [2.0, 2.0]), drawn)
    assert nothing["gold accepted"] == nothing["gold rows"] == 0


def test_rows_of_many_units_are_sampled():
    none = RectifierNetwork(np.zeros((13, 2)), np.zeros(13))
    assert rows_that_hold(none, np.ones((3, 2))) == 1
    one_bad = RectifierNetwork(np.zeros((13, 2)), [9.0] + [0.0] * 12)  # half of the subsets have unit 1
    assert rows_that_hold(one_bad, np.ones((3, 2))) == pytest.approx(0.5, abs=0.05)


def test_baselines_are_what_their_names_say(programs):
    figures = {name: solution_figures(programs, points) for name, points in baselines(programs).items()}
    free = programs.test.costs < 0
    assert figures[UNCONSTRAINED][BITS] == pytest.approx(100 * (free == programs.test.optima).mean())
    assert figures[CHEAPEST]["satisfied"] == 100


def test_a_run_leaves_everything_behind_and_a_rerun_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("lcons_tasks.experiments.synthetic._answers.SEARCHED", QUICK)
    monkeypatch.setattr(
        "lcons_tasks.experiments.synthetic._experiment.Cell", lambda *at: Cell(*at, recipe=TINY)
    )
    stages, options = Stages(tmp_path / "stages"), Options((1, 2), (2, 3))
    for out in ("run", "again"):
        write_run(tmp_path / out, EXPERIMENT, options, run(EXPERIMENT, options, stages, 1), stages)
    results = json.loads((tmp_path / "run/results.json").read_text(encoding="utf-8"))
    assert (len(results["cells"]), len(results["claims"])) == (4, 3)
    constraint = load(tmp_path / "run/constraints/instance-1/K3.json")
    assert constraint.network == Cell(1, 3, TINY).learned(stages).network
    for path in sorted((tmp_path / "run").rglob("*.*")):
        assert (tmp_path / "again" / path.relative_to(tmp_path / "run")).read_bytes() == path.read_bytes()
