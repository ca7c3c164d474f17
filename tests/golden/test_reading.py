"""Stored constraint files of format 1, one or more per kind of feature, are read and mean what they meant."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_files import V010, Golden, exact, fingerprint, lcons
from page_outline import outline

from lcons_core import load, save

CONSTRAINTS = sorted(path.stem for path in (V010 / "constraints").iterdir())
POINTS = 40
SENTENCES = [
    ("The/DT dog/NN barked/VB ./.", "B-NP I-NP B-VP O"),
    ("In/IN May/NN ,/, 3/CD big/JJ dogs/NN bark/VB", "O B-NP O B-NP I-NP I-NP B-VP"),
    ("rain/NN fell/VB", "I-NP B-VP"),
    ("Rome/NN", "I-VP"),
]
TUPLES = [[("Person", "Kill"), ("Location", "Kill")], [("NoEnt", "NoRel")]]


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_means_the_same(name: str, golden: Golden):
    """Its feature, exact arrays and margins, and which parts of structures it forbids."""
    found = load(V010 / f"constraints/{name}.json")
    points = np.concatenate(list(islice(found.space.points(POINTS), 1)))[:POINTS]
    kept = {
        "feature": found.feature and found.feature.kind,
        "scope": found.feature and found.scope.value,
        "blocks": [f"{block.name}: {' '.join(block.values)}" for block in found.space.blocks],
        "arrays": fingerprint(found),
        "margins": exact(found.margin(found.space.vectors(points))),
        "violations": [list(map(int, found.violations(one))) for one in structures(found.feature)],
    }
    golden.data(f"v0.1.0/constraints/{name}.json", kept)


def structures(feature: Any) -> list[Any]:
    """Structures that the feature reads."""
    if feature is None:
        return []
    if feature.kind == "tuples":
        return TUPLES
    if "L-X" in feature.labels:
        return [["B-X", "L-X", "O"], ["B-X", "O"], ["L-X"]]
    pairs = [([word.rsplit("/", 1) for word in text.split()], labels.split()) for text, labels in SENTENCES]
    return [({"word": [w for w, _ in x], "pos": [p for _, p in x]}, y) for x, y in pairs]


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_is_written_as_it_was(name: str, tmp_path: Path):
    path = V010 / f"constraints/{name}.json"
    save(load(path), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_a_page_is_made_of_stored_constraints_and_labels(folder: Path, golden: Golden):
    constraints = [f"v0.1.0/constraints/{name}.json" for name in ("pairs", "designed", "pos", "table")]
    done = lcons("-q", "report", *constraints, "v0.1.0/decoded.jsonl", "--json", "-o", "page.html")
    assert done.exit_code == 0, done.output
    golden.data("v0.1.0/pages/own.json", json.loads(done.stdout))
    page = (folder / "page.html").read_text(encoding="utf-8")
    golden.text("v0.1.0/pages/own.txt", outline(page))
