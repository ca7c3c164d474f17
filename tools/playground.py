"""Learn the networks of the playground and write its page: docs/playground/networks.json and index.html.

./tools/venv python tools/playground.py          learn all of them (about 20 s) and write both files
./tools/venv python tools/playground.py --page   only write the page again, from networks.json and the parts

Three examples: pairs that the reader ticks, bigrams of IOB2 labels, and two real columns. Weights are written
as integers times 2^-shift, so the page and lcons_core read the same numbers. A set of ticks is a 3 x 4 table
of bits. Sets that differ only in the order of rows and columns have the same network with its columns in
another order, so one network is learned per pattern: the least number of all orders of a table.

The page is one file: its parts in tools/playground_page, the networks, and a policy that lets only its own
script run. So it loads nothing, and it also opens from a disk.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lcons_core import (
    ConstraintLearner,
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    explain,
    learn_constraints,
    one_hot,
    real,
)

ROOT = Path(__file__).resolve().parent.parent
PARTS = ROOT / "tools/playground_page"
FOLDER = ROOT / "docs/playground"
SCRIPTS = ("network.js", "state.js", "input.js", "results.js", "pictures.js", "start.js")
NETWORKS, PAGE = FOLDER / "networks.json", FOLDER / "index.html"

SOURCES, RELATIONS = ("Person", "Location", "Organization"), ("NoRel", "Kill", "LiveIn", "LocatedAt")
TICKED = ((1, 1, 1, 0), (1, 0, 0, 1), (1, 0, 0, 0))
PAIRS_K, LABELS_K, PLANE_K = (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 5)

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
SENTENCES = (
    "O O B-PER I-PER O",
    "B-PER O B-LOC O",
    "B-PER I-PER I-PER O O B-LOC I-LOC",
    "B-LOC I-LOC I-LOC O",
    "O B-LOC B-PER I-PER",
    "B-PER B-LOC I-LOC B-PER",
    "B-PER I-PER B-LOC O",
    "B-LOC I-LOC B-LOC B-LOC",
    "B-PER B-PER I-PER B-PER O",
)

TEMPERATURE, HUMIDITY = real("temperature", ["temperature"], 0, 40), real("humidity", ["humidity"], 0, 100)
POINTS, GRID = 160, 64
# Rules in words on the page.
SHOWN = 6


def bits(mask: int) -> list[list[int]]:
    """The table of ticks of a number: bit 4 r + c is row r, column c."""
    return [
        [mask >> (len(RELATIONS) * r + c) & 1 for c in range(len(RELATIONS))] for r in range(len(SOURCES))
    ]


def pattern(ticks: list[list[int]]) -> int:
    """The least number of a table with its rows and columns in any order."""
    orders = itertools.product(
        itertools.permutations(range(len(SOURCES))), itertools.permutations(range(len(RELATIONS)))
    )
    width = len(RELATIONS)
    return min(
        sum(ticks[p[r]][q[c]] << (width * r + c) for r in range(len(SOURCES)) for c in range(width))
        for p, q in orders
    )


def patterns() -> list[int]:
    """All patterns, without the empty and the full table, from which nothing can be learned."""
    size = len(SOURCES) * len(RELATIONS)
    return sorted({pattern(bits(mask)) for mask in range(1, 2**size - 1)})


def written(network: RectifierNetwork) -> dict[str, Any]:
    """The weights as integers times 2^-shift."""
    unit = 2.0**network.exponent
    W, b = network.W * unit, network.b * unit
    assert (np.rint(W) == W).all()
    assert max(np.abs(W).max(), np.abs(b).max()) < 2**53
    return {"shift": network.exponent, "W": W.astype(np.int64).tolist(), "b": b.astype(np.int64).tolist()}


def read(found: dict[str, Any]) -> RectifierNetwork:
    """The network of `written`."""
    return RectifierNetwork(
        np.array(found["W"]) / 2.0 ** found["shift"], np.array(found["b"]) / 2.0 ** found["shift"]
    )


def learn_ticks(mask: int, K: int) -> RectifierNetwork:
    """The network learned from a table of ticks: all other pairs are invalid."""
    space = FeatureSpace([one_hot("source", SOURCES), one_hot("relation", RELATIONS)])
    X = np.array([space.vector(source=s, relation=r) for s in SOURCES for r in RELATIONS])
    return _fitted(X, np.array(bits(mask), dtype=np.bool_).ravel(), K)


def learn_labels(K: int) -> LearnedConstraint:
    """The constraint learned from the label bigrams of the sentences."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learn_constraints([text.split() for text in SENTENCES], "ngram", n=2, hidden=K, evidence=None)


def plane_points() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Points (N, 2) and whether they are valid: inside an ellipse, and not near its edge."""
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform([0, 0], [40, 100], (4 * POINTS, 2)) * GRID) / GRID
    far = ((X - [22, 55]) ** 2 / [11**2, 28**2]).sum(1) + 0.6 * (X - [22, 55]).prod(1) / (11 * 28)
    kept = (far < 0.85) | (far > 1.25)
    return X[kept][:POINTS], far[kept][:POINTS] < 1


def learn_plane(K: int) -> RectifierNetwork:
    """The network learned from the points of the plane."""
    return _fitted(*plane_points(), K)


def _fitted(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], K: int) -> RectifierNetwork:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that K = 1 cannot express a set is what the page shows
        return ConstraintLearner(hidden=K, seed=0, penalty=0.0).fit(X, y).network_


def in_words(constraint: LearnedConstraint) -> dict[str, Any]:
    """The strongest rules of a constraint in words, those over all types first, and the number of all."""
    said = explain(constraint)
    every = [*(rule.words for rule in said.types), *(rule.words for rule in said.rules if not rule.implied)]
    return {"words": every[:SHOWN], "rules": len(every)}


def pairs_example() -> dict[str, Any]:
    """The pairs that the reader ticks."""
    return {
        "id": "pairs",
        "kind": "ticks",
        "title": "Pairs you tick",
        "hint": "Tick the pairs of source and relation that are valid. All others are invalid examples. The"
        " number is the margin of the learned network; press it to look at that pair.",
        "K": 2,
        "blocks": [
            {"name": "source", "values": list(SOURCES)},
            {"name": "relation", "values": list(RELATIONS)},
        ],
        "ticked": [list(row) for row in TICKED],
        "start": [1, 1],
        "networks": {
            str(K): {str(mask): written(learn_ticks(mask, K)) for mask in patterns()} for K in PAIRS_K
        },
    }


def labels_example() -> dict[str, Any]:
    """Bigrams of IOB2 labels."""
    seen = {pair for text in SENTENCES for pair in itertools.pairwise(text.split())}
    networks = {}
    order = [*LABELS]
    for K in LABELS_K:
        constraint = learn_labels(K)
        order = list(constraint.space.blocks[0].values)
        assert isinstance(constraint.network, RectifierNetwork)
        networks[str(K)] = {**written(constraint.network), **in_words(constraint)}
    assert sorted(order) == sorted(LABELS)
    return {
        "id": "labels",
        "kind": "labels",
        "title": "Labels in a row",
        "hint": f"Learned from the steps of {len(SENTENCES)} labelled sentences (a dot: seen there). A name"
        " of a person (PER) cannot continue (I-) before it has begun (B-). Press a step to look at it.",
        "K": 2,
        "blocks": [{"name": "label 1", "values": order}, {"name": "label 2", "values": order}],
        "seen": [[int((a, b) in seen) for b in order] for a in order],
        "start": [order.index("O"), order.index("I-PER")],
        "sentence": "O B-PER I-PER I-LOC O",
        "networks": networks,
    }


def plane_example() -> dict[str, Any]:
    """Two real columns."""
    X, y = plane_points()
    space = FeatureSpace([TEMPERATURE, HUMIDITY])
    networks = {}
    for K in PLANE_K:
        network = learn_plane(K)
        right = int((network.accepts(X) == y).sum())
        networks[str(K)] = {
            **written(network),
            **in_words(LearnedConstraint(network, space)),
            "note": f"With K = {K}, the network is right on {right} of the {len(y)} points.",
        }
    return {
        "id": "plane",
        "kind": "plane",
        "title": "Two numbers",
        "hint": "Where plants grow (dots) and where they do not (crosses): made-up examples. Drag the point,"
        " or move it with the sliders or the arrow keys. Each line is one inequality.",
        "K": 3,
        "columns": [
            {"name": "temperature", "low": 0, "high": 40, "unit": "°C"},
            {"name": "humidity", "low": 0, "high": 100, "unit": "%"},
        ],
        "points": [[*point, int(valid)] for point, valid in zip(X.tolist(), y.tolist(), strict=True)],
        "start": [34.0, 82.0],
        "networks": networks,
    }


def networks_text() -> str:
    """The content of networks.json: everything is learned again."""
    examples = [pairs_example(), labels_example(), plane_example()]
    return _compact({"examples": examples})


def _compact(data: dict[str, Any]) -> str:
    """JSON in which the lines of a difference are networks and fields."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for start in ('{"shift"', '"networks"', '"id"', '"points"', '"hint"', '"words"'):
        text = text.replace(start, "\n" + start)
    return text + "\n"


def page_text(networks: str) -> str:
    """The page with these networks: its parts, and a policy under which only its own script can run."""
    script = "\n".join((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    assert "</script" not in script.lower()
    parts = {
        "policy": "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:;"
        f" style-src 'unsafe-inline'; script-src 'sha256-{hashed}'",
        "style": (PARTS / "style.css").read_text(encoding="utf-8"),
        "data": networks.strip().replace("<", "\\u003c"),
        "script": script,
    }
    page = (PARTS / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace(f"{{{{ {name} }}}}", text)
    return page


def main(arguments: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    if arguments != ["--page"]:
        NETWORKS.write_text(networks_text(), encoding="utf-8")
    PAGE.write_text(page_text(NETWORKS.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
