"""Exact decoding where it is hardest, beside version 0.1.0 in the same run: tokens per CPU second.

| case | labels | n | constraint |
|---|---|---|---|
| 300 labels | 300 | 2 | soft |
| 60 labels | 60 | 3 | soft |
| relaxed | 20 | 4 | hard, such that no labelling satisfies it |
| one long sentence | 20 | 3 | soft, 2,000 words |

Emissions are normal numbers, with 4 added to one label per token; the constraint is a random network of ten
units on contexts of 30 kinds. Both versions decode the same sequences in one process each, the second time
with all windows known; labels and scores must be the same. Compiling is not counted, and is done by another
process before: in one that has just compiled its kernels, version 0.1.0 is up to three times as slow.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time

import numpy as np

CASES = {
    # name: (labels, n, soft weight or None, sequences, length, target)
    "300 labels, n = 2, soft": (300, 2, 1.0, 40, 25, 10.0),
    "60 labels, n = 3, soft": (60, 3, 1.0, 20, 25, 10.0),
    "relaxed, n = 4": (20, 4, None, 12, 25, 10.0),
    "2,000 words, n = 3, soft": (20, 3, 1.0, 1, 2000, 1.0),
}
CONTEXTS = tuple(f"T{i}" for i in range(30))


def measure(name: str) -> dict[str, object]:
    """CPU seconds of the second decoding of a case, and its answers, with the lcons that is imported."""
    from lcons_core import LearnedConstraint, RectifierNetwork
    from lcons_core.features import NgramContext
    from lcons_decode import ChainBatch, ChainConstraints, ChainScores, Hard, Soft, constrained_viterbi_batch

    L, n, weight, count, length, _ = CASES[name]
    rng = np.random.default_rng(17)
    labels = tuple(f"L{i}" for i in range(L))
    feature = NgramContext(labels, CONTEXTS, n)
    W = rng.integers(-16, 17, (10, feature.space.d)) / 16
    # About half of all windows are allowed if soft; hard ones are rarely, so that sentences are relaxed.
    network = RectifierNetwork(W, np.full(10, -0.75 if weight is not None else 1.0))
    constraint = LearnedConstraint(network, feature.space, feature)
    model = (rng.normal(0, 1, (L, L)), rng.normal(0, 1, L), rng.normal(0, 1, L))

    def emission() -> np.ndarray:
        scores = rng.normal(0, 1, (length, L))
        scores[np.arange(length), rng.integers(0, L, length)] += 4
        return scores

    batch = ChainBatch.of([ChainScores(emission(), *model, labels=labels) for _ in range(count)])
    xs = [{"pos": [CONTEXTS[i] for i in rng.integers(0, 30, length)]} for _ in range(count)]
    use = Hard(constraint) if weight is None else Soft(constraint, weight)
    compiled = ChainConstraints.of([use], labels)
    constrained_viterbi_batch(batch, compiled, xs, threads=1)
    begin, wall = time.process_time(), time.perf_counter()
    answers = constrained_viterbi_batch(batch, compiled, xs, threads=1)
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    text = json.dumps([(answer.y, round(answer.score, 6), answer.status.name) for answer in answers])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    statuses = sorted({answer.status.name for answer in answers})
    found = {"tokens": count * length, "seconds": seconds, "wall": wall, "labels": digest}
    return {**found, "statuses": statuses}


def main() -> int:
    from released import run_released
    from timing import report

    met = []
    for name, (*_, target) in CASES.items():
        arguments = [__file__, "--child", name]
        for _ in range(2):  # the first run compiles
            ours = json.loads(
                subprocess.run([sys.executable, *arguments], check=True, capture_output=True).stdout
            )
            theirs = json.loads(run_released(*arguments))
        same = ours["labels"] == theirs["labels"]
        speeds = [run["tokens"] / run["seconds"] for run in (ours, theirs)]
        print(
            f"-- {name}: {speeds[0]:,.0f} tokens per CPU second, 0.1.0 {speeds[1]:,.0f};"
            f" {ours['statuses']}, same answers: {same}"
        )
        met += [same, report(f"{name}, over compiled 0.1.0", speeds[0] / speeds[1], at_least=target)]
        if "words" in name:
            met.append(report(f"{name}, seconds", ours["wall"], at_most=1.0))
    return 0 if all(met) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        sys.exit(main())
