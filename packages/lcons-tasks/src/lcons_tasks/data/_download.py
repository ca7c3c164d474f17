"""Downloads: into a `.part` file, which the next attempt resumes; and unpacking the file in it.

A file beside the part keeps what the server stated: address, size and validator (a strong ETag, else
Last-Modified). With a validator, the next request has Range and If-Range: the server continues where the part
ends (206), or sends the whole file because it changed or the server has no ranges (200). Without a validator
the download starts again, because two halves could be of different files.

A download is the file itself, a gz file, or an archive (tar.gz, zip) with the file as a member. The file is
read as a stream; names in an archive never decide where a file is written.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from lcons_tasks.data._catalog import Download
from lcons_tasks.data._lines import FetchFailed

MAX_BYTES = 2**32
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_UNPACK_CHUNK = 2**20
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


def unpack(part: Path, download: Download, target: BinaryIO) -> str:
    """Writes the file to `target` and returns its sha256; raises `FetchFailed` if the download is damaged."""
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        with _damage_is(download):
            source = stack.enter_context(UNPACK[download.unpack](part, download.member))
        size = 0
        while True:
            with _damage_is(download):
                chunk = source.read(_UNPACK_CHUNK)
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


TIMEOUT = 30.0
OnBytes = Callable[[int, int | None], None]
_DOWNLOAD_CHUNK = 2**16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)$")


@dataclass(frozen=True)
class _Said:
    """What the server stated about the file at an address."""

    address: str
    validator: str | None = None
    total: int | None = None


def download(address: str, part: Path, progress: OnBytes) -> None:
    """Downloads into `part`, and continues where it ends if possible; if that fails, `part` is kept."""
    said = _remembered(address, part)
    have = part.stat().st_size if part.is_file() else 0
    if have and have == said.total:
        progress(have, said.total)
        return
    if not said.validator or (said.total is not None and have > said.total):
        have = 0
    with contextlib.closing(_request(address, have, said.validator)) as response:
        have, said = _start(response, have, address)
        _check_size(said, said.total or 0)
        with _disk(part), part.open("ab" if have else "wb", buffering=0) as file:
            _remember(said, part)
            for chunk in _chunks(response, said):
                _check_size(said, have + len(chunk))
                _write_all(file, chunk)
                have += len(chunk)
                progress(have, said.total)
    if said.total is not None and have < said.total:
        raise _cut(said, f"{have:,} of {said.total:,} bytes")


def forget(part: Path) -> None:
    """Removes a part and the file beside it."""
    part.unlink(missing_ok=True)
    _memory(part).unlink(missing_ok=True)


def _check_size(said: _Said, size: int) -> None:
    if size > MAX_BYTES:
        raise FetchFailed(
            f"expected at most {MAX_BYTES:,} bytes from {said.address}, found more; do not use this address."
        )


def _check_address(address: str) -> None:
    """Raises `FetchFailed` for anything but https; on this machine http is allowed, too."""
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK):
        return
    raise FetchFailed(f"expected an address that begins with https://, found {address[:200]!r}; use another.")


class _Redirects(HTTPRedirectHandler):
    """Follows redirects to allowed addresses only: from https to https, never to this machine's http."""

    def redirect_request(self, request: Request, *given: Any) -> Request | None:
        _check_address(given[-1])
        if request.type == "https" and urlsplit(given[-1]).scheme != "https":
            raise FetchFailed(
                f"expected that {request.full_url} leads to an address that begins with https://, found"
                f" {given[-1][:200]!r}; use another."
            )
        return super().redirect_request(request, *given)


@cache
def _opener() -> OpenerDirector:
    """What opens addresses, without the handlers of ftp:, file: and data: that `urlopen` has."""
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    opener.add_handler(_Redirects())
    return opener


def _request(address: str, have: int, validator: str | None) -> HTTPResponse:
    headers = {"User-Agent": "lcons", "Accept-Encoding": "identity"}
    if have and validator:
        headers |= {"Range": f"bytes={have}-", "If-Range": validator}
    try:
        _check_address(address)
        response: HTTPResponse = _opener().open(Request(address, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:
            return _request(address, 0, None)
        raise FetchFailed(
            f"expected a file at {address}, found HTTP {error.code} ({_one_line(error.reason)}); try again"
            " later, or get the file elsewhere and import it with `lcons data add`."
        ) from None
    except FetchFailed:
        raise
    except (URLError, OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchFailed(
            f"expected an answer from {address}, got none ({_one_line(reason)}); check the network and the"
            " proxy settings, or get the file elsewhere and import it with `lcons data add`."
        ) from None
    resumes = _RANGE.match(response.headers.get("Content-Range", ""))
    if response.status == 206 and not (resumes and int(resumes[1]) == have):
        response.close()
        if have:
            return _request(address, 0, None)
        raise FetchFailed(
            f"expected the whole file at {address}, got a part that was not requested; try again later."
        )
    return response


def _one_line(reason: object) -> str:
    """What a server or urllib states as the reason, as printable text of one line."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(reason))
    return f"{' '.join(text.split()):.200}"


def _start(response: HTTPResponse, have: int, address: str) -> tuple[int, _Said]:
    """The number of bytes of the part to keep, and what the server states now."""
    headers = response.headers
    etag = headers.get("ETag")
    validator = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
    if response.status == 206:
        size = headers["Content-Range"].rpartition("/")[2]
    else:
        have, size = 0, headers.get("Content-Length", "")
    return have, _Said(address, validator, int(size) if size.isdigit() else None)


def _chunks(response: HTTPResponse, said: _Said) -> Iterator[bytes]:
    while True:
        try:
            chunk = response.read(_DOWNLOAD_CHUNK)
        except (OSError, HTTPException) as error:
            raise _cut(said, str(error) or type(error).__name__) from None
        if not chunk:
            return
        yield chunk


def _cut(said: _Said, found: str) -> FetchFailed:
    then = "resumes where it stopped" if said.validator else "starts again, because this server cannot resume"
    return FetchFailed(
        f"expected the whole file at {said.address}, but the connection was cut ({found}); run the command"
        f" again: it {then}."
    )


def _write_all(file: BinaryIO, chunk: bytes) -> None:
    # An unbuffered `write` may write only a part of its argument.
    rest = memoryview(chunk)
    while rest:
        rest = rest[file.write(rest) :]


@contextlib.contextmanager
def _disk(part: Path) -> Iterator[None]:
    try:
        yield
    except FetchFailed:
        raise
    except OSError as error:
        raise FetchFailed(
            f"cannot write {str(part)!r}: {error.strerror}; make room or name another folder in"
            " LCONS_CACHE_DIR, and run the command again."
        ) from None


def _memory(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _remember(said: _Said, part: Path) -> None:
    _memory(part).write_text(json.dumps(asdict(said)), encoding="utf-8")


def _remembered(address: str, part: Path) -> _Said:
    """What the server stated about this part; only the address if that file is lost, damaged or of another
    address."""
    try:
        said = _Said(**json.loads(_memory(part).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return _Said(address)
    typed = isinstance(said.validator, str | None) and isinstance(said.total, int | None)
    return said if typed and said.address == address else _Said(address)
