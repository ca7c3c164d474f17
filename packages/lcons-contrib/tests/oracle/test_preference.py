"""Known optima as a preference, from costs alone to the bits of known optima alone."""

from itertools import product

import numpy as np

from lcons_contrib.oracle import KnownOptima, choose_known
from lcons_contrib.oracle._preference import TEMPERATURES, WEIGHTS

RNG = np.random.default_rng(3)
COSTS = RNG.integers(-9, 10, (15, 6)).astype(float)
OPTIMA = RNG.integers(0, 2, (15, 6)).astype(float)
OTHERS = RNG.integers(-9, 10, (4, 6)).astype(float)


def answers(temperature, weight):
    """Bits of least changed cost."""
    return KnownOptima(temperature, weight).costs(OTHERS, COSTS, OPTIMA) < 0


def test_without_weight_costs_decide_and_with_much_the_cheapest_or_most_known_optima():
    cheapest = OPTIMA[np.argmin(OTHERS @ OPTIMA.T, axis=1)]
    assert np.array_equal(answers(0.0, 1e6), cheapest)
    assert all(np.array_equal(answers(temperature, 0.0), OTHERS < 0) for temperature in TEMPERATURES)
    majority = 2 * OPTIMA.mean(0) > 1
    assert np.array_equal(answers(None, 1e6), np.tile(majority, (len(OTHERS), 1)))


def test_the_preference_gets_most_held_out_bits_right():
    chosen = choose_known(COSTS, OPTIMA, 3)

    def right(preference):
        total = 0
        for k in range(3):
            rest = np.arange(15) % 3 != k
            changed = preference.costs(COSTS[~rest], COSTS[rest], OPTIMA[rest])
            total += ((changed < 0) == OPTIMA[~rest]).sum()
        return total

    assert right(chosen) == max(right(KnownOptima(T, w)) for T, w in product(TEMPERATURES, WEIGHTS))
    assert choose_known(COSTS[:4], OPTIMA[:4], 99) in [
        KnownOptima(T, w) for T, w in product(TEMPERATURES, WEIGHTS)
    ]
