"""A constrained tagger as a folder (`lcons_tasks.apps._model_folder`).

    tagger.json   {"format": 1, "decoder", "beam", "constraints": [{"name", "file", "weight", "cost"}, ...]}

The weight of a hard constraint is null. The cost of a soft one is written unless it is `sigmoid`, the only
cost that older folders have. If anything is wrong with a folder, `read_tagger` raises an
`LconsError` with one sentence.
"""

from __future__ import annotations

import os
from pathlib import Path

from lcons_tasks.apps._model_folder import MODEL, FolderKind, Reports, described, uses_of
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
    more = {"decoder": tagger.decoder, "beam": tagger.beam}
    TAGGER.write(folder, tagger.model, list(map(described, tagger.constraints)), more, reports)


def check_tagger_folder(folder: str | os.PathLike[str]) -> None:
    """Raises `LconsError` if no tagger can be written there; call it before long work."""
    TAGGER.check_place(folder)


def read_tagger(folder: str | os.PathLike[str]) -> ConstrainedTagger:
    """The tagger that `write_tagger` wrote."""
    path = Path(folder)
    description = TAGGER.read(path)
    model, uses = load_tagger(path / MODEL), uses_of(path, description)
    with TAGGER.explained(path):
        return ConstrainedTagger(model, tuple(uses), description.decoder, description.beam)
