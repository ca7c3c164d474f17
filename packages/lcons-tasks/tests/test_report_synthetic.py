"""Synthetic runs on the report page: figures by the number of hidden units, beside the paper's."""

import pytest

from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._cell import Cell, Filled
from lcons_tasks.experiments.synthetic._measures import UNCONSTRAINED
from lcons_tasks.experiments.synthetic._render import ROWS
from lcons_tasks.experiments.synthetic._summary import claims, groups
from lcons_tasks.report import _of_synthetic as of_synthetic


def cell(seed, hidden, bits, rounds=0):
    told = {
        "rounds": [{"unsolved": n, "negatives": 700} for n in (9, 3)],
        "chosen": 1,
        "fixpoint": True,
    }
    baselines = {
        UNCONSTRAINED: {"bitwise": 60.0 + seed, "satisfied": 54.0, "optimal": 0.0},
        "the cheapest training optimum": {"bitwise": 91.0, "satisfied": 100.0, "optimal": 35.0},
    }
    figures = {**dict.fromkeys(ROWS, 80.0), "bitwise": bits, "baselines": baselines}
    return {"seed": seed, "hidden": hidden, "rounds at most": rounds, **figures, **(told if rounds else {})}


def results(*cells):
    filled = [Filled(Cell(one["seed"], one["hidden"], one["rounds at most"]), one) for one in cells]
    told = [{"text": c.text, "held": c.held, "figures": c.figures} for c in claims(groups(filled))]
    return {
        "options": {"seeds": sorted({one["seed"] for one in cells})},
        "cells": list(cells),
        "claims": told,
    }


PLAIN = [cell(1, 2, 83.0), cell(2, 2, 85.0), cell(1, 10, 86.0), cell(2, 10, 88.0), cell(1, 50, 90.0)]
FULL = results(*PLAIN, cell(1, 10, 89.0, rounds=8))


def test_figures_stand_beside_the_papers_and_the_baselines():
    view = of_synthetic.view(FULL)
    solutions, learned = view.tables
    assert solutions.rows == (
        UNCONSTRAINED, "the cheapest training optimum", "K = 2", "K = 10", "K = 50", "K = 10 + rounds",
    )  # fmt: skip
    figure = solutions.cells["K = 10", "bits right"]
    assert (figure.values, figure.paper) == ((86.0, 88.0), 83.5)
    assert solutions.cells[UNCONSTRAINED, "bits right"].values == (61.0, 62.0)
    assert solutions.cells[UNCONSTRAINED, "hidden constraints satisfied"].paper == paper.BASELINE["hidden"]
    assert solutions.cells["K = 2", "hidden constraints satisfied"].paper == 70.3
    for row in ("K = 50", "K = 10 + rounds", "the cheapest training optimum"):
        assert solutions.cells[row, "bits right"].paper is None
    assert learned.cells["K = 10", "learned rows that test optima satisfy"].paper == 99.4
    assert learned.cells["K = 2", "training examples told right"].paper == 85.1
    assert learned.rows == solutions.rows[2:]
    shown = {**of_synthetic.SOLUTIONS, **of_synthetic.NETWORK}
    assert set(shown.values()) == set(ROWS)


def test_the_headline_is_at_the_largest_k_of_the_paper():
    head = of_synthetic.view(FULL).headline
    assert head.measure == "bits right, K = 10"
    assert (head.without.values, head.within.values) == ((61.0, 62.0), (86.0, 88.0))
    assert (head.without.paper, head.within.paper) == (56.8, 83.5)
    only_large = of_synthetic.view(results(cell(1, 50, 90.0))).headline
    assert (only_large.measure, only_large.within.paper) == ("bits right, K = 50", None)


def test_the_curve_has_the_papers_line_and_needs_two_k():
    curve = of_synthetic.view(FULL).curve
    assert curve.lines["learned constraints"] == {2.0: 84.0, 10.0: 87.0, 50.0: 90.0}
    assert curve.lines["with rounds"] == {10.0: 89.0}
    assert curve.lines[UNCONSTRAINED][50.0] == 61.0
    assert list(curve.lines["the paper"].values()) == list(paper.FIGURES["bits"])
    one = of_synthetic.view(results(cell(1, 2, 83.0)))
    assert one.curve is None
    assert one.curve_is == "Curve over hidden units"


def test_rounds_claims_and_constraints_of_the_run_are_named():
    view = of_synthetic.view(FULL)
    (rounds,) = view.texts
    assert rounds.rows == (("K = 10, instance 1", "9, 3", "2 of 2", "700", "fixpoint"),)
    assert len(view.claims) == len(FULL["claims"]) > 3
    assert view.cells == ("instance-1", "instance-2")
    assert of_synthetic.view(results(cell(1, 2, 83.0))).texts == ()


def test_results_without_their_figures_are_refused():
    broken = cell(1, 2, 83.0)
    del broken["held-out"]
    with pytest.raises(KeyError):
        of_synthetic.view({**FULL, "cells": [broken]})
