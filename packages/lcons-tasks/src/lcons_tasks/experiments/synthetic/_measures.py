"""The figures of the paper's table, and baselines to compare them with.

| figure | percentage of |
|---|---|
| network | training examples (optima, cheaper flips) classified correctly; `held-out`: examples of test
programs | | bitwise | bits of the predicted test solutions that equal those of the optima | | satisfied |
(predicted solution, hidden row) pairs that hold | | gold accepted | test optima that the network accepts | |
gold rows | (test optimum, row of Theorem 1) pairs that hold |

There are far more negatives than positives, so a network that rejects everything classifies most examples
correctly: `network balanced` gives both labels the same weight. If optima are similar to each other, a
constant answer can be good: `baselines` has the figures of no constraints, of the majority of each bit, and
of the training optimum that is cheapest for the test program.

Paper: Appendix B. Not in the paper: balanced accuracy, the two other baselines, counts of infeasible
programs; rows past K = 12 are sampled, not listed.
"""

from __future__ import annotations

import numpy as np

from lcons_core import RectifierNetwork, to_inequalities
from lcons_core._network import Network
from lcons_core._types import Floats
from lcons_tasks.experiments.synthetic._corpus import ProgramSet
from lcons_tasks.experiments.synthetic._model import Predicted, flip_examples, predict, unconstrained

UNCONSTRAINED, CHEAPEST = "no constraints", "the cheapest training optimum"
BITS = "bitwise"
MOST_LISTED = 12
SAMPLED_ROWS = 4096


def baselines(programs: ProgramSet) -> dict[str, tuple[dict[str, float], Floats]]:
    """Test figures and points of answers that need no learned constraints, by name."""
    train, test = programs.train, programs.test
    majority = np.repeat((2 * train.optima.mean(0)[None] > 1).astype(np.float64), len(test), axis=0)
    cheapest = train.optima[np.argmin(test.costs @ train.optima.T, axis=1)]
    answers = {
        UNCONSTRAINED: unconstrained(test.costs),
        "the bits of most training optima": majority,
        CHEAPEST: cheapest,
    }
    return {name: (solution_figures(programs, points), points) for name, points in answers.items()}


def solution_figures(programs: ProgramSet, points: Floats) -> dict[str, float]:
    """Percentages of correct bits, of satisfied pairs, and of solutions that are feasible, optimal, or
    cheaper than the proven optimum."""
    test = programs.test
    cost = (test.costs * points).sum(1)
    feasible = programs.feasible(points)
    return {
        BITS: 100.0 * float((points == test.optima).mean()),
        "satisfied": 100.0 * float(programs.satisfied(points).mean()),
        "feasible": 100.0 * float(feasible.mean()),
        "optimal": 100.0 * float((feasible & (cost == test.values)).mean()),
        "too cheap": 100.0 * float((cost < test.values).mean()),
    }


def rows_that_hold(network: Network, points: Floats, seed: int = 0) -> float:
    """The share of (point, row of Theorem 1) pairs that hold; for K above 12, over rows of seeded random
    subsets."""
    if network.K <= MOST_LISTED:
        return float(to_inequalities(network).satisfied(points).mean())
    subsets = np.random.default_rng(seed).integers(0, 2, (SAMPLED_ROWS, network.K)).astype(np.float64)
    return float((1.0 - network.activations(points) @ subsets.T >= 0).mean())


def network_figures(network: RectifierNetwork, programs: ProgramSet) -> tuple[dict[str, float], Predicted]:
    """All figures of a network, and its solutions of the test programs."""
    gold = programs.test.optima
    held_out = flip_examples(programs.test).accuracy(network)
    found = predict(network, programs.test.costs)
    figures = {
        **flip_examples(programs.train).accuracy(network),
        **{name.replace("network", "held-out", 1): value for name, value in held_out.items()},
        **solution_figures(programs, found.points),
        "gold accepted": 100.0 * float(np.mean(network.accepts(gold))),
        "gold rows": 100.0 * rows_that_hold(network, gold),
        "infeasible": float(len(found.infeasible)),
    }
    return figures, found
