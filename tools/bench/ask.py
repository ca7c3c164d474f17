"""Questions until the constraint is the designed one: Roth and Yih's corpus, fifteen designed rules.

For each seed, 5, 10, 20 or 50 sentences show which combinations of source and relation, relation and target,
relation and reverse are possible; the designed rules answer the questions on the others, until nothing is
open. Then `compare` must find all three constraints equal to the designed ones. Counted are the questions on
all three, mean and spread over the seeds: at most 15 from 20 sentences. Beside it:

| way | asks |
|---|---|
| boxes | `ask`: the box with the most information |
| boxes at random | a box drawn from those that `ask` looks at |
| single combinations | every open combination, in any order |
| QuAcq | PyConA's QuAcq: membership queries, if LCONS_QUACQ names its Python (see `quacq.py`) |

    LCONS_DATA_DIR=... python tools/bench/ask.py [seeds] [wrong answers, such as 0.05]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import report

from lcons_core import Bools, Question, Rules, ask, compare
from lcons_core import _ask as engine
from lcons_tasks.data._passage import Labelled
from lcons_tasks.experiments.entity_relation._constraints import FEATURES, combinations, designed_rules
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

SENTENCES = (5, 10, 20, 50)
SEEDS = 20
MOST_FROM_20 = 15.0

RULES = designed_rules()


def oracle(rules: Rules, wrong: float, rng: np.random.Generator) -> Callable[[Question], bool]:
    """Answers by the designed rules, wrong with this probability."""
    points = np.concatenate(list(rules.space.points()))
    valid = rules.contains(points)

    def answer(question: Question) -> bool:
        right = bool((valid & question.box.contains(rules.space, points)).any())
        return right != bool(rng.random() < wrong)

    return answer


class AtRandom(engine.Inquiry):
    """Asks a box drawn from the candidates."""

    def _information(self, own: Bools) -> float:
        return float(self.drawn.random()) if own.any() else -1.0

    drawn = np.random.default_rng(0)


def asked(passages: list[Labelled], wrong: float, lead: int, seed: int) -> tuple[int, bool]:
    """The number of questions on all three features, and whether all constraints are as designed."""
    number, equal = 0, True
    for name, feature in FEATURES.items():
        rng = np.random.default_rng([seed, len(passages)])
        found = ask(feature, combinations(passages, name), oracle(RULES[name], wrong, rng), lead=lead)
        number += len(found.replies)
        equal &= not found.open and bool(compare(found.constraint, RULES[name]).equal)
    return number, equal


def one_by_one(passages: list[Labelled]) -> int:
    """The number of open combinations of all features."""
    counts = [engine._shown(feature, combinations(passages, name)) for name, feature in FEATURES.items()]
    return sum(int((count == 0).sum()) for count in counts)


def by_quacq(samples: list[list[Labelled]]) -> list[int] | None:
    """The number of queries of QuAcq on each sample; None if it is not installed."""
    python = os.environ.get("LCONS_QUACQ")
    if not python:
        return None
    tasks = []
    for passages in samples:
        for name, feature in FEATURES.items():
            points = np.concatenate(list(feature.space.points()))
            unseen = points[engine._shown(feature, combinations(passages, name)) == 0]
            task = {
                "sizes": [len(axis) for axis in feature.space.axes],
                "open": unseen.tolist(),
                "invalid": points[~RULES[name].contains(points)].tolist(),
            }
            tasks.append(json.dumps(task))
    done = subprocess.run(
        [python, str(Path(__file__).with_name("quacq.py"))],
        input="\n".join(tasks),
        capture_output=True,
        text=True,
        check=True,
    )
    counts = [int(line) for line in done.stdout.split()]
    return [sum(counts[i : i + len(FEATURES)]) for i in range(0, len(counts), len(FEATURES))]


def main() -> int:
    """0 if the target is met and every constraint is proved equal."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    wrong = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    corpus = load_corpus("auto")
    print(f"{corpus.what}, {len(corpus.passages)} sentences; mean and standard deviation over {seeds} seeds")
    met = True
    plain = engine.Inquiry
    for n in SENTENCES:
        rows: dict[str, list[int]] = {}
        equal: dict[str, int] = {}
        samples = []
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(corpus.passages))[:n]
            passages = [corpus.passages[i] for i in order]
            samples.append(passages)
            rows.setdefault("single combinations", []).append(one_by_one(passages))
            for way, kind, lead in (
                ("boxes", plain, 1),
                ("boxes at random", AtRandom, 1),
                *([("boxes, each until one answer leads by 3", plain, 3)] if wrong else []),
            ):
                engine.Inquiry = kind  # type: ignore[misc]
                number, same = asked(passages, wrong, lead, seed)
                rows.setdefault(way, []).append(number)
                equal[way] = equal.get(way, 0) + same
        engine.Inquiry = plain  # type: ignore[misc]
        if (numbers_of_quacq := by_quacq(samples)) is not None:
            rows["QuAcq"] = numbers_of_quacq
        for way, numbers in rows.items():
            spread = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
            proved = f", equal to the designed rules in {equal[way]} of {seeds}" if way in equal else ""
            print(f"{n:3} sentences, {way}: {statistics.mean(numbers):.1f} +- {spread:.1f}{proved}")
        if n == 20 and not wrong:
            mean = statistics.mean(rows["boxes"])
            met &= report("questions from 20 sentences", mean, at_most=MOST_FROM_20)
        met &= wrong > 0 or equal["boxes"] == seeds
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
