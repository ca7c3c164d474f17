"""Do calibrated constraints reject valid structures as rarely as they state? 1,000 resamples per row.

Real: label windows of CoNLL-2000 and of two sets of suite/ (both in the data folder, LCONS_DATA_DIR), learned
without evidence from the first 200 training sentences, so that they reject far too much. The population is
all other training sentences. Synthetic: real psi (continuous margins), and 0/1 psi with few distinct margins
(many ties). Each resample draws n structures from the population, with replacement, and calibrates; the share
of the population that is then rejected is the truth.

Reported: the mean rejected share, which must be at most alpha, and how often it exceeds the 95 % bound, which
must be at most 5 %; each within two standard errors. `before` is the share that is rejected without
calibration. `wrong` is the price: the accepted share of structures with one label changed (of invalid psi, in
synthetic rows) before calibration and, on average, after it. `down` only lowers thresholds, `both` also
raises them.

The script fails if a row misses its targets, or if the calibrated network rejects other structures than those
below its threshold.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/calibration.py [--resamples 1000]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lcons_core import (
    ConstraintLearner,
    Instance,
    Network,
    PsiRows,
    RectifierNetwork,
    SparsePsi,
    calibrate,
    learn_constraints,
)
from lcons_core.features import ConstraintFeature
from lcons_tasks.own_data import Structures, read_data

LEARNED = 200
MOST = 4000
CASES = ((0.05, 100), (0.05, 500), (0.2, 50))


@dataclass(frozen=True)
class Population:
    """A network, its valid structures with the first row of each, and the scores of invalid ones."""

    name: str
    network: Network
    rows: PsiRows
    first: np.ndarray
    wrong: np.ndarray

    @property
    def scores(self) -> np.ndarray:
        """(N,) the smallest margin of each valid structure."""
        return scores_of(self.network, self.rows, len(self.first) - 1)

    def draw(self, chosen: np.ndarray) -> PsiRows:
        """The rows of the chosen structures, each a structure of its own."""
        sizes = self.first[chosen + 1] - self.first[chosen]
        rows = np.concatenate([np.arange(self.first[i], self.first[i + 1]) for i in chosen])
        return PsiRows.of(self.rows.psi.take(rows), np.repeat(np.arange(len(chosen)), sizes))


def scores_of(network: Network, rows: PsiRows, number: int) -> np.ndarray:
    """(number,) the smallest margin of each structure."""
    scores = np.ones(number)
    np.minimum.at(scores, rows.owner, network.margin(rows.psi))
    return scores


def rows_of(feature: ConstraintFeature, instances: Sequence[Instance]) -> tuple[PsiRows, np.ndarray]:
    """The psi rows of structures, and where each begins."""
    pieces = [feature.psi(one) for one in instances]
    first = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces])))
    return PsiRows.of(SparsePsi.stack(pieces), np.repeat(np.arange(len(pieces)), np.diff(first))), first


def real(folder: Path) -> Iterator[Population]:
    """Label windows that were learned from few sentences without evidence."""
    sets = (
        ("conll2000 labels n=3", folder / "conll2000/train.txt", "ngram", 3),
        ("conll2000 pos n=2", folder / "conll2000/train.txt", "pos", 2),
        ("snips labels n=2", folder / "suite/snips/train.conll", "ngram", 2),
        ("wnut17 labels n=2", folder / "suite/wnut17/train.conll", "ngram", 2),
    )
    for name, path, kind, n in sets:
        data = read_data(str(path), "conll")
        assert isinstance(data, Structures)
        constraint = learn_constraints(data.instances[:LEARNED], kind, n=n, evidence=None, hidden=10)
        feature, labels = constraint.feature, constraint.labels
        assert feature is not None
        assert isinstance(constraint.network, RectifierNetwork)
        rest = [one for one in data.instances[LEARNED:] if set(labels) >= set(one.y)][:MOST]
        rows, first = rows_of(feature, rest)
        rng = np.random.default_rng(0)
        changed = []
        for one in rest:
            y, t = list(one.y), int(rng.integers(len(one.y)))
            y[t] = str(rng.choice([label for label in labels if label != y[t]]))
            changed.append(Instance(one.x, y))
        wrong = scores_of(constraint.network, rows_of(feature, changed)[0], len(changed))
        yield Population(name, constraint.network, rows, first, wrong)


def in_ball(psi: np.ndarray) -> np.ndarray:
    inside: np.ndarray = (psi**2).sum(1) <= 3
    return inside


def few_bits(psi: np.ndarray) -> np.ndarray:
    few: np.ndarray = psi.sum(1) <= 3
    return few


def synthetic() -> Iterator[Population]:
    """psi itself: a ball in five dimensions, and at most three of ten bits, learned from too few examples."""
    rng = np.random.default_rng(1)
    for name, shape, valid in (("ball, real psi", 5, in_ball), ("3 of 10 bits", 10, few_bits)):
        both = rng.normal(size=(40_080, shape)) if shape == 5 else rng.integers(0, 2, (40_080, shape)) * 1.0
        few, many = both[:80], both[80:]
        learner = ConstraintLearner(hidden=10, seed=0).fit(few, valid(few))
        psi = SparsePsi.from_dense(many[valid(many)][:20_000])
        wrong = learner.network_.margin(many[~valid(many)])
        yield Population(name, learner.network_, PsiRows.of(psi), np.arange(len(psi) + 1), wrong)


def measure(population: Population, alpha: float, n: int, tighten: bool, resamples: int) -> bool:
    """Prints a row; whether it meets its targets."""
    rng = np.random.default_rng(0)
    scores = population.scores
    rejected, exceeded, wrong = np.zeros(resamples), np.zeros(resamples), np.zeros(resamples)
    same = True
    for i in range(resamples):
        drawn = population.draw(rng.integers(0, len(scores), n))
        network, known = calibrate(population.network, drawn, alpha, tighten=tighten)
        below = scores < known.threshold
        if i < 5:
            every = scores_of(network, population.rows, len(scores)) < 0
            same &= bool(np.array_equal(every, below))
        rejected[i], wrong[i] = below.mean(), (population.wrong >= known.threshold).mean()
        exceeded[i] = rejected[i] > known.bound
    error, expected = rejected.std() / np.sqrt(resamples), np.sqrt(0.05 * 0.95 / resamples)
    met = bool(rejected.mean() <= alpha + 2 * error and exceeded.mean() <= 0.05 + 2 * expected) and same
    row = f"{population.name:20} alpha {alpha:4g} n {n:3} {'both' if tighten else 'down'}"
    print(
        f"{'ok  ' if met else 'FAIL'} {row}:"
        f" before {(scores < 0).mean():6.2%}, rejected {rejected.mean():6.2%} +- {error:.2%}, bound exceeded"
        f" {exceeded.mean():5.1%}; wrong {(population.wrong >= 0).mean():5.1%} -> {wrong.mean():5.1%}",
        flush=True,
    )
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    folder = Path(os.environ.get("LCONS_DATA_DIR", ""))
    if not (folder / "suite").is_dir():
        print(
            f"expected a folder suite in LCONS_DATA_DIR, found none in {folder}; set it to the data folder."
        )
        return 2
    met = [
        measure(population, alpha, n, tighten, options.resamples)
        for source in (synthetic(), real(folder))
        for population in source
        for alpha, n in CASES
        for tighten in (False, True)
    ]
    print(f"{sum(met)} of {len(met)} rows as expected")
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
