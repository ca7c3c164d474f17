"""The answers of a run, sentence by sentence: labels before, after and gold, one per word.

| file | content of a line | written by |
|---|---|---|
| .txt | word, POS tag, gold label, label without constraints, label with them | chunking, citation |
| .jsonl | a sentence: words, candidates, and labels of candidates and of their pairs | er |
| any, recognised by its content | a sequence | `lcons decode --json` |

Other programs may have written a file of the last kind, so pydantic checks every line:

    {"id", "words", "pos", "gold", ..., "labels", "without", "score", "status", "changed", "violations"}

where `without` are the best labels by the scores alone. The file of scores determines the columns; `words`
and `gold` have a meaning here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lcons_core import Instance, InvalidInput, LconsError
from lcons_core._files import open_regular
from lcons_core._instance import WORD
from lcons_decode import Status
from lcons_decode.files._answers import NO_LABEL
from lcons_tasks.data import Columns, Sentence, read_columns, write_columns
from lcons_tasks.data._passage import NO_ENTITY
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.report._change import SIDES, Side
from lcons_tasks.report._document import Change, first_error

PREDICTIONS = Columns(
    ("word", "pos", "gold", "exact", "constrained"),
    "word",
    "constrained",
    {"pos": "pos", "gold": "gold", "exact": "exact"},
)
# The names of the sides in a file of candidates.
WITHOUT, WITHIN = "without constraints", "with learned constraints"
MAX_BYTES = 2**27
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Strings = tuple[str, ...]


@dataclass(frozen=True)
class Answered:
    """A sentence with its answers, and the columns `x` that constraints may read. The `status` is that of
    decoding; `broken` are the constraints that the labels break, once per place."""

    name: str
    change: Change
    x: Mapping[str, Sequence[str]] = field(default_factory=dict)
    status: str = Status.OPTIMAL
    broken: Strings = ()

    @property
    def note(self) -> str:
        """The status and the broken constraints, unless decoding succeeded."""
        fine = not self.broken and self.status in (Status.OPTIMAL, Status.HEURISTIC)
        return "" if fine else ", breaks ".join([self.status, *dict.fromkeys(self.broken)])

    def instance(self, side: Side) -> Instance:
        """The sentence with the labels of one side."""
        return Instance(self.x, getattr(self.change, side))


def write_predictions(
    path: Path,
    sentences: Sequence[Sentence],
    exact: Sequence[Sequence[str]],
    constrained: Sequence[Sequence[str]],
) -> None:
    """Writes the predicted labels of sentences, without and with constraints."""
    answers = (
        Sentence(s.words, tuple(c), {"pos": s.columns["pos"], "gold": s.labels, "exact": tuple(e)})
        for s, e, c in zip(sentences, exact, constrained, strict=True)
    )
    write_columns(path, answers, PREDICTIONS)


def read_predictions(path: Path) -> list[Answered]:
    """The sentences of a file."""
    reader = _of_decoded if is_decoded(path) else _of_lines if path.suffix == ".jsonl" else _of_columns
    try:
        return list(reader(path))
    except LconsError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"expected predictions in {str(path)!r}, found other content ({type(error).__name__}:"
            f" {str(error)[:80]}); run the task again."
        ) from None


def _of_columns(path: Path) -> Iterator[Answered]:
    for number, sentence in enumerate(read_columns(path, PREDICTIONS), 1):
        words, columns = sentence.words, sentence.columns
        x = {WORD: words, "pos": columns["pos"], CLUE: tuple(map(clue_or_shape, words))}
        yield Answered(str(number), Change(words, columns["exact"], sentence.labels, columns["gold"]), x)


class DecodedLine(BaseModel):
    """A sequence: its labels `without` constraints and with them, and other columns of the same length."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    labels: Strings | None
    without: Strings | None
    status: Annotated[str, Field(max_length=60)]
    id: Any = None
    words: Strings | None = None
    gold: Strings | None = None
    violations: tuple[dict[str, Any], ...] = ()

    @property
    def change(self) -> Change:
        """The change; positions stand for words, and `_` for answers, that the sequence lacks."""
        sides = (self.words, self.gold, self.labels, self.without)
        size = next((len(side) for side in sides if side is not None), 0)
        words = self.words or tuple(str(t + 1) for t in range(size))
        before, after = ((NO_LABEL,) * size if y is None else y for y in (self.without, self.labels))
        return Change(words, before, after, self.gold)

    @model_validator(mode="after")
    def _is_one_sentence(self) -> DecodedLine:
        _ = self.change
        return self


def _of_decoded(path: Path) -> Iterator[Answered]:
    if path.stat().st_size > MAX_BYTES:
        raise InvalidInput(f"a file of labels has at most {MAX_BYTES:,} bytes: got more in {str(path)!r}.")
    for number, line in enumerate(path.read_bytes().removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            decoded = DecodedLine.model_validate_json(line)
        except ValidationError as error:
            where = f"line {number} of {str(path)!r}"
            raise InvalidInput(f"{where} is not from `lcons decode --json`: {first_error(error)}") from None
        change, columns = decoded.change, {WORD: decoded.words, **(decoded.model_extra or {})}
        lists = {name: column for name, column in columns.items() if isinstance(column, list | tuple)}
        x = {name: column for name, column in lists.items() if len(column) == len(change.words)}
        broken = tuple(str(violation.get("constraint", "")) for violation in decoded.violations)
        name = str(number if decoded.id is None else decoded.id)[:60]
        yield Answered(name, change, x, status=decoded.status, broken=broken)


def is_decoded(path: Path) -> bool:
    """Whether the first line of a file is an object with `labels`, which a constraint file does not have."""
    try:
        with open_regular(path) as file:
            first = next((line for line in iter(lambda: file.readline(MAX_BYTES), b"") if line.strip()), b"")
        record = json.loads(first.removeprefix(BYTE_ORDER_MARK))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and "labels" in record


def _of_lines(path: Path) -> Iterator[Answered]:
    for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        words, places = tuple(map(str, record["words"])), [(int(a), int(b)) for a, b in record["candidates"]]
        sides: dict[str, Any] = {}
        for side, name in zip(SIDES, (WITHOUT, WITHIN, "gold"), strict=True):
            sides[side] = iob_labels(record[name]["entities"], places, len(words))
            sides[f"links_{side}"] = tuple(
                (places[link["source"]][0], places[link["target"]][0], str(link["label"]))
                for link in record[name]["relations"]
            )
        yield Answered(str(record["id"]), Change(words, **sides))


def iob_labels(entities: Sequence[str], places: Sequence[tuple[int, int]], size: int) -> tuple[str, ...]:
    """The labels of candidates at their places as IOB, one per word.

    >>> iob_labels(("Person", "Location"), [(0, 2), (3, 4)], 4)
    ('B-Person', 'I-Person', 'O', 'B-Location')
    """
    labels = ["O"] * size
    for label, (first, after) in zip(entities, places, strict=True):
        if label != NO_ENTITY:
            labels[first:after] = [f"B-{label}", *[f"I-{label}"] * (after - first - 1)]
    return tuple(labels)
