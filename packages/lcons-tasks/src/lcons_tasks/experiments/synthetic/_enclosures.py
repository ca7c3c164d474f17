"""Sets that accept optima which were not seen, and learned constraints as a preference inside them.

    outer polytope    c_i . z >= c_i . z_i     for each training program i and its proven optimum z_i
    equality hull     A z = r                  all equations that all training optima satisfy
    widened           sum_k ReLU(a_k) <= t     a learned network with a larger allowance than 1
    preferred         minimise c . z + w max(0, sum_k ReLU(a_k) - 1)    within the outer polytope, widened

The outer polytope is sound: it contains every feasible point. The others are guesses. t and w are chosen by
cross-validation on training programs alone: a network learned without a fold of them shows how far optima are
outside that were not seen. t accepts `SHARE` of these, and w gets most of their bits right. Known optima can
be preferred, too (`_known_optima.py`): c is then changed, and w chosen again, with 0 among its values.

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
from lcons_tasks.experiments.synthetic._known_optima import KnownOptima, choose_known, folds, unit
from lcons_tasks.experiments.synthetic._measures import solution_figures
from lcons_tasks.experiments.synthetic._model import Predicted, flip_examples, learn, predict, unconstrained

FOLDS = 5
# The share of held-out optima that the widened network accepts.
SHARE = 0.95
# Prices of one unit of violation to choose from, in mean absolute costs of a variable.
PRICES = (1.0, 2.0, 4.0, 8.0, 16.0)
QUESTIONS = 20
# Test programs for which the oracle is asked.
ASKED = 6

OUTER, HULL, NETWORK = "outer polytope", "equality hull", "learned constraints"
BOTH, WIDENED, PREFERRED, PREFERRED_BOTH = (
    "learned constraints + outer polytope",
    "widened constraints + outer polytope",
    "widened constraints + outer polytope, learned ones preferred",
    "widened constraints + outer polytope, learned ones and known optima preferred",
)
KNOWN = "no constraints, known optima preferred"


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose: the allowance t, the price w, T and w of the preference for known optima,
    and the price beside them. `tried` are the percentages of correct bits of held-out training programs by
    price, `tried_beside` those with known optima preferred."""

    allowance: float
    price: float
    temperature: float | None
    weight: float
    price_beside: float
    tried: Mapping[str, float]
    tried_beside: Mapping[str, float]

    @property
    def known(self) -> KnownOptima:
        """The preference for known optima."""
        return KnownOptima(self.temperature, self.weight)


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
    known, split = choose_known(train, FOLDS), folds(train, FOLDS)
    outside: list[float] = []
    right, beside = dict.fromkeys(PRICES, 0), dict.fromkeys((0.0, *PRICES), 0)
    for k, (rest, own) in enumerate(split):
        tell(k / len(split), f"fold {k + 1}")
        network = learn(flip_examples(rest), K, recipe, seed).network
        outside += slack(network, own.optima).tolist()
        changed = known.costs(own.costs, rest)
        for price in PRICES:
            right[price] += _right(predict(None, own.costs, preferred=(network, price * unit(train))), own)
        for price in beside:
            preferred = (network, price * unit(train)) if price else None
            beside[price] += _right(predict(None, changed, preferred=preferred), own)
    rank = min(len(train), math.ceil((len(train) + 1) * SHARE))
    return Choice(
        sorted(outside)[rank - 1],
        max(right, key=lambda price: right[price]),
        known.temperature,
        known.weight,
        max(beside, key=lambda price: beside[price]),
        *(
            {f"{price:g}": 100.0 * n / train.optima.size for price, n in one.items()}
            for one in (right, beside)
        ),
    )


def _right(found: Predicted, own: Programs) -> int:
    """The number of correct bits."""
    return int((found.points == own.optima).sum())


def enclosed(
    programs: ProgramSet, network: RectifierNetwork, choice: Choice, tell: Tell = silent
) -> dict[str, tuple[dict[str, float], Floats]]:
    """Test figures and solutions by set; `gold accepted` is the percentage of test optima in the set."""
    train, test = programs.train, programs.test
    outer, hull = outer_polytope(train.costs, train.optima, maximise=False), equality_hull(train.optima)
    wide = widen(network, choice.allowance)
    price, beside = (one * unit(train) for one in (choice.price, choice.price_beside))
    changed = choice.known.costs(test.costs, train)
    sets: dict[str, dict[str, Any]] = {
        OUTER: {"rows": outer},
        HULL: {"rows": hull},
        NETWORK: {"network": network},
        BOTH: {"network": network, "rows": outer},
        WIDENED: {"network": wide, "rows": outer},
        PREFERRED: {"network": wide, "rows": outer, "preferred": (network, price)},
        PREFERRED_BOTH: {
            "network": wide,
            "rows": outer,
            "costs": changed,
            "preferred": (network, beside) if beside else None,
        },
    }
    found = {}
    for k, (name, own) in enumerate(sets.items()):
        tell(k / len(sets), name)
        accepted = np.ones(len(test), dtype=np.bool_)
        if "network" in own:
            accepted &= own["network"].accepts(test.optima)
        if "rows" in own and len(own["rows"]):
            accepted &= np.asarray(own["rows"].holds(test.optima))
        points = predict(own.pop("network", None), own.pop("costs", test.costs), **own).points
        figures = {**solution_figures(programs, points), "gold accepted": 100.0 * float(accepted.mean())}
        found[name] = (figures, points)
    closed = unconstrained(changed)
    return {**found, KNOWN: (solution_figures(programs, closed), closed)}


def ask(programs: ProgramSet, network: RectifierNetwork, tell: Tell = silent) -> dict[str, list[float]]:
    """The percentages of correct bits and of optima of the best known point after 0, 1, ... questions, for
    the first test programs."""
    train, test = programs.train, programs.test
    outer = outer_polytope(train.costs, train.optima, maximise=False)
    known = np.ones(len(train), dtype=np.bool_)
    number = min(ASKED, len(test))
    bits, optimal = np.zeros((2, QUESTIONS + 1))
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
            questions=QUESTIONS,
        )
        best = train.optima[int(np.argmin(train.optima @ test.costs[i]))]
        for asked in range(QUESTIONS + 1):
            if 0 < asked <= len(answered.questions):
                question = answered.questions[asked - 1]
                if question.feasible and question.point @ test.costs[i] < best @ test.costs[i]:
                    best = question.point
            bits[asked] += (best == test.optima[i]).mean()
            optimal[asked] += best @ test.costs[i] == test.values[i]
    found = {"bits": bits, "optimal": optimal}
    return {name: (100.0 * own / number).tolist() for name, own in found.items()}


def chosen_recipe(recipe: Recipe, configuration: Mapping[str, Any]) -> Recipe:
    """The recipe with the learning rate and decay that were chosen for the network of all programs."""
    return replace(recipe, learning_rate=configuration["learning_rate"], decay=configuration["decay"])
