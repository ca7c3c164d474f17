"""Corpora in the user's cache: fetched from public addresses on request, or copied from the user's files.

`fetch` downloads a file with pooch into a temporary folder, unpacks it, reads it once with its reader, and
only then puts it in its place. A checksum is compared if one is published. A download is the file itself, a
gz file, or an archive (tar.gz, zip) with the file as a member; names in an archive never decide where a file
is written.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from lcons_core import InvalidInput
from lcons_core._files import replacing
from lcons_tasks.data._catalog import CATALOG, Corpus, CorpusFile, cache_folder, entry
from lcons_tasks.data._lines import FetchFailed, MalformedCorpus

MAX_BYTES = 2**32
# Seconds without a byte, and bytes a second after as many seconds.
TIMEOUT, SLOWEST = 30.0, 1000
# What addresses begin with, also those of redirects; the second is this machine.
ALLOWED = ("https://", "http://127.0.0.1:")
_CHUNK = 2**16

FileProgress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Kept:
    """A file in the cache, and a remark on its checksum or on why it was not downloaded."""

    path: Path
    remark: str


def fetch(
    name: str,
    progress: FileProgress | None = None,
    *,
    again: bool = False,
    catalog: Mapping[str, Corpus] = CATALOG,
) -> tuple[Kept, ...]:
    """Downloads the files of a corpus that are not in the cache; with `again`, all of them.

    `progress` is called with a file's path below the cache, the bytes so far, and the total if it is known.
    """
    return tuple(_fetch_file(file, progress, again) for file in entry(name, catalog).files)


def _fetch_file(file: CorpusFile, progress: FileProgress | None, again: bool) -> Kept:
    import pooch

    target = cache_folder() / file.path
    if target.is_file() and not again:
        return Kept(target, "already here")
    pooch.get_logger().setLevel("WARNING")
    with _explained(file):
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent) as folder:

            def download(address: str, part: str, _: Any) -> None:
                with Path(part).open("wb") as content:
                    for done, total in _read_address(address, content):
                        if progress is not None:
                            progress(file.path, done, total)

            path = pooch.retrieve(file.address, file.download_sha256, "download", folder, downloader=download)
            with replacing(target) as content:
                _unpack(Path(path), file, content)
                content.flush()
                sha256 = pooch.file_hash(content.name)
                if file.sha256 not in (None, sha256):
                    raise ValueError(f"sha256 {sha256} instead of {file.sha256}, which is published")
                if not file.count(Path(content.name)):
                    raise ValueError("a file without content")
    published = file.sha256 or file.download_sha256
    return Kept(target, "checksum as published" if published else f"sha256 {sha256}; none is published")


@contextmanager
def _explained(file: CorpusFile) -> Iterator[None]:
    """Turns what may go wrong with a file into `FetchFailed`, one sentence."""
    try:
        yield
    except Exception as error:  # readers of archives raise errors of many kinds
        if isinstance(error, OSError) and error.errno:
            raise FetchFailed(f"cannot write to {str(cache_folder())!r}: {error.strerror}.") from None
        reason = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())
        problem = f"cannot get {file.path} from {file.address}: {reason:.300}"
        raise FetchFailed(f"{problem}; import your own copy with `lcons data add`.") from None


def _read_address(address: str, target: IO[bytes]) -> Iterator[tuple[int, int | None]]:
    """Copies what is at an address, and yields the bytes so far and in all after each part."""
    import requests

    session = requests.Session()
    session.adapters.clear()
    for begin in ALLOWED:
        session.mount(begin, requests.adapters.HTTPAdapter())
    headers = {"User-Agent": "lcons", "Accept-Encoding": "identity"}
    begun, done = time.monotonic(), 0
    with session.get(address, stream=True, timeout=TIMEOUT, headers=headers) as response:
        response.raise_for_status()
        total = int(response.headers.get("content-length", 0))
        # `read1` returns what has arrived, so that a slow server is seen to be slow.
        while chunk := response.raw.read1(_CHUNK):
            target.write(chunk)
            done += len(chunk)
            if max(total, done) > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES:,} bytes")
            passed = time.monotonic() - begun
            if passed > TIMEOUT and done < SLOWEST * passed:
                raise ValueError(f"less than {SLOWEST:,} bytes a second")
            yield done, total or None
    if total and done < total:
        raise ValueError(f"{done:,} of {total:,} bytes")


def _unpack(download: Path, file: CorpusFile, target: IO[bytes]) -> None:
    if not file.member:
        with gzip.open(download) if file.unpack == "gz" else download.open("rb") as source:
            _copy(source, target)
        return
    is_tar = file.unpack == "tar.gz"
    open_archive: Any = tarfile.open if is_tar else zipfile.ZipFile
    with open_archive(download) as archive:
        names = archive.getnames() if is_tar else archive.namelist()
        members = [name for name in names if f"/{name}".endswith(f"/{file.member}")]
        if len(members) != 1:
            raise ValueError(f"{len(members)} members of the name {file.member!r}")
        _copy(archive.extractfile(members[0]) if is_tar else archive.open(members[0]), target)


def _copy(source: Any, target: IO[bytes]) -> None:
    while source and (chunk := source.read(_CHUNK)):
        if target.tell() + len(chunk) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes when it is unpacked")
        target.write(chunk)


def add(
    name: str, paths: Sequence[str | os.PathLike[str]], *, catalog: Mapping[str, Corpus] = CATALOG
) -> tuple[Kept, ...]:
    """Imports all files of a corpus; if one of them is malformed, imports none.

    Files that have the catalog's names may come in any order; other files must come in the catalog's order.
    """
    corpus = entry(name, catalog)
    names = [Path(file.path).name for file in corpus.files]
    sources = [Path(path) for path in paths]
    if len(sources) != len(names):
        raise InvalidInput(f"corpus {name!r} has the files {', '.join(names)}: got {len(sources)} files.")
    if {path.name for path in sources} == set(names):
        sources = sorted(sources, key=lambda path: names.index(path.name))
    pairs = list(zip(corpus.files, sources, strict=True))
    for file, path in pairs:
        if not file.count(path):
            raise MalformedCorpus(f"{path}:1: expected {file.path}, found a file without content.")
    return tuple(_copied(file, path, cache_folder() / file.path) for file, path in pairs)


def _copied(file: CorpusFile, path: Path, target: Path) -> Kept:
    import pooch

    with _explained(file), path.open("rb") as source:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as copy:
            _copy(source, copy)
    if file.sha256 is None:
        return Kept(target, "read without errors")
    same = pooch.file_hash(str(target)) == file.sha256
    return Kept(target, "checksum as published" if same else "read without errors; not the published file")
