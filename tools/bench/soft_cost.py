"""Which cost of a soft constraint is best for one's own data? Dev sentences only.

From N = 100 training sentences at each starting point, a linear CRF (c1 = c2 = 0.1) and a constraint on label
bigrams are learned, the constraint as `lcons learn` does (with evidence, or --all-rules). The first 300 dev
sentences of each of six sets are decoded by the model alone, with the constraint hard, and with it soft under
each cost and weight. `conll2000 pos` is a constraint on bigrams of labels and POS tags over a CRF that reads
words; its dev sentences are 8001 to 8300 of the training file. With `--token` the model decides token by
token.

Printed: span F1 (accuracy where labels are no spans) of the model, then the gain of each row in points, mean
over starting points, with the mean over the six sets. The targets are those that `lcons_decode.usual_cost`
rests on: at each weight the hinge is at least as good as the log sigmoid on the mean of the six sets, and
worse for POS tags.

Run: LCONS_DATA_DIR=... .venv/bin/python tools/bench/soft_cost.py
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import islice
from pathlib import Path

import numpy as np
from evidence import train_token

from lcons_core import Recipe
from lcons_decode import COSTS, Constraint, Hard, Soft, constrained_viterbi_batch
from lcons_tasks import LinearSettings, Sentence, learn, read_columns, train_linear
from lcons_tasks.data import CONLL2000, Columns
from lcons_tasks.own_data import Structures
from lcons_tasks.stats import LabelTally

SETS = ("bc5cdr", "lener-br", "wnut17", "wikiann-de", "snips", "ud-ewt-upos")
POS = "conll2000 pos"
WEIGHTS = (0.25, 0.5, 1.0, 2.0)
STARTS = (0, 300, 600)
BASE = "alone"


def read(home: Path, name: str, start: int, options: argparse.Namespace) -> tuple[list[Sentence], ...]:
    """The labelled and the dev sentences."""
    if name == POS:
        given = list(islice(read_columns(home / "conll2000" / "train.txt", CONLL2000), 8000 + options.dev))
        return given[start : start + options.labelled], given[8000:]
    columns = Columns(("word", "label"), "word", "label", {})
    train = read_columns(home / "suite" / name / "train.conll", columns)
    dev = read_columns(home / "suite" / name / "dev.conll", columns)
    return list(islice(train, start, start + options.labelled)), list(islice(dev, options.dev))


def measure(home: Path, name: str, start: int, options: argparse.Namespace) -> dict[str, float]:
    """The score of each row."""
    train, dev = read(home, name, start, options)
    model = train_token(train) if options.token else train_linear(train, LinearSettings(c1=0.1, c2=0.1))
    evidence = None if options.all_rules or name == POS else "auto"
    recipe = Recipe("pos" if name == POS else "ngram", n=2, hidden="auto", evidence=evidence)
    rule = learn(Structures(tuple(one.instance for one in train)), recipe).constraint
    xs, gold = [one.x for one in dev], [one.labels for one in dev]
    batch = model.scores(xs)
    uses: dict[str, list[Constraint]] = {BASE: [], "hard": [Hard(rule)]}
    uses |= {f"{cost} {w:g}": [Soft(rule, w, cost=cost)] for cost in COSTS for w in options.weights}
    found = {}
    for row, use in uses.items():
        tally = LabelTally()
        for y, answer in zip(gold, constrained_viterbi_batch(batch, use, xs), strict=True):
            tally.add(y, answer.y, answer.y)
        found[row] = tally.gains()[0].after
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--starts", type=int, nargs="+", default=STARTS)
    parser.add_argument("--labelled", type=int, default=100)
    parser.add_argument("--dev", type=int, default=300)
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS)
    parser.add_argument("--all-rules", action="store_true", help="without evidence")
    parser.add_argument("--token", action="store_true", help="a model that decides token by token")
    options = parser.parse_args()
    home = Path(os.environ["LCONS_DATA_DIR"])
    table: dict[str, list[float]] = {}
    for name in (*SETS, POS):
        by_start = [measure(home, name, start, options) for start in options.starts]
        for row in by_start[0]:
            value = np.mean([one[row] - (0 if row == BASE else one[BASE]) for one in by_start])
            table.setdefault(row, []).append(float(value))
    means = {row: float(np.mean(values[: len(SETS)])) for row, values in table.items()}
    print("| row | " + " | ".join(SETS) + f" | mean of six | {POS} |")
    print("|---" * (len(SETS) + 3) + "|")
    for row, values in table.items():
        cells = [*values[:-1], means[row], values[-1]]
        print(f"| {row} | " + " | ".join(f"{c:.1f}" if row == BASE else f"{c:+.2f}" for c in cells) + " |")
    pairs = [(f"hinge {w:g}", f"sigmoid {w:g}") for w in options.weights]
    better = all(means[a] >= means[b] for a, b in pairs)
    worse = all(table[a][-1] <= table[b][-1] for a, b in pairs)
    print(f"hinge at least as good on the six sets: {better}; worse for POS tags: {worse}")
    sys.exit(not (better and worse))


if __name__ == "__main__":
    main()
