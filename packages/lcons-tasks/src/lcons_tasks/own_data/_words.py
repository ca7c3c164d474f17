"""Sentences without labels, as lists of words, from a file of any format.

| file | a sentence is |
|---|---|
| raw text | what `lcons tag` reads as one: it ends at a full stop or the like, or at a blank line |
| one word per line | the lines between blank lines |
| CoNLL columns | the words between blank lines; other columns are not read |
| JSON lines | the list `words` or `tokens` of an object; its labels are not read |
| a folder of `datasets` | the list `words` or `tokens` of a row; its labels are not read |
| a file of an annotation tool | a sentence of its texts; its labels are not read |

A file is raw text unless its name or its beginning says otherwise, so that a `.txt` file of columns is read
as columns.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lcons_core import InvalidInput
from lcons_core._instance import WORD
from lcons_tasks.data import Columns, read_columns
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.data._stream import column_layout, text_sentences
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._datasets import dataset_records, load_dataset
from lcons_tasks.own_data._formats import (
    FORM,
    TABLES,
    beginning,
    check_text,
    members_of,
    read_data,
    tell_format,
)
from lcons_tasks.own_data._records import json_records, read_words_of_records

_RAW = "raw"
_NEVER_WITH_TABS = (".txt", ".jsonl", ".ndjson", ".json")
# A shorter file of single words may be a heading.
_FEWEST_LINES = 2

Words = tuple[str, ...]


def read_words(
    path: str | os.PathLike[str], columns: str | None = None, tabs: bool = False
) -> tuple[Words, ...]:
    """The sentences of a file, none empty.

    `columns` and `tabs` are those of `read_data` for labelled data beside it: of `columns`, the place of the
    words is used if it fits the format, a number for CoNLL columns and a name for JSON lines.
    """
    form = _form(path, tabs)
    if form in (_RAW, "conll", "jsonl"):
        check_text(path)
    if form == _RAW:
        sentences = _read_raw(path)
    elif form == "conll":
        sentences = _read_columns(path, columns, tabs)
    elif form in ("jsonl", "datasets"):
        records = json_records(path) if form == "jsonl" else dataset_records(load_dataset(path))
        sentences = read_words_of_records(path, records, _member(columns))
    else:
        data = read_data(path, form)
        if not isinstance(data, Structures):
            raise InvalidInput(f"{os.fspath(path)}: expected text or sentences: got a table of psi vectors.")
        sentences = tuple(tuple(one.x[WORD]) for one in data.instances)
    if not sentences:
        raise malformed(path, 1, "expected text: got no word.")
    return sentences


def _form(path: str | os.PathLike[str], tabs: bool) -> str:
    """The format of a file: raw text, or one of `FORMATS`."""
    ending = Path(path).suffix.lower()
    if not Path(path).is_dir() and ending[1:] not in TABLES and _has_single_words(path):
        return "conll"
    try:
        return tell_format(path, tabs=tabs and ending not in _NEVER_WITH_TABS)
    except InvalidInput:
        return _RAW


def _has_single_words(path: str | os.PathLike[str]) -> bool:
    """Whether each line of the beginning of a file has one cell or none."""
    start, _ = beginning(path)
    if b"\0" in start or start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    lines = [line for line in start.splitlines() if line.strip()]
    return len(lines) >= _FEWEST_LINES and all(len(line.split()) == 1 for line in lines)


def _read_raw(path: str | os.PathLike[str]) -> tuple[Words, ...]:
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            return tuple(x[WORD] for x in text_sentences(file))
    except OSError as error:
        raise unreadable(path, error) from None


def _read_columns(path: str | os.PathLike[str], columns: str | None, tabs: bool) -> tuple[Words, ...]:
    conllu = Path(path).suffix.lower() == ".conllu"
    single = not conllu and _has_single_words(path)
    place = FORM if conllu else 1
    if columns is not None and not single:
        with contextlib.suppress(InvalidInput):
            place = int(column_layout(columns).words)
    layout = Columns(
        words=place,
        labels=place,
        separator="\t" if tabs or conllu else None,
        skip_docstart=True,
        comments=not single,
        conllu=conllu,
    )
    return tuple(sentence.words for sentence in read_columns(path, layout))


def _member(columns: str | None) -> str | None:
    """The member of the words, if `columns` names one and not a number."""
    member = None if columns is None else members_of(columns).get(WORD)
    return None if member is None or member.lstrip("-").isdecimal() else member
