"""Where corpora are: in the folder that LCONS_DATA_DIR names, else in the user's cache.

The cache is the platform's cache folder for lcons, or the folder that LCONS_CACHE_DIR names; corpora are in
`data` below it. Finding never downloads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lcons_tasks.corpus.catalog import CATALOG, Corpus, entry
from lcons_tasks.corpus.errors import CorpusNotFound

DATA_VARIABLE = "LCONS_DATA_DIR"
CACHE_VARIABLE = "LCONS_CACHE_DIR"


def cache_folder() -> Path:
    """The folder of the user's cache that holds corpora; it need not exist yet."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named) / "data"
    import platformdirs

    return Path(platformdirs.user_cache_dir("lcons", appauthor=False)) / "data"


def data_folders() -> list[Path]:
    """The folders to look in, in that order."""
    named = os.environ.get(DATA_VARIABLE)
    return [*([Path(named)] if named else []), cache_folder()]


def find(name: str, catalog: Mapping[str, Corpus] = CATALOG) -> tuple[Path, ...] | None:
    """The paths of the corpus in the first folder that has all, in the catalog's order; None if none has."""
    corpus = entry(name, catalog)
    for folder in data_folders():
        paths = tuple(folder / file.path for file in corpus.files)
        if all(path.is_file() for path in paths):
            return paths
    return None


def require(name: str, catalog: Mapping[str, Corpus] = CATALOG) -> tuple[Path, ...]:
    """As `find`, but a corpus that is not there is an error that says how to get it."""
    paths = find(name, catalog)
    if paths is None:
        files = " and ".join(file.path for file in catalog[name].files)
        looked = " and ".join(map(_described, data_folders()))
        raise CorpusNotFound(
            f"expected {files} of corpus {name!r}, found nothing in {looked}; run `lcons data fetch {name}`,"
            f" import what you have with `lcons data add {name} PATH`, or set {DATA_VARIABLE} to a folder"
            " that has it."
        )
    return paths


def _described(folder: Path) -> str:
    return str(folder) if folder.is_dir() else f"{folder} (no such folder)"
