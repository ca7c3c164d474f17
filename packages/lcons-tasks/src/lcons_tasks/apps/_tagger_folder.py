"""A constrained tagger as a folder (`lcons_tasks.apps._model_folder`).

    tagger.json   {"format": 1, "decoder", "beam", "constraints": [{"name", "file", "weight", "cost"}, ...]}

The weight of a hard constraint is null. The cost of a soft one is written unless it is `sigmoid`, the only
cost that older folders have. If anything is wrong with a folder, `read_tagger` raises an
`LconsError` with one sentence.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lcons_core import load
from lcons_decode import Hard, Soft
from lcons_decode._constraints import COSTS
from lcons_tasks.apps._model_folder import MODEL, Described, FolderKind, Reports, expect
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.models._tagger import load_tagger

SIGMOID = "sigmoid"

TAGGER = FolderKind(
    noun="tagger",
    made_by="make one with `lcons fit` or `lcons run chunking`, or one that parses references with `lcons run"
    " citation`",
    keys=("decoder", "beam"),
    entry_keys=("weight",),
    optional_keys=("cost",),
)


def write_tagger(
    tagger: ConstrainedTagger, folder: str | os.PathLike[str], reports: Reports | None = None
) -> None:
    """Writes the tagger, which replaces an existing one; if that fails, the old one stays unchanged."""
    described = [Described(use.name, use.constraint, _kind(use)) for use in tagger.constraints]
    more = {"decoder": tagger.decoder, "beam": tagger.beam}
    TAGGER.write(folder, tagger.model, described, more, reports)


def check_tagger_folder(folder: str | os.PathLike[str]) -> None:
    """Raises `LconsError` if no tagger can be written there; call it before long work."""
    TAGGER.check_place(folder)


def read_tagger(folder: str | os.PathLike[str]) -> ConstrainedTagger:
    """The tagger that `write_tagger` wrote."""
    path = Path(folder)
    described = TAGGER.read(path)
    with TAGGER.explained(path):
        expect(isinstance(described["decoder"], str), "its decoder is not a name")
        kinds = [
            (_weight(entry["weight"]), _cost(entry.get("cost", SIGMOID)))
            for entry in described["constraints"]
        ]
    model = load_tagger(path / MODEL)
    uses: list[Hard | Soft] = []
    for entry, (weight, cost) in zip(described["constraints"], kinds, strict=True):
        constraint, name = load(path / entry["file"]), entry["name"]
        uses.append(Hard(constraint, name) if weight is None else Soft(constraint, weight, name, cost))
    with TAGGER.explained(path):
        return ConstrainedTagger(model, tuple(uses), described["decoder"], described["beam"])


def _kind(use: Hard | Soft) -> dict[str, Any]:
    """The weight and the cost of a constraint, for the description."""
    if isinstance(use, Hard):
        return {"weight": None}
    return {"weight": use.weight} | ({} if use.cost == SIGMOID else {"cost": use.cost})


def _weight(weight: Any) -> float | None:
    number = weight is None or (type(weight) in (int, float) and weight >= 0)
    expect(number, f"the weight {weight!r:.40} of a constraint is neither null nor a number from 0")
    return None if weight is None else float(weight)


def _cost(cost: Any) -> str:
    expect(cost in COSTS, f"the cost {cost!r:.40} of a constraint is none of {', '.join(COSTS)}")
    return str(cost)
