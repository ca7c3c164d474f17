"""Known optima as a preference: a bit is worth what the cheap ones among them agree on.

    p_i ~ exp(-c . z_i / (T u))          the weight of known optimum z_i in a program with costs c
    m_j = sum_i p_i z_ij                 how far they set bit j, smoothed by half an optimum
    minimise sum_j (c_j - w u log(m_j / (1 - m_j))) z_j

u is the mean absolute cost of a variable. With T = 0 only the cheapest known optimum counts, and a large w
repeats it; without a limit of T all count the same, and a large w gives the bits of most of them; with w = 0
costs decide alone. Only costs change, so any constraints can be added. Without any, bit j is 1 if its changed
cost is negative, and no solver is needed.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from lcons_core._types import Floats

TEMPERATURES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, None)
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class KnownOptima:
    """A preference for the bits of known optima: T (None: no limit) and w."""

    temperature: float | None
    weight: float

    def costs(self, costs: Floats, known_costs: Floats, optima: Floats) -> Floats:
        """(N, d) the costs of programs, changed by the preference for `optima`, which are those of programs
        with `known_costs`.

        >>> known_costs, optima = np.array([[-2.0, 1.0], [-1.0, -1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
        >>> KnownOptima(None, 8.0).costs(np.array([[1.0, -1.0]]), known_costs, optima) < 0
        array([[ True,  True]])
        """
        u = float(np.abs(known_costs).mean())
        values = costs @ optima.T
        above = (values - values.min(1, keepdims=True)) / u
        if self.temperature is None:
            counted = np.ones_like(above)
        elif self.temperature:
            counted = np.exp(-above / self.temperature)
        else:
            counted = (above == 0.0).astype(np.float64)
        share = counted @ optima / counted.sum(1, keepdims=True)
        half = 0.5 / len(optima)
        odds = np.log((share + half) / (1.0 - share + half))
        return np.asarray(costs - self.weight * u * odds)


def choose_known(costs: Floats, optima: Floats, folds: int = 5) -> KnownOptima:
    """The preference with the most correct bits of held-out programs; the first one in a tie."""
    fold = np.arange(len(costs)) % min(folds, len(costs))

    def right(preference: KnownOptima) -> int:
        total = 0
        for k in range(int(fold.max()) + 1):
            rest, held_out = fold != k, fold == k
            changed = preference.costs(costs[held_out], costs[rest], optima[rest])
            total += int(((changed < 0) == optima[held_out]).sum())
        return total

    return max((KnownOptima(T, w) for T, w in product(TEMPERATURES, WEIGHTS)), key=right)
