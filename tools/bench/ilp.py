"""Forms of a constraint in integer programs: the one chosen by itself, and lifted against rows.

Problems with random dyadic networks, five of each kind and K:

| kind | psi | constraints |
|---|---|---|
| chain | windows of 2 labels, T = 12 | one that accepts 60 % of random windows |
| relations | a relation and its source, target or reverse | three that accept 60 % of combinations |
| binaries | 50 free binaries, by `add_to` and python-mip | one, with a planted feasible point |

A time is CPU time with building the model and checking the answer. Of chains and relations, the form `auto`
takes at most 1.2 times the median time of the best of rows, lifted and cuts. Of binaries, lifted is at least
10 times as fast as rows with K = 10, and 40 times with K = 12. All forms find the same optimum.

Run: ./tools/venv python tools/bench/ilp.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import mip
import numpy as np
from timing import report

from lcons_core import LearnedConstraint, RectifierNetwork, add_to
from lcons_core.features import NgramLabels, Tuples
from lcons_decode import ChainScores, RelationScores
from lcons_decode.ilp import decode_ilp
from lcons_decode.ilp._decoders import decode_relations_ilp

BINARIES, PROBLEMS = 50, 5
UNITS = (2, 5, 10)
MOST_TIMES_BEST = 1.2
LIFTED_AGAINST_ROWS = {10: 10.0, 12: 40.0}
LABELS = tuple("ABCDE")
ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")

Array = np.ndarray[Any, Any]
# From a form to the optimum.
Problem = Callable[[str], float]


def dyadic(values: Array) -> Array:
    """Multiples of 2^-10, so that all forms are exact."""
    return np.rint(values * 2**10) / 2**10


def network_on(psi: Array, K: int, rng: np.random.Generator) -> RectifierNetwork:
    """A random network that accepts about 60 % of the psi rows."""
    W, b = rng.normal(size=(K, psi.shape[1])), rng.normal(size=K)
    scale = max(float(np.quantile(np.maximum(psi @ W.T + b, 0.0).sum(1), 0.6)), 2.0**-5)
    return RectifierNetwork(dyadic(W / scale), dyadic(b / scale))


def instance(K: int, seed: int) -> tuple[RectifierNetwork, Array]:
    """A network that accepts some points of free binaries, and integer gains."""
    rng = np.random.default_rng(seed)
    W, planted = dyadic(rng.normal(size=(K, BINARIES))), rng.integers(0, 2, BINARIES).astype(np.float64)
    network = RectifierNetwork(W, 1 / 16 - W @ planted - dyadic(rng.random(K)))
    return network, rng.integers(-10, 11, BINARIES).astype(np.float64)


def binaries(K: int, seed: int) -> Problem:
    network, gains = instance(K, seed)

    def solve(form: str) -> float:
        model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
        model.verbose, model.threads = 0, 1
        x = [model.add_var(var_type=mip.BINARY) for _ in range(BINARIES)]
        model.objective = mip.xsum(gain * one for gain, one in zip(gains, x, strict=True))
        added = add_to(model, network, x, form=form)
        model.optimize()
        assert added.check()
        return float(model.objective_value)

    return solve


def chain(K: int, seed: int) -> Problem:
    rng, feature = np.random.default_rng(seed), NgramLabels(LABELS, 2)
    windows = np.concatenate([feature.psi(rng.choice(LABELS, 12).tolist()).dense() for _ in range(40)])
    constraint = LearnedConstraint(network_on(windows, K, rng), feature.space, feature)
    emission, transition = dyadic(rng.normal(size=(12, 5))), dyadic(rng.normal(size=(5, 5)))
    scores = ChainScores(emission, transition, labels=LABELS)
    return lambda form: decode_ilp(scores, [constraint], form=form).score


def relations(K: int, seed: int) -> Problem:
    rng, constraints = np.random.default_rng(seed), []
    for member, values in {"source": ENTITIES, "target": ENTITIES, "reverse": RELATIONS}.items():
        feature = Tuples(("relation", member), (RELATIONS, values))
        psi = feature.psi([tuple(pair) for pair in product(*feature.values)]).dense()
        constraints.append(LearnedConstraint(network_on(psi, K, rng), feature.space, feature))
    entities, between = dyadic(rng.normal(size=(4, 4))), dyadic(rng.normal(size=(4, 4, 6)))
    scores = RelationScores(entities, between, entity_labels=ENTITIES, relation_labels=RELATIONS)
    return lambda form: decode_relations_ilp(scores, constraints, form=form).score


def medians(make: Callable[[int, int], Problem], K: int, forms: tuple[str, ...]) -> dict[str, float]:
    """The median CPU seconds of each form; the forms take turns on every problem."""
    times: dict[str, list[float]] = {form: [] for form in forms}
    for seed in range(PROBLEMS):
        solve, optima = make(K, seed), []
        for form, taken in times.items():
            begin = time.process_time()
            optima.append(solve(form))
            taken.append(time.process_time() - begin)
        assert np.ptp(optima) < 1e-6, f"K = {K}, seed {seed}: different optima: {optima}"
    return {form: statistics.median(taken) for form, taken in times.items()}


def main() -> int:
    chain(2, 0)("lifted")  # loads the solver
    met = []
    for make, K in product((chain, relations), UNITS):
        auto, *others = medians(make, K, ("auto", "rows", "lifted", "cuts")).values()
        claim = f"{make.__name__}, K = {K}: auto against the best form"
        met.append(report(claim, auto / min(others), at_most=MOST_TIMES_BEST))
    for K, target in LIFTED_AGAINST_ROWS.items():
        lifted, rows = medians(binaries, K, ("lifted", "rows")).values()
        met.append(report(f"binaries, K = {K}: lifted against rows", rows / lifted, at_least=target))
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
