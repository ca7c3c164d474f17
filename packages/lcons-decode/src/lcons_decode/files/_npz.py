"""Scores in npz files; large arrays are read row by row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lcons_core import DamagedFile, InvalidInput
from lcons_core.storage._archive import Archive, Member, explained
from lcons_decode._scores import Scored
from lcons_decode.files._model import MODEL, ScoreModel, agreed, label_names, string_columns


class NpzScores:
    """The sequences of an npz file; large members are read only as needed."""

    def __init__(self, source: BinaryIO, name: str, labels: tuple[str, ...] | None) -> None:
        self.name = name
        with self._explained():
            archive = Archive(_seekable(source))
            members = {member: archive.member(member) for member in archive.names}
        missing = [key for key in ("emission", "offsets") if key not in members]
        if missing:
            raise InvalidInput(
                f"{name}: expected arrays emission, offsets and labels, found {', '.join(members) or 'none'};"
                f" add {missing[0]!r}."
            )
        emission = members.pop("emission")
        offsets = members.pop("offsets")
        stated = members.pop("labels", None)
        self._offsets = self._checked_offsets(self._all(offsets), emission.shape)
        names = None if stated is None else label_names(_strings(self._all(stated), f"{name}: labels"), name)
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
                strings = {key: member.rows(length) for key, member in self._columns.items()}
            columns = {key: _strings(values, f"{where}: {key}") for key, values in strings.items()}
            self._done += length
            yield self._model.scored(rows, string_columns(columns, where), where)

    def _all(self, member: Member) -> NDArray[Any]:
        with self._explained():
            return member.whole()

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

    def _check_column(self, key: str, member: Member, N: int) -> None:
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
            with explained():
                yield
        except DamagedFile as error:
            raise InvalidInput(
                f"{self.name} is not an npz file that lcons can read: {error}; write it again with"
                " numpy.savez."
            ) from None
        except OSError as error:
            raise InvalidInput(
                f"{self.name} is not an npz file that lcons can read: {error.strerror or error}; write it"
                " again with numpy.savez."
            ) from None


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
