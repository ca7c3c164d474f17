"""Networks learned from optima (positives) and proven negatives, and programs solved under them.

psi is the assignment z itself. Training uses z - mu, where mu is the mean of the positives rounded to
multiples of 2^-6, and the network is then rewritten for z:

    w . (z - mu) + b = w . z + (b - w . mu)

So the set of possible networks is the same, but each unit starts with its boundary among the optima; without
this, most restarts end with units that are never active. The network for z is rounded to multiples of 2^-20,
and all measures use this network.

Paper: Appendix B: Adam for 1000 epochs, rate and decay by cross-validation (`GRID`), negatives
by flips that lower the cost. Not in the paper: centred psi, restarts, both labels weighing the same.

Programs are solved under learned constraints instead of the hidden ones:

    minimise c . z   subject to   the network accepts z                     lifted by default, checked exactly

If no point satisfies the constraints of a program, it is solved softly: `weight * max(0, -margin(z))` is
added to its cost, with weight sum_j |c_j|, so that one unit of violation costs as much as all decisions
together. Such programs are counted.

Paper: Appendix B. Not in the paper: the lifted form, the check of every solution, the soft mode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import FeatureSpace, LabelledExamples, Recipe, RectifierNetwork, binary, round_dyadic
from lcons_core._network import Network
from lcons_core._theorem import Form
from lcons_core._types import Floats
from lcons_core.learn._estimator import GRID
from lcons_decode import Status
from lcons_decode.ilp import Program, Variable, solve
from lcons_decode.ilp._ground import ground_columns
from lcons_tasks.experiments.synthetic._corpus import Programs

_CENTRE = 64.0
# The paper's grid with cross-validation; and one learning rate without it.
SEARCHED = Recipe(folds=3, restarts=16, patience=100, **GRID)
FIXED = replace(SEARCHED, learning_rate=0.01, decay=0.0)


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct assignments: positives (P, d), and negatives (N, d) that are proven to be infeasible."""

    positives: Floats
    negatives: Floats

    def accuracy(self, network: Network) -> float:
        """The percentage of correctly classified examples."""
        right = [network.accepts(self.positives), ~network.accepts(self.negatives)]
        return 100.0 * float(np.concatenate(right).mean())


@dataclass(frozen=True, eq=False)
class Learned:
    """A network on z, and the configuration that cross-validation chose."""

    network: RectifierNetwork
    configuration: dict[str, Any]


def flip_examples(programs: Programs) -> Examples:
    """Optima as positives, and optima with one bit flipped to a lower cost as negatives."""
    costs, optima = programs.costs, programs.optima
    space = FeatureSpace([binary("z", [str(j) for j in range(costs.shape[1])])])
    program, bit = np.nonzero(np.where(optima == 1, costs > 0, costs < 0))
    flips = optima[program]
    flips[np.arange(len(flips)), bit] = 1 - flips[np.arange(len(flips)), bit]
    examples = LabelledExamples.of(space, optima, flips)
    return Examples(examples.positives.psi.dense(), examples.negatives.psi.dense())


def learn(examples: Examples, K: int, recipe: Recipe, seed: int) -> Learned:
    """The network with K units that separates the examples best, and its configuration."""
    centre = np.rint(_CENTRE * examples.positives.mean(0)) / _CENTRE
    learner = replace(recipe, hidden=K, seed=seed).learner()
    points = np.concatenate([examples.positives, examples.negatives])
    valid = np.arange(len(points)) < len(examples.positives)
    learner.fit(points - centre, valid)
    W, b = learner.network_.W, learner.network_.b
    network = RectifierNetwork(W, round_dyadic(b - (W * centre).sum(1)))
    return Learned(network, learner.configuration_)


def predict(network: Network, costs: Floats, form: Form | str = Form.LIFTED) -> tuple[Floats, int]:
    """The best point of each program (N, d) among those that the network accepts; and the number of programs
    without such a point, which are solved softly."""
    points, infeasible = [], 0
    columns = list(range(costs.shape[1]))
    for c in costs:
        program = Program({j: Variable(j, -float(cost)) for j, cost in enumerate(c)})
        answer = solve(program, [ground_columns(network, columns)], form=form, explain=False)
        if answer.status is Status.INFEASIBLE:
            infeasible += 1
            weight = float(np.abs(c).sum())
            answer = solve(
                program, [ground_columns(network, columns, weight=weight)], form=form, explain=False
            )
        assert answer.status is Status.OPTIMAL
        points.append([answer.values[j] for j in columns])
    return np.array(points), infeasible
