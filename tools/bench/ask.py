"""Questions until the constraint is the true one: the fifteen rules of Roth and Yih's corpus, and others.

For each seed, 5, 10, 20 or 50 sentences show which combinations of source and relation, relation and target,
relation and reverse are possible; the true rules answer the questions on the others, until nothing is open.
Then `compare` must find all three constraints equal to the true ones, unless the sentences break them, as one
of the corpus does. Counted are the questions on all three, mean and spread over the seeds: at most 15 from 20
sentences, for the designed rules.

| rules | what is true | sentences |
|---|---|---|
| designed | the fifteen designed rules: source, target and reverse of five relations | of the corpus |
| some | eight of the fifteen, drawn for each seed | of the corpus, which obeys all fifteen |
| drawn | source and target of five relations between three types, drawn for each seed; no reverse | drawn |
| mixed | seven relations between four types; each end has one type or two, as often | drawn |
| large | as drawn, with ten relations between six types | drawn |

A drawn sentence has two to six candidates. Types are drawn with the shares 1, 1/2, 1/3, ..., and a candidate
is no entity with probability 0.15. Two candidates that some relation fits have one with probability 0.3.

| way | asks |
|---|---|
| boxes | `ask`: the box with the most information |
| boxes at random | a box drawn from those that `ask` looks at |
| single combinations | every open combination, in any order |
| QuAcq | PyConA's QuAcq: membership queries, if LCONS_QUACQ names its Python (see `quacq.py`) |
| possible, not shown | no way, but a limit: one answer of yes settles at most one of these |

With `--wrong 0.05`, each answer is wrong with this probability; a question is asked until one answer leads by
1, 2 or 3.

    LCONS_DATA_DIR=... python tools/bench/ask.py [--rules drawn] [--seeds 20] [--from 0] [--wrong 0.05]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations as pairs_of
from pathlib import Path

import numpy as np
from timing import report

from lcons_core import Bools, Question, Rules, ask, compare
from lcons_core import _ask as engine
from lcons_core.features import Tuples
from lcons_tasks.data._passage import Labelled
from lcons_tasks.experiments.entity_relation._constraints import DESIGNED, FEATURES, combinations
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

SENTENCES = (5, 10, 20, 50)
MOST_FROM_20 = 15.0
KEPT_RULES = 8
# Types, relations, and the most types of an end.
DRAWN = {"drawn": (3, 5, 1), "mixed": (4, 7, 2), "large": (6, 10, 1)}
NO_ENTITY, NO_RELATION = "NoEnt", "NoRel"

Rows = list[list[tuple[str, ...]]]
Ends = Mapping[str, tuple[Sequence[str], Sequence[str]]]


@dataclass(frozen=True)
class Case:
    """The true rules of each feature, and the combinations that each sentence shows."""

    features: Mapping[str, Tuples]
    rules: Mapping[str, Rules]
    shown: Mapping[str, Rows]

    @property
    def obeyed(self) -> bool:
        """Whether no sentence breaks a rule; one of the corpus does."""
        return all(
            self.rules[name].contains(feature.space.assignments(feature.psi(rows))).all()
            for name, feature in self.features.items()
            for rows in self.shown[name]
        )


def features_of(types: tuple[str, ...], relations: tuple[str, ...]) -> dict[str, Tuples]:
    """The three features of the task, for other labels."""
    return {
        "source-relation": Tuples(("source", "relation"), (types, relations)),
        "relation-target": Tuples(("relation", "target"), (relations, types)),
        "relation-relation": Tuples(("relation", "reverse"), (relations, relations)),
    }


def rules_of(features: Mapping[str, Tuples], ends: Ends, kept: set[int] | None = None) -> dict[str, Rules]:
    """The rules of each feature: sources and targets of each relation, no reverse; `kept` numbers some."""
    found = {name: Rules(feature.space) for name, feature in features.items()}
    number = 0
    for relation, (sources, targets) in ends.items():
        for name, then in (
            ("source-relation", {"source": sources}),
            ("relation-target", {"target": targets}),
            ("relation-relation", {"reverse": [NO_RELATION]}),
        ):
            if kept is None or number in kept:
                found[name] = found[name].needs({"relation": relation}, then)
            number += 1
    return found


def of_corpus(rules: str, passages: Sequence[Labelled], n: int, seed: int) -> Case:
    """Sentences of the corpus, with all designed rules or some of them."""
    order = np.random.default_rng(seed).permutation(len(passages))[:n]
    own = [passages[i] for i in order]
    kept = None
    if rules == "some":
        number = 3 * len(DESIGNED)
        kept = set(np.random.default_rng([seed, 8]).permutation(number)[:KEPT_RULES].tolist())
    shown = {name: combinations(own, name) for name in FEATURES}
    ends = {relation: ([source], [target]) for relation, (source, target) in DESIGNED.items()}
    return Case(FEATURES, rules_of(FEATURES, ends, kept), shown)


def drawn_case(size: tuple[int, int, int], n: int, seed: int) -> Case:
    """A schema of this size, and sentences that obey it, drawn."""
    rng = np.random.default_rng([seed, *size])
    types = [f"T{i + 1}" for i in range(size[0])]

    def end() -> list[str]:
        return [types[i] for i in sorted(rng.permutation(size[0])[: rng.integers(1, size[2] + 1)])]

    ends = {f"r{i + 1}": (end(), end()) for i in range(size[1])}
    features = features_of((NO_ENTITY, *types), (NO_RELATION, *ends))
    shown: dict[str, Rows] = {name: [] for name in features}
    share = 1 / np.arange(1, size[0] + 1)
    for _ in range(n):
        drawn = rng.choice(size[0], size=rng.integers(2, 7), p=share / share.sum())
        labels = [NO_ENTITY if rng.random() < 0.15 else types[i] for i in drawn]
        rows: dict[str, list[tuple[str, ...]]] = {name: [] for name in features}
        for i, j in pairs_of(range(len(labels)), 2):
            a, b = labels[i], labels[j]
            fits = [(r, NO_RELATION) for r, (heads, tails) in ends.items() if a in heads and b in tails]
            fits += [(NO_RELATION, r) for r, (heads, tails) in ends.items() if b in heads and a in tails]
            r, s = (NO_RELATION, NO_RELATION)
            if fits and rng.random() < 0.3:
                r, s = fits[rng.integers(len(fits))]
            # As in the corpus, a combination counts once per pair of candidates.
            rows["source-relation"] += dict.fromkeys([(a, r), (b, s)])
            rows["relation-target"] += dict.fromkeys([(r, b), (s, a)])
            rows["relation-relation"] += dict.fromkeys([(r, s), (s, r)])
        for name, own in rows.items():
            shown[name].append(own)
    return Case(features, rules_of(features, ends), shown)


def oracle(rules: Rules, wrong: float, rng: np.random.Generator) -> Callable[[Question], bool]:
    """Answers by the true rules, wrong with this probability."""
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


def asked(case: Case, wrong: float, lead: int, seed: int) -> tuple[int, bool]:
    """The number of questions on all three features, and whether all constraints are the true ones."""
    number, equal = 0, True
    for name, feature in case.features.items():
        rng = np.random.default_rng([seed, len(case.shown[name])])
        found = ask(feature, case.shown[name], oracle(case.rules[name], wrong, rng), lead=lead)
        number += len(found.replies)
        equal &= not found.open and bool(compare(found.constraint, case.rules[name]).equal)
    return number, equal


def still_open(case: Case) -> tuple[int, int]:
    """The number of combinations that were not shown, and of those among them that are possible."""
    number = possible = 0
    for name, feature in case.features.items():
        points = np.concatenate(list(feature.space.points()))
        unseen = engine._shown(feature, case.shown[name]) == 0
        number += int(unseen.sum())
        possible += int(case.rules[name].contains(points[unseen]).sum())
    return number, possible


def by_quacq(cases: Sequence[Case]) -> list[int] | None:
    """The number of queries of QuAcq on each case; None if it is not installed."""
    python = os.environ.get("LCONS_QUACQ")
    if not python:
        return None
    tasks = []
    for case in cases:
        for name, feature in case.features.items():
            points = np.concatenate(list(feature.space.points()))
            unseen = points[engine._shown(feature, case.shown[name]) == 0]
            task = {
                "sizes": [len(axis) for axis in feature.space.axes],
                "open": unseen.tolist(),
                "invalid": points[~case.rules[name].contains(points)].tolist(),
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rules", choices=("designed", "some", *DRAWN), default="designed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    parser.add_argument("--wrong", type=float, default=0.0, help="the probability of a wrong answer")
    options = parser.parse_args()
    seeds, wrong = options.seeds, options.wrong
    corpus = load_corpus("auto") if options.rules not in DRAWN else None
    what = "drawn sentences" if corpus is None else f"{corpus.what}, {len(corpus.passages)} sentences"
    print(f"{what}; rules: {options.rules}; mean and standard deviation over {seeds} seeds")
    ways: list[tuple[str, type[engine.Inquiry], int]] = [("boxes", engine.Inquiry, 1)]
    if wrong:
        ways += [(f"boxes, each until one answer leads by {m}", engine.Inquiry, m) for m in (2, 3)]
    else:
        ways.append(("boxes at random", AtRandom, 1))
    met = True
    for n in SENTENCES:
        rows: dict[str, list[int]] = {}
        equal: dict[str, int] = {}
        cases = []
        for seed in range(options.first, options.first + seeds):
            case = (
                drawn_case(DRAWN[options.rules], n, seed)
                if corpus is None
                else of_corpus(options.rules, corpus.passages, n, seed)
            )
            cases.append(case)
            number, possible = still_open(case)
            rows.setdefault("possible, not shown", []).append(possible)
            rows.setdefault("single combinations", []).append(number)
            for way, kind, lead in ways:
                plain, engine.Inquiry = engine.Inquiry, kind  # type: ignore[misc]
                number, same = asked(case, wrong, lead, seed)
                engine.Inquiry = plain  # type: ignore[misc]
                rows.setdefault(way, []).append(number)
                equal[way] = equal.get(way, 0) + same
        if not wrong and (numbers_of_quacq := by_quacq(cases)) is not None:
            rows["QuAcq"] = numbers_of_quacq
        for way, numbers in rows.items():
            spread = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
            of = sum(case.obeyed for case in cases)
            proved = f", equal to the true rules in {equal[way]} of {of}" if way in equal else ""
            print(
                f"{n:3} sentences, {way}: {statistics.mean(numbers):.1f} +- {spread:.1f}{proved}", flush=True
            )
        if n == 20 and not wrong and options.rules == "designed":
            mean = statistics.mean(rows["boxes"])
            met &= report("questions from 20 sentences", mean, at_most=MOST_FROM_20)
        met &= wrong > 0 or equal["boxes"] == sum(case.obeyed for case in cases)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
