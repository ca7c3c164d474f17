"""Instances of the experiment: hidden constraints with a planted solution, objectives, and their optima.

Each hidden constraint looks at 6 of the 50 variables, with integer coefficients from 1 to 10 of random sign,
and is met by the planted assignment p with a little to spare:

    A z >= A p - floor(slack * sqrt(sum a^2 / 2))

Objectives are integers from 1 to 100 of random sign. The paper says neither how many constraints there are
nor how they are drawn, only how well an unconstrained solver does: 56.8% of its bits are right, and 55.3% of
(solution, constraint) pairs are satisfied. `slack` is set for the second figure. For the first, constraints
are added until probe objectives, which are not used otherwise, have no more right bits than that. So how much
is left to learn is the paper's, and nothing else is chosen.

Constraints on few variables are what structured prediction has; with all 50 in each, at the same baseline,
CBC needs seconds to minutes a program instead of hundredths of a second.

Differs from the paper: how instances are drawn, which it does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lcons_core.theorem1 import LinearInequalities
from lcons_decode.scores import Floats, Ints
from lcons_tasks.synthetic import paper
from lcons_tasks.synthetic.programs import free_minimum, optimum


@dataclass(frozen=True)
class Drawing:
    """How instances are drawn."""

    variables: int = 50
    looked_at: int = 6
    largest_coefficient: int = 10
    largest_cost: int = 100
    slack: float = 0.13
    first: int = 24
    step: int = 2
    probes: int = 30
    programs: int = 100
    train: int = 70


@dataclass(frozen=True, eq=False)
class Instance:
    """Hidden constraints A z >= b, the planted assignment, and programs: costs (n, d) with proved optima."""

    seed: int
    A: Ints
    b: Ints
    planted: Ints
    costs: Ints
    optima: Ints
    train: int

    @cached_property
    def hidden(self) -> LinearInequalities:
        """The hidden constraints as rows."""
        return LinearInequalities(self.A.astype(np.float64), -self.b.astype(np.float64))

    @property
    def training(self) -> tuple[Ints, Ints]:
        """Costs and optima to learn from."""
        return self.costs[: self.train], self.optima[: self.train]

    @property
    def test(self) -> tuple[Ints, Ints]:
        """Costs and optima of the other programs."""
        return self.costs[self.train :], self.optima[self.train :]

    def save(self, path: Path) -> None:
        """Writes the arrays."""
        np.savez_compressed(
            path,
            seed=self.seed,
            A=self.A,
            b=self.b,
            planted=self.planted,
            costs=self.costs,
            optima=self.optima,
            train=self.train,
        )


def load_instance(path: Path) -> Instance:
    """The instance that `save` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    seed, train = int(found.pop("seed")), int(found.pop("train"))
    return Instance(seed=seed, train=train, **{name: array.astype(np.int64) for name, array in found.items()})


def draw_instance(seed: int, drawing: Drawing | None = None) -> Instance:
    """The instance of a seed."""
    how = drawing or Drawing()
    rng = np.random.default_rng(seed)
    planted = rng.integers(0, 2, how.variables)
    probes = _costs(rng, how.probes, how)
    costs = _costs(rng, how.programs, how)
    A = _rows(rng, how.first, how)
    while True:
        b = _right_sides(A, planted, how.slack)
        rows = LinearInequalities(A.astype(np.float64), -b.astype(np.float64))
        right = 100 * (free_minimum(probes) == _optima(probes, rows)).mean()
        # Where the planted assignment alone is left, more constraints change nothing.
        if right <= paper.BASELINE["bits"] or len(A) >= 4 * how.variables:
            return Instance(seed, A, b, planted, costs, _optima(costs, rows), how.train)
        A = np.concatenate([A, _rows(rng, how.step, how)])


def _rows(rng: np.random.Generator, count: int, how: Drawing) -> Ints:
    found = np.zeros((count, how.variables), dtype=np.int64)
    for row in found:
        where = rng.choice(how.variables, how.looked_at, replace=False)
        size = rng.integers(1, how.largest_coefficient + 1, how.looked_at)
        row[where] = size * rng.choice([-1, 1], how.looked_at)
    return found


def _costs(rng: np.random.Generator, count: int, how: Drawing) -> Ints:
    shape = (count, how.variables)
    return rng.integers(1, how.largest_cost + 1, shape) * rng.choice([-1, 1], shape)


def _right_sides(A: Ints, planted: Ints, slack: float) -> Ints:
    spare: Floats = np.floor(slack * np.sqrt((A**2).sum(1) / 2))
    return A @ planted - spare.astype(np.int64)


def _optima(costs: Ints, rows: LinearInequalities) -> Ints:
    return np.array([optimum(c, rows) for c in costs], dtype=np.int64)
