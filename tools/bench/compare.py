"""Comparing on 10^7 points: enumeration by head and tail sums against testing the same psi as vectors.

Two networks of K = 10 on 10^7 points (7 one-hot blocks of 10 values). The straightforward way makes psi
chunk by chunk and asks `network.accepts`; it is timed on a sample of 2^18 points and scaled.

Run: .venv/bin/python tools/bench/compare.py
"""

from __future__ import annotations

import sys

import numpy as np
from timing import median_seconds, report

from lcons_core import FeatureSpace, RectifierNetwork, compare, one_hot

K, SAMPLE, CHUNK = 10, 2**18, 2**14
LEAST_SPEED = 10.0


def main() -> int:
    space = FeatureSpace([one_hot(f"label {i}", [str(v) for v in range(10)]) for i in range(7)])
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(K, space.d)), rng.normal(size=K) - 3.0
    a = RectifierNetwork(np.rint(W * 2**20) / 2**20, np.rint(b * 2**20) / 2**20)
    other = RectifierNetwork(a.W, a.b + 2.0**-20)

    def as_vectors() -> int:
        different = 0
        for first in range(0, SAMPLE, CHUNK):
            psi = space.vectors(space.unravelled(np.arange(first, first + CHUNK)))
            different += int((a.accepts(psi) != other.accepts(psi)).sum())
        return different

    enumerated, sampled = median_seconds(lambda: compare(a, other, space), as_vectors, repeats=3)
    plain = sampled * space.size / SAMPLE
    print(compare(a, other, space, witnesses=1))
    print(f"{space.size:,} points, K = {K}: compare {enumerated:.2f} s, as vectors {plain:.1f} s (scaled)")
    return int(not report("vectors / compare", plain / enumerated, at_least=LEAST_SPEED))


if __name__ == "__main__":
    sys.exit(main())
