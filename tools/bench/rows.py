"""Rows and membership, as ratios measured in one run.

- Making the 2^16 - 1 rows of K = 16, d = 50 takes at most 3 times as long as numpy takes to write an array of
  that size (`np.full`). Each is timed once in a fresh interpreter, so that neither writes into memory that
  the allocator has just got back and the system has mapped already; that is luck, and a factor of five.
- Membership of 100,000 points at K = 20 is at least 1,000 times faster by the network than by testing the
  2^20 - 1 rows. The rows are timed on a sample, the first 2^13 - 1 rows (those of the first 13 units) and
  2,000 points, made and tested, and scaled to all rows and points.

Run: .venv/bin/python tools/bench/rows.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys

import numpy as np
from timing import median_seconds, report

from lcons_core import RectifierNetwork, to_inequalities

D = 50
POINTS, SAMPLED_POINTS, SAMPLED_UNITS = 100_000, 2_000, 13
FRESH_REPEATS = 15
MOST_OF_A_WRITE, LEAST_SPEED = 3.0, 1_000.0


def dyadic_network(K: int, rng: np.random.Generator) -> RectifierNetwork:
    """A network with weights like learned ones: multiples of 2^-20."""
    W, b = rng.normal(size=(K, D)), rng.normal(size=K)
    return RectifierNetwork(np.rint(W * 2**20) / 2**20, np.rint(b * 2**20) / 2**20)


def rows_ratio() -> float:
    turns = [(fresh_seconds("rows"), fresh_seconds("write")) for _ in range(FRESH_REPEATS)]
    rows, write = (statistics.median(times) for times in zip(*turns, strict=True))
    print(
        f"K = 16, d = {D}: rows {rows * 1e3:.1f} ms, np.full {write * 1e3:.1f} ms"
        f" (medians of {FRESH_REPEATS} fresh interpreters)"
    )
    return rows / write


def fresh_seconds(what: str) -> float:
    """The time of one run in an interpreter of its own."""
    command = [sys.executable, __file__, what]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run_once(what: str) -> None:
    network = dyadic_network(16, np.random.default_rng(0))
    runs = {
        "rows": lambda: to_inequalities(network),
        "write": lambda: np.full((2**16 - 1, D + 1), 1.0),
    }
    print(median_seconds(runs[what], repeats=1)[0])


def membership_ratio(rng: np.random.Generator) -> float:
    network = dyadic_network(20, rng)
    psi = (rng.random((POINTS, D)) < 0.2).astype(np.float64)
    some = psi[:SAMPLED_POINTS]
    first = RectifierNetwork(network.W[:SAMPLED_UNITS], network.b[:SAMPLED_UNITS])

    def test_rows() -> None:
        to_inequalities(first).holds(some)

    by_network, by_sample = median_seconds(lambda: network.accepts(psi), test_rows, repeats=5)
    sampled_rows = 2**SAMPLED_UNITS - 1
    by_rows = by_sample * (2**20 - 1) / sampled_rows * POINTS / SAMPLED_POINTS
    print(
        f"K = 20, {POINTS:,} points: network {by_network:.3f} s; rows {by_rows:,.0f} s, scaled from"
        f" {by_sample:.2f} s for {sampled_rows:,} rows and {SAMPLED_POINTS:,} points (medians of 5)"
    )
    return by_rows / by_network


def main(arguments: list[str]) -> int:
    if arguments:
        run_once(arguments[0])
        return 0
    rng = np.random.default_rng(0)
    met = [
        report("rows / np.full", rows_ratio(), at_most=MOST_OF_A_WRITE),
        report("rows / network, membership", membership_ratio(rng), at_least=LEAST_SPEED),
    ]
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
