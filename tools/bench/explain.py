"""Explaining: POS n-gram sized constraints, as ratios to one membership pass over the negatives.

A planted network of K = 10 on n blocks of 45 tags (and OTHER) and n of 22 labels: each unit forbids pairs
of label sets, and small weights on a third of the other columns blur it, as learning does. 100,000 points
are drawn; those that the network rejects are the negatives. The domain has 10^9 (n = 3) and 10^12 (n = 4)
points, so every rule is proved by a row.

- ratio: CPU time of `explain` against that of `network.accepts(negatives)`, medians of several runs.
- coverage: the share of the negatives in the 20 rules shown and in all found.

Run: .venv/bin/python tools/bench/explain.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, SparsePsi, explain
from lcons_core._psi import PsiRows
from lcons_core.features import NgramContext

TAGS, LABELS, K = 45, 22, 10
POINTS, RUNS, LIMIT = 100_000, 3, 20
MOST_SECONDS = 5.0


@dataclass(frozen=True)
class Drawn:
    """Labelled examples, as far as `explain` reads them."""

    positives: PsiRows
    negatives: PsiRows


def planted(space: FeatureSpace, seed: int) -> RectifierNetwork:
    """Units that forbid three labels of one block with three of another, blurred."""
    draw = np.random.default_rng(seed)
    blur = draw.normal(0, 0.1, (K, space.d)) * (draw.random((K, space.d)) < 0.3)
    W = np.round(blur * 64) / 64
    labels = [block.name for block in space.blocks if block.name.startswith("label")]
    for k in range(K):
        for name in draw.choice(labels, 2, replace=False):
            for value in draw.choice(space.block(name).values, 3, replace=False):
                W[k, space.column(name, value)] += 3.0
    return RectifierNetwork(W, np.full(K, -3.0))


def drawn(network: RectifierNetwork, space: FeatureSpace, seed: int) -> Drawn:
    """Uniform points, by the network's verdict."""
    draw = np.random.default_rng(seed)
    points = np.stack([draw.integers(0, len(axis), POINTS) for axis in space.axes], axis=1)
    accepted = network.verdicts(space, points)
    psi = (SparsePsi.from_dense(space.vectors(points[accepted == side])) for side in (True, False))
    return Drawn(*map(PsiRows.of, psi))


def seconds(work: Callable[[], object]) -> float:
    """The median CPU time of a few runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> int:
    tags, labels = (f"T{i}" for i in range(TAGS)), (f"L{i}" for i in range(LABELS))
    wide = NgramContext(tuple(labels), tuple(tags), n=1)
    slow = False
    for n in (3, 4):
        feature = NgramContext(wide.labels, wide.contexts, n=n)
        network = planted(feature.space, 0)
        constraint = LearnedConstraint(network, feature.space, feature)
        examples = drawn(network, feature.space, 1)
        explanation = explain(constraint, examples, limit=LIMIT)
        whole = seconds(lambda c=constraint, e=examples: explain(c, e, limit=LIMIT))  # type: ignore[misc]
        one = seconds(lambda w=network, e=examples: w.accepts(e.negatives.psi))  # type: ignore[misc]
        coverage = explanation.coverage
        shown, found = coverage.shown / coverage.total, coverage.found / coverage.total
        print(
            f"n = {n}: explain {whole:.2f} s, accepts({len(examples.negatives):,} negatives) {one:.3f} s,"
            f" ratio {whole / one:.0f}; {len(explanation):,} rules cover {found:.1%} of the negatives,"
            f" the first {LIMIT} {shown:.1%}"
        )
        slow |= whole > MOST_SECONDS
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
