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

from lcons_core import InvalidInput, LconsError
from lcons_core._files import parse
from lcons_core._instance import WORD
from lcons_tasks.data import Columns, read_columns
from lcons_tasks.data._lines import malformed, numbered_lines, unreadable
from lcons_tasks.data._stream import column_layout, text_sentences
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._datasets import is_dataset, read_dataset_words
from lcons_tasks.own_data._formats import FORM, members_of, read_data, tell_format
from lcons_tasks.own_data._json_lines import first_member, names_of

_RAW = "raw"
_TABLES = (".csv", ".npz")
_NEVER_WITH_TABS = (".txt", ".jsonl", ".ndjson", ".json")
_BEGINNING = 2**16
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
    if is_dataset(path):
        return _some(path, tuple(read_dataset_words(path, _member(columns))))
    form = _form(path, tabs)
    if form == _RAW:
        return _read_raw(path)
    if form == "jsonl":
        return _read_json_lines(path, columns)
    if form == "conll":
        return _read_columns(path, columns, tabs)
    data = read_data(path, form)
    if isinstance(data, Structures):
        return tuple(tuple(one.x[WORD]) for one in data.instances)
    raise InvalidInput(
        f"expected text or sentences in {os.fspath(path)!r}, found a table of psi vectors; name another file."
    )


def _form(path: str | os.PathLike[str], tabs: bool) -> str:
    """The format of a file: raw text, or one of `FORMATS`."""
    if not Path(path).is_dir() and Path(path).suffix.lower() not in _TABLES and _has_single_words(path):
        return "conll"
    try:
        return tell_format(path, tabs=tabs and Path(path).suffix.lower() not in _NEVER_WITH_TABS)
    except InvalidInput:
        return _RAW


def _has_single_words(path: str | os.PathLike[str]) -> bool:
    """Whether each line of the beginning of a file has one cell or none."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(_BEGINNING)
    except OSError as error:
        raise unreadable(path, error) from None
    if b"\0" in start or start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    lines = [line for line in start.splitlines() if line.strip()]
    return len(lines) >= _FEWEST_LINES and all(len(line.split()) == 1 for line in lines)


def _read_raw(path: str | os.PathLike[str]) -> tuple[Words, ...]:
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            found = tuple(x[WORD] for x in text_sentences(file))
    except OSError as error:
        raise unreadable(path, error) from None
    return _some(path, found)


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
    return _some(path, tuple(sentence.words for sentence in read_columns(path, layout)))


def _member(columns: str | None) -> str | None:
    """The member of the words, if `columns` names one and not a number."""
    member = None if columns is None else members_of(columns).get(WORD)
    return None if member is None or member.lstrip("-").isdecimal() else member


def _read_json_lines(path: str | os.PathLike[str], columns: str | None) -> tuple[Words, ...]:
    stated = _member(columns)
    found: list[Words] = []
    for number, text in numbered_lines(path):
        if not text:
            continue
        try:
            one = parse(text)
            member = stated or first_member(WORD, one if isinstance(one, dict) else ())
            if not isinstance(one, dict) or member not in one:
                raise InvalidInput(f"expected an object with `{member}`, found none; add the words.")
            found.append(names_of(one[member], member))
        except LconsError as error:
            raise malformed(path, number, str(error)) from None
    return _some(path, tuple(words for words in found if words))


def _some(path: str | os.PathLike[str], found: tuple[Words, ...]) -> tuple[Words, ...]:
    if not found:
        raise malformed(path, 1, "expected text, found no word; name a file with some.")
    return found
