"""Small folders as runs leave them, made by hand: figures, constraints and sentences that never change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, Rules, binary, save
from lcons_core.features import NgramContext
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.report import Document
from lcons_tasks.report._document import (
    Claim,
    Claims,
    Constraints,
    Curve,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Section,
    Sentences,
    Table,
    Text,
    write_document,
)
from lcons_tasks.stats import Interval

HASH = "52faba3e4e887b175e5ff01b087407ef7e753ab9cf08608223d96d8872ff61fb"
LABELS = ("B-NP", "B-VP", "I-NP", "I-VP", "O")
TAGS = ("DT", "NN", "VB")

VERSIONS = {"lcons-core": "0.1.0", "lcons-tasks": "0.1.0"}


def write_run(folder: Path, document: Document) -> Path:
    """The document, and results.json as the sign that all is there."""
    folder.mkdir(parents=True, exist_ok=True)
    write_document(folder, document)
    (folder / "results.json").write_text(json.dumps({"format": 1, "task": document.task}) + "\n")
    return folder


def provenance(corpus: str) -> Section:
    facts = (("corpus name", corpus), ("corpus sha256", HASH), ("option seeds", "1, 2"))
    return Section("Provenance", (Facts("What was run", facts),))


def make_er(folder: Path) -> Path:
    """An entity-relation run: one split, the designed constraints, four sentences."""
    target = folder / "constraints/split-1-100percent/learned"
    target.mkdir(parents=True)
    for name, constraint in designed().items():
        save(constraint, target / f"{name}.json")
    (folder / "predictions").mkdir()
    lines = [json.dumps(one) + "\n" for one in ER_SENTENCES]
    (folder / "predictions/split-1-100percent.jsonl").write_text("".join(lines), encoding="utf-8")
    files = tuple(f"constraints/split-1-100percent/learned/{name}.json" for name in designed())
    sets = Constraints("split-1-100percent/learned", files, "predictions/split-1-100percent.jsonl")
    return write_run(folder, er_document(sets))


def er_document(*sets: Constraints, corpus: str = "bundled") -> Document:
    measures = ("entity F1", "relation F1", "entity macro F1", "relation macro F1", "strict relation F1")
    grid = {
        "learned / learned": (84.6, 60.8, 82.3, 53.5, 60.8),
        "none / none": (81.4, 57.7, 78.2, 48.1, 48.2),
    }
    rows = tuple((name, *(Figure((value,)) for value in values)) for name, values in grid.items())
    gains = (Gain("learned over none, relation F1", "213 sentences", Interval(3.11, -1.25, 7.75)),)
    results = Table("Seeded splits, %", ("trained / tested with", *measures), rows)
    sentences = Sentences("split-1-100percent", (), "predictions/split-1-100percent.jsonl")
    return Document(
        "Entities and relations",
        "er",
        corpus,
        "A linear model that reads **words** and POS tags, with constraints on entities and their relations.",
        Headline("relation F1", Figure((57.7,)), Figure((60.8,), 38.2), Interval(3.11, -1.25, 7.75)),
        (
            Section("Results", (results, Gains("Gains in points, with 95% intervals", gains))),
            Section("C", (Text("C = 0.03, as `--grid` says."),)),
            Section("Nothing to say", ()),
            Section("Constraints", sets),
            Section("Sentences before and after", (sentences,)),
            provenance(corpus),
        ),
        "Roth and Yih's corpus",
        "lcons learn pairs.jsonl",
        VERSIONS,
    )


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


def chunk_constraint() -> LearnedConstraint:
    """Windows of two: I-NP goes on with its own chunk, and a determiner is in no verb chunk."""
    feature = NgramContext(LABELS, TAGS, n=2)
    verbs = ["B-VP", "I-VP"]
    forbidden = [{"label 1": [*verbs, "O"], "label 2": "I-NP"}, {"pos 2": "DT", "label 2": verbs}]
    rules = Rules(feature.space, forbidden)  # type: ignore[arg-type]
    return LearnedConstraint(rules.network(), feature.space, feature, {"designed": True})


def make_chunking(folder: Path, corpus: str = "conll2000") -> Path:
    """A chunking run: two ratios, a constraint on windows, two sentences."""
    target = folder / "constraints/first-1%-seed1"
    target.mkdir(parents=True)
    save(chunk_constraint(), target / "pos-2.json")
    (folder / "predictions").mkdir()
    (folder / "predictions/bilstm-first-1%-seed1.txt").write_text(CHUNKS, encoding="utf-8")
    return write_run(folder, chunking_document(corpus))


CHUNKS = """\
the DT B-NP B-VP B-NP
dog NN I-NP I-NP I-NP
barks VB B-VP B-VP B-VP

a DT B-NP B-NP B-NP
cat NN I-NP I-NP I-NP

"""


def chunking_document(corpus: str = "conll2000") -> Document:
    exact = Figure((85.2, 85.3), 82.11), Figure((91.7, 91.8), 91.0)
    chosen = Figure((90.6, 90.7)), Figure((93.7, 93.8))
    file, constraint = "predictions/bilstm-first-1%-seed1.txt", "constraints/first-1%-seed1/pos-2.json"
    gain = Interval(5.4, 5.1, 5.7)
    blocks = (
        Table("bilstm, accuracy, %", ("row", "1%", "5%"), (("exact", *exact), ("chosen on dev", *chosen))),
        Gains("Gains in points, with 95% intervals", (Gain("chosen on dev over exact", "bilstm, 1%", gain),)),
        Claims((Claim("POS-constrained search beats search", False, "1% +1.99"),)),
        Curve(
            f"Token accuracy by training sentences ({corpus})",
            "training sentences",
            "token accuracy (%)",
            {"exact": {89.0: 85.25, 447.0: 91.75}, "chosen on dev": {89.0: 90.65, 447.0: 93.75}},
        ),
    )
    return Document(
        "Chunking",
        "chunking",
        corpus,
        "A chunker that reads words, under constraints that read POS tags.",
        Headline("token accuracy, bilstm, 1% (89 sentences)", exact[0], chosen[0], gain),
        (
            Section("Results", blocks),
            Section("Constraints", (Constraints("first-1%-seed1", (constraint,), file),)),
            Section("Sentences", (Sentences("bilstm-first-1%-seed1", (), file),)),
            provenance(corpus),
        ),
        None if corpus == "conll2000" else "CoNLL-2000",
        provenance=VERSIONS,
    )


def make_synthetic(folder: Path) -> Path:
    """A synthetic run: a constraint without a feature, and a curve over numbers of hidden units."""
    target = folder / "constraints/instance-1"
    target.mkdir(parents=True)
    not_both = RectifierNetwork([[1.0, 0.0, 1.0]], [0.0])
    save(LearnedConstraint(not_both, FeatureSpace([binary("z", ["z1", "z2", "z3"])])), target / "K2.json")
    without, within = Figure((60.0, 60.0), 56.8), Figure((86.0, 87.0), 83.5)
    lines = {"no constraints": {2.0: 60.0, 10.0: 60.0}, "learned constraints": {2.0: 83.5, 10.0: 86.5}}
    blocks = (
        Table("Solutions, %", ("", "bits right"), (("no constraints", without), ("K = 10", within))),
        Claims((Claim("more bits are right", True, "83.5 against 60.0"),)),
        Curve("Right bits of test solutions by hidden units", "hidden units", "bits right (%)", lines),
    )
    document = Document(
        "Synthetic programs",
        "synthetic",
        "synthetic",
        "Integer programs without their constraints, and with learned ones.",
        Headline("bits right, K = 10", without, within, None),
        (
            Section("Results", blocks),
            Section("Constraints", (Constraints("instance-1", ("constraints/instance-1/K2.json",)),)),
        ),
    )
    return write_run(folder, document)


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
    lines = [{key: value for key, value in {**rest, **one}.items() if key not in without} for one in DECODED]  # type: ignore[dict-item]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
