"""Files against what was written to them.

The family `constraint files` draws constraints with and without features, and compares, after writing and
reading, space, feature, provenance, weights and verdicts.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from lcons_core import LearnedConstraint, load
from lcons_core._document import dumps, loads
from soaking import draws, oracle
from soaking.chains import feature_of, network_of
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
