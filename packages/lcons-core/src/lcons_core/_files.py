"""Files: read only if they are regular, written whole or not at all, and plain data as JSON.

A file or folder that is being written has a hidden name beside its own until it is complete.

Plain data are None, bool, str, int up to 2^128, finite float, and lists and dicts with string keys of plain
data, at most 32 levels deep. They are checked when written and when read, because Python's own JSON is less
strict: it writes NaN, converts keys to strings, and keeps only the last of two equal keys.

Not in the paper.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from lcons_core._errors import InvalidInput

_MOST_DIGITS = 40
_WIDTH = 96
_HIDDEN = ".lcons-"


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """The bytes of a regular file: a pipe or a device, which may have no end, is an OSError."""
    # Opening a pipe without a writer would wait for one.
    descriptor = os.open(Path(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(None, "it is not a regular file", os.fspath(path))


@contextlib.contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file beside `target` that takes its place when the block ends well, and vanishes when it does not."""
    path = Path(os.path.realpath(target))
    # A rename would turn a device such as /dev/null into a file.
    if path.exists() and not path.is_file():
        raise OSError(None, "a directory or device is there", str(target))
    # Readers of the file, too, may go by its ending.
    temporary = path.parent / f"{_HIDDEN}{os.urandom(8).hex()}{path.suffix[:16]}"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing_folder(target: Path, first_stays: bool = False) -> Iterator[Path]:
    """A folder beside `target` that takes its place when the block ends well, and vanishes when it does not.

    It is created first, so that a place that cannot be written to is an error before the work, not after it.
    Two processes may do the same work at the same time: the result of the last to end stays, or, with
    `first_stays`, that of the first.
    """
    with hidden_folder(target.parent) as beside:
        new, old = beside / "new", beside / "old"
        new.mkdir()
        yield new
        if target.exists() and not first_stays:
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            if not (first_stays and target.is_dir()):
                raise


@contextlib.contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """A hidden folder in `parent` for the time of the block."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_HIDDEN, dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def digest(value: Any) -> str:
    """The sha256 of plain data, which does not depend on the layout of a file.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 1, "b": 2.0})
    True
    """
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def canonical(value: Any) -> str:
    """Plain data as JSON with sorted keys and no spaces; texts are equal iff data and types are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def pretty(value: Any, indent: str = "") -> str:
    """Plain data as JSON for people: values that fit on one line, and all lists of numbers, are on one line.

    >>> print(pretty({"W": [[1.0, 0.5], [0.0, 2.0]]}))
    {"W": [[1.0, 0.5], [0.0, 2.0]]}
    """
    inner = indent + "  "
    if isinstance(value, dict):
        pieces = [f"{pretty(key)}: {pretty(item, inner)}" for key, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list | tuple) and any(isinstance(item, dict | list | tuple) for item in value):
        pieces = [pretty(item, inner) for item in value]
        opening, closing = "[", "]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if sum(map(len, pieces)) < _WIDTH and not any("\n" in piece for piece in pieces):
        return opening + ", ".join(pieces) + closing
    separator = ",\n" + inner
    return f"{opening}\n{inner}{separator.join(pieces)}\n{indent}{closing}"


def parse(text: str) -> Any:
    """The data of a JSON text; raises `InvalidInput` for equal keys, NaN, infinities and huge integers."""
    reader = json.JSONDecoder(
        object_pairs_hook=unique_keys, parse_constant=_no_number, parse_float=_finite, parse_int=_integer
    )
    try:
        return reader.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(f"it is not JSON, from {place} on ({error.msg})") from None
    except RecursionError:
        raise InvalidInput("it is nested too deeply") from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The `object_pairs_hook` that refuses an object with a key twice, of which Python keeps the last."""
    data = dict(pairs)
    if len(data) != len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise InvalidInput(f"it has the key {twice[:40]!r} twice in one object")
    return data


def _no_number(token: str) -> NoReturn:
    raise InvalidInput(f"it contains {token[:40]}, which is no finite number")


def _finite(token: str) -> float:
    return float(token) if math.isfinite(float(token)) else _no_number(token)


def _integer(token: str) -> int:
    return int(token) if len(token) <= _MOST_DIGITS else _no_number(token)
