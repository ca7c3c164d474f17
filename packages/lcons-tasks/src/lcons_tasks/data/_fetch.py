"""Corpora in the user's cache: fetched from public addresses on request, or copied from the user's files.

`fetch` downloads a file with pooch into a temporary folder, compares its checksum with the published one or
with that of the first download, unpacks the file, reads it once with its reader, and only then puts it in its
place. `add` copies a file after its reader has read it.

A download is the file itself, a gz file, or an archive (tar.gz, zip) with the file as a member. Names in an
archive never decide where a file is written.

If no checksum is published for an address, that of the first download is pinned: later downloads must have
the same. The pins are in `pins.json` in the cache: {address: sha256}.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO, cast
from urllib.parse import urljoin, urlsplit

from lcons_core import InvalidInput, LconsError
from lcons_tasks.atomic import replacing
from lcons_tasks.data._catalog import CATALOG, Corpus, CorpusFile, Download, cache_folder, entry
from lcons_tasks.data._lines import FetchFailed, MalformedCorpus, unreadable

PINS = "pins.json"
MAX_BYTES = 2**32
TIMEOUT = 30.0
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CHUNK = 2**16
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, tarfile.TarError, zipfile.BadZipFile)
_ELSEWHERE = "get the file elsewhere and import it with `lcons data add`"
_TRUSTED = "fetch it again, or import a copy that you trust with `lcons data add`"
_ACCEPT = "to accept the new file, remove that line and fetch again"

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
    corpus = entry(name, catalog)
    folder = cache_folder()
    report = progress or (lambda path, done, total: None)
    with _disk(folder):
        return tuple(_fetch_file(file, folder, report, again) for file in corpus.files)


def _fetch_file(file: CorpusFile, folder: Path, report: FileProgress, again: bool) -> Kept:
    target = folder / file.path
    if target.is_file() and not again:
        return Kept(target, "already here")
    target.parent.mkdir(parents=True, exist_ok=True)
    address = file.download.address
    published = file.download.sha256 or file.sha256
    pinned = None if published else read_pins(folder).get(address)
    with TemporaryDirectory(dir=target.parent) as temporary:
        part = _downloaded(address, temporary, lambda done, total: report(file.path, done, total))
        sha256 = _sha256(part)
        _same(sha256, file.download.sha256, address, "as published", _TRUSTED)
        _same(sha256, pinned, address, f"as pinned in {folder / PINS} by the first download", _ACCEPT)
        with replacing(target) as content:
            unpack(part, file.download, content)
            content.flush()
            unpacked = Path(content.name)
            _same(_sha256(unpacked), file.sha256, f"the file in {address}", "as published", _TRUSTED)
            _check_content(file, unpacked)
            if not published and not pinned:
                pin(folder, address, sha256)
    if published:
        return Kept(target, "checksum as published")
    if pinned:
        return Kept(target, "checksum as pinned by the first download")
    return Kept(target, f"pinned sha256 {sha256}, as none is published: later downloads must have the same")


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


def _downloaded(address: str, folder: str, progress: Callable[[int, int | None], None]) -> Path:
    """The path of the download in `folder`."""
    import pooch
    from requests import RequestException

    _check_address(address)
    pooch.get_logger().setLevel("WARNING")
    download = pooch.HTTPDownloader(
        progressbar=_Bytes(address, progress),
        chunk_size=_CHUNK,
        timeout=TIMEOUT,
        headers={"User-Agent": "lcons", "Accept-Encoding": "identity"},
        hooks={"response": _check_redirect},
    )
    try:
        return Path(pooch.retrieve(address, None, "download", folder, downloader=download))
    except (RequestException, ValueError) as error:
        printable = "".join(letter if letter.isprintable() else " " for letter in str(error))
        raise FetchFailed(
            f"cannot download {address}: {printable:.300}; check the network and the proxy settings, or"
            f" {_ELSEWHERE}."
        ) from None


class _Bytes:
    """What pooch calls with the bytes so far; raises `FetchFailed` if there are too many."""

    def __init__(self, address: str, progress: Callable[[int, int | None], None]) -> None:
        self.address, self.progress = address, progress
        self.total = self.done = 0

    def update(self, size: int) -> None:
        """Adds the size of a chunk, of which the last may have been shorter."""
        self.done += size
        if max(self.total, self.done - _CHUNK) > MAX_BYTES:
            raise FetchFailed(
                f"expected at most {MAX_BYTES:,} bytes from {self.address}, found more; do not use this"
                " address."
            )
        self.progress(min(self.done, self.total or self.done), self.total or None)

    def reset(self) -> None:
        """Called before an update with the total."""
        self.done = 0 if self.total else self.done

    def close(self) -> None:
        """Called at the end."""


def _check_address(address: str, before: str = "") -> None:
    """Raises `FetchFailed` for anything but https; on this machine http is allowed, too, unless an https
    address redirects to it."""
    parts = urlsplit(address)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK and not before.startswith("https:")
    if parts.scheme != "https" and not local:
        raise FetchFailed(
            f"expected an address that begins with https://, found {address[:200]!r}; use another."
        )


def _check_redirect(response: Any, *_: object, **__: object) -> None:
    """Called with each response, before a redirect is followed."""
    if response.is_redirect:
        _check_address(urljoin(response.url, response.headers["location"]), response.url)


def unpack(part: Path, download: Download, target: BinaryIO) -> None:
    """Writes the file to `target`; raises `FetchFailed` if the download is damaged."""
    size = 0
    with contextlib.ExitStack() as stack:
        with _damage_is(download):
            source = stack.enter_context(UNPACK[download.unpack](part, download.member))
        while True:
            with _damage_is(download):
                chunk = source.read(_CHUNK)
            size += len(chunk)
            if size > MAX_BYTES:
                raise FetchFailed(
                    f"{download.address} unpacks to more than {MAX_BYTES:,} bytes; do not use it."
                )
            if not chunk:
                return
            target.write(chunk)


@contextlib.contextmanager
def _damage_is(download: Download) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        what = download.unpack + (f" with {download.member}" if download.member else "")
        raise FetchFailed(
            f"expected {what} from {download.address}, found damage ({error}); fetch it again, or"
            f" {_ELSEWHERE}."
        ) from None


@contextlib.contextmanager
def _tar_member(part: Path, member: str) -> Iterator[IO[bytes]]:
    with tarfile.open(part, "r:gz") as archive:
        stream = archive.extractfile(_one([info.name for info in archive if info.isfile()], member))
        assert stream is not None  # a regular file
        with stream:
            yield stream


@contextlib.contextmanager
def _zip_member(part: Path, member: str) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(part) as archive, archive.open(_one(archive.namelist(), member)) as stream:
        yield stream


def _one(names: list[str], member: str) -> str:
    matches = [name for name in names if name == member or name.endswith("/" + member)]
    if len(matches) != 1:
        raise ValueError(f"{len(matches)} members of that name")
    return matches[0]


UNPACK: dict[str, Callable[[Path, str], contextlib.AbstractContextManager[IO[bytes]]]] = {
    "as it is": lambda part, _: part.open("rb"),
    "gz": lambda part, _: cast("IO[bytes]", gzip.GzipFile(part)),
    "tar.gz": _tar_member,
    "zip": _zip_member,
}


def _sha256(path: Path) -> str:
    import pooch

    return pooch.file_hash(str(path), alg="sha256")


def _same(found: str, expected: str | None, what: str, origin: str, advice: str) -> None:
    if expected is not None and found != expected:
        raise FetchFailed(
            f"expected sha256 {expected} of {what}, {origin}, found {found}, so the download was removed;"
            f" {advice}."
        )


def _check_content(file: CorpusFile, path: Path) -> None:
    try:
        items = file.count(path)
    except MalformedCorpus as error:
        reason = str(error).replace(str(path), file.path)
        raise FetchFailed(
            f"expected {file.path} at {file.download.address}, found something else, which was removed:"
            f" {reason}"
        ) from None
    if not items:
        raise FetchFailed(
            f"expected {file.path} at {file.download.address}, found a file without content; {_ELSEWHERE}."
        )


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
    try:
        source = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None
    with source, _disk(cache_folder()):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as copy:
            shutil.copyfileobj(source, copy)
    if file.sha256 is None:
        return Kept(target, "read without errors")
    same = _sha256(target) == file.sha256
    return Kept(target, "checksum as published" if same else "read without errors; not the published file")
