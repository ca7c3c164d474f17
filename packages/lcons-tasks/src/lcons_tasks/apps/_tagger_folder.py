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
from lcons_tasks.apps._model_folder import MODEL, Described, FolderKind, Reports
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.models._tagger import load_tagger

TAGGER = FolderKind(
    noun="tagger",
    made_by="make one with `lcons fit` or `lcons run chunking`, or one that parses references with `lcons run"
    " citation`",
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
    model = load_tagger(path / MODEL)
    uses: list[Hard | Soft] = []
    for entry in described.constraints:
        constraint = load(path / entry.file)
        if entry.weight is None:
            uses.append(Hard(constraint, entry.name))
        else:
            uses.append(Soft(constraint, entry.weight, entry.name, entry.cost))
    with TAGGER.explained(path):
        return ConstrainedTagger(model, tuple(uses), described.decoder, described.beam)


def _kind(use: Hard | Soft) -> dict[str, Any]:
    """The weight and the cost of a constraint, for the description."""
    if isinstance(use, Hard):
        return {"weight": None}
    return {"weight": use.weight} | ({} if use.cost == "sigmoid" else {"cost": use.cost})
