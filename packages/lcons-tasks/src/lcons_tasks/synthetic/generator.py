"""Seeded sets of 0/1 programs that share hidden constraints, with proven optima.

    minimise c . z    subject to  A z >= b,  z in {0, 1}^d          one c a program, A and b shared

Each hidden row looks at 6 of the 50 variables, with integer coefficients from 1 to 10 of either sign, and the
planted point p meets it with a little to spare:

    b_k = a_k . p - floor(slack * sqrt(|a_k|^2 / 2))

sqrt(|a|^2 / 2) is the standard deviation of a . (z - p) over all points. Costs are integers from 1 to 100 of
either sign. Everything is an integer, so feasibility and costs are exact.

The paper says neither how many constraints there are nor how anything is drawn, only how well minimising
without constraints does: 56.8% of the bits are right, and 55.3% of (solution, constraint) pairs hold. `slack`
is set for the second figure. For the first, rows are added until probe costs, which are not used otherwise,
have no more right bits than that. So what is left to learn is as much as in the paper on every seed; nothing
else was chosen. Real constraints look at few decisions too, and with all 50 variables in each row CBC needs
seconds to minutes a program at that baseline instead of hundredths of a second.

Paper: Appendix B. Differs from the paper: how programs are drawn, which it does not say; CBC instead of
Gurobi.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import DamagedFile, InvalidInput, LconsError
from lcons_core.exact import Floats, frozen
from lcons_decode.ilp import Program, Row, Sense, Variable
from lcons_decode.ilp.backend import Found, MipModel
from lcons_tasks.experiment.jobs import Tell
from lcons_tasks.synthetic import paper


@dataclass(frozen=True)
class Recipe:
    """How a set of programs is drawn."""

    variables: int = 50
    programs: int = 100
    training: int = 70
    looked_at: int = 6
    largest_coefficient: int = 10
    largest_cost: int = 100
    slack: float = 0.13
    right_bits: float = paper.BASELINE["bits"]
    first: int = 24
    step: int = 2
    most: int = 200
    probes: int = 30

    def __post_init__(self) -> None:
        if not 1 <= self.looked_at <= self.variables:
            raise InvalidInput(f"rows look at 1 to {self.variables} variables, found {self.looked_at}.")
        if min(self.first, self.step, self.probes, self.largest_coefficient, self.largest_cost) < 1:
            raise InvalidInput("rows, probes, coefficients and costs must be at least 1.")
        if not 1 <= self.training < self.programs:
            raise InvalidInput(
                f"training must be from 1 to programs - 1, found {self.training} of {self.programs}."
            )
        if not self.slack >= 0:
            raise InvalidInput(f"slack must be at least 0, found {self.slack}.")

    def to_dict(self) -> dict[str, Any]:
        """The recipe as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Programs:
    """Costs (N, d) and their proven optima (N, d)."""

    costs: Floats
    optima: Floats

    def __len__(self) -> int:
        return len(self.costs)

    @property
    def values(self) -> Floats:
        """(N,) the proven least costs."""
        values: Floats = (self.costs * self.optima).sum(1)
        return values

    def take(self, rows: slice) -> Programs:
        """Some of the programs."""
        return Programs(frozen(self.costs[rows].copy()), frozen(self.optima[rows].copy()))


@dataclass(frozen=True, eq=False)
class ProgramSet:
    """The hidden rows A (m, d) and b (m,), the planted point, and training and test programs."""

    seed: int
    recipe: Recipe = field(repr=False)
    A: Floats = field(repr=False)
    b: Floats = field(repr=False)
    planted: Floats = field(repr=False)
    train: Programs = field(repr=False)
    test: Programs = field(repr=False)

    def satisfied(self, points: Floats) -> NDArray[np.bool_]:
        """(N, m) whether each point satisfies each hidden row."""
        return np.asarray(points @ self.A.T >= self.b)

    def feasible(self, points: Floats) -> NDArray[np.bool_]:
        """(N,) whether each point satisfies all hidden rows."""
        return np.asarray(self.satisfied(points).all(1))


def generate(seed: int, recipe: Recipe | None = None, tell: Tell | None = None) -> ProgramSet:
    """The set of a seed, every program solved to proven optimality."""
    how = recipe or Recipe()
    say = tell or (lambda share, what: None)
    random = np.random.default_rng(seed)
    planted = random.integers(0, 2, how.variables).astype(np.float64)
    probes, costs = _costs(random, how.probes, how), _costs(random, how.programs, how)
    A = _rows(random, how.first, how)
    while True:
        say(0.0, f"{len(A)} constraints")
        b = A @ planted - np.floor(how.slack * np.sqrt((A**2).sum(1) / 2))
        right = np.mean([(c < 0) == optimum(c, A, b) for c in probes])
        # Where the planted point alone is left, more rows change nothing.
        if 100 * right <= how.right_bits or len(A) >= how.most:
            break
        A = np.concatenate([A, _rows(random, how.step, how)])
    optima = []
    for i, c in enumerate(costs):
        optima.append(optimum(c, A, b))
        say((i + 1) / len(costs), f"program {i + 1} of {len(costs)}")
    return _assembled(seed, how, A, b, planted, costs, np.array(optima))


def _rows(random: np.random.Generator, count: int, how: Recipe) -> Floats:
    """(count, d) rows of few variables."""
    rows = np.zeros((count, how.variables))
    for row in rows:
        where = random.choice(how.variables, how.looked_at, replace=False)
        sizes = random.integers(1, how.largest_coefficient + 1, how.looked_at)
        row[where] = sizes * random.choice([-1, 1], how.looked_at)
    return rows


def _costs(random: np.random.Generator, count: int, how: Recipe) -> Floats:
    """(count, d) integers of either sign, none 0."""
    shape = (count, how.variables)
    sizes = random.integers(1, how.largest_cost + 1, shape)
    return (sizes * random.choice([-1, 1], shape)).astype(np.float64)


def optimum(c: Floats, A: Floats, b: Floats) -> Floats:
    """(d,) a point of least cost, proven by the solver (gap 0) and checked exactly against the rows."""
    variables: dict[Hashable, Variable] = {j: Variable(j, -float(cost)) for j, cost in enumerate(c)}
    rows = tuple(
        Row(
            ("hidden", k),
            tuple((j, float(a[j])) for j in np.flatnonzero(a).tolist()),
            Sense.AT_LEAST,
            float(r),
        )
        for k, (a, r) in enumerate(zip(A, b, strict=True))
    )
    answer = MipModel(Program(variables, {}, rows)).optimise()
    if answer.found is not Found.OPTIMAL:
        raise LconsError(f"a program with a planted solution ended as {answer.found}; draw another seed.")
    point = np.array([float(round(answer.values[j])) for j in range(len(c))])
    if not (A @ point >= b).all():
        raise LconsError("the solver's optimum breaks a hidden row; draw another seed.")
    return point


def save_programs(programs: ProgramSet, path: Path) -> None:
    """Writes a set as arrays."""
    np.savez_compressed(
        path,
        seed=np.int64(programs.seed),
        A=programs.A,
        b=programs.b,
        planted=programs.planted,
        costs=np.concatenate([programs.train.costs, programs.test.costs]),
        optima=np.concatenate([programs.train.optima, programs.test.optima]),
    )


def load_programs(path: Path, recipe: Recipe) -> ProgramSet:
    """Reads a set that `save_programs` wrote for this recipe."""
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = [found[name] for name in ("A", "b", "planted", "costs", "optima")]
            return _assembled(int(found["seed"]), recipe, *arrays)
    except (KeyError, OSError, ValueError) as error:
        raise DamagedFile(f"{str(path)!r} is no set of programs ({error}); generate it again.") from error


def _assembled(
    seed: int, recipe: Recipe, A: Floats, b: Floats, planted: Floats, costs: Floats, optima: Floats
) -> ProgramSet:
    d, m, n = recipe.variables, len(A), recipe.programs
    shapes = [array.shape for array in (A, b, planted, costs, optima)]
    if shapes != [(m, d), (m,), (d,), (n, d), (n, d)]:
        raise InvalidInput(f"the arrays of a set do not fit its recipe, found shapes {shapes}.")
    everything = Programs(costs, optima)
    train, test = everything.take(slice(0, recipe.training)), everything.take(slice(recipe.training, None))
    return ProgramSet(seed, recipe, frozen(A), frozen(b), frozen(planted), train, test)
