"""Do certified operating points miss as few entities as they state? 500 resamples per row, on three sets.

A linear CRF is trained on the first 1,000 training sentences of a set of suite/ (in the data folder,
LCONS_DATA_DIR), with BIOES labels. The population is the first 2,000 sentences of its dev file. Each resample
draws sentences from it, with replacement, chooses an operating point on them, and looks up the missed share
of the population at that point: the truth. With a confidence of 95 %, a certified point may miss more than
1 - recall in at most 5 % of the resamples.

Reported: how often a point is certified; how often it then misses too much, of all resamples, which must be
at most 5 % within two standard errors; the mean recall and F1 of the population at the certified points,
beside those of the CRF without biases; and, in `plain`, how often the plainest choice, the least cautious
point whose recall on the resample is high enough, misses too much.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/operating_point.py [--resamples 500]
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from lcons_core import chunks
from lcons_decode import OperatingPoint, Scored, TransitionBiases
from lcons_decode._certificate import CAUTIONS, COVERED, ENTITY, SENTENCE, Trial, choose
from lcons_tasks.data import Columns, Sentence, read_columns
from lcons_tasks.models import LinearSettings, train_linear

SETS = ("bc5cdr", "lener-br", "wikiann-de")
TRAINED, POPULATION, DRAWN, CONFIDENCE = 1000, 2000, 600, 0.95
CASES = ((ENTITY, 0.9), (ENTITY, 0.97), (ENTITY, 0.99), (SENTENCE, 0.9))
POINTS = [OperatingPoint(TransitionBiases.of_caution(caution)) for caution in CAUTIONS]


def bioes(labels: tuple[str, ...]) -> tuple[str, ...]:
    """IOB2 labels as BIOES."""
    found = ["O"] * len(labels)
    for kind, first, last in chunks(labels):
        inner = [f"B-{kind}", *[f"I-{kind}"] * (last - first - 2), f"E-{kind}"]
        found[first:last] = inner if last - first > 1 else [f"S-{kind}"]
    return tuple(found)


def read(path: Path, most: int) -> list[Sentence]:
    """The first sentences of a file, with BIOES labels."""
    found = [one for one in read_columns(path, Columns()) if one.words][:most]
    return [Sentence(one.words, bioes(one.labels)) for one in found]


def measure(name: str, trial: Trial, unit: str, recall: float, resamples: int) -> bool:
    """Prints a row; whether too much is missed as rarely as stated."""
    judged = {point.biases: trial.judge(point) for point in POINTS}
    units = trial.units
    truth = {biases: missed / units for biases, (missed, _) in judged.items()}
    rng = np.random.default_rng(0)
    alpha = 1 - recall
    certified, wrong, plainly_wrong = [], 0, 0
    for _ in range(resamples):
        drawn = trial.draw(rng.integers(0, len(trial), DRAWN))
        point = choose(drawn, [POINTS], recall, CONFIDENCE)
        if isinstance(point, OperatingPoint):
            certified.append(point.biases)
            wrong += truth[point.biases] > alpha
        enough = [one for one in POINTS if drawn.judge(one)[0] <= alpha * drawn.units]
        plainly_wrong += bool(enough) and truth[enough[-1].biases] > alpha
    share = wrong / resamples
    limit = (1 - CONFIDENCE) + 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / resamples)
    found = [(1 - truth[biases], judged[biases][1]) for biases in certified] or [(np.nan, np.nan)]
    recalls, f1s = (float(np.mean(values)) for values in zip(*found, strict=True))
    alone = POINTS[-1].biases
    met = share <= limit
    print(
        f"{'ok  ' if met else 'FAIL'} {name:10} {unit:8} recall {recall:4}: certified"
        f" {len(certified) / resamples:6.1%}, missed too much {share:5.1%} (at most {limit:.1%}; plain"
        f" {plainly_wrong / resamples:5.1%}); recall {recalls:.3f}, F1 {f1s:.3f}; without biases"
        f" {1 - truth[alone]:.3f}, F1 {judged[alone][1]:.3f}",
        flush=True,
    )
    return bool(met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--resamples", type=int, default=500)
    options = parser.parse_args()
    folder = Path(os.environ.get("LCONS_DATA_DIR", "")) / "suite"
    if not folder.is_dir():
        print(f"expected a folder suite in LCONS_DATA_DIR, found none in {folder.parent}; set it.")
        return 2
    met = []
    for name in SETS:
        model = train_linear(read(folder / name / "train.conll", TRAINED), LinearSettings())
        population = read(folder / name / "dev.conll", POPULATION)
        batch = model.scores([one.x for one in population])
        scored = [(Scored(own), one.labels) for own, one in zip(batch, population, strict=True)]
        trials = {unit: Trial(scored, [], unit, COVERED) for unit in (ENTITY, SENTENCE)}
        met += [measure(name, trials[unit], unit, recall, options.resamples) for unit, recall in CASES]
    print(f"{sum(met)} of {len(met)} rows as stated")
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
