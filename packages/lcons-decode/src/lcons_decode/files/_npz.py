"""Scores in npz files; large arrays are read row by row."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, LconsError
from lcons_decode._scores import Scored
from lcons_decode.files._model import MODEL, ScoreModel, agreed, label_names, string_columns


class NpzScores:
    """The sequences of an npz file; large members are read only as needed."""

    def __init__(self, source: BinaryIO, name: str, labels: tuple[str, ...] | None) -> None:
        self.name = name
        with self._explained():
            archive = zipfile.ZipFile(_seekable(source))
            members = {
                member.removesuffix(".npy"): _Member(archive, member)
                for member in archive.namelist()
                if member.endswith(".npy")
            }
        missing = [key for key in ("emission", "offsets") if key not in members]
        if missing:
            raise InvalidInput(
                f"{name}: expected arrays emission, offsets and labels, found {', '.join(members) or 'none'};"
                f" add {missing[0]!r}."
            )
        emission = members.pop("emission")
        offsets = members.pop("offsets")
        own = members.pop("labels", None)
        self._offsets = self._checked_offsets(self._all(offsets), emission.shape)
        names = None if own is None else label_names(_strings(self._all(own), f"{name}: labels"), name)
        shared = {key: self._all(members.pop(key)) for key in MODEL if key in members}
        self._model = ScoreModel.of(agreed(names, labels, name), shared, name)
        L = len(self._model.labels)
        if len(emission.shape) != 2 or emission.shape[1] != L:
            raise InvalidInput(
                f"{name}: expected emission of shape (tokens, {L}), one score per label, found"
                f" {emission.shape}; write one score for each label, in the order of the labels."
            )
        for key, member in members.items():
            self._check_column(key, member, emission.shape[0])
        self._emission, self._columns = emission, members
        self._done = 0

    def share(self) -> float | None:
        return self._done / max(1, int(self._offsets[-1]))

    def __iter__(self) -> Iterator[Scored]:
        for i, length in enumerate(np.diff(self._offsets).tolist(), start=1):
            where = f"{self.name}: sequence {i}"
            with self._explained():
                rows = self._emission.rows(length)
                found = {key: member.rows(length) for key, member in self._columns.items()}
            columns = {key: _strings(values, f"{where}: {key}") for key, values in found.items()}
            self._done += length
            yield self._model.scored(rows, string_columns(columns, where), where)

    def _all(self, member: _Member) -> NDArray[Any]:
        with self._explained():
            return member.rows(member.shape[0] if member.shape else 1).reshape(member.shape)

    def _checked_offsets(self, offsets: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.int64]:
        whole = offsets.dtype.kind in "iu" and offsets.ndim == 1 and len(offsets)
        N = shape[0] if shape else 0
        if not whole or offsets[0] != 0 or offsets[-1] != N or (np.diff(offsets.astype(np.int64)) < 0).any():
            raise InvalidInput(
                f"{self.name}: expected offsets that rise from 0 to {N}, the rows of emission, found"
                f" {np.array2string(offsets, threshold=6)}; sequence i is the rows offsets[i] to"
                " offsets[i + 1]."
            )
        return offsets.astype(np.int64)

    def _check_column(self, key: str, member: _Member, N: int) -> None:
        if member.dtype.kind not in "US":
            raise InvalidInput(
                f"{self.name}: expected emission, offsets, labels, {', '.join(MODEL)} and columns of strings,"
                f" found {key!r} of {member.dtype}; rename it or leave it out."
            )
        if member.shape != (N,):
            raise InvalidInput(
                f"{self.name}: expected a value of {key!r} for each of {N} tokens, found shape"
                f" {member.shape}; write one value per token."
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Converts every error of a damaged archive to an `InvalidInput` of one sentence."""
        try:
            yield
        except LconsError:
            raise
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InvalidInput(
                f"{self.name} is not an npz file that lcons can read: {reason:.200}; write it again with"
                " numpy.savez."
            ) from None


class _Member:
    """An array in an archive, read from the first row to the last."""

    def __init__(self, archive: zipfile.ZipFile, member: str) -> None:
        self._file = archive.open(member)
        version = np.lib.format.read_magic(self._file)
        headers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in headers:
            raise InvalidInput(f"the array {member!r} has the unknown version {version}; use numpy.savez.")
        self.shape: tuple[int, ...]
        self.shape, by_columns, self.dtype = headers[version](self._file)
        if self.dtype.hasobject:
            raise InvalidInput(
                f"expected arrays of numbers or strings, found {member!r} of Python objects, which lcons"
                " does not read; convert it with numpy.array(..., dtype=str)."
            )
        # Fortran order: columns come first, so single rows cannot be read.
        self._whole = self._take(self.shape, "F") if by_columns and len(self.shape) > 1 else None
        self._next = 0

    def rows(self, count: int) -> NDArray[Any]:
        """The next rows."""
        self._next += count
        if self._whole is not None:
            return self._whole[self._next - count : self._next]
        return self._take((count, *self.shape[1:]), "C")

    def _take(self, shape: tuple[int, ...], order: Any) -> NDArray[Any]:
        size = self.dtype.itemsize
        for length in shape:
            size *= length
        content = self._file.read(size) if size else b""
        if len(content) != size:
            raise EOFError("it is cut off")
        if not size:
            return np.zeros(shape, self.dtype)
        return np.frombuffer(content, self.dtype).reshape(shape, order=order)


def _strings(values: NDArray[Any], where: str) -> list[str]:
    if values.dtype.kind == "S":
        try:
            return [value.decode("utf-8") for value in values.reshape(-1).tolist()]
        except UnicodeDecodeError:
            raise InvalidInput(f"{where}: expected UTF-8, found other bytes; encode it as UTF-8.") from None
    if values.dtype.kind != "U":
        raise InvalidInput(f"{where}: expected strings, found {values.dtype}; write names.")
    return list(values.reshape(-1).tolist())


def _seekable(source: BinaryIO) -> Any:
    """The source itself, or a copy on disk if it is a pipe: the table of a zip file is at its end."""
    if source.seekable():
        return source
    import shutil
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it is deleted with its last reference
    shutil.copyfileobj(source, copy)
    copy.seek(0)
    return copy
