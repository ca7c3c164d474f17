"""A document: the report of a run as data; Markdown, HTML and the terminal are renderings of it.

    Document = title, what was compared, headline, sections of blocks, files beside it, next command
    Block    = Text | Listing | Table | Gains | Curve | Claims | Facts | Constraints | Sentences

A task returns one document and renders nothing. Figures are numbers here: a rendering decides on decimals and
colours, and whether it prints a spread or the paper's figure next to a mean.

Paths of files are relative to the folder of the document and stay inside it.

The file document.json has a document as plain data:

    {"format": 3, "title": ..., "sections": [{"title": ..., "blocks": [{"kind": "Table", ...}, ...]}, ...]}

Members are those of the types. Other programs may have written the file, so pydantic checks every member
against its type, and an error is one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, TypeAdapter, ValidationError

from lcons_core import InvalidInput
from lcons_tasks.atomic import write_text
from lcons_tasks.stats import Interval


@dataclass(frozen=True)
class Figure:
    """A measure of one row: one value per seed or split, and the paper's figure if it has one."""

    values: tuple[float, ...]
    paper: float | None = None
    digits: int = 2

    def __post_init__(self) -> None:
        if not self.values:
            raise InvalidInput("`values` of a figure needs at least one value: got none.")

    @property
    def mean(self) -> float:
        """The mean over seeds or splits."""
        return mean(self.values)


TableCell: TypeAlias = str | int | float | Figure | Interval | None


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` and **bold** are the only markup."""

    kind: Literal["Text"] = field(default="Text", kw_only=True)
    text: str


@dataclass(frozen=True)
class Listing:
    """Items of a list, one or more lines each, with the markup of `Text`."""

    kind: Literal["Listing"] = field(default="Listing", kw_only=True)
    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first cell of a row is its name. `note` is printed below the table."""

    kind: Literal["Table"] = field(default="Table", kw_only=True)
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        if {len(row) for row in self.rows} - {len(self.columns)}:
            raise InvalidInput(f"table {self.caption!r:.60} needs one cell per column in each row.")


@dataclass(frozen=True)
class Gain:
    """The gain of one row over another (`what`) in some cells (`where`), with its interval."""

    what: str
    where: str
    interval: Interval


@dataclass(frozen=True)
class Gains:
    """Paired gains, in points of one measure."""

    kind: Literal["Gains"] = field(default="Gains", kw_only=True)
    caption: str
    gains: tuple[Gain, ...]


@dataclass(frozen=True)
class Curve:
    """Lines of figures by size, such as the number of training sentences: {line: {size: value}}."""

    kind: Literal["Curve"] = field(default="Curve", kw_only=True)
    caption: str
    across: str
    up: str
    lines: Mapping[str, Mapping[float, float]]

    def __post_init__(self) -> None:
        if not self.sizes or self.sizes[0] <= 0:
            raise InvalidInput(f"curve {self.caption!r:.60} needs at least one point and only sizes above 0.")

    @property
    def sizes(self) -> list[float]:
        """The sizes of all lines, ascending."""
        return sorted({size for points in self.lines.values() for size in points})

    @property
    def table(self) -> Table:
        """The figures: one row per line, one column per size."""
        rows = [(name, *map(points.get, self.sizes)) for name, points in self.lines.items()]
        return Table(self.caption, (self.across, *map("{:,g}".format, self.sizes)), tuple(rows))


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it holds here, and the figures that show this."""

    text: str
    held: bool
    figures: str


@dataclass(frozen=True)
class Claims:
    """The paper's claims about its tables, checked on this run."""

    kind: Literal["Claims"] = field(default="Claims", kw_only=True)
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Facts:
    """Facts by name: corpus, hashes, seeds, options, versions."""

    kind: Literal["Facts"] = field(default="Facts", kw_only=True)
    caption: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Constraints:
    """Constraint files of one cell; the gold labels in the file `predictions` show how often their rules
    apply."""

    kind: Literal["Constraints"] = field(default="Constraints", kw_only=True)
    name: str
    files: tuple[str, ...]
    predictions: str | None = None

    def __post_init__(self) -> None:
        check_inside(*self.files, self.predictions)


Link: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True)
class Change:
    """One sentence that constraints changed, and the rule behind the change, in words and as a sum.

    There is one label per word, in IOB if spans may have several words. Relations are links: (first word of
    the source's span, first word of the target's span, label).
    """

    words: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    gold: tuple[str, ...] | None = None
    rule: str = ""
    why: str = ""
    links_before: tuple[Link, ...] = ()
    links_after: tuple[Link, ...] = ()
    links_gold: tuple[Link, ...] | None = None

    def __post_init__(self) -> None:
        size, sides = len(self.words), (self.before, self.after, self.gold)
        links = (*self.links_before, *self.links_after, *(self.links_gold or ()))
        if any(side is not None and len(side) != size for side in sides):
            raise InvalidInput(f"a changed sentence of {size} words needs one label per word on each side.")
        if not all(0 <= i < size and 0 <= j < size for i, j, _ in links):
            raise InvalidInput(f"a link needs the indices of two of the {size} words of its sentence.")


@dataclass(frozen=True)
class Sentences:
    """Sentences that changed: `changes` are some of them, with the rule behind the change; `file` contains
    all predictions. `sides` are the names of the labels before and after."""

    kind: Literal["Sentences"] = field(default="Sentences", kw_only=True)
    name: str
    changes: tuple[Change, ...] = ()
    file: str | None = None
    sides: tuple[str, str] = ("without", "with")

    def __post_init__(self) -> None:
        check_inside(self.file)


Block: TypeAlias = Text | Listing | Table | Gains | Curve | Claims | Facts | Constraints | Sentences


@dataclass(frozen=True)
class Section:
    """Blocks under one heading; a section without blocks is not rendered."""

    title: str
    blocks: tuple[Annotated[Block, Discriminator("kind")], ...]


@dataclass(frozen=True)
class Headline:
    """The main comparison of a document: the figures without and with constraints, and the gain.

    `baseline` is the best plain baseline, such as a look-up table, and `gain_over_baseline` the gain of
    `within` over it; `row` is the name of the row of the tables whose figure is `within`.
    """

    measure: str
    without: Figure
    within: Figure
    gain: Interval | None
    without_is: str = "without constraints"
    within_is: str = "with learned constraints"
    baseline: Figure | None = None
    baseline_is: str = "look-up table"
    gain_over_baseline: Interval | None = None
    row: str = ""


@dataclass(frozen=True)
class Document:
    """The whole report of a run, results first.

    `compared` states in one or two sentences what was compared and what each model reads; `paper_corpus` is
    the corpus of the paper's figures if the run used another one; `next_command` is a command to try next
    with the user's own data.
    """

    # Values from files are checked, not converted; members that no type has are refused.
    __pydantic_config__: ClassVar = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    format: Literal[3] = field(default=3, kw_only=True)
    title: str
    task: str
    corpus: str
    compared: str
    headline: Headline | None = None
    sections: tuple[Section, ...] = ()
    paper_corpus: str | None = None
    next_command: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def blocks(self) -> Iterator[Block]:
        """The blocks of all sections, in order."""
        return (block for section in self.sections for block in section.blocks)

    @property
    def claims(self) -> list[Claim]:
        """The claims of all blocks, in order."""
        return [claim for block in self.blocks if isinstance(block, Claims) for claim in block.claims]


def check_inside(*files: str | None) -> None:
    """Raises `InvalidInput` if a file would be outside the folder of its document."""
    for file in (file for file in files if file is not None):
        parts = file.replace("\\", "/").split("/")
        if "\0" in file or ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise InvalidInput(f"a document needs files inside its own folder: got {file!r:.80}.")


DOCUMENT = "document.json"
MAX_BYTES = 2**26


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)


def write_document(folder: Path, document: Document) -> None:
    """Writes document.json into a folder."""
    data = _adapter().dump_python(document, mode="json")
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(folder / DOCUMENT, text.encode("utf-8", "replace").decode("utf-8") + "\n")


def read_document(folder: Path) -> Document:
    """The document in a folder; raises `InvalidInput` if it is missing or malformed."""
    path = folder / DOCUMENT
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"a document has at most {MAX_BYTES:,} bytes: got more in {str(path)!r}.")
        return _adapter().validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror or error}.") from None
    except ValidationError as error:
        raise InvalidInput(f"{str(path)!r} is not a document: {first_error(error)}") from None


def first_error(error: ValidationError) -> str:
    """The first error of a validation in one line, with its place."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where:.80}{': ' * bool(where)}{first['msg']:.200}"
