"""Sets that accept optima which were not seen, and learned constraints as a preference inside them.

    outer polytope    c_i . z >= c_i . z_i     for each training program i and its proven optimum z_i
    equality hull     A z = r                  all equations that all training optima satisfy
    widened           sum_k ReLU(a_k) <= t     a learned network with a larger allowance than 1
    preferred         minimise c . z + w max(0, sum_k ReLU(a_k) - 1)    within the outer polytope, widened

The outer polytope is sound: it contains every feasible point. The others are guesses. t and w are chosen by
cross-validation on training programs alone: a network learned without a fold of them shows how far optima are
outside that were not seen. t accepts `SHARE` of these, and w gets most of their bits right.

Questions to an oracle: `optimise_with_oracle` solves under the network within the outer polytope, asks if the
answer is feasible, and goes on from there; the best feasible point after each number of questions is compared
with the optimum. It starts from the cheapest training optimum.

Not in the paper. The outer polytope and the equality hull: Meng and Chang (2021).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_core import (
    Floats,
    Recipe,
    RectifierNetwork,
    equality_hull,
    outer_polytope,
)
from lcons_decode.ilp import optimise_with_oracle
from lcons_tasks.experiments.engine._jobs import Tell, silent
from lcons_tasks.experiments.synthetic._corpus import Programs, ProgramSet
from lcons_tasks.experiments.synthetic._measures import solution_figures
from lcons_tasks.experiments.synthetic._model import flip_examples, learn, predict

FOLDS = 5
# The share of held-out optima that the widened network accepts.
SHARE = 0.95
# Prices of one unit of violation to choose from, in mean absolute costs of a variable.
PRICES = (1.0, 2.0, 4.0, 8.0, 16.0)
QUESTIONS = (0, 1, 2, 5, 10, 20)
# Test programs for which the oracle is asked.
ASKED = 6

OUTER, HULL, NETWORK = "outer polytope", "equality hull", "learned constraints"
BOTH, WIDENED, PREFERRED = (
    "learned constraints + outer polytope",
    "widened constraints + outer polytope",
    "widened constraints + outer polytope, learned ones preferred",
)


@dataclass(frozen=True)
class Choice:
    """The allowance t and the price w that cross-validation chose, and the percentage of correct bits of
    held-out training programs for each price."""

    allowance: float
    price: float
    tried: Mapping[str, float]


def slack(network: RectifierNetwork, points: Floats) -> Floats:
    """(N,) sum_k ReLU(a_k): a network accepts points of at most 1."""
    return np.asarray(np.maximum(network.activations(points), 0.0).sum(1))


def widen(network: RectifierNetwork, allowance: float) -> RectifierNetwork:
    """The network that accepts points with a sum of at most about `allowance`, at least 1: its weights times
    1 / allowance, rounded down to 12 bits so that nothing else is rounded."""
    factor = math.floor(2.0**12 / max(1.0, allowance)) / 2.0**12
    return RectifierNetwork(network.W * factor, network.b * factor)


def choose(train: Programs, K: int, recipe: Recipe, seed: int, tell: Tell = silent) -> Choice:
    """The choice for a network with K units, by cross-validation on training programs."""
    fold = np.arange(len(train)) % min(FOLDS, len(train))
    outside, right = np.zeros(len(train)), dict.fromkeys(PRICES, 0.0)
    for k in range(int(fold.max()) + 1):
        tell(k / (fold.max() + 1), f"fold {k + 1}")
        rest = Programs(train.costs[fold != k], train.optima[fold != k])
        own = Programs(train.costs[fold == k], train.optima[fold == k])
        network = learn(flip_examples(rest), K, recipe, seed).network
        outside[fold == k] = slack(network, own.optima)
        for price in PRICES:
            found = predict(None, own.costs, preferred=(network, price * _unit(train)))
            right[price] += float((found.points == own.optima).sum())
    best = max(PRICES, key=lambda price: right[price])
    tried = {f"{price:g}": 100.0 * count / train.optima.size for price, count in right.items()}
    rank = min(len(train), math.ceil((len(train) + 1) * SHARE))
    return Choice(float(np.sort(outside)[rank - 1]), best, tried)


def enclosed(
    programs: ProgramSet, network: RectifierNetwork, choice: Choice, tell: Tell = silent
) -> dict[str, tuple[dict[str, float], Floats]]:
    """Test figures and solutions by set; `gold accepted` is the percentage of test optima in the set."""
    train, test = programs.train, programs.test
    outer, hull = outer_polytope(train.costs, train.optima, maximise=False), equality_hull(train.optima)
    wide = widen(network, choice.allowance)
    price = choice.price * _unit(train)
    sets: dict[str, dict[str, Any]] = {
        OUTER: {"rows": outer},
        HULL: {"rows": hull},
        NETWORK: {"network": network},
        BOTH: {"network": network, "rows": outer},
        WIDENED: {"network": wide, "rows": outer},
        PREFERRED: {"network": wide, "rows": outer, "preferred": (network, price)},
    }
    found = {}
    for k, (name, own) in enumerate(sets.items()):
        tell(k / len(sets), name)
        accepted = np.ones(len(test), dtype=np.bool_)
        if "network" in own:
            accepted &= own["network"].accepts(test.optima)
        if "rows" in own and len(own["rows"]):
            accepted &= np.asarray(own["rows"].holds(test.optima))
        points = predict(own.pop("network", None), test.costs, **own).points
        figures = {**solution_figures(programs, points), "gold accepted": 100.0 * float(accepted.mean())}
        found[name] = (figures, points)
    return found


def ask(programs: ProgramSet, network: RectifierNetwork, tell: Tell = silent) -> dict[str, dict[str, float]]:
    """The percentage of correct bits and of optima of the best known point, by number of questions, for the
    first test programs."""
    train, test = programs.train, programs.test
    outer = outer_polytope(train.costs, train.optima, maximise=False)
    known = np.ones(len(train), dtype=np.bool_)
    number = min(ASKED, len(test))
    bits, optimal = (dict.fromkeys(QUESTIONS, 0.0) for _ in range(2))
    for i in range(number):
        tell(i / number, f"questions about program {i + 1}")
        answered = optimise_with_oracle(
            test.costs[i],
            network,
            lambda point: bool(programs.feasible(point[None])[0]),
            X=train.optima,
            y=known,
            within=[outer],
            maximise=False,
            questions=max(QUESTIONS),
        )
        best = train.optima[int(np.argmin(train.optima @ test.costs[i]))]
        for number_asked in range(max(QUESTIONS) + 1):
            if 0 < number_asked <= len(answered.questions):
                question = answered.questions[number_asked - 1]
                if question.feasible and question.point @ test.costs[i] < best @ test.costs[i]:
                    best = question.point
            if number_asked in bits:
                bits[number_asked] += float((best == test.optima[i]).mean())
                optimal[number_asked] += float(best @ test.costs[i] == test.values[i])
    return {
        str(asked): {"bits": 100 * bits[asked] / number, "optimal": 100 * optimal[asked] / number}
        for asked in QUESTIONS
    }


def chosen_recipe(recipe: Recipe, configuration: Mapping[str, Any]) -> Recipe:
    """The recipe with the learning rate and decay that were chosen for the network of all programs."""
    return replace(recipe, learning_rate=configuration["learning_rate"], decay=configuration["decay"])


def _unit(train: Programs) -> float:
    return float(np.abs(train.costs).mean())
