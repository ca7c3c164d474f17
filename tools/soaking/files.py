"""Files against what was written to them.

| family | draws | compares after writing and reading |
|---|---|---|
| `constraint files` | constraints with and without features | space, feature, provenance, weights, verdicts |
| `score files` | scores of a model as npz and as JSON lines | scores, labels and columns |
"""

from __future__ import annotations

import io
import json
import tempfile
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, load
from lcons_core._document import dumps, loads
from lcons_decode.files._scores import read_scored
from soaking import draws, oracle
from soaking.chains import feature_of, network_of, scores_of
from soaking.sets import dense, space_of
from soaking.tally import Tally

Case = dict[str, Any]

STRANGE = ("", " x", "\u00e9", '"', "\\", "\u2028", "\U0001f600", "null", "#")


def draw_constraint_file(rng: Random) -> Case:
    """A constraint with a feature or on a space; names may be strange."""
    if draws.chance(rng, 0.6):
        labels = [f"{label}{rng.choice(STRANGE)}" for label in draws.LABELS[: rng.randint(1, 3)]]
        local = draws.chance(rng, 0.7)
        feature = draws.draw_ngrams(rng, labels, 3) if local else draws.draw_whole_feature(rng, labels)
        d = draws.width_of(feature)
        points = [[float(rng.randint(0, 1)) for _ in range(d)] for _ in range(4)]
        return {
            "feature": feature,
            "parts": draws.draw_parts(rng, d),
            "points": points,
            "seed": rng.randint(0, 2**64),
        }
    case = draws.draw_set(rng, most=30)
    for block in case["space"]["blocks"]:
        block["name"] += rng.choice(STRANGE)
    case["space"]["requires"] = []
    d = draws.columns_of(case["space"])
    points = [dense(point.psi, d) for point in oracle.points_of(case["space"])[:6]]
    return {**case, "feature": None, "points": points, "seed": rng.randint(0, 2**64)}


def check_constraint_file(case: Case, tally: Tally) -> None:
    """Family `constraint files`."""
    feature = None if case["feature"] is None else feature_of(case["feature"])
    space = space_of(case) if feature is None else feature.space
    constraint = LearnedConstraint(network_of(case["parts"]), space, feature, {"seed": case["seed"]})
    with tempfile.TemporaryDirectory() as folder:
        constraint.save(Path(folder) / "constraint.json")
        read = load(Path(folder) / "constraint.json")
    judge = oracle.Networks(case["parts"])
    wanted = [judge.accepts({j: v for j, v in enumerate(map(Fraction, p)) if v}) for p in case["points"]]
    for what, again in (("file", read), ("text", loads(dumps(constraint)))):
        tally.same(f"{what}: space", again.space, space)
        tally.same(f"{what}: feature", again.feature, feature)
        tally.same(f"{what}: provenance", dict(again.provenance), {"seed": case["seed"]})
        bits = [[part.W.tolist(), part.b.tolist()] for part in again.network.parts]
        tally.same(f"{what}: weights", bits, case["parts"])
        tally.same(f"{what}: verdicts", again.network.accepts(np.array(case["points"])).tolist(), wanted)


def draw_score_file(rng: Random) -> Case:
    """Some sequences of one model, with columns of strings."""
    model = draws.draw_model(rng)
    model["labels"] = [f"{label}{rng.choice(STRANGE)}" for label in model["labels"]]
    sequences = [draws.draw_sequence(rng, model) for _ in range(rng.randint(1, 4))]
    for sequence in sequences:
        T = len(sequence["emission"])
        sequence["words"] = [f"w{rng.choice(STRANGE)}" for _ in range(T)]
        sequence["emission"] = [
            [
                x
                if draws.chance(rng, 0.5) or x == oracle.NEVER
                else rng.gauss(0, 1) * 2.0 ** rng.randint(-60, 60)
                for x in row
            ]
            for row in sequence["emission"]
        ]
    return {"model": model, "sequences": sequences}


def check_score_file(case: Case, tally: Tally) -> None:
    """Family `score files`."""
    model, sequences = case["model"], case["sequences"]
    shared = {name: model[name] for name in ("transition", "start", "stop")}
    lines = [json.dumps({"labels": model["labels"], **shared})]
    for i, sequence in enumerate(sequences):
        own = {"emission": sequence["emission"], "words": sequence["words"], **sequence["x"]}
        lines.append(json.dumps({"id": i, **own}))
    npz = io.BytesIO()
    flat = [row for sequence in sequences for row in sequence["emission"]]
    arrays: dict[str, Any] = dict(
        emission=np.array(flat).reshape(len(flat), len(model["labels"])),
        offsets=np.cumsum([0, *(len(sequence["emission"]) for sequence in sequences)]),
        labels=np.array(model["labels"]),
        words=np.array([w for sequence in sequences for w in sequence["words"]], dtype=np.str_),
        pos=np.array([p for sequence in sequences for p in sequence["x"]["pos"]], dtype=np.str_),
        **{name: np.array(values) for name, values in shared.items()},
    )
    np.savez(npz, **arrays)
    npz.seek(0)
    sources = {"JSON lines": io.BytesIO("\n".join(lines).encode()), "npz": npz}
    for what, source in sources.items():
        found = list(read_scored(source, what))
        tally.same(f"{what}: sequences", len(found), len(sequences))
        for scored, sequence in zip(found, sequences, strict=False):
            wanted = scores_of(model, sequence)
            for name in ("emission", "transition", "start", "stop"):
                own = getattr(scored.scores, name)
                tally.same(f"{what}: {name}", own.tolist(), getattr(wanted, name).tolist())
            tally.same(f"{what}: labels", scored.scores.labels, tuple(model["labels"]))
            columns = {"word": tuple(sequence["words"]), "pos": tuple(sequence["x"]["pos"])}
            tally.same(f"{what}: columns", dict(scored.x), columns)
