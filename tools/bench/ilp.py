"""The form that an integer program chooses by itself, against every other form, on CBC and on HiGHS.

Problems of three kinds, with K = 1, 2, 3, 5, 8, 10, 12 and random dyadic networks:

| kind | psi | constraints |
|---|---|---|
| columns | 20, 50 or 100 free binaries | one, with a planted feasible point |
| chains | windows of 2 labels, or of 3 labels with contexts | one that accepts 60 % of random windows |
| relations | a relation and its source, target or reverse | three that accept 60 % of combinations |

The forms take turns on each problem. A time is CPU time of one thread, with grounding, building the model and
checking the answer, the median of three runs where `auto` takes less than 50 ms; a form has the median over
the problems of a cell (kind, K, solver). In no cell is `auto` above 1.2 times the best of rows, lifted and
cuts. A form is stopped after 3 times the time of `auto` (at least 0.3 s of wall time) and counts as if it had
ended then, which can only make it seem faster than it is; rows are left out where they would be more than
30,000. A cell has 9 problems, or 5 if these take more than 8 s and `auto` was
within 1.2 times the best form of each. All forms that end find the same optimum.

HiGHS against CBC, each with `auto`: the time of all problems of a kind, and on how many both found the same
optimum. Then lifted against rows without a limit, 50 binaries: K = 10 at least 10x, K = 12 at least 40x.

    python tools/bench/ilp.py [--kinds columns,chain] [--units 1,2] [--solvers highs] [--problems 9]
    python tools/bench/ilp.py --no-limit

A selection runs those cells alone: kinds by a part of their name. `--no-limit` runs only the last comparison.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from timing import report

from lcons_core import Instance, LearnedConstraint, RectifierNetwork
from lcons_core._theorem import Form
from lcons_core._types import Floats
from lcons_core.features import NgramContext, NgramLabels, Tuples
from lcons_decode import ChainScores, RelationScores, Status
from lcons_decode.ilp import Program, Variable, solve
from lcons_decode.ilp._decoders import chain_program, ground_relations, relation_program
from lcons_decode.ilp._ground import Grounded, ground_chain, ground_columns
from lcons_decode.ilp._solver import Solver

FORMS = (Form.AUTO, Form.ROWS, Form.LIFTED, Form.CUTS)
BINARIES = 50
UNITS = (1, 2, 3, 5, 8, 10, 12)
MOST_TIMES_BEST = 1.2
MOST_ROWS = 30_000
MOST_SLOWER, LEAST_LIMIT = 3, 0.3
BRIEF, REPEATS = 0.05, 3
FEWEST, LONG = 5, 8.0
LIFTED_AGAINST_ROWS = {10: 10.0, 12: 40.0}
LABELS, TAGS = tuple("ABCDE"), ("DT", "NN", "VB")
ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")

Problem = Callable[[], tuple[Program, list[Grounded]]]


def instance(K: int, seed: int | list[int], d: int = BINARIES) -> tuple[Program, RectifierNetwork]:
    """Free binaries with integer costs, and a network that accepts some of their points."""
    rng = np.random.default_rng(seed)
    W, planted = dyadic(rng.normal(size=(K, d))), rng.integers(0, 2, d).astype(np.float64)
    network = RectifierNetwork(W, 1 / 16 - W @ planted - dyadic(rng.random(K)))
    assert network.accepts(planted)
    program = Program({j: Variable(j, float(cost)) for j, cost in enumerate(rng.integers(-10, 11, d))})
    return program, network


def columns(d: int, K: int, rng: np.random.Generator) -> Problem:
    """Such a program, with its network in it."""
    program, network = instance(K, rng.integers(2**32, size=2).tolist(), d)
    return lambda: (program, [ground_columns(network, range(d))])


def chain(n: int, T: int, K: int, rng: np.random.Generator) -> Problem:
    """A sequence of T labels, and a constraint on its windows; n = 3 also reads the context."""
    feature = NgramLabels(LABELS, n) if n == 2 else NgramContext(LABELS, TAGS, n)
    contexts = [{"pos": rng.choice(TAGS, T).tolist()} for _ in range(40)]
    windows = [feature.psi(Instance(x, rng.choice(LABELS, T).tolist())).dense() for x in contexts]
    constraint = LearnedConstraint(network_on(np.concatenate(windows), K, rng), feature.space, feature)
    emission, transition = dyadic(rng.normal(size=(T, 5))), dyadic(rng.normal(size=(5, 5)))
    scores = ChainScores(emission, transition, labels=LABELS)

    def make() -> tuple[Program, list[Grounded]]:
        program = chain_program(scores)
        return program, [ground_chain(program, constraint, contexts[0])]

    return make


def relations(n: int, K: int, rng: np.random.Generator) -> Problem:
    """n candidates, and constraints on a relation and its source, its target, and the relation back."""
    members = {"source": ENTITIES, "target": ENTITIES, "reverse": RELATIONS}
    constraints = []
    for member, values in members.items():
        feature = Tuples(("relation", member), (RELATIONS, values))
        psi = feature.psi([tuple(pair) for pair in product(*feature.values)]).dense()
        constraints.append(LearnedConstraint(network_on(psi, K, rng), feature.space, feature))
    between = rng.normal(size=(n, n, len(RELATIONS)))
    between[:, :, 0] += 2.0
    scores = RelationScores(
        dyadic(rng.normal(size=(n, len(ENTITIES)))),
        dyadic(between),
        entity_labels=ENTITIES,
        relation_labels=RELATIONS,
    )

    def make() -> tuple[Program, list[Grounded]]:
        program = relation_program(scores)
        return program, [ground_relations(program, n, constraint) for constraint in constraints]

    return make


KINDS: Mapping[str, Callable[[int, np.random.Generator], Problem]] = {
    "columns, d = 20": lambda K, rng: columns(20, K, rng),
    "columns, d = 50": lambda K, rng: columns(BINARIES, K, rng),
    "columns, d = 100": lambda K, rng: columns(100, K, rng),
    "chain, n = 2, T = 12": lambda K, rng: chain(2, 12, K, rng),
    "chain, n = 3, T = 10": lambda K, rng: chain(3, 10, K, rng),
    "relations, 3 candidates": lambda K, rng: relations(3, K, rng),
    "relations, 5 candidates": lambda K, rng: relations(5, K, rng),
}


def dyadic(values: Floats) -> Floats:
    """Multiples of 2^-10, so that all forms are exact."""
    return np.rint(values * 2**10) / 2**10


def network_on(psi: Floats, K: int, rng: np.random.Generator) -> RectifierNetwork:
    """A random network that accepts about 60 % of the psi rows."""
    W, b = rng.normal(size=(K, psi.shape[1])), rng.normal(size=K)
    scale = max(float(np.quantile(np.maximum(psi @ W.T + b, 0.0).sum(1), 0.6)), 2.0**-5)
    return RectifierNetwork(dyadic(W / scale), dyadic(b / scale))


class Run(NamedTuple):
    """CPU seconds of a program, its wall time, and the optimum (NaN if the time limit was reached first)."""

    cpu: float
    wall: float
    optimum: float


def run(problem: Problem, form: Form, solver: Solver, limit: float = 600.0) -> Run:
    """Solves a problem in one form."""
    start, began = time.perf_counter(), time.process_time()
    program, constraints = problem()
    found = solve(program, constraints, form=form, solver=solver, time_limit=limit, explain=False)
    taken, wall = time.process_time() - began, time.perf_counter() - start
    return Run(taken, wall, float("nan") if found.status is Status.TIME_LIMIT else found.score)


def forms_of(problem: Problem) -> Iterator[Form]:
    """`auto`, then every form that is not too large."""
    _, constraints = problem()
    rows = sum(len(grounded.psi_rows) * (2**grounded.network.K - 1) for grounded in constraints)
    yield from (form for form in FORMS if form != Form.ROWS or rows <= MOST_ROWS)


class Cell(NamedTuple):
    """The times of each form on every problem of a cell, and the optima."""

    times: Mapping[Form, list[float]]
    optima: list[float]

    def within(self) -> bool:
        """Whether `auto` is fast enough on each problem by itself."""
        auto = self.times[Form.AUTO]
        others = (pair for own in self.times.values() for pair in zip(auto, own, strict=True))
        return all(a <= MOST_TIMES_BEST * other for a, other in others)

    def report(self, claim: str) -> bool:
        """Whether `auto` is fast enough on the whole."""
        medians = {form: statistics.median(own) for form, own in self.times.items()}
        best = min((form for form in medians if form is not Form.AUTO), key=medians.__getitem__)
        listed = (f"{form} {1e3 * total:.1f}" for form, total in medians.items())
        print(f"{claim}, ms: {', '.join(listed)}")
        ratio = medians[Form.AUTO] / medians[best]
        return report(f"{claim}: auto against {best}", ratio, at_most=MOST_TIMES_BEST)


def measure(kind: str, K: int, solver: Solver, problems: int) -> Cell:
    """The forms in turn on the problems of a cell."""
    start = time.perf_counter()
    times: dict[Form, list[float]] = {}
    optima: list[float] = []
    for seed in range(problems):
        problem = KINDS[kind](K, np.random.default_rng([seed, K]))
        first = run(problem, Form.AUTO, solver)  # also warms caches up
        limit = max(MOST_SLOWER * first.wall, LEAST_LIMIT)
        found = [
            (form, run(problem, form, solver, 600.0 if form is Form.AUTO else limit))
            for _ in range(REPEATS if first.cpu < BRIEF else 1)
            for form in forms_of(problem)
        ]
        ended = {one.optimum for _, one in found if not np.isnan(one.optimum)}
        assert ended == {first.optimum}, f"{kind}, K = {K}, seed {seed}, {solver}: different optima: {ended}"
        optima.append(first.optimum)
        for form in forms_of(problem):
            times.setdefault(form, []).append(statistics.median(one.cpu for own, one in found if own is form))
        cell = Cell(times, optima)
        if seed + 1 >= FEWEST and time.perf_counter() - start > LONG and cell.within():
            break
    return Cell(times, optima)


def lifted_against_rows(instances: int) -> bool:
    """Whether the lifted form is as much faster than rows as stated."""
    met = True
    for K, target in LIFTED_AGAINST_ROWS.items():
        times: dict[Form, list[float]] = {Form.LIFTED: [], Form.ROWS: []}
        for seed in range(instances):
            problem = columns(BINARIES, K, np.random.default_rng(seed))
            for form, own in times.items():
                own.append(run(problem, form, Solver.CBC).cpu)
        ratio = statistics.median(times[Form.ROWS]) / statistics.median(times[Form.LIFTED])
        met &= report(f"K = {K}, lifted against rows", ratio, at_least=target)
    return met


def compare_solvers(cells: Mapping[tuple[str, int, Solver], Cell]) -> None:
    """Prints the time of HiGHS against CBC by kind, over the problems that both solved, and their optima."""
    for kind in dict.fromkeys(kind for kind, _, _ in cells):
        times, same, number = dict.fromkeys(Solver, 0.0), 0, 0
        for K in UNITS:
            both = [cells.get((kind, K, solver)) for solver in Solver]
            if any(cell is None for cell in both):
                continue
            pairs = list(zip(*(cell.optima for cell in both if cell is not None), strict=False))
            same, number = same + sum(a == b for a, b in pairs), number + len(pairs)
            for solver, cell in zip(Solver, both, strict=True):
                times[solver] += sum(cell.times[Form.AUTO][: len(pairs)]) if cell is not None else 0.0
        if number:
            ratio = times[Solver.HIGHS] / times[Solver.CBC]
            print(
                f"{kind}: HiGHS takes {ratio:.2f} times the time of CBC, {same} of {number} optima are equal"
            )


def main() -> int:
    """0 where every target is met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kinds", default="", help="parts of the names of kinds, by commas")
    parser.add_argument("--units", default="", help="numbers of hidden units, by commas")
    parser.add_argument("--solvers", default=",".join(Solver), help="solvers, by commas")
    parser.add_argument("--problems", type=int, default=9, help="the most problems of a cell")
    parser.add_argument("--no-limit", action="store_true", help="only lifted against rows")
    given = parser.parse_args()
    if given.no_limit:
        return 0 if lifted_against_rows(5) else 1
    kinds = [kind for kind in KINDS if any(part in kind for part in given.kinds.split(","))]
    units = [int(K) for K in given.units.split(",")] if given.units else list(UNITS)
    solvers = [Solver(name) for name in given.solvers.split(",")]
    for solver in solvers:
        run(columns(5, 2, np.random.default_rng(0)), Form.LIFTED, solver)  # loads the solver
    met = True
    cells: dict[tuple[str, int, Solver], Cell] = {}
    for kind, K, solver in product(kinds, units, solvers):
        cells[kind, K, solver] = cell = measure(kind, K, solver, given.problems)
        met &= cell.report(f"{kind}, K = {K}, {solver}")
    compare_solvers(cells)
    if given.kinds or given.units:
        return 0 if met else 1
    return 0 if met & lifted_against_rows(5) else 1


if __name__ == "__main__":
    sys.exit(main())
