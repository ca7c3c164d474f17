"""Small folders as runs leave them, made by hand: figures, constraints and sentences that never change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lcons_core import LearnedConstraint, RectifierNetwork, Rules, save
from lcons_core._blocks import binary
from lcons_core._space import FeatureSpace
from lcons_core.features import NgramContext
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.report._outputs import write_results

HASH = "52faba3e4e887b175e5ff01b087407ef7e753ab9cf08608223d96d8872ff61fb"
LABELS = ("B-NP", "B-VP", "I-NP", "I-VP", "O")
TAGS = ("DT", "NN", "VB")

ER_MEASURES = ("entity f1", "relation f1", "entity macro f1", "relation macro f1", "strict relation f1")


def interval(mean: float, low: float, high: float) -> dict[str, float]:
    return {"mean": mean, "low": low, "high": high}


def make_er(folder: Path) -> Path:
    """An entity-relation run: one split, the designed constraints, four sentences."""
    target = folder / "constraints/split-1-100percent/learned"
    target.mkdir(parents=True)
    for name, constraint in designed().items():
        save(constraint, target / f"{name}.json")
    (folder / "predictions").mkdir()
    lines = [json.dumps(one) + "\n" for one in ER_SENTENCES]
    (folder / "predictions/split-1-100percent.jsonl").write_text("".join(lines), encoding="utf-8")
    write_results(folder, "# Entities and relations\n\n## C\n\nC = 0.03.\n", "er", er_results(), {})
    return folder


def er_results(corpus: str = "bundled") -> dict[str, Any]:
    grid = {
        "designed|designed": [84.6, 60.8, 82.3, 53.5, 60.8],
        "learned|learned": [84.6, 60.8, 82.3, 53.5, 60.8],
        "none|learned": [83.2, 55.1, 80.6, 46.0, 55.1],
        "none|none": [81.4, 57.7, 78.2, 48.1, 48.2],
    }
    cell = {
        "split": "1",
        "share": 1.0,
        "sentences": {"train": 213, "test": 4},
        "grid": {sets: dict(zip(ER_MEASURES, values, strict=True)) for sets, values in grid.items()},
    }
    gains = [
        {
            "group": "seeded splits",
            "trained_on": 213,
            "figure": figure,
            "sets": ["learned", "learned"],
            "over": ["none", "none"],
            "interval": own,
        }
        for figure, own in (
            ("entity f1", interval(3.2, 0.91, 5.59)),
            ("relation f1", interval(3.11, -1.25, 7.75)),
        )
    ]
    return {
        "corpus": {"name": corpus, "what": "a mini corpus", "sha256": HASH, "sentences": 304},
        "options": {"corpus": corpus, "splits": ["1"], "shares": [], "grid": [0.03125]},
        "cells": [cell],
        "gains": gains,
        "claims": [],
        "paper": {},
        "examples": [
            {
                "before": "[Person Fort Hill] in [Location Ohio] . | Fort Hill OrgBasedIn Ohio",
                "rule": "forbidden: source Person, relation OrgBasedIn (source-relation)",
                "why": "-1.26 - 1.52 + 0.66 = -2.13 < 0, so it is forbidden",
            }
        ],
    }


def er_sentence(
    name: str, text: str, candidates: list[list[int]], *answers: tuple[list[str], list[tuple[int, int, str]]]
) -> dict[str, Any]:
    keys = ("gold", "without constraints", "with learned constraints")
    shown = {
        key: {
            "entities": entities,
            "relations": [{"source": i, "target": j, "label": label} for i, j, label in relations],
        }
        for key, (entities, relations) in zip(keys, answers, strict=True)
    }
    return {"id": name, "words": text.split(), "candidates": candidates, **shown}


LIVES = (["Person", "Location"], [(0, 1, "LiveIn")])
LOCATED = (["Location", "Location"], [(0, 1, "LocatedAt")])

ER_SENTENCES = [
    er_sentence("7", "Ann Hill lives in Oslo .", [[0, 2], [4, 5]], LIVES, LIVES, LIVES),
    er_sentence(
        "9",
        "Fort Hill in Ohio .",
        [[0, 2], [3, 4]],
        LOCATED,
        (["Person", "Location"], [(0, 1, "OrgBasedIn")]),
        LOCATED,
    ),
    er_sentence(
        "12",
        "Brook & Sons hired Bo Lee .",
        [[0, 3], [4, 6]],
        (["Organization", "Person"], [(1, 0, "WorkFor")]),
        (["Location", "Person"], [(1, 0, "WorkFor")]),
        (["Organization", "Person"], [(1, 0, "WorkFor")]),
    ),
    er_sentence(
        "15",
        "Elko , Nevada , in 1911 .",
        [[0, 1], [2, 3], [5, 6]],
        (["Location", "Location", "NoEnt"], [(0, 1, "LocatedAt")]),
        (["Location", "Location", "NoEnt"], [(0, 1, "LocatedAt")]),
        (["Person", "Location", "NoEnt"], [(0, 1, "LiveIn")]),
    ),
]


def chunk_constraint(labels: tuple[str, ...] = LABELS, tags: tuple[str, ...] = TAGS) -> LearnedConstraint:
    """Windows of two: an I- goes on with its own chunk, and a determiner is in no verb chunk."""
    feature = NgramContext(labels, tags, n=2)
    first, second = "label 1", "label 2"
    forbidden: list[dict[str, Any]] = []
    for label in labels:
        if label.startswith("I-"):
            forbidden.append({second: label, first: [one for one in labels if one[2:] != label[2:]]})
    verbs = [label for label in labels if label.endswith("VP")]
    forbidden.append({"pos 2": tags[0], second: verbs})
    rules = Rules(feature.space, forbidden)
    return LearnedConstraint(rules.network(), feature.space, feature, {"designed": True})


def make_chunking(folder: Path, corpus: str = "conll2000") -> Path:
    """A chunking run: two ratios, a constraint on windows, two sentences."""
    target = folder / "constraints/first-1%-seed1"
    target.mkdir(parents=True)
    save(chunk_constraint(), target / "pos-2.json")
    (folder / "predictions").mkdir()
    (folder / "predictions/bilstm-first-1%-seed1.txt").write_text(CHUNKS, encoding="utf-8")
    write_results(folder, "# Chunking\n", "chunking", chunking_results(corpus), {})
    return folder


CHUNKS = """\
the DT B-NP B-VP B-NP
dog NN I-NP I-NP I-NP
barks VB B-VP B-VP B-VP

a DT B-NP B-NP B-NP
cat NN I-NP I-NP I-NP

"""


def chunking_results(corpus: str = "conll2000") -> dict[str, Any]:
    figures = {
        0.01: {"exact": 85.1, "pos-3 search": 87.1, "chosen on dev": 90.5},
        0.05: {"exact": 91.6, "pos-3 search": 92.3, "chosen on dev": 93.6},
    }
    cells = [
        {
            "subset": "first",
            "ratio": ratio,
            "seed": seed,
            "base": {"name": "bilstm"},
            "sentences": round(8936 * ratio),
            "rows": {row: {"test": value + 0.1 * seed} for row, value in rows.items()},
        }
        for ratio, rows in figures.items()
        for seed in (1, 2)
    ]
    gains = [
        {
            "base": "bilstm",
            "subset": "first",
            "ratio": 0.01,
            "row": "chosen on dev",
            "over": "exact",
            "interval": interval(5.4, 5.1, 5.7),
        }
    ]
    claim = {"text": "POS-constrained search beats search", "held": False, "figures": "1% +1.99"}
    return {
        "corpus": {"name": corpus, "what": "news", "sha256": HASH, "sentences": {"train": 8936}},
        "options": {"corpus": corpus, "ratios": [0.01, 0.05], "seeds": [1, 2]},
        "cells": cells,
        "gains": gains,
        "claims": [claim],
        "examples": [],
    }


def make_unknown(folder: Path) -> Path:
    """A run of a task that the page does not know."""
    folder.mkdir(parents=True)
    report = "# Woven boxes\n\nOf **5** sets:\n\n| K | found |\n|---|---:|\n| 2 | 5 of 5 |\n"
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>Dots</title></svg>\n'
    write_results(folder, report, "weaving", {"options": {"seeds": [1, 2]}}, {"dots.svg": picture})
    return folder


def make_synthetic(folder: Path) -> Path:
    """A synthetic run: two instances, two numbers of hidden units, one of them with rounds."""
    space = FeatureSpace([binary("z", ["z1", "z2", "z3"])])
    for seed in (1, 2):
        target = folder / f"constraints/instance-{seed}"
        target.mkdir(parents=True)
        for name, weights in (("K2", [1.0, 0.0, 1.0]), ("K10", [0.0, 1.0, 1.0])):
            not_both = RectifierNetwork([weights], [0.0])
            save(LearnedConstraint(not_both, space), target / f"{name}.json")
    write_results(folder, "# Synthetic\n", "synthetic", synthetic_results(), {})
    return folder


def synthetic_results() -> dict[str, Any]:
    baselines = {
        "no constraints": {"bitwise": 60.0, "satisfied": 54.0, "optimal": 0.0},
        "the cheapest training optimum": {"bitwise": 91.0, "satisfied": 100.0, "optimal": 35.0},
    }
    cells = [
        {
            "seed": seed,
            "hidden": hidden,
            "rounds at most": rounds,
            "bitwise": bits + seed,
            "satisfied": 77.0,
            "optimal": 0.0,
            "gold rows": 89.0,
            "gold accepted": 81.0,
            "network": 90.0,
            "held-out": 76.0,
            "baselines": baselines,
        }
        for hidden, rounds, bits in ((2, 0, 82.0), (10, 0, 85.0), (10, 3, 88.0))
        for seed in (1, 2)
    ]
    for cell in cells[4:]:
        told = [{"unsolved": unsolved, "negatives": 700} for unsolved in (69, 12, 40)]
        cell |= {"rounds": told, "chosen": 1, "fixpoint": False}
    return {
        "corpus": {"name": "synthetic", "what": "integer programs, drawn by seed"},
        "options": {"seeds": [1, 2], "hidden": [2, 10], "guided": [10], "rounds": 3},
        "cells": cells,
        "claims": [{"text": "more bits are right", "held": True, "figures": "83.5 against 60.0"}],
        "paper": {},
    }


DECODED = [
    {"id": "a", "words": ["New", "York", "is", "big"], "gold": ["B-NP", "I-NP", "B-VP", "O"],
     "labels": ["B-NP", "I-NP", "B-VP", "O"], "without": ["O", "I-NP", "B-VP", "O"]},
    {"id": "b", "words": ["by", "the", "sea"], "gold": ["O", "B-NP", "I-NP"],
     "labels": ["B-NP", "I-NP", "I-NP"], "without": ["I-NP", "I-NP", "I-NP"], "status": "relaxed",
     "violations": [{"constraint": "iob2", "position": 1}]},
    {"id": "c", "words": ["Rome"], "gold": ["B-NP"], "labels": ["B-NP"], "without": ["B-NP"]},
]  # fmt: skip


def make_decoded(path: Path, *without: str) -> Path:
    """What `lcons decode --json` writes of three sequences, without some of its members."""
    rest = {"score": 1.0, "status": "optimal", "changed": 1, "violations": []}
    lines = [{key: value for key, value in {**rest, **one}.items() if key not in without} for one in DECODED]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
