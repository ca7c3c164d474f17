"""Labelled data read from a file of any format.

A folder is a dataset of Hugging Face. The format of a file is found by the ending of its name, or else by its
first bytes. If neither decides, an error asks the user to state it.

Other packages may register a reader under the entry points `lcons.readers`, by the name of its format or by
the ending of its files:

    [project.entry-points."lcons.readers"]
    pairs = "my_package:read_pairs"
    ".pairs" = "my_package:read_pairs"

A reader is a function of a path that returns (tokens, labels) of each sentence; tokens are words, or columns
by name. It raises a `ValueError`, in one sentence, for a file that it cannot read. If the user states
`columns` as `NAME=VALUE`, it gets them as keyword arguments.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from lcons_core import Instance, InvalidInput, MissingExtra
from lcons_core._instance import WORD
from lcons_tasks.data import Columns, MalformedCorpus, read_columns
from lcons_tasks.data._columns import first_width
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.data._stream import POS, column_layout
from lcons_tasks.own_data._data import Data, Structures
from lcons_tasks.own_data._datasets import is_dataset, read_dataset
from lcons_tasks.own_data._records import LABEL, json_records, read_records
from lcons_tasks.own_data._tables import VALID, delimiter_of, read_csv, read_npz

Reader = Callable[[str | os.PathLike[str], Mapping[str, str]], Structures]

TEXTS = ("conll", "jsonl", "csv")
# Formats of structures whose columns are named by members.
READERS: dict[str, Reader] = {
    "jsonl": lambda path, members: read_records(path, json_records(path), members),
    "datasets": read_dataset,
}
TABLES = {"csv": read_csv, "npz": read_npz}
FORMATS = ("conll", "jsonl", "csv", "npz", "datasets")
# Formats and endings that lcons-contrib reads, so that lcons can name it where it is missing.
_OF_CONTRIB = ("brat", "label-studio", "prodigy", "spacy", "webanno", ".ann", ".spacy")

_BY_NAME = {
    **{f".{name}": "conll" for name in ("conll", "conllu", "iob", "iob2", "bio")},
    **{f".{name}": "jsonl" for name in ("jsonl", "ndjson", "json")},
    **{f".{name}": name for name in ("npz", "csv")},
}
_BEGINNING = 2**16


def tell_format(path: str | os.PathLike[str], columns: bool = False, tabs: bool = False) -> str:
    """The format of a file: one of `FORMATS`, or its ending if that is registered. `columns`: whether columns
    were stated, so that text without a header is CoNLL columns. `tabs`: whether tabs separate the cells,
    which is possible only for CoNLL."""
    if is_dataset(path):
        return "datasets"
    if tabs:
        return "conll"
    ending = Path(path).suffix.lower()
    if ending in _BY_NAME:
        return _BY_NAME[ending]
    if ending in _OF_CONTRIB or ending in _registered():
        return ending
    form = _by_content(*beginning(path), columns)
    if form is None:
        raise InvalidInput(
            f"the format of {os.fspath(path)!r} is not clear: state it with the argument `form` ({_known()})."
        )
    return form


def beginning(path: str | os.PathLike[str]) -> tuple[bytes, bool]:
    """(the first bytes of a file, whether these are all)."""
    try:
        with Path(path).open("rb") as file:
            return file.read(_BEGINNING), not file.read(1)
    except OSError as error:
        raise unreadable(path, error) from None


def _registered() -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group="lcons.readers")}


def _known() -> str:
    return ", ".join([*FORMATS, *sorted(name for name in _registered() if not name.startswith("."))])


def _by_content(head: bytes, whole: bool, columns: bool) -> str | None:
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if b"\0" in head:
        return None
    lines = [line.strip() for line in head.decode("utf-8-sig", "replace").split("\n")]
    if not whole:
        lines = lines[:-1]
    tokens = [line for line in lines if line]
    if not tokens:
        return "conll" if whole else None
    if tokens[0].startswith("{"):
        return "jsonl"
    if VALID in tokens[0].split(delimiter_of(tokens[0])):
        return "csv"
    return "conll" if columns or _looks_like_columns(lines) else None


def _looks_like_columns(lines: list[str]) -> bool:
    """Whether blank lines separate groups of lines, and all lines have the same number of cells, two or
    more."""
    tokens = [line for line in lines if line and not line.startswith("#")]
    widths = {len(line.split()) for line in tokens}
    return len(widths) == 1 and min(widths) >= 2 and "" in "\n".join(lines).strip().split("\n")


COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
STRANGE = re.compile("[\N{REPLACEMENT CHARACTER}\x00-\x08\x0e-\x1f]")
# The largest share of such characters of a text.
MOST_STRANGE = 0.2

LAST = -1
# Columns of CoNLL-U.
FORM, UPOS = 2, 4


def read_data(
    path: str | os.PathLike[str],
    form: str | None = None,
    columns: str | None = None,
    tabs: bool = False,
    valid: str | None = None,
) -> Data:
    """The structures or vectors of a file.

    `form` is one of `FORMATS` or registered, or None: found from the file. `columns` states the places of the
    columns: for CoNLL columns as `word,pos,label` or `word=1,label=-1`, for JSON lines and datasets as
    `word=tokens,label=tags`.
    `tabs`: the file is CoNLL columns, and one tab separates the cells, so that they may contain blanks.
    `valid`: the label of valid vectors in a table of psi vectors, if its labels are not 0 and 1.
    """
    chosen = form or tell_format(path, columns is not None, tabs)
    if chosen in TEXTS:
        check_text(path)
    if chosen in TABLES:
        if columns is not None:
            raise InvalidInput("a table of psi vectors needs no `columns`: its header names them.")
        return TABLES[chosen](path, valid)
    if valid is not None:
        raise InvalidInput("`valid` is for tables of psi vectors: all structures in a file are valid.")
    if chosen == "conll":
        return _read_conll(path, columns, tabs)
    members = {} if columns is None else members_of(columns)
    return READERS[chosen](path, members) if chosen in READERS else _read_registered(path, chosen, members)


def _read_conll(path: str | os.PathLike[str], columns: str | None, tabs: bool) -> Structures:
    layout = labelled_layout(path, columns, tabs)
    sentences = list(read_columns(path, layout))
    if not sentences:
        raise malformed(path, 1, "expected sentences with one line per token: got none.")
    return Structures(tuple(sentence.instance for sentence in sentences))


def check_text(path: str | os.PathLike[str]) -> None:
    """Raises an error if the beginning of a file is not UTF-8 text with lines that end in LF."""
    head, _ = beginning(path)
    text = head.decode("utf-8", "replace")
    strange = sum(
        one == "\N{REPLACEMENT CHARACTER}" or (one < " " and one not in "\t\n\r\f\v") for one in text
    )
    if head.startswith(COMPRESSED) or b"\0" in head or strange > MOST_STRANGE * len(text):
        raise malformed(path, 1, "expected UTF-8 text: got other bytes, such as those of a packed file.")
    alone = head.count(b"\r") - head.count(b"\r\n")
    if alone > head.count(b"\n"):
        raise malformed(path, 1, "lines must end in LF or CR LF: got CR alone, as on old Macs; convert them.")


def _read_registered(path: str | os.PathLike[str], form: str, members: dict[str, str]) -> Structures:
    """The sentences of a registered reader."""
    entry = _registered().get(form)
    if entry is None and form in _OF_CONTRIB:
        raise MissingExtra(f"the format {form!r} comes with lcons-contrib; run: pip install lcons-contrib.")
    if entry is None:
        raise InvalidInput(f"unknown format {form!r}; it is one of {_known()}.")
    read = entry.load()
    try:
        inspect.signature(read).bind(path, **members)
    except TypeError as error:
        raise InvalidInput(f"expected `columns` that the format {form} knows: {error}.") from None
    try:
        return Structures(tuple(_instance(tokens, labels) for tokens, labels in read(path, **members)))
    except OSError as error:
        raise unreadable(error.filename or path, error) from None
    except ValueError as error:
        raise MalformedCorpus(f"{os.fspath(path)}: {error}") from None


def _instance(tokens: Sequence[str] | Mapping[str, Sequence[str]], labels: Sequence[str]) -> Instance:
    columns = tokens if isinstance(tokens, Mapping) else {WORD: tokens}
    return Instance({name: tuple(values) for name, values in columns.items()}, tuple(labels))


def labelled_layout(path: str | os.PathLike[str], columns: str | None, tabs: bool = False) -> Columns:
    """The layout that `columns` states, with the label in the last column unless it names `label`.

    Without `columns`, the first column is the word, the last is the label, and the second of three or more is
    `pos`. In CoNLL-U (`.conllu`), the words are FORM and the labels UPOS, unless `columns` names others.
    """
    conllu = Path(path).suffix.lower() == ".conllu"
    options = Columns(
        separator="\t" if tabs or conllu else None, skip_docstart=True, comments=True, conllu=conllu
    )
    first = first_width(path, options)
    if first is None:
        raise MalformedCorpus(f"{os.fspath(path)}: expected sentences with one line per token: got none.")
    number, width = first
    if columns is None:
        if width < 2:
            raise malformed(path, number, "expected a word and its label in each line: got one column.")
        if conllu:
            return replace(options, words=FORM, labels=UPOS)
        return replace(options, words=1, labels=LAST, context={POS: 2} if width > 2 else {})
    stated = column_layout(columns)
    context = dict(stated.context)
    labels = context.pop(LABEL, UPOS if conllu else LAST)
    layout = replace(options, words=stated.words, labels=labels, context=context)
    try:
        places = layout.places(width)
    except InvalidInput as error:
        raise malformed(path, number, str(error)) from None
    place = places.pop("labels")
    if place in places.values():
        raise malformed(
            path,
            number,
            f"column {place + 1} cannot hold labels and something else: name that of the labels, as in"
            f' `columns="word=1,{LABEL}={min(width, 2)}"`.',
        )
    return layout


def described_layout(layout: Columns) -> str:
    """The layout in the form of the argument `columns`."""
    places = {WORD: layout.words, **layout.context, LABEL: layout.labels}
    return ",".join(f"{name}={place}" for name, place in places.items())


def members_of(columns: str) -> dict[str, str]:
    """The member of each column, from text such as `word=tokens,label=tags`."""
    members: dict[str, str] = {}
    for item in columns.split(","):
        name, equals, member = (part.strip() for part in item.partition("="))
        if not name or name in members or (equals and not member):
            raise InvalidInput(f"`columns` must be such as `word=tokens,{LABEL}=tags`: got {columns!r:.80}.")
        members[name] = member if equals else {WORD: "words", LABEL: "labels"}.get(name, name)
    return members
