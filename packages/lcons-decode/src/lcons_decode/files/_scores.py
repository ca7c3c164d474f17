"""The scores of any model, read from npz or JSON lines, one sequence at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from lcons_core import InvalidInput, LconsError
from lcons_core._files import unique_keys
from lcons_decode._scores import Scored
from lcons_decode.files._model import MODEL, ScoreModel, agreed, label_names, string_columns
from lcons_decode.files._npz import NpzScores

_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)
_ZIP = b"PK"
_NPY = b"\x93NUMPY"
_MOST_LABEL_BYTES = 2**24


class ScoreSource(Protocol):
    """Sequences with their scores, read once from the first to the last."""

    def __iter__(self) -> Iterator[Scored]: ...

    def share(self) -> float | None:
        """The share that has been read, from 0 to 1; None if it is unknown."""
        ...


def read_scored(source: BinaryIO, name: str, labels: Sequence[str] | None = None) -> ScoreSource:
    """The sequences in a file of either format; `name` is its name in errors, and `labels` are the names of
    the columns if the file has none.

    >>> lines = b'{"labels": ["A", "B"]}\\n{"emission": [[0.5, 1]], "words": ["dog"]}\\n'
    >>> [(scored.scores.labels, scored.x) for scored in read_scored(io.BytesIO(lines), "lines")]
    [(('A', 'B'), {'word': ('dog',)})]
    """
    names = None if labels is None else tuple(labels)
    beginning = _beginning(source, len(_NPY))
    if beginning.startswith(_ZIP):
        return NpzScores(source, name, names)
    if beginning == _NPY:
        raise InvalidInput(
            f"{name}: expected an npz file or JSON lines, found a .npy file, which holds only one array;"
            " write npz with numpy.savez(file, emission=..., offsets=..., labels=...)."
        )
    return JsonScores(source, name, names)


def read_labels(path: str | PathLike[str]) -> tuple[str, ...]:
    """The labels in a file, in the order of the columns: one label per line, or a JSON list."""
    text = _text(path)
    if text.lstrip().startswith("["):
        try:
            return label_names(json.loads(text), str(path))
        except (ValueError, RecursionError) as error:
            if isinstance(error, LconsError):
                raise
            raise InvalidInput(
                f"{path}: expected one label per line or a JSON list of labels, found neither ({error});"
                " correct the file."
            ) from None
    return label_names([line.strip() for line in text.splitlines() if line.strip()], str(path))


def _text(path: str | PathLike[str]) -> str:
    """The text of a file of labels."""
    try:
        with Path(path).open("rb") as file:
            return file.read(_MOST_LABEL_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{path}: expected labels in UTF-8, found other bytes; save the file as UTF-8."
        ) from None
    except (OSError, ValueError) as error:
        raise LconsError(
            f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}; name a text file with"
            " one label per line."
        ) from None


def read_model(path: str | PathLike[str]) -> dict[str, Any]:
    """The labels in a file, as in `read_labels`; of a JSON object also `transition`, `start` and `stop`."""
    text = _text(path)
    if not text.lstrip().startswith("{"):
        return {"labels": read_labels(path)}
    members = _object(text.encode(), str(path))
    strange = [key for key in members if key not in ("labels", *MODEL)]
    if strange or "labels" not in members:
        raise InvalidInput(
            f"{path}: expected `labels` and optionally {', '.join(MODEL)}, found"
            f" {', '.join(members)[:60] or 'nothing'}; correct the file."
        )
    names = label_names(members["labels"], str(path))
    shared = {name: members[name] for name in MODEL if members.get(name) is not None}
    ScoreModel.of(names, shared, str(path))
    return {"labels": names, **shared}


def _beginning(source: BinaryIO, size: int) -> bytes:
    """The first bytes, without moving the position in the stream."""
    if isinstance(source, io.BufferedReader):
        return source.peek(size)[:size]
    if not source.seekable():
        raise InvalidInput("expected a buffered stream or a file, found neither; wrap it in BufferedReader.")
    here = source.tell()
    content = source.read(size)
    source.seek(here)
    return content


class JsonScores:
    """Sequences of JSON lines."""

    def __init__(self, source: BinaryIO, name: str, labels: tuple[str, ...] | None) -> None:
        self.source, self.name, self.labels = source, name, labels
        self._size = _size(source)
        self._read = 0

    def share(self) -> float | None:
        return None if not self._size else min(1.0, self._read / self._size)

    def __iter__(self) -> Iterator[Scored]:
        model: ScoreModel | None = None
        for number, line in enumerate(self.source, start=1):
            self._read += len(line)
            where = f"{self.name}:{number}"
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not content.strip():
                continue
            members = _object(content, where)
            if "emission" not in members:
                model = self._model(members, where)
                continue
            if model is None:
                model = ScoreModel.of(self.labels, {}, where)
            emission = members.pop("emission")
            identifier = members.pop("id", None)
            yield model.scored(emission, string_columns(members, where), where, identifier)

    def _model(self, members: dict[str, Any], where: str) -> ScoreModel:
        strange = [key for key in members if key not in ("labels", *MODEL)]
        if strange:
            raise InvalidInput(
                f"{where}: expected `emission`, or `labels` and optionally {', '.join(MODEL)}, found"
                f" {strange[0]!r:.40}; write the scores of a sequence as `emission`."
            )
        stated = label_names(members["labels"], where) if "labels" in members else None
        shared = {name: members[name] for name in MODEL if members.get(name) is not None}
        return ScoreModel.of(agreed(stated, self.labels, where), shared, where)


def _object(content: bytes, where: str) -> dict[str, Any]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{where}: expected a JSON object (or an npz file), found bytes that are not UTF-8"
            f" (0x{content[error.start]:02x} at byte {error.start + 1} of the line); save the file as UTF-8,"
            " or write npz with numpy.savez."
        ) from None
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{where}: expected a JSON object (or an npz file), found something else ({error!s:.80}); write"
            " one object per line."
        ) from None
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{where}: expected a JSON object, found a {type(value).__name__}; write one object per line."
        )
    return value


def _size(source: BinaryIO) -> int:
    """The number of bytes to the end; 0 if it is unknown."""
    try:
        if not source.seekable():
            return 0
        here = source.tell()
        size = source.seek(0, io.SEEK_END) - here
        source.seek(here)
        return size
    except (OSError, ValueError):
        return 0
