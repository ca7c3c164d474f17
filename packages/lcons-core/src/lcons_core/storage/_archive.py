"""Arrays in npz files of unknown origin: sizes are checked before memory is allocated.

An npz file is a zip archive of npy members. What a member claims is compared with the archive first:

    bytes of the array = itemsize * product of the shape = bytes of the member - bytes of its header
    bytes of the member <= bytes of the file, or <= 2^32 if it is compressed

so a file of a few bytes cannot ask for gigabytes. Only members that are asked for are read; two members of
one name, encrypted members, Python objects and anything but a regular file are refused. Errors are
`DamagedFile`, whose text is the reason alone; the caller says of which file.

Not in the paper.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lcons_core._errors import DamagedFile, LconsError
from lcons_core._files import open_regular

# The largest compressed member, in bytes that it has when it is unpacked.
MOST_UNPACKED = 2**32
# Numbers, truth values, text and bytes.
_KINDS = "biufcUS"
# The longest npy header, in characters; numpy writes at most a few hundred.
_LONGEST_HEADER = 10_000
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    OverflowError,
)
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Member:
    """An array of an archive: its `shape` and `dtype` are known, its rows are read as they are needed."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._file = archive.open(info)
        version = np.lib.format.read_magic(self._file)
        if version not in _HEADERS:
            raise DamagedFile(f"the array {info.filename!r:.60} has the unknown version {version}")
        self.shape: tuple[int, ...]
        try:
            self.shape, self._by_columns, self.dtype = _HEADERS[version](
                self._file, max_header_size=_LONGEST_HEADER
            )
        except Exception as error:  # it is parsed as Python, which has errors of all kinds
            reason = " ".join(str(error).split()) or type(error).__name__
            raise DamagedFile(f"an array has a damaged header ({reason:.100})") from None
        if self.dtype.kind not in _KINDS:
            held = "Python objects" if self.dtype.hasobject else f"{self.dtype!s:.60}"
            raise DamagedFile(f"the array {info.filename!r:.60} holds {held}, which lcons does not read")
        size = self.dtype.itemsize * math.prod(self.shape)
        there = info.file_size - self._file.tell()
        if min(self.shape, default=0) < 0 or size != there:
            raise DamagedFile(
                f"an array claims {self.shape!r:.60} of {self.dtype!s:.40}, but has {there} bytes"
            )

        self._next = 0
        self._whole: NDArray[Any] | None = None

    def rows(self, count: int) -> NDArray[Any]:
        """The next `count` rows."""
        self._next += count
        if self._by_columns and len(self.shape) > 1:  # single rows cannot be read
            if self._whole is None:
                self._whole = self._take(self.shape)
            return self._whole[self._next - count : self._next]
        return self._take((count, *self.shape[1:]))

    def whole(self) -> NDArray[Any]:
        """The array."""
        return self._take(self.shape)

    def _take(self, shape: tuple[int, ...]) -> NDArray[Any]:
        size = self.dtype.itemsize * math.prod(shape)
        content = self._file.read(size) if size else b""
        if len(content) != size:
            raise EOFError("it is cut off")
        if not size:
            return np.zeros(shape, self.dtype)
        array = np.frombuffer(content, self.dtype)
        if self.dtype.kind == "U" and array.view(self.dtype.byteorder + "u4").max() > sys.maxunicode:
            raise DamagedFile("an array of text has characters that do not exist")
        return array.reshape(shape, order="F" if self._by_columns else "C")


class Archive:
    """The members of an npz file by name, without the ending of arrays."""

    def __init__(self, source: BinaryIO) -> None:
        self._archive = zipfile.ZipFile(source)
        members = self._archive.infolist()
        self._members = {info.filename.removesuffix(".npy"): info for info in members}
        if len(self._members) != len(members):
            raise DamagedFile("it has two members of one name")
        self._size = source.seek(0, os.SEEK_END)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of arrays."""
        return tuple(name for name, info in self._members.items() if info.filename.endswith(".npy"))

    def member(self, name: str) -> Member:
        """The array of that name, not read yet."""
        return Member(self._archive, self._checked(name))

    def array(self, name: str) -> NDArray[Any]:
        """The array of that name."""
        return self.member(name).whole()

    def content(self, name: str, most: int) -> bytes:
        """The bytes of a member that is no array, at most so many."""
        info = self._checked(name)
        if info.file_size > most:
            raise DamagedFile(f"its {name!r:.60} has {info.file_size:,} bytes, more than {most:,}")
        return self._archive.read(info)

    def _checked(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise DamagedFile(f"it has no member {name!r:.60}")
        info = self._members[name]
        if info.flag_bits & 1:
            raise DamagedFile(f"its member {name!r:.60} is encrypted")
        most = self._size if info.compress_type == zipfile.ZIP_STORED else MOST_UNPACKED
        if info.file_size > most:
            raise DamagedFile(f"its member {name!r:.60} claims {info.file_size:,} bytes, more than {most:,}")
        return info


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turns every error of zip, deflate and npy into a `DamagedFile` that states the reason alone."""
    try:
        yield
    except LconsError:
        raise
    except RecursionError:
        raise DamagedFile("it is nested too deeply") from None
    except _DAMAGE as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DamagedFile(f"{reason:.200}") from None


@contextlib.contextmanager
def opened_archive(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """The archive in a regular file; raises `DamagedFile` with the reason, or OSError."""
    with open_regular(path) as file, explained():
        yield Archive(file)
