"""Scores of JSON lines."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from lcons_core._errors import InvalidInput
from lcons_decode._stream import Scored
from lcons_decode.files._model import MODEL, ScoreModel, agreed, label_names, string_columns


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
            found = _object(content, where)
            if "emission" not in found:
                model = self._model(found, where)
                continue
            if model is None:
                model = ScoreModel.of(self.labels, {}, where)
            emission = found.pop("emission")
            given = found.pop("id", None)
            yield model.scored(emission, string_columns(found, where), where, given)

    def _model(self, found: dict[str, Any], where: str) -> ScoreModel:
        strange = [key for key in found if key not in ("labels", *MODEL)]
        if strange:
            raise InvalidInput(
                f"{where}: expected `emission`, or `labels` and perhaps {', '.join(MODEL)}, found"
                f" {strange[0]!r:.40}; give the scores of a sequence as `emission`."
            )
        own = label_names(found["labels"], where) if "labels" in found else None
        shared = {name: found[name] for name in MODEL if found.get(name) is not None}
        return ScoreModel.of(agreed(own, self.labels, where), shared, where)


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
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{where}: expected a JSON object (or an npz file), found something else ({error!s:.80}); give an"
            " object a line."
        ) from None
    if not isinstance(found, dict):
        raise InvalidInput(
            f"{where}: expected a JSON object, found a {type(found).__name__}; give an object a line."
        )
    return found


def _size(source: BinaryIO) -> int:
    """Bytes to the end; 0 where that cannot be told."""
    try:
        if not source.seekable():
            return 0
        here = source.tell()
        size = source.seek(0, io.SEEK_END) - here
        source.seek(here)
        return size
    except (OSError, ValueError):
        return 0
