"""The file in a download, as a stream: as it is, gz, or a member of a tar.gz or zip archive.

Nothing is extracted by the names in an archive, so none of them can choose where a file is written.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from lcons_tasks.corpus.catalog import Download
from lcons_tasks.corpus.errors import FetchFailed

MAX_BYTES = 2**32
_CHUNK = 2**20
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


def unpack(part: Path, download: Download, target: BinaryIO) -> str:
    """Writes the file to `target` and gives its sha256; `FetchFailed` if the download is damaged."""
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        with _damage_is(download):
            source = stack.enter_context(UNPACK[download.unpack](part, download.member))
        size = 0
        while True:
            with _damage_is(download):
                chunk = source.read(_CHUNK)
            size += len(chunk)
            if size > MAX_BYTES:
                raise FetchFailed(
                    f"{download.address} unpacks to more than {MAX_BYTES:,} bytes; do not use it."
                )
            if not chunk:
                return digest.hexdigest()
            digest.update(chunk)
            target.write(chunk)


@contextlib.contextmanager
def _damage_is(download: Download) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        what = download.unpack + (f" with {download.member}" if download.member else "")
        raise FetchFailed(
            f"expected {what} from {download.address}, found damage ({error}); fetch it again, or get the"
            " file elsewhere and import it with `lcons data add`."
        ) from None


@contextlib.contextmanager
def _gz(part: Path, member: str) -> Iterator[IO[bytes]]:
    with gzip.open(part) as stream:
        yield cast("IO[bytes]", stream)


@contextlib.contextmanager
def _tar_member(part: Path, member: str) -> Iterator[IO[bytes]]:
    with tarfile.open(part, "r:gz") as archive:
        name = _one([info.name for info in archive if info.isfile()], member)
        stream = archive.extractfile(name)
        assert stream is not None  # a regular file
        with stream:
            yield stream


@contextlib.contextmanager
def _zip_member(part: Path, member: str) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(part) as archive, archive.open(_one(archive.namelist(), member)) as stream:
        yield stream


def _one(names: list[str], member: str) -> str:
    found = [name for name in names if name == member or name.endswith("/" + member)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} members of that name")
    return found[0]


UNPACK: dict[str, Callable[[Path, str], contextlib.AbstractContextManager[IO[bytes]]]] = {
    "as it is": lambda part, member: part.open("rb"),
    "gz": _gz,
    "tar.gz": _tar_member,
    "zip": _zip_member,
}
