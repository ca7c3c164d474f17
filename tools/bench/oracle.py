"""How often the optimum under a learned constraint is truly feasible, and what helps, on four families.

A hidden feasible set over d 0/1 columns; N random points with labels, half of them feasible; a network that
is learned from these; a linear objective, maximised under the network; the optimum shown to the true oracle.

| family | hidden set | objective |
|---|---|---|
| knapsack | one random row, half of the total weight | weight plus noise |
| knapsacks | three random rows, half of the total weight | mean weight plus noise |
| synthetic | `lcons run synthetic` with twelve rows | either sign |
| quadratic | a budget for points and for pairs of points: not a polytope of few rows | positive |

Columns: feasible, the programs for which the solver found a truly feasible point; gap, how far the best
feasible point is below the true optimum, in percent of it, mean over the programs with such a point; optimal,
the programs with the true optimum; asked, the mean number of questions, which end at the true optimum. When
asking, the best known point of training is the answer until a better one is found. Above each table, the
share of held-out points (half of them feasible) that the network classifies correctly.

    python tools/bench/oracle.py [--learn] [programs] [first seed] [family ...]

Questions are found by enumeration instead of the solver, which has the same answers and takes longer.
`--learn` also learns a new network after every 20 questions. Seeds from 1000 are those of
docs/how-to/optimisers.md; other seeds were used to choose the settings.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from lcons_core import (
    ConstraintLearner,
    LinearEquations,
    LinearInequalities,
    Network,
    RectifierNetwork,
    TrustRegion,
    equality_hull,
    outer_polytope,
)
from lcons_decode import Status
from lcons_decode.ilp import (
    Program,
    Variable,
    ground_columns,
    solve,
    with_region,
    with_rows,
)
from lcons_decode.ilp._oracle import _Search
from lcons_tasks.experiments.synthetic._corpus import ProgramFamily, draw

POINTS = 4000
RADIUS = 2
NEAREST = 30  # known feasible points of the trust region: the best ones
OPTIMA = 20  # known optima of other objectives
QUESTIONS = 100

Array = np.ndarray[Any, np.dtype[np.float64]]
Feasible = Callable[[Array], Any]


@dataclass(frozen=True)
class Hidden:
    """Whether points (N, d) are feasible, and random objectives."""

    d: int
    feasible: Feasible
    objective: Callable[[np.random.Generator], Array]

    @cached_property
    def points(self) -> Array:
        """All feasible points."""
        return cube(self.d)[self.feasible(cube(self.d))]

    def optimum(self, c: Array) -> Array:
        """The true optimum."""
        return self.points[int((self.points @ c).argmax())]


@cache
def cube(d: int) -> Array:
    """All 0/1 points."""
    return ((np.arange(2**d)[:, None] >> np.arange(d)) & 1).astype(np.float64)


class Enumeration(_Search):
    """The search of `optimise_with_oracle` with enumeration in place of the solver."""

    def candidate(self, network: Network) -> tuple[Array | None, Status]:
        """The best point that the network accepts, that is better than the best one and not rejected."""
        points = self.better
        points = points[points @ self.c > self.value()]
        for first in range(0, len(points), 1000):
            for i in np.flatnonzero(network.accepts(points[first : first + 1000])):
                if self.known.get(points[first + i].tobytes()) is not False:
                    return points[first + i], Status.OPTIMAL
        return None, Status.INFEASIBLE

    @cached_property
    def better(self) -> Array:
        """The points that are better than the best known one of training, the best first."""
        values = cube(len(self.c)) @ self.c
        order = np.argsort(-values, kind="stable")
        return cube(len(self.c))[order[: int((values > self.value()).sum())]]


def knapsack(rng: np.random.Generator, d: int = 20, m: int = 1) -> Hidden:
    """m rows with half of the total weight."""
    A = rng.integers(1, 1001, (m, d)).astype(np.float64)
    b = np.floor(A.sum(1) / 2)
    return Hidden(
        d,
        lambda x: (x @ A.T <= b).all(-1),
        lambda rng: np.floor(A.mean(0) + rng.integers(1, 501, d)),
    )


def synthetic(rng: np.random.Generator, d: int = 20) -> Hidden:
    """The hidden rows of `lcons run synthetic`, fewer and with more slack."""
    family = ProgramFamily(d, 2, 1, constraints=12, strictness=1.0, slack=0.9)
    A, b, _, _ = draw(int(rng.integers(2**31)), family)
    return Hidden(
        d,
        lambda x: (x @ A.T >= b).all(-1),
        lambda rng: rng.integers(1, 1001, d) * rng.choice([-1.0, 1.0], d),
    )


def quadratic(rng: np.random.Generator, d: int = 18) -> Hidden:
    """A budget for points and pairs, which two in five random points keep."""
    Q = np.triu(rng.integers(1, 101, (d, d)) * (rng.random((d, d)) < 0.4), 1) + np.diag(
        rng.integers(1, 101, d)
    )
    budget = np.quantile([x @ Q @ x for x in rng.integers(0, 2, (10_000, d))], 0.4)
    return Hidden(
        d,
        lambda x: ((x @ Q) * x).sum(-1) <= budget,
        lambda rng: rng.integers(1, 101, d).astype(np.float64),
    )


FAMILIES: dict[str, Callable[[np.random.Generator], Hidden]] = {
    "knapsack": knapsack,
    "knapsacks": lambda rng: knapsack(rng, m=3),
    "synthetic": synthetic,
    "quadratic": quadratic,
}


def labelled(hidden: Hidden, rng: np.random.Generator, N: int) -> tuple[Array, Any]:
    """N random points, half of them feasible, and their labels."""
    found: dict[bool, list[Array]] = {True: [], False: []}
    while min(sum(map(len, some)) for some in found.values()) < N // 2:
        points = rng.integers(0, 2, (50_000, hidden.d)).astype(np.float64)
        valid = hidden.feasible(points)
        for label in found:
            found[label].append(points[valid == label])
    points = np.concatenate([np.concatenate(found[label])[: N // 2] for label in (True, False)])
    return points, np.arange(len(points)) < N // 2


def best(
    c: Array, network: Network, *within: LinearInequalities | LinearEquations | TrustRegion
) -> Array | None:
    """The optimum under the network and within the sets; None if there is no such point."""
    columns = list(range(len(c)))
    program = Program({j: Variable(j, float(c[j])) for j in columns})
    for i, one in enumerate(within):
        if isinstance(one, TrustRegion):
            program = with_region(program, one, columns, f"within {i}")
        else:
            program = with_rows(program, one, columns, f"within {i}")
    found = solve(program, [ground_columns(network, columns)], solver="highs", explain=False)
    return np.array([found.values[j] for j in columns]) if found.values else None


def run(name: str, seed: int, learning: bool) -> dict[str, tuple[float, float, int]]:
    """Per row of the table: feasible, gap and number of questions."""
    rng = np.random.default_rng(seed)
    hidden = FAMILIES[name](rng)
    c = hidden.objective(rng)
    X, y = labelled(hidden, rng, POINTS)
    held = labelled(hidden, rng, POINTS)
    top = float(c @ hidden.optimum(c))

    def told(point: Array | None, asked: int) -> tuple[float, float, int]:
        if point is None or not hidden.feasible(point):
            return 0.0, np.nan, asked
        return 1.0, 100 * (top - float(c @ point)) / abs(top), asked

    def learn(points: Array, answers: Any) -> RectifierNetwork:
        weight = np.append(np.ones(len(X)), np.full(len(points), 10.0))
        all_points, all_answers = np.concatenate([X, points]), np.append(y, answers)
        return ConstraintLearner(restarts=2).fit(all_points, all_answers, weight).network_

    learner = ConstraintLearner(restarts=2).fit(X, y)
    network = learner.network_
    known = X[y][np.argsort(-(X[y] @ c), kind="stable")]
    others = np.array([hidden.objective(rng) for _ in range(OPTIMA)])
    optima = np.array([hidden.optimum(other) for other in others])
    outer = outer_polytope(others, optima)
    hull = equality_hull(np.concatenate([X[y], optima]))
    print(f"  {name} {seed}: {len(hull)} equations; right: {100 * learner.score(*held):.1f} %", flush=True)
    rows = {
        "the best known point": told(known[0], 0),
        "optimum under the network": told(best(c, network), 0),
        f"and within {RADIUS} of a known point": told(
            best(c, network, TrustRegion(known[:NEAREST], RADIUS)), 0
        ),
        f"and the outer polytope of {OPTIMA} optima": told(best(c, network, outer, hull), 0),
    }
    for title, how in {
        "and asking": None,
        **({"and asking and learning": learn} if learning else {}),
    }.items():
        search = Enumeration(c, (), None, "cbc", None)
        search.remember(X, y)
        found = search.run(network, hidden.feasible, QUESTIONS, top, how, 20, 1.0)
        for most in (10, 30, 100):
            good = [one.point for one in found.questions[:most] if one.feasible]
            _, gap, asked = told([known[0], *good][-1], min(most, len(found.questions)))
            rows[f"{title}, {most} questions"] = (float(len(good) > 0), gap, asked)
    rows["right"] = (learner.score(*held), 0.0, 0)
    return rows


def main() -> int:
    """Prints one table per family."""
    words = [word for word in sys.argv[1:] if word != "--learn"]
    programs = int(words[0]) if words else 12
    first = int(words[1]) if len(words) > 1 else 1000
    for name in words[2:] or FAMILIES:
        found = [run(name, seed, "--learn" in sys.argv) for seed in range(first, first + programs)]
        right = 100 * np.mean([one["right"][0] for one in found])
        print(f"\n{name}: {programs} programs, {right:.1f} % of held-out points right\n")
        print("| | feasible | gap (%) | optimal | asked |\n|---|---|---|---|---|")
        for title in found[0]:
            if title == "right":
                continue
            good, gap, asked = np.array([one[title] for one in found], dtype=np.float64).T
            mean = f"{np.nanmean(gap):.2f}" if good.any() else "-"
            print(f"| {title} | {good.sum():.0f} | {mean} | {(gap < 1e-9).sum()} | {asked.mean():.0f} |")
        print(flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
