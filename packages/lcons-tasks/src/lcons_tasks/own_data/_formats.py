"""Labelled data, or the words alone, read from a file of any format.

| format | file | a structure is |
|---|---|---|
| `conll` | columns, also CoNLL-U; blank lines between sentences (`_conll`) | a sentence |
| `jsonl` | JSON lines or an array; doccano, spaCy's tuples (`_records`) | a record, or a sentence |
| `csv` | a table with a column of tokens and one of tags (`_records`) | a sentence |
| `csv` | a table of psi vectors (`_tables`) | a row |
| `datasets` | a folder that Hugging Face `datasets` saved (`_datasets`) | a row |

The format of a file is found by the ending of its name, or else by its first bytes. If neither decides, an
error asks the user to state it; for `read_words` the file is then raw text.

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

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from lcons_core import InvalidInput, MissingExtra
from lcons_core._instance import WORD
from lcons_tasks.data import MalformedCorpus
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.data._stream import text_sentences
from lcons_tasks.own_data._conll import labelled_sentences, words_of_columns
from lcons_tasks.own_data._data import Data, Structures
from lcons_tasks.own_data._datasets import dataset_records, from_dataset, is_dataset, load_dataset
from lcons_tasks.own_data._records import (
    LABEL,
    MEMBERS,
    File,
    Record,
    Words,
    json_records,
    member_of,
    read_records,
    row_records,
    words_of_records,
)
from lcons_tasks.own_data._tables import VALID, cells_of, csv_rows, read_csv

RAW, CONLL, JSON, CSV, DATASETS = "raw", "conll", "jsonl", "csv", "datasets"
FORMATS = (CONLL, JSON, CSV, DATASETS)
ENDINGS = {
    **dict.fromkeys((".conll", ".conllu", ".iob", ".iob2", ".bio"), CONLL),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), JSON),
    ".csv": CSV,
}
# Formats and endings that lcons-contrib reads, so that lcons can name it where it is missing.
_OF_CONTRIB = ("brat", "label-studio", "prodigy", "spacy", "webanno", ".ann", ".spacy")
_BEGINNING = 2**16
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
# A longer sentence is probably a file without blank lines.
LONGEST_SENTENCE = 300
# The largest share of characters that text has not.
MOST_STRANGE = 0.2


def tell_format(path: File, columns: bool = False, tabs: bool = False) -> str:
    """The format of a file: one of `FORMATS`, or its ending if that is registered. `columns`: whether columns
    were stated, so that text without a header is CoNLL columns. `tabs`: whether tabs separate the cells,
    which is possible only for CoNLL."""
    if is_dataset(path) or tabs:
        return CONLL if tabs else DATASETS
    ending = Path(path).suffix.lower()
    if ending in _OF_CONTRIB or ending in _registered():
        return ending
    form = ENDINGS.get(ending) or _by_content(beginning(path), columns)
    if form is None:
        raise InvalidInput(
            f"the format of {os.fspath(path)!r} is not clear: state it with the argument `form` ({_known()})."
        )
    return form


def beginning(path: File) -> bytes:
    """The first bytes of a file."""
    try:
        if Path(path).is_fifo():
            raise InvalidInput(f"{os.fspath(path)!r} is a pipe: write it to a file first.")
        with Path(path).open("rb") as file:
            return file.read(_BEGINNING)
    except OSError as error:
        raise unreadable(path, error) from None


def _registered() -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group="lcons.readers")}


def _known() -> str:
    return ", ".join([*FORMATS, *sorted(name for name in _registered() if not name.startswith("."))])


def _by_content(head: bytes, columns: bool) -> str | None:
    if head.startswith(COMPRESSED) or b"\0" in head:
        return None
    lines = [line.strip() for line in head.decode("utf-8-sig", "replace").split("\n")]
    # The last line may be cut.
    text = "\n".join(lines[: None if len(head) < _BEGINNING else -1]).strip()
    if not text:
        return CONLL
    if re.match(r"\{|\[\s*[\[{]", text):
        return JSON
    header = cells_of(text.split("\n", 1)[0])
    if VALID in header or _are_tokens(header, {}):
        return CSV
    tokens = [line for line in text.split("\n") if line and not line.startswith("#")]
    widths = {len(line.split()) for line in tokens}
    are_columns = len(widths) == 1 and min(widths) >= 2 and "\n\n" in text
    return CONLL if columns or are_columns else None


def _are_tokens(header: list[str], stated: Record) -> bool:
    """Whether a header names a column of tokens and one of labels."""
    names = {name.casefold() for name in header}
    return all(
        (stated.get(column) or member_of(column, names)).casefold() in names for column in (WORD, LABEL)
    )


def check_text(path: File) -> None:
    """Raises an error if the beginning of a file is not UTF-8 text with lines that end in LF."""
    head = beginning(path)
    text = head.decode("utf-8", "replace")
    strange = len(re.findall("[\N{REPLACEMENT CHARACTER}\x00-\x08\x0e-\x1f]", text))
    if head.startswith(COMPRESSED) or b"\0" in head or strange > MOST_STRANGE * len(text):
        raise malformed(path, 1, "expected UTF-8 text: got other bytes, such as those of a packed file.")
    if head.count(b"\r") - head.count(b"\r\n") > head.count(b"\n"):
        raise malformed(path, 1, "lines must end in LF or CR LF: got CR alone, as on old Macs.")


def read_data(path: File, form: str | None = None, columns: str | None = None, tabs: bool = False) -> Data:
    """The structures or vectors of a file.

    `form` is one of `FORMATS` or registered, or None: found from the file. `columns` states the places of the
    columns: for CoNLL columns as `word,pos,label` or `word=1,label=-1`, for the others by the names in the
    file, as `word=tokens,label=tags`.
    `tabs`: the file is CoNLL columns, and one tab separates the cells, so that they may contain blanks.
    """
    form = form or tell_format(path, columns is not None, tabs)
    if form in (CONLL, JSON, CSV):
        check_text(path)
    stated = members_of(columns or "") if form != CONLL else {}
    if _is_table(path, form, stated):
        if stated:
            raise InvalidInput("a table of psi vectors needs no `columns`: its header names them.")
        return read_csv(path)
    if form == CONLL:
        data = Structures(tuple(labelled_sentences(path, columns, tabs)))
    elif form == DATASETS:
        data = from_dataset(load_dataset(path), stated, path)
    elif form in FORMATS:
        data = read_records(path, _records(path, form, stated), stated)
    else:
        data = _read_registered(path, form, stated)
    if len(data) == 1 and len(data.instances[0].y) > LONGEST_SENTENCE:
        text = f"{Path(path).name} has no blank line, so that all its tokens are one sentence"
        warnings.warn(text, stacklevel=2)
    return data


def _is_table(path: File, form: str, stated: Record) -> bool:
    """Whether a file holds psi vectors, not tokens or records."""
    return form == CSV and not _are_tokens(next(csv_rows(path), (1, []))[1], stated)


def _records(path: File, form: str, stated: Record) -> Iterator[tuple[int, Record]]:
    if form == DATASETS:
        return dataset_records(load_dataset(path))
    return json_records(path) if form == JSON else row_records(csv_rows(path), stated)


def _read_registered(path: File, form: str, stated: Mapping[str, str]) -> Structures:
    """The sentences of a registered reader."""
    entry = _registered().get(form)
    if entry is None and form in _OF_CONTRIB:
        raise MissingExtra(f"the format {form!r} comes with lcons-contrib; run: pip install lcons-contrib.")
    if entry is None:
        raise InvalidInput(f"unknown format {form!r}; it is one of {_known()}.")
    try:
        pairs = ((x if isinstance(x, Mapping) else {WORD: x}, y) for x, y in entry.load()(path, **stated))
        columns = (({name: tuple(values) for name, values in x.items()}, tuple(y)) for x, y in pairs)
        return Structures.of(columns)
    except TypeError as error:
        raise InvalidInput(f"expected `columns` that the format {form} knows: {error}.") from None
    except OSError as error:
        raise unreadable(error.filename or path, error) from None
    except ValueError as error:
        raise MalformedCorpus(f"{os.fspath(path)}: {error}") from None


def members_of(columns: str) -> dict[str, str]:
    """The member of each column, from text such as `word=tokens,label=tags`; `word`, `label` and `sentence`
    alone have their usual names."""
    members: dict[str, str] = {}
    for item in columns.split(",") if columns else ():
        name, equals, member = (part.strip() for part in item.partition("="))
        if not name or name in members or (equals and not member):
            raise InvalidInput(f"`columns` must be such as `word=tokens,{LABEL}=tags`: got {columns!r:.80}.")
        if equals or name not in MEMBERS:
            members[name] = member or name
    return members


def read_words(path: File, columns: str | None = None, tabs: bool = False) -> tuple[Words, ...]:
    """The sentences of a file, none empty: of text, or the words of a labelled file, whose labels are not
    read. Lines of one word each are columns.

    `columns` and `tabs` are those of `read_data` for labelled data beside it: of `columns`, the place of the
    words is used if it fits the format, a number for CoNLL columns and a name for others.
    """
    ending, single = Path(path).suffix.lower(), _has_single_words(path)
    try:
        tabs = tabs and ending != ".txt" and ENDINGS.get(ending) != JSON
        form = CONLL if single else tell_format(path, tabs=tabs)
    except InvalidInput:
        form = RAW
    if form in (RAW, CONLL, JSON, CSV):
        check_text(path)
    name = "" if columns is None or form in (RAW, CONLL) else members_of(columns).get(WORD, "")
    stated = {WORD: name} if name and not name.lstrip("-").isdecimal() else {}
    sentences: Iterable[Words]
    if form == RAW:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            sentences = [x[WORD] for x in text_sentences(file)]
    elif form == CONLL:
        sentences = words_of_columns(path, columns, tabs, single)
    elif _is_table(path, form, {}):
        raise InvalidInput(f"{os.fspath(path)}: expected text or sentences: got a table of psi vectors.")
    elif form in FORMATS:
        sentences = words_of_records(path, _records(path, form, stated), stated)
    else:
        sentences = [tuple(instance.x[WORD]) for instance in _read_registered(path, form, {}).instances]
    known = tuple(words for words in sentences if words)
    if not known:
        raise malformed(path, 1, "expected text: got no word.")
    return known


def _has_single_words(path: File) -> bool:
    """Whether each line of the beginning of a file has one cell or none; one line may be a heading."""
    if is_dataset(path) or Path(path).suffix.lower() == ".csv":
        return False
    head = beginning(path)
    lines = [line for line in head.splitlines() if line.strip()]
    is_other = b"\0" in head or re.match(rb"(\xef\xbb\xbf)?\s*[{\[]", head)
    return not is_other and len(lines) > 1 and all(len(line.split()) == 1 for line in lines)
