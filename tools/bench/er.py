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

from lcons_tasks.experiments.engine._run import corpus_named
from lcons_tasks.experiments.entity_relation._answers import Cell
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.experiments.entity_relation._corpus import PAPERS
from lcons_tasks.experiments.entity_relation._measures import counts
from lcons_tasks.experiments.entity_relation._model import Answer, predict
from lcons_tasks.models._relation_model import rules_of
from lcons_tasks.models._relation_svm import train_relations
from lcons_tasks.stats import f1

LEAST = 300.0
REPEATS = 5


def main() -> int:
    cell = Cell(corpus_named("auto", PAPERS), 1)
    train, test = cell.parts()
    rules = rules_of(designed())
    start = time.perf_counter()
    model, trained = train_relations(train, rules, cell.settings)
    print(
        f"{cell.corpus}: {len(train)} sentences, {model.W.size + model.V.size:,} weights, trained in"
        f" {time.perf_counter() - start:.1f} s (gap {trained.gap:.3f})"
    )

    def answers() -> list[Answer]:
        return predict([model.scores(labelled.passage) for labelled in test], rules)

    figures = {name: float(f1(array.sum(0))) for name, array in counts(test, answers()).items()}
    print(f"{len(test)} test sentences: " + ", ".join(f"{k} {v:.2f}" for k, v in figures.items()))
    (seconds,) = median_seconds(answers, repeats=REPEATS)
    speed = len(test) / seconds
    met = speed >= LEAST
    print(f"{'ok  ' if met else 'FAIL'} sentences a second: {speed:,.0f} (target: at least {LEAST:,g})")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
