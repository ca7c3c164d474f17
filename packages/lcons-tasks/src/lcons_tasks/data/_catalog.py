"""The catalog of corpora (`catalog.toml`): their files, where they are published, and where they are on disk.

Paths are relative to a data folder: the folder that LCONS_DATA_DIR names, else the folder `data` in the
cache. The cache is the folder that LCONS_CACHE_DIR names, else the platform's cache folder for lcons. `find`
never downloads.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput
from lcons_tasks.data._columns import read_columns
from lcons_tasks.data._lines import CorpusNotFound, read_vectors
from lcons_tasks.data._references import CORA_FIELDS, read_anystyle, read_references
from lcons_tasks.data._roth_yih import read_roth_yih

READERS: Mapping[str, Callable[[Path], Iterable[Any]]] = {
    "columns": read_columns,
    "relations": read_roth_yih,
    "cora": lambda path: read_references(path, CORA_FIELDS),
    "anystyle": read_anystyle,
    "glove": lambda path: read_vectors(path, 50),
}


@dataclass(frozen=True)
class CorpusFile:
    """A file below a data folder, its `reader`, and how to `unpack` it from the download at an address."""

    path: str
    address: str
    reader: str
    unpack: str = "as it is"
    member: str = ""
    sha256: str | None = None
    download_sha256: str | None = None

    def count(self, path: Path) -> int:
        """The number of items of a file, which is read to the end."""
        return sum(1 for _ in READERS[self.reader](path))


@dataclass(frozen=True)
class Corpus:
    """A named corpus and its files."""

    name: str
    what: str
    licence: str
    files: tuple[CorpusFile, ...]


_LISTED = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text("utf-8"))["corpora"]
CATALOG: Mapping[str, Corpus] = {
    corpus["name"]: Corpus(**{**corpus, "files": tuple(CorpusFile(**file) for file in corpus["files"])})
    for corpus in _LISTED
}


def entry(name: str, catalog: Mapping[str, Corpus]) -> Corpus:
    """The corpus of that name."""
    if name not in catalog:
        raise InvalidInput(f"unknown corpus {name!r}; it is one of {', '.join(catalog)}.")
    return catalog[name]


def cache_folder() -> Path:
    """The folder of corpora in the user's cache; it may not exist yet."""
    if named := os.environ.get("LCONS_CACHE_DIR"):
        return Path(named) / "data"
    import platformdirs

    return Path(platformdirs.user_cache_dir("lcons", appauthor=False)) / "data"


def data_folders() -> list[Path]:
    """The folders to search, in order."""
    named = os.environ.get("LCONS_DATA_DIR")
    return [*([Path(named)] if named else []), cache_folder()]


def find(name: str, catalog: Mapping[str, Corpus] = CATALOG) -> tuple[Path, ...] | None:
    """The paths of the corpus in the first folder that has all of them, in the catalog's order; else None."""
    corpus = entry(name, catalog)
    for folder in data_folders():
        paths = tuple(folder / file.path for file in corpus.files)
        if all(path.is_file() for path in paths):
            return paths
    return None


def require(name: str, catalog: Mapping[str, Corpus] = CATALOG) -> tuple[Path, ...]:
    """The paths of `find`; raises `CorpusNotFound`, which says how to get the corpus, if there are none."""
    if paths := find(name, catalog):
        return paths
    files = " and ".join(file.path for file in catalog[name].files)
    folders = [f"{f}{'' if f.is_dir() else ' (no such folder)'}" for f in data_folders()]
    raise CorpusNotFound(
        f"expected {files} of corpus {name!r}, found nothing in {' and '.join(folders)}; run `lcons data"
        f" fetch {name}`, or `lcons data add {name} PATH` with your own copy, or set LCONS_DATA_DIR."
    )
