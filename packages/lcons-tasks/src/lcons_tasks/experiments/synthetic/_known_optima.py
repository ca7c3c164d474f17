"""Known optima as a preference: a bit is worth what the cheap ones among them agree on.

    p_i ~ exp(-c . z_i / (T u))          the weight of training optimum z_i in a program with costs c
    m_j = sum_i p_i z_ij                 how far they set bit j, smoothed by half an optimum
    minimise sum_j (c_j - w u log(m_j / (1 - m_j))) z_j

u is the mean absolute cost of a variable. With T = 0 only the cheapest known optimum counts, and a large w
repeats it; without a limit of T all count the same, and a large w gives the bits of most of them; with w = 0
costs decide alone. Only costs change, so any constraints can be added. Without any, bit j is 1 if its changed
cost is negative, and no solver is needed: the plainest use of known optima, with which networks are compared.

T and w get most bits right in cross-validation on training programs.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from lcons_core import Floats
from lcons_tasks.experiments.synthetic._corpus import Programs
from lcons_tasks.experiments.synthetic._model import unconstrained

TEMPERATURES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, None)
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True)
class KnownOptima:
    """A preference for the bits of known optima: T (None: no limit) and w."""

    temperature: float | None
    weight: float

    def costs(self, costs: Floats, known: Programs) -> Floats:
        """(N, d) the costs of programs, changed by the preference for the optima of `known`."""
        u = unit(known)
        values = costs @ known.optima.T
        above = (values - values.min(1, keepdims=True)) / u
        if self.temperature is None:
            counted = np.ones_like(above)
        elif self.temperature:
            counted = np.exp(-above / self.temperature)
        else:
            counted = (above == 0.0).astype(np.float64)
        share = counted @ known.optima / counted.sum(1, keepdims=True)
        half = 0.5 / len(known)
        odds = np.log((share + half) / (1.0 - share + half))
        return np.asarray(costs - self.weight * u * odds)


def unit(programs: Programs) -> float:
    """u, the mean absolute cost of a variable."""
    return float(np.abs(programs.costs).mean())


def folds(programs: Programs, number: int) -> list[tuple[Programs, Programs]]:
    """(the other programs, the held-out ones) of each fold."""
    fold = np.arange(len(programs)) % min(number, len(programs))
    return [
        (
            Programs(programs.costs[fold != k], programs.optima[fold != k]),
            Programs(programs.costs[fold == k], programs.optima[fold == k]),
        )
        for k in range(int(fold.max()) + 1)
    ]


def choose_known(train: Programs, number: int) -> KnownOptima:
    """The preference with most correct bits of held-out training programs; the first one in a tie."""
    tried = {
        (T, w): sum(
            int((unconstrained(KnownOptima(T, w).costs(own.costs, rest)) == own.optima).sum())
            for rest, own in folds(train, number)
        )
        for T, w in product(TEMPERATURES, WEIGHTS)
    }
    return KnownOptima(*max(tried, key=lambda one: tried[one]))
