"""Corpora in the user's cache: fetched from public addresses on request, or copied from the user's files.

`fetch` downloads a file beside its place, compares its checksum with the published one or with that of the
first download, unpacks the file, reads it once with its reader, and only then puts it in its place. `add`
copies a file after its reader has read it.

If no checksum is published for an address, that of the first download is pinned: later downloads must have
the same. The pins are in `pins.json` in the cache: {address: sha256}.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lcons_core import InvalidInput, LconsError
from lcons_tasks.atomic import replacing
from lcons_tasks.data._catalog import CATALOG, Corpus, CorpusFile, cache_folder, entry
from lcons_tasks.data._download import download, forget, unpack
from lcons_tasks.data._lines import FetchFailed, MalformedCorpus, unreadable

PINS = "pins.json"


def read_pins(folder: Path) -> dict[str, str]:
    """The pinned sha256 by address."""
    path = folder / PINS
    try:
        pins = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        pins = None
    if not isinstance(pins, dict) or not all(isinstance(value, str) for value in pins.values()):
        raise FetchFailed(
            f"expected checksums by address in {str(path)!r}, found something else; delete the file, and the"
            " next downloads are pinned again."
        )
    return pins


def pin(folder: Path, address: str, sha256: str) -> None:
    """Writes the checksum of a first download to the pins."""
    pins = {**read_pins(folder), address: sha256}
    with replacing(folder / PINS) as file:
        file.write(json.dumps(pins, indent=2, sort_keys=True).encode("utf-8") + b"\n")


FileProgress = Callable[[str, int, int | None], None]
_TRUSTED = "fetch it again, or import a copy that you trust with `lcons data add`"
_ACCEPT = "to accept the new file, remove that line and fetch again"


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
    corpus = entry(name, catalog)
    folder = cache_folder()
    report = progress or (lambda path, done, total: None)
    with _disk(folder), _alone(folder):
        pins = read_pins(folder)
        return tuple(_fetch_file(file, folder, pins, report, again) for file in corpus.files)


def _fetch_file(
    file: CorpusFile, folder: Path, pins: Mapping[str, str], report: FileProgress, again: bool
) -> Kept:
    target = folder / file.path
    part = target.with_name(target.name + ".part")
    if target.is_file() and not again:
        forget(part)  # it stayed if that fetch was killed at its end
        return Kept(target, "already here")
    target.parent.mkdir(parents=True, exist_ok=True)
    address = file.download.address
    published = file.download.sha256 or file.sha256
    pinned = None if published else pins.get(address)
    download(address, part, lambda done, total: report(file.path, done, total))
    try:
        sent = _sha256(part)
        _same(sent, file.download.sha256, address, "as published", _TRUSTED)
        _same(sent, pinned, address, f"as pinned in {folder / PINS} by the first download", _ACCEPT)
        with replacing(target) as temporary:
            unpacked = unpack(part, file.download, temporary)
            _same(unpacked, file.sha256, f"the file in {address}", "as published", _TRUSTED)
            _check_content(file, temporary)
            if not published and not pinned:
                pin(folder, address, sent)
    except LconsError:
        forget(part)
        raise
    forget(part)
    if published:
        return Kept(target, "checksum as published")
    if pinned:
        return Kept(target, "checksum as pinned by the first download")
    return Kept(target, f"pinned sha256 {sent}, as none is published: later downloads must have the same")


def _same(found: str, expected: str | None, what: str, origin: str, advice: str) -> None:
    if expected is not None and found != expected:
        raise FetchFailed(
            f"expected sha256 {expected} of {what}, {origin}, found {found}, so the download was removed;"
            f" {advice}."
        )


def _check_content(file: CorpusFile, temporary: BinaryIO) -> None:
    temporary.flush()
    try:
        items = file.count(Path(temporary.name))
    except MalformedCorpus as error:
        reason = str(error).replace(temporary.name, file.path)
        raise FetchFailed(
            f"expected {file.path} at {file.download.address}, found something else, which was removed:"
            f" {reason}"
        ) from None
    if not items:
        raise FetchFailed(
            f"expected {file.path} at {file.download.address}, found a file without content; get it elsewhere"
            " and import it with `lcons data add`."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[None]:
    """Turns the errors of a full or read-only disk into one sentence."""
    try:
        yield
    except LconsError:
        raise
    except OSError as error:
        raise FetchFailed(
            f"cannot write to {str(folder)!r}: {error.strerror}; make room or name another folder in"
            " LCONS_CACHE_DIR, and run the command again."
        ) from None


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Locks the folder, so that two fetches never write one part; the lock ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FetchFailed(
                f"another fetch into {str(folder)!r} is running; wait until it is done and run the command"
                " again."
            ) from None
        yield


_CHUNK = 2**20


def add(
    name: str, paths: Sequence[str | os.PathLike[str]], *, catalog: Mapping[str, Corpus] = CATALOG
) -> tuple[Kept, ...]:
    """Imports all files of a corpus; if one of them is malformed, imports none.

    Files that have the catalog's names may come in any order; other files must come in the catalog's order.
    """
    corpus = entry(name, catalog)
    pairs = _paired(corpus, [Path(path) for path in paths])
    for file, path in pairs:
        if not file.count(path):
            raise MalformedCorpus(
                f"{path}:1: expected {file.path}, found a file without content; pass another."
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
