"""The output of `lcons decode --json` as a document: what constraints changed, and accuracy against gold.

    {"id", "words", "pos", "gold", ..., "labels", "without", "score", "status", "changed", "violations"}

One sequence per line; `without` are the best labels by the scores alone. The file of scores determines the
columns; `words` and `gold` have a meaning here. Other programs may have written the file, so pydantic checks
every line.

    accuracy = right labels / labels        span F1 = 2 right spans / (found spans + gold spans)

Intervals are paired bootstraps over sequences. The headline is span F1 if labels are spans (IOB, BIOES,
BILOU), otherwise accuracy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import ne
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lcons_core import InvalidInput
from lcons_core._files import open_regular
from lcons_decode.files._answers import NO_LABEL
from lcons_tasks.report._document import (
    Block,
    Document,
    Figure,
    Gain,
    Gains,
    Headline,
    Section,
    Sentences,
    Table,
    TableCell,
)
from lcons_tasks.report._storage import first_error
from lcons_tasks.stats import LabelTally

# The name of the task of such files.
DECODE = "decode"
MAX_BYTES = 2**27
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OUTCOMES = {"right": "from wrong to right", "wrong": "from right to wrong", "neither": "from wrong to wrong"}

Strings = tuple[str, ...]


class Decoded(BaseModel):
    """A sequence: its labels `without` constraints and with them, and other columns of the same length."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Strings | dict[str, Any] | None] = Field(init=False)

    labels: Strings | None
    without: Strings | None
    status: Annotated[str, Field(max_length=60)]
    id: Any = None
    words: Strings | None = None
    gold: Strings | None = None
    score: Any = None
    changed: Any = None
    violations: tuple[dict[str, Any], ...] = ()

    @property
    def columns(self) -> dict[str, Strings]:
        """The columns that constraints may read besides words."""
        return {name: value for name, value in self.__pydantic_extra__.items() if isinstance(value, tuple)}

    @property
    def sides(self) -> tuple[Strings, Strings]:
        """The labels without constraints and with them; `_` if there is no answer."""
        known = (self.labels, self.without, self.words, self.gold, *self.columns.values())
        nothing = (NO_LABEL,) * next((len(column) for column in known if column is not None), 0)
        return (
            nothing if self.without is None else self.without,
            nothing if self.labels is None else self.labels,
        )

    @property
    def broken(self) -> Strings:
        """The constraints that the labels break, once per place."""
        return tuple(str(one.get("constraint", "")) for one in self.violations)

    @model_validator(mode="after")
    def _has_one_length(self) -> Decoded:
        columns = (*self.sides, self.words, self.gold, *self.columns.values())
        if len({len(column) for column in columns if column is not None}) > 1:
            raise ValueError("columns need one length")
        return self


def is_decoded(path: Path) -> bool:
    """Whether the first line of a file is an object with `labels`, which a constraint file does not have."""
    try:
        with open_regular(path) as file:
            first = next((line for line in iter(lambda: file.readline(MAX_BYTES), b"") if line.strip()), b"")
        found = json.loads(first.removeprefix(BYTE_ORDER_MARK))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "labels" in found


def read_decoded(path: Path) -> Iterator[Decoded]:
    """The sequences of a file, in order; raises `InvalidInput` if a line is malformed."""
    if path.stat().st_size > MAX_BYTES:
        raise InvalidInput(f"a file of labels has at most {MAX_BYTES:,} bytes: got more in {str(path)!r}.")
    lines = path.read_bytes().removeprefix(BYTE_ORDER_MARK).split(b"\n")
    for number, content in enumerate(lines, 1):
        if content.strip():
            try:
                yield Decoded.model_validate_json(content)
            except ValidationError as error:
                where = f"line {number} of {str(path)!r}"
                raise InvalidInput(
                    f"{where} is not from `lcons decode --json`: {first_error(error)}"
                ) from None


def decoded_document(path: Path) -> Document:
    """The document of a file: counts of changes and, with gold labels, figures with their gains."""
    sequences = list(read_decoded(path))
    with_gold = [one for one in sequences if one.gold]
    headline, figures = _against_gold(with_gold) if with_gold else (None, [])
    changed = [sum(map(ne, *one.sides)) for one in sequences]
    rows: list[tuple[TableCell, ...]] = [
        ("all", len(sequences), sum(len(one.sides[1]) for one in sequences)),
        ("changed by constraints", sum(map(bool, changed)), sum(changed)),
    ]
    became = Counter(
        "right" if after == gold else "wrong" if before == gold else "neither"
        for one in with_gold
        for before, after, gold in zip(*one.sides, one.gold or (), strict=True)
        if before != after
    )
    rows += [(f"changed {words}", None, became[key]) for key, words in OUTCOMES.items() if with_gold]
    statuses = Counter(one.status for one in sequences)
    rows += [(f"decoded with status {status}", number, None) for status, number in statuses.items()]
    sides = [Counter(set(one.broken)) for one in sequences], [Counter(one.broken) for one in sequences]
    broken, places = (sum(counts, Counter[str]()) for counts in sides)
    rows += [(f"still breaks {name}", broken[name], places[name]) for name in places]
    counts = Table("Changes by constraints", ("count of", "sequences", "labels"), tuple(rows))
    (_, every, labels), (_, altered, moved), *_ = rows
    return Document(
        "Decoded sequences",
        DECODE,
        "",
        f"Constraints changed {altered:,} of {every:,} sequences and {moved:,} of {labels:,} labels.",
        headline,
        (
            Section("Results", (*figures, counts)),
            Section("Sentences before and after", (Sentences(path.stem, file=path.name),)),
        ),
    )


def _against_gold(sequences: Sequence[Decoded]) -> tuple[Headline, list[Block]]:
    """The headline, the figures and the gains of sequences with gold labels."""
    tally = LabelTally()
    for one in sequences:
        tally.add(one.gold or (), *one.sides)
    gains, where = tally.gains(), f"{len(sequences):,} sequences"
    main = gains[0]
    figures: list[Block] = [
        Table(
            f"Compared with gold: {tally.labels:,} labels of {where} with gold labels, in percent",
            ("labels", *(gain.measure for gain in gains)),
            (
                ("without constraints", *(Figure((gain.before,)) for gain in gains)),
                ("with constraints", *(Figure((gain.after,)) for gain in gains)),
            ),
            best=True,
        )
    ]
    intervals = [
        Gain(f"with over without constraints, {gain.measure}", where, gain.interval)
        for gain in gains
        if gain.interval
    ]
    if intervals:
        figures.append(Gains("Gains in points, with 95% intervals", tuple(intervals)))
    sides = Figure((main.before,)), Figure((main.after,))
    title = f"{main.measure}, {where}"
    return Headline(title, *sides, main.interval, within_is="with the given constraints"), figures
