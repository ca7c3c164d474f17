"""From passages to labels: sentences a second of a trained extractor, features and scores included.

Roth and Yih's corpus from LCONS_DATA_DIR, split 1; without it the bundled sentences. The model is trained
under the designed constraints with the experiment's settings and labels the test sentences one after another
on one core. The claim is at least 300 sentences a second; how long training took is printed beside it.

Run: .venv/bin/python tools/bench/er.py
"""

from __future__ import annotations

import sys
import time

from timing import median_seconds

from lcons_tasks.experiments.entity_relation._answers import Cell, parts
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.experiments.entity_relation._measures import counts, figures
from lcons_tasks.experiments.entity_relation._model import predict, score
from lcons_tasks.models._relation_model import rules_of
from lcons_tasks.models._relation_svm import train_relations

LEAST = 300.0
REPEATS = 5


def main() -> int:
    cell = Cell(load_corpus("auto").name, "1")
    own = parts(cell)
    rules = rules_of(designed())
    start = time.perf_counter()
    model, trained = train_relations(own.train, rules, cell.settings, cell.miss)
    print(
        f"{cell.corpus}: {len(own.train)} sentences, {model.parameters:,} weights, trained in"
        f" {time.perf_counter() - start:.1f} s (gap {trained.gap:.3f})"
    )
    found = figures(counts(own.test, predict(score(model, own.test), rules)))
    print(f"{len(own.test)} test sentences: " + ", ".join(f"{k} {v:.2f}" for k, v in found.items()))
    (seconds,) = median_seconds(lambda: predict(score(model, own.test), rules), repeats=REPEATS)
    speed = len(own.test) / seconds
    met = speed >= LEAST
    print(f"{'ok  ' if met else 'FAIL'} sentences a second: {speed:,.0f} (target: at least {LEAST:,g})")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
