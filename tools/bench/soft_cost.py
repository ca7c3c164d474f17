"""Which cost of a soft constraint is best for a user's own data? Dev sentences of six data sets.

A linear CRF (c1 = c2 = 0.1) and a constraint on label bigrams learn from the first 100 training sentences of
each set; the first 300 dev sentences are decoded with the CRF alone, with the constraint hard, and with it
soft under each cost and weight. Printed: span F1 (accuracy where labels are no spans) of the CRF, and the
gain of each row in points, with the mean over sets. Only training and dev files are read.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/soft_cost.py
"""

from __future__ import annotations

import argparse
import os
from itertools import islice
from pathlib import Path

import numpy as np

from lcons_core import Recipe
from lcons_decode import COSTS, Constraint, Hard, Soft, constrained_viterbi_batch
from lcons_tasks import LinearSettings, chunk_f1, learn, read_columns, train_linear
from lcons_tasks.data import Columns, Sentence
from lcons_tasks.own_data import Structures

SETS = ("bc5cdr", "lener-br", "wnut17", "wikiann-de", "snips", "ud-ewt-upos")
WEIGHTS = (0.25, 0.5, 1.0, 2.0)
WORD_LABEL = Columns(("word", "label"), "word", "label", {})


def read(path: Path, first: int, many: int) -> list[Sentence]:
    return list(islice(read_columns(path, WORD_LABEL), first, first + many))


def measure(gold: list[tuple[str, ...]], found: list[tuple[str, ...]]) -> float:
    if any(label.startswith("B-") for y in gold for label in y):
        return 100 * chunk_f1(gold, found).f1
    pairs = [a == b for y, z in zip(gold, found, strict=True) for a, b in zip(y, z, strict=True)]
    return 100 * float(np.mean(pairs))


def rows_of(
    folder: Path, start: int, labelled: int, dev: int, weights: tuple[float, ...]
) -> dict[str, float]:
    """The score of each row on the dev sentences of one set."""
    train = read(folder / "train.conll", start, labelled)
    held = read(folder / "dev.conll", 0, dev)
    model = train_linear(train, LinearSettings(c1=0.1, c2=0.1))
    found = learn(Structures.of([(s.words, s.labels) for s in train]), Recipe("ngram", n=2))
    rule = found.constraint
    uses: dict[str, list[Constraint]] = {"CRF": [], "hard": [Hard(rule)]}
    uses |= {f"{cost} {w:g}": [Soft(rule, w, cost=cost)] for cost in COSTS for w in weights}
    batch = model.scores([s.x for s in held])
    gold = [s.labels for s in held]
    xs = [s.x for s in held]
    return {
        name: measure(gold, [answer.y for answer in constrained_viterbi_batch(batch, use, xs)])
        for name, use in uses.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--start", type=int, default=0, help="the first training sentence")
    parser.add_argument("--labelled", type=int, default=100)
    parser.add_argument("--dev", type=int, default=300)
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS)
    options = parser.parse_args()
    home = Path(os.environ["LCONS_DATA_DIR"]) / "suite"
    by_set = {
        name: rows_of(home / name, options.start, options.labelled, options.dev, tuple(options.weights))
        for name in options.sets
    }
    print("| row | " + " | ".join(options.sets) + " | mean |")
    print("|---" * (len(options.sets) + 2) + "|")
    for row in by_set[options.sets[0]]:
        base = [by_set[name]["CRF"] for name in options.sets]
        values = [by_set[name][row] for name in options.sets]
        cells = values if row == "CRF" else [v - b for v, b in zip(values, base, strict=True)]
        form = "{:.1f}" if row == "CRF" else "{:+.2f}"
        print(f"| {row} | " + " | ".join(form.format(c) for c in [*cells, float(np.mean(cells))]) + " |")


if __name__ == "__main__":
    main()
