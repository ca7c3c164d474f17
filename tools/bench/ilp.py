"""The form that an integer program chooses by itself, against every other form, on CBC and on HiGHS.

Problems of three kinds, with K = 1, 2, 3, 5, 8, 10, 12 and random dyadic networks:

| kind | psi | constraints |
|---|---|---|
| columns | 20, 50 or 100 free binaries | one, with a planted feasible point |
| chains | windows of 2 labels, or of 3 labels with contexts | one that accepts 60 % of random windows |
| relations | a relation and its source, target or reverse | three that accept 60 % of combinations |

The forms take turns on each problem. A time is CPU time of one thread, with grounding, building the model and
checking the answer; a form has the median over the problems of a cell (kind, K, solver). In no cell
is `auto` above 1.2 times the best of rows, simplified, lifted and cuts. A form is stopped after 10
times the time of `auto` (at least 1 s of wall time) and then counts as 5 times as slow; rows and simplified
are left out where they would be more than 30,000 rows. All forms that end find the same optimum.

Then lifted against rows without a limit, 50 binaries: K = 10 at least 10x, K = 12 at least 40x.

    python tools/bench/ilp.py [problems of each cell] [repeats] [a part of the name of a kind]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
from timing import report

from lcons_core import Floats, Instance, LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramContext, NgramLabels, Tuples
from lcons_decode import ChainScores, RelationScores, Status
from lcons_decode.ilp import (
    Form,
    Grounded,
    Program,
    Solver,
    Variable,
    chain_program,
    ground_chain,
    ground_columns,
    ground_relations,
    relation_program,
    solve,
)

BINARIES = 50
UNITS = (1, 2, 3, 5, 8, 10, 12)
MOST_TIMES_BEST = 1.2
MOST_ROWS = 30_000
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


def seconds(problem: Problem, form: Form, solver: Solver, limit: float = 600.0) -> tuple[float, float]:
    """CPU time to the optimum, and the optimum (NaN if the time limit was reached first)."""
    start = time.process_time()
    program, constraints = problem()
    found = solve(program, constraints, form=form, solver=solver, time_limit=limit, explain=False)
    taken = time.process_time() - start
    return taken, float("nan") if found.status is Status.TIME_LIMIT else found.score


def forms_of(problem: Problem) -> Iterator[Form]:
    """`auto`, then every form that is not too large."""
    _, constraints = problem()
    rows = sum(len(grounded.psi_rows) * (2**grounded.network.K - 1) for grounded in constraints)
    for form in Form:
        if form not in (Form.ROWS, Form.SIMPLIFIED) or rows <= MOST_ROWS:
            yield form


def cell(kind: str, K: int, solver: Solver, problems: int, repeats: int) -> tuple[bool, float]:
    """Whether `auto` is fast enough, and its time."""
    by_form: dict[Form, list[float]] = {}
    for seed in range(problems):
        problem = KINDS[kind](K, np.random.default_rng([seed, K]))
        forms = list(forms_of(problem))
        times: dict[Form, list[float]] = {form: [] for form in forms}
        optima, limit = set(), 1.0
        seconds(problem, Form.AUTO, solver)  # warms caches up
        for _ in range(repeats):
            for form in forms:
                start = time.perf_counter()
                taken, optimum = seconds(problem, form, solver, 600.0 if form is Form.AUTO else limit)
                if form is Form.AUTO:
                    limit = max(10 * (time.perf_counter() - start), 1.0)
                stopped = np.isnan(optimum)
                times[form].append(max(taken, 5 * times[Form.AUTO][-1]) if stopped else taken)
                optima |= set() if stopped else {optimum}
        assert len(optima) == 1, f"{kind}, K = {K}, seed {seed}, {solver}: the forms disagree: {optima}"
        for form, own in times.items():
            by_form.setdefault(form, []).append(statistics.median(own))
    medians = {form: statistics.median(own) for form, own in by_form.items()}
    best = min((form for form in medians if form is not Form.AUTO), key=medians.__getitem__)
    shown = ", ".join(f"{form} {1e3 * total:.1f}" for form, total in medians.items())
    print(f"{kind}, K = {K}, {solver}, ms: {shown}")
    claim = f"{kind}, K = {K}, {solver}: auto against {best}"
    fast = report(claim, medians[Form.AUTO] / medians[best], at_most=MOST_TIMES_BEST)
    return fast, sum(by_form[Form.AUTO])


def lifted_against_rows(instances: int) -> bool:
    """Whether the lifted form is as much faster than rows as stated."""
    met = True
    for K, target in LIFTED_AGAINST_ROWS.items():
        times: dict[Form, list[float]] = {Form.LIFTED: [], Form.ROWS: []}
        for seed in range(instances):
            problem = columns(BINARIES, K, np.random.default_rng(seed))
            for form, own in times.items():
                own.append(seconds(problem, form, Solver.CBC)[0])
        ratio = statistics.median(times[Form.ROWS]) / statistics.median(times[Form.LIFTED])
        met &= report(f"K = {K}, lifted against rows", ratio, at_least=target)
    return met


def main() -> int:
    """0 where every target is met."""
    problems = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    met = True
    by_solver: dict[tuple[str, Solver], float] = {}
    for solver in Solver:
        seconds(columns(5, 2, np.random.default_rng(0)), Form.LIFTED, solver)  # loads the solver
    for kind, K, solver in product(KINDS, UNITS, Solver):
        if only in kind:
            fast, taken = cell(kind, K, solver, problems, repeats)
            met &= fast
            by_solver[kind, solver] = by_solver.get((kind, solver), 0.0) + taken
    for kind in dict.fromkeys(kind for kind, _ in by_solver):
        ratio = by_solver[kind, Solver.HIGHS] / by_solver[kind, Solver.CBC]
        print(f"{kind}, auto over all K: HiGHS takes {ratio:.2f} times the time of CBC")
    return 0 if met & (bool(only) or lifted_against_rows(5)) else 1


if __name__ == "__main__":
    sys.exit(main())
