"""Counterexample-guided rounds: learn, solve, add what is proved infeasible, and learn again.

A solution that the network allows and that costs strictly less than the proved optimum of some training
program is infeasible, whatever program it was found for: costs are integers and optima have no gap. So the
training programs are solved under the learned constraints, and as many programs with random costs, which
look in other directions; what is proved infeasible becomes a negative. It ends when a round finds nothing
(every training program then has its optimum), or after so many rounds; the network of the round that solves
the most training programs is kept, the later one of equals.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core.rectifier import RectifierNetwork
from lcons_decode.scores import Ints
from lcons_tasks.synthetic.learning import Examples, Learned, learn
from lcons_tasks.synthetic.programs import predict

ROUNDS = 12


@dataclass(frozen=True)
class Round:
    """What a round found: negatives that it learned from, programs that it solved, negatives that it added."""

    negatives: int
    solved: int
    added: int


@dataclass(frozen=True, eq=False)
class Rounds:
    """The network that is kept, the rounds, and whether the last one found nothing to add."""

    network: RectifierNetwork
    rounds: tuple[Round, ...]
    kept: int
    fixpoint: bool


def proved_infeasible(assignments: Ints, costs: Ints, optima: Ints) -> NDArray[np.bool_]:
    """Which assignments cost strictly less than the proved optimum of some program.

    >>> costs, optima = np.array([[1, 2], [-3, 1]]), np.array([[0, 1], [0, 0]])
    >>> proved_infeasible(np.array([[0, 0], [1, 1], [0, 1]]), costs, optima).tolist()
    [True, True, False]
    """
    least = (costs * optima).sum(1)
    return np.asarray((assignments @ costs.T < least).any(1))


def learn_in_rounds(
    costs: Ints,
    optima: Ints,
    hidden: int,
    first: Learned,
    seed: int = 0,
    most: int = ROUNDS,
    tell: Callable[[float, str], None] | None = None,
) -> Rounds:
    """Rounds after a first network, learned from the examples without any."""
    examples = Examples.of(costs, optima)
    rng = np.random.default_rng(seed)
    least = (costs * optima).sum(1)
    network, told, best = first.network, [], (-1, first.network, 0)
    for number in range(most + 1):
        if tell is not None:
            tell(number / (most + 1), f"round {number + 1}, {len(examples.negatives)} negatives")
        if number:
            network = learn(examples, hidden, seed + number, first.settings).network
        own = np.array([predict(c, network).assignment for c in costs])
        elsewhere = rng.permuted(np.abs(costs), axis=1) * rng.choice([-1, 1], costs.shape)
        other = np.array([predict(c, network).assignment for c in elsewhere])
        solved = int(((costs * own).sum(1) == least).sum())
        if solved >= best[0]:
            best = (solved, network, number)
        found = np.unique(np.concatenate([own, other]), axis=0)
        proved = found[proved_infeasible(found, costs, optima)]
        told.append(Round(len(examples.negatives), solved, len(proved)))
        if not len(proved):
            break
        examples = examples.with_negatives(proved)
    return Rounds(best[1], tuple(told), best[2], not told[-1].added)
