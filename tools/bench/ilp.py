"""The lifted form against the rows of Theorem 1 in an integer program, on CBC, to the same optimum.

50 binaries, random integer costs, a random dyadic network with a planted feasible point: K = 10 at least
10x, K = 12 at least 40x. Times include grounding, building the model and checking the answer. Cuts are
reported beside them.

    python tools/bench/ilp.py [instances]
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from timing import report

from lcons_core._network import RectifierNetwork
from lcons_decode.ilp import Form, Program, Variable, ground_columns, solve

BINARIES = 50
TARGETS = {10: 10.0, 12: 40.0}


def instance(K: int, seed: int) -> tuple[Program, RectifierNetwork]:
    """A program and a network that accepts some of its points."""
    rng = np.random.default_rng(seed)
    W = np.rint(rng.normal(size=(K, BINARIES)) * 2**10) / 2**10
    planted = rng.integers(0, 2, BINARIES).astype(np.float64)
    b = 1 / 16 - W @ planted - np.rint(rng.random(K) * 2**10) / 2**10
    network = RectifierNetwork(W, b)
    assert network.accepts(planted)
    costs = rng.integers(-10, 11, BINARIES)
    return Program({j: Variable(j, float(-cost)) for j, cost in enumerate(costs)}), network


def seconds_and_score(program: Program, network: RectifierNetwork, form: Form) -> tuple[float, float]:
    """The time to the optimum, and the optimum."""
    start = time.perf_counter()
    found = solve(program, [ground_columns(network, range(BINARIES))], form=form)
    return time.perf_counter() - start, found.score


def main() -> int:
    """0 where both targets are met."""
    instances = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    seconds_and_score(*instance(2, 0), Form.LIFTED)  # loads the solver
    met = True
    for K, target in TARGETS.items():
        times: dict[Form, list[float]] = {form: [] for form in Form}
        for seed in range(instances):
            program, network = instance(K, seed)
            scores = set()
            for form in Form:
                taken, score = seconds_and_score(program, network, form)
                times[form].append(taken)
                scores.add(score)
            assert len(scores) == 1, f"the forms disagree at K = {K}, seed {seed}: {scores}"
        medians = {form: statistics.median(taken) for form, taken in times.items()}
        print(f"K = {K}: " + ", ".join(f"{form} {median:.3f} s" for form, median in medians.items()))
        ratio = medians[Form.ROWS] / medians[Form.LIFTED]
        met &= report(f"K = {K}, lifted against rows", ratio, at_least=target)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
