"""Reader of the output of `lcons decode --json`: one sequence per line, with labels before and after
decoding.

    {"id", "words", "pos", "gold", ..., "labels", "without", "score", "status", "changed", "violations"}

`without` are the best labels by the scores alone. The file of scores determines the columns; `words` and
`gold` have a meaning here. Every line is checked, because other programs may have written the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput
from lcons_core._files import open_regular, unique_keys
from lcons_decode._scores import WORDS
from lcons_decode.files._answers import NO_LABEL

GOLD = "gold"
# The name of the task of such files.
DECODE = "decode"
# Members of an object that are not columns.
_MEMBERS = ("id", "score", "status", "changed", "violations")
# What `--choose` chose, an object; a column may have this name, too.
_CHOICE = "choice"
MAX_BYTES = 2**27

Strings = tuple[str, ...]


@dataclass(frozen=True)
class Decoded:
    """A sequence: its name, columns that constraints may read, the labels `without` constraints and with them
    (`_` if there is no answer), and the constraints that its labels break, once per place."""

    name: str
    words: Strings | None
    columns: Mapping[str, Strings]
    gold: Strings | None
    without: Strings
    labels: Strings
    status: str
    broken: Strings


def is_decoded(path: Path) -> bool:
    """Whether the first line of a file is an object with `labels`, which a constraint file does not have."""
    try:
        with open_regular(path) as file:
            first = next((line for line in iter(lambda: file.readline(MAX_BYTES), b"") if line.strip()), b"")
        found = json.loads(first.removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "labels" in found


def read_decoded(path: Path) -> Iterator[Decoded]:
    """The sequences of a file, in order; raises `InvalidInput` if a line is malformed."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InvalidInput(
            f"expected at most {MAX_BYTES:,} bytes of labels in {str(path)!r}, found {size:,}; use only some"
            " of its lines."
        )
    # The same words and labels occur often, so each string is stored once.
    known: dict[str, str] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if content.strip():
                yield _Line(content, number, path, known).decoded()


class _Line:
    """A line whose every member is checked."""

    def __init__(self, content: bytes, number: int, path: Path, known: dict[str, str]) -> None:
        self.number, self.where, self.known = number, f"line {number} of {str(path)!r}", known
        try:
            found = json.loads(content, object_pairs_hook=unique_keys)
        except (ValueError, RecursionError):
            raise self._wrong("a JSON object", "something else") from None
        if not isinstance(found, dict):
            raise self._wrong("a JSON object", f"a {type(found).__name__}")
        self.found: dict[str, Any] = found

    def decoded(self) -> Decoded:
        for name in ("labels", "without", "status"):
            if name not in self.found:
                raise self._wrong(f"`{name}`", "none")
        columns = {name: self._strings(name) for name in ("labels", "without", WORDS, GOLD)}
        members = (*_MEMBERS, _CHOICE) if isinstance(self.found.get(_CHOICE), dict) else _MEMBERS
        others = [name for name in self.found if name not in (*columns, *members)]
        columns |= {name: self._strings(name) for name in others}
        lengths = {name: len(column) for name, column in columns.items() if column is not None}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{length} {name}" for name, length in lengths.items())
            raise self._wrong("columns of one length", said)
        nothing = (NO_LABEL,) * next(iter(lengths.values()), 0)
        labels, without, given = columns["labels"], columns["without"], self.found.get("id")
        return Decoded(
            str(self.number if given is None else given)[:60],
            columns[WORDS],
            {name: column for name in others if (column := columns[name]) is not None},
            columns[GOLD],
            nothing if without is None else without,
            nothing if labels is None else labels,
            str(self.found["status"])[:60],
            self._broken(),
        )

    def _strings(self, name: str) -> Strings | None:
        values = self.found.get(name)
        if values is None:
            return None
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self._wrong(f"`{name}` as a list of strings", str(values)[:40])
        return tuple(self.known.setdefault(value, value) for value in values)

    def _broken(self) -> Strings:
        found = self.found.get("violations", [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self._wrong("`violations` as a list of objects", str(found)[:40])
        return tuple(str(one.get("constraint", "")) for one in found)

    def _wrong(self, expected: str, found: str) -> InvalidInput:
        return InvalidInput(
            f"expected {expected} on {self.where}, found {found}; write it again with `lcons decode --json`."
        )
