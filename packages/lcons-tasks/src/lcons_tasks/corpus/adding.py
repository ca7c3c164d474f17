"""Corpora that the user already has, copied into the cache after their reader has read them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lcons_core.errors import InvalidInput
from lcons_tasks.atomic import replacing
from lcons_tasks.corpus.catalog import CATALOG, Corpus, CorpusFile, entry
from lcons_tasks.corpus.errors import FetchFailed, MalformedCorpus
from lcons_tasks.corpus.fetching import Kept
from lcons_tasks.corpus.finding import cache_folder
from lcons_tasks.corpus.lines import unreadable

_CHUNK = 2**20


def add(
    name: str, paths: Sequence[str | os.PathLike[str]], *, catalog: Mapping[str, Corpus] = CATALOG
) -> tuple[Kept, ...]:
    """Imports the files of a corpus, all or, if one of them is malformed, none.

    Files with the names of the catalog may be in any order; others are in the catalog's order.
    """
    corpus = entry(name, catalog)
    pairs = _paired(corpus, [Path(path) for path in paths])
    for file, path in pairs:
        if not file.count(path):
            raise MalformedCorpus(
                f"{path}:1: expected {file.path}, found a file that holds nothing; pass another."
            )
    return tuple(_copy(file, path, cache_folder() / file.path) for file, path in pairs)


def _paired(corpus: Corpus, paths: list[Path]) -> list[tuple[CorpusFile, Path]]:
    names = [Path(file.path).name for file in corpus.files]
    if len(paths) != len(names):
        raise InvalidInput(
            f"expected {len(names)} files ({', '.join(names)}) of corpus {corpus.name!r}, found {len(paths)};"
            " pass all of them at once."
        )
    if {path.name for path in paths} == set(names):
        paths = sorted(paths, key=lambda path: names.index(path.name))
    return list(zip(corpus.files, paths, strict=True))


def _copy(file: CorpusFile, path: Path, target: Path) -> Kept:
    digest = hashlib.sha256()
    try:
        source = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with source, replacing(target) as copy:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                copy.write(chunk)
    except OSError as error:
        raise FetchFailed(
            f"cannot write {str(target)!r}: {error.strerror}; make room or name another folder in"
            " LCONS_CACHE_DIR, and run the command again."
        ) from None
    if file.sha256 is None:
        return Kept(target, "read without errors")
    same = digest.hexdigest() == file.sha256
    return Kept(target, "checksum as published" if same else "read without errors; not the published file")
