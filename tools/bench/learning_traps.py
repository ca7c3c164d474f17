"""Learning from other people's tables: scales and offsets, many columns, and wrong labels.

scales: 1,000 real vectors of 8 columns labelled by a random network, held-out accuracy on 4,000 others, as
    they are and with other scales and offsets. Fails if any of them costs more than 0.02.
few: 10,000 examples of 1,000 columns (sparse 0/1, dense 0/1, real with 10 % wrong labels), held-out accuracy
    on 10,000 others beside LinearSVC and lcons without a penalty. Fails below LinearSVC - 0.01.
noise: 5,000 vectors of 20 binary columns labelled by a random network of 3 units, of which 10 % are then
    labelled wrongly; reported is the share of all 2^20 points on which the learned network is wrong, for K =
    4, 10 and auto. Fails if robust=True is not at most 1 % in 9 of 10 seeds for each, or if it changes
    anything without noise.

Run: .venv/bin/python tools/bench/learning_traps.py [scales few noise] [--seeds 10]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from lcons_core import ConstraintLearner, FitWarning, RectifierNetwork

Array = NDArray[np.float64]
MOST_WRONG, ENOUGH = 0.01, 0.9
COLUMNS = 20
EXAMPLES = 5000


def moved(draw: np.random.Generator, Z: Array) -> Iterator[tuple[str, Array]]:
    """The same vectors with other scales and offsets."""
    scales = 10.0 ** draw.uniform(-3, 3, Z.shape[1])
    yield "scales from 0.001 to 1000", Z * scales
    yield "the same with offsets", (Z + draw.normal(size=Z.shape[1]) * 5) * scales
    yield "offset 1e5", Z + 1e5
    yield "offset 1e9", Z + 1e9
    yield "scale 1e7", Z * 1e7
    yield "scale 1e-7", Z * 1e-7
    yield "whole numbers near 2000", np.rint(Z * 8 + 2000)
    yield "one outlier", np.concatenate((np.full((1, Z.shape[1]), 1e9), Z[1:]))


def measure_scales(seeds: int) -> bool:
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        Z = draw.normal(size=(5000, 8))
        load = np.maximum(Z @ draw.normal(size=(8, 3)) - 0.3, 0).sum(1)
        y = load <= np.median(load)
        for name, X in [("standard normal", Z), *moved(draw, Z)]:
            learner = ConstraintLearner(10, seed=seed).fit(X[:1000], y[:1000])
            found.setdefault(name, []).append(learner.score(X[1000:], y[1000:]))
    means = {name: float(np.mean(scores)) for name, scores in found.items()}
    least = means["standard normal"] - 0.02
    for name, mean in means.items():
        print(f"{'ok  ' if mean >= least else 'FAIL'} scales: {name}: held-out accuracy {mean:.3f}")
    return all(mean >= least for mean in means.values())


def wide(kind: str, seed: int) -> tuple[Array, NDArray[np.bool_]]:
    """20,000 vectors of 1,000 columns and their labels."""
    draw = np.random.default_rng(seed)
    shape = (20000, 1000)
    if kind == "real, 10 % wrong":
        X = draw.normal(size=shape)
        return X, (X @ draw.normal(size=shape[1]) > 0) ^ (draw.random(shape[0]) < 0.1)
    ones = 0.02 if kind == "sparse 0/1" else 0.5
    X = (draw.random(shape) < ones).astype(np.float64)
    load = np.maximum((X - (ones if ones == 0.5 else 0.0)) @ draw.normal(size=(shape[1], 3)), 0).sum(1)
    return X, load <= np.median(load)


def measure_few(_: int) -> bool:
    met = True
    for kind in ("sparse 0/1", "dense 0/1", "real, 10 % wrong"):
        X, y = wide(kind, 0)
        half = len(X) // 2
        peer = LinearSVC(dual=False).fit(X[:half], y[:half]).score(X[half:], y[half:])
        figures = []
        for penalty in (0.0, "auto"):
            start = time.perf_counter()
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always", FitWarning)
                learner = ConstraintLearner(10, penalty=penalty).fit(X[:half], y[:half])
            figures.append(learner.score(X[half:], y[half:]))
            print(
                f"     few: {kind}, penalty {penalty}: {learner.configuration_}, training"
                f" {learner.score(X[:half], y[:half]):.3f}, held-out {figures[-1]:.3f}, estimated"
                f" {learner.held_out_accuracy_}, {time.perf_counter() - start:.0f} s, warnings:"
                f" {[str(one.message) for one in heard]}",
                flush=True,
            )
        good = figures[1] >= peer - 0.01
        met &= good
        print(
            f"{'ok  ' if good else 'FAIL'} few: {kind}: held-out {figures[1]:.3f} by default,"
            f" {figures[0]:.3f} without penalty, LinearSVC {peer:.3f}",
            flush=True,
        )
    return met


def teacher(draw: np.random.Generator) -> RectifierNetwork:
    """A network of 3 units with small whole weights that accepts 30 to 70 % of all points."""
    while True:
        W = draw.integers(-2, 3, (3, COLUMNS)) * (draw.random((3, COLUMNS)) < 0.4)
        network = RectifierNetwork(W, draw.integers(-3, 3, 3))
        if 0.3 < network.accepts((draw.random((4000, COLUMNS)) < 0.5).astype(float)).mean() < 0.7:
            return network


def share_wrong(one: RectifierNetwork, other: RectifierNetwork) -> float:
    """The share of all 2^20 points on which two networks differ."""
    differing = 0
    for first in range(0, 2**COLUMNS, 2**17):
        points = np.arange(first, first + 2**17)[:, None] >> np.arange(COLUMNS) & 1
        differing += int((one.accepts(points) != other.accepts(points)).sum())
    return differing / 2**COLUMNS


def measure_noise(seeds: int) -> bool:
    wrong: dict[tuple[object, str], list[float]] = {}
    same = True
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        right = teacher(draw)
        X = (draw.random((EXAMPLES, COLUMNS)) < 0.5).astype(float)
        y = right.accepts(X)
        noisy = y ^ (draw.random(EXAMPLES) < 0.1)
        for K in (4, 10, "auto"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitWarning)
                plain, robust = (
                    ConstraintLearner(K, seed=seed, robust=way).fit(X, noisy) for way in (False, True)
                )
                clean, also = (ConstraintLearner(K, seed=seed, robust=way).fit(X, y) for way in (False, True))
            same &= share_wrong(clean.network_, also.network_) == 0
            for name, learner in (("plain", plain), ("robust", robust), ("no noise", clean)):
                wrong.setdefault((K, name), []).append(share_wrong(right, learner.network_))
            print(
                f"     noise: seed {seed}, K = {K}: wrong points"
                + ", ".join(f" {name} {wrong[K, name][-1]:.2%}" for name in ("plain", "robust", "no noise"))
                + f"; {robust.set_aside_} of {int((y != noisy).sum())} set aside",
                flush=True,
            )
    met = same
    for K in (4, 10, "auto"):
        share = float(np.mean(np.array(wrong[K, "robust"]) <= MOST_WRONG))
        met &= share >= ENOUGH
        medians = ", ".join(
            f"{name} {np.median(wrong[K, name]):.2%}" for name in ("plain", "robust", "no noise")
        )
        print(
            f"{'ok  ' if share >= ENOUGH else 'FAIL'} noise: K = {K}: at most 1 % wrong in {share:.0%} of the"
            f" seeds (target: at least 90 %); medians: {medians}"
        )
    print(
        f"{'ok  ' if same else 'FAIL'} noise: without noise, robust and plain learning accept the same points"
    )
    return met


MEASURES = {"scales": measure_scales, "few": measure_few, "noise": measure_noise}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", nargs="*", help=f"some of {', '.join(MEASURES)}; default: all")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    met = [MEASURES[name](options.seeds) for name in options.what or MEASURES]
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
