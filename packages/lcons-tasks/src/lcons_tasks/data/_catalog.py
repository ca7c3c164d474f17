"""The catalog of corpora: what each one is, its files, where they are published, and where they are on disk.

Paths are relative to a data folder: the folder that LCONS_DATA_DIR names, else the folder `data` in the
cache. The cache is the folder that LCONS_CACHE_DIR names, else the platform's cache folder for lcons. `find`
never downloads.

An entry may hold two checksums: of the download, and of the file that is unpacked from it. If it holds
neither, the checksum of the first download is pinned (`_fetch.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lcons_core import InvalidInput
from lcons_tasks.data._columns import CONLL2000, read_columns
from lcons_tasks.data._lines import CorpusNotFound, read_vectors
from lcons_tasks.data._references import CORA_FIELDS, read_anystyle, read_references
from lcons_tasks.data._roth_yih import read_roth_yih


@dataclass(frozen=True)
class Download:
    """An address, and how the file is unpacked from the download (a key of `_fetch.UNPACK`)."""

    address: str
    unpack: str = "as it is"
    member: str = ""
    sha256: str | None = None


@dataclass(frozen=True)
class CorpusFile:
    """A file below a data folder; `count` reads it to the end and returns the number of items."""

    path: str
    download: Download
    count: Callable[[Path], int]
    sha256: str | None = None


@dataclass(frozen=True)
class Corpus:
    """A named corpus and its files."""

    name: str
    what: str
    licence: str
    files: tuple[CorpusFile, ...]


def entry(name: str, catalog: Mapping[str, Corpus]) -> Corpus:
    """The corpus of that name."""
    if name not in catalog:
        raise InvalidInput(f"unknown corpus {name!r}; it is one of {', '.join(catalog)}.")
    return catalog[name]


def _columns(path: Path) -> int:
    return sum(1 for _ in read_columns(path, CONLL2000))


def _relations(path: Path) -> int:
    return sum(1 for _ in read_roth_yih(path))


def _cora(path: Path) -> int:
    return sum(1 for _ in read_references(path, CORA_FIELDS))


def _anystyle(path: Path) -> int:
    return sum(1 for _ in read_anystyle(path))


def _glove(path: Path) -> int:
    return sum(1 for _ in read_vectors(path, 50))


_CONLL2000_PAGE = "https://www.clips.uantwerpen.be/conll2000/chunking/"

_CORPORA = (
    Corpus(
        "conll2000",
        "CoNLL-2000 chunking: 8936 and 2012 sentences with POS tags and chunks",
        "no licence stated; the text is that of the Wall Street Journal in the Penn Treebank",
        (
            CorpusFile(
                "conll2000/train.txt",
                Download(_CONLL2000_PAGE + "train.txt.gz", "gz"),
                _columns,
                "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
            ),
            CorpusFile(
                "conll2000/test.txt",
                Download(_CONLL2000_PAGE + "test.txt.gz", "gz"),
                _columns,
                "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
            ),
        ),
    ),
    Corpus(
        "conll04",
        "entities and relations of Roth and Yih (2004): 5516 sentences, 1441 with relations",
        "no licence stated; news text",
        (
            CorpusFile(
                "conll04/conll04.corp",
                Download("https://cogcomp.seas.upenn.edu/Data/ER/conll04.corp"),
                _relations,
            ),
        ),
    ),
    Corpus(
        "cora",
        "Cora references (McCallum and others): 500 references with 13 fields",
        "no licence stated",
        (
            CorpusFile(
                "citations/cora.txt",
                Download(
                    "https://people.cs.umass.edu/~mccallum/data/cora-ie.tar.gz",
                    "tar.gz",
                    "tagged_references.txt",
                ),
                _cora,
            ),
        ),
    ),
    Corpus(
        "anystyle",
        "AnyStyle's core training set: about 1500 references with other fields than Cora's",
        "published in the AnyStyle repository, BSD-2-Clause",
        (
            CorpusFile(
                "citations/anystyle-core.xml",
                Download("https://raw.githubusercontent.com/inukshuk/anystyle/HEAD/res/parser/core.xml"),
                _anystyle,
            ),
        ),
    ),
    Corpus(
        "glove",
        "GloVe 6B word vectors of dimension 50, 400,000 words (a download of 862 MB)",
        "Public Domain Dedication and Licence 1.0",
        (
            CorpusFile(
                "vectors/glove.6B.50d.txt",
                Download(
                    "https://nlp.stanford.edu/data/glove.6B.zip",
                    "zip",
                    "glove.6B.50d.txt",
                    "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
                ),
                _glove,
            ),
        ),
    ),
)

CATALOG: Mapping[str, Corpus] = {corpus.name: corpus for corpus in _CORPORA}


DATA_VARIABLE = "LCONS_DATA_DIR"
CACHE_VARIABLE = "LCONS_CACHE_DIR"


def cache_folder() -> Path:
    """The folder of corpora in the user's cache; it may not exist yet."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named) / "data"
    import platformdirs

    return Path(platformdirs.user_cache_dir("lcons", appauthor=False)) / "data"


def data_folders() -> list[Path]:
    """The folders to search, in order."""
    named = os.environ.get(DATA_VARIABLE)
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
    paths = find(name, catalog)
    if paths is None:
        files = " and ".join(file.path for file in catalog[name].files)
        looked = " and ".join(map(_described, data_folders()))
        raise CorpusNotFound(
            f"expected {files} of corpus {name!r}, found nothing in {looked}; run `lcons data fetch {name}`,"
            f" import your own copy with `lcons data add {name} PATH`, or set {DATA_VARIABLE} to a folder"
            " that has it."
        )
    return paths


def _described(folder: Path) -> str:
    return str(folder) if folder.is_dir() else f"{folder} (no such folder)"
