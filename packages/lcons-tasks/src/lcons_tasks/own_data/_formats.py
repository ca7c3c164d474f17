"""Labelled data, or the words alone, read from a file of any format.

| format | file | a structure is |
|---|---|---|
| `conll` | columns, also CoNLL-U; blank lines between sentences | a sentence |
| `jsonl` | JSON lines or an array; doccano, spaCy's tuples (`_records`) | a record, or a sentence |
| `csv` | a table with a column of tokens and one of tags (`_records`) | a sentence |
| `csv`, `npz` | a table of psi vectors (`_tables`) | a row |
| `datasets` | a folder that Hugging Face `datasets` saved | a row |

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

import contextlib
import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from lcons_core import InvalidInput, MissingExtra
from lcons_core._instance import WORD
from lcons_tasks.data import Columns, MalformedCorpus, Sentence, read_columns
from lcons_tasks.data._columns import Column, first_width
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.data._stream import POS, column_layout, text_sentences
from lcons_tasks.own_data._data import Data, Structures
from lcons_tasks.own_data._datasets import dataset_records, from_dataset, is_dataset, load_dataset
from lcons_tasks.own_data._records import (
    LABEL,
    MEMBERS,
    Record,
    Words,
    json_records,
    member_of,
    read_records,
    read_words_of_records,
    row_records,
)
from lcons_tasks.own_data._tables import VALID, cells_of, csv_rows, read_csv, read_npz

File = str | os.PathLike[str]

RAW, CONLL, JSON, CSV, NPZ, DATASETS = "raw", "conll", "jsonl", "csv", "npz", "datasets"
FORMATS = (CONLL, JSON, CSV, NPZ, DATASETS)
# The records of formats whose columns have names.
RECORDS: dict[str, Callable[[File, Record], Iterator[tuple[int, Record]]]] = {
    JSON: lambda path, stated: json_records(path),
    CSV: lambda path, stated: row_records(csv_rows(path), stated),
    DATASETS: lambda path, stated: dataset_records(load_dataset(path)),
}
TABLES = {CSV: read_csv, NPZ: read_npz}
# Formats and endings that lcons-contrib reads, so that lcons can name it where it is missing.
_OF_CONTRIB = ("brat", "label-studio", "prodigy", "spacy", "webanno", ".ann", ".spacy")
_BY_NAME = {
    **dict.fromkeys((".conll", ".conllu", ".iob", ".iob2", ".bio"), CONLL),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), JSON),
    ".csv": CSV,
    ".npz": NPZ,
}
_BEGINNING = 2**16
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
# Columns of CoNLL-U.
FORM, UPOS = 2, 4
LAST = -1
# A longer sentence is probably a file without blank lines.
LONGEST_SENTENCE = 300


def tell_format(path: File, columns: bool = False, tabs: bool = False) -> str:
    """The format of a file: one of `FORMATS`, or its ending if that is registered. `columns`: whether columns
    were stated, so that text without a header is CoNLL columns. `tabs`: whether tabs separate the cells,
    which is possible only for CoNLL."""
    if is_dataset(path) or tabs:
        return CONLL if tabs else DATASETS
    ending = Path(path).suffix.lower()
    if ending in _OF_CONTRIB or ending in _registered():
        return ending
    form = _BY_NAME.get(ending) or _by_content(beginning(path), columns)
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
        return NPZ if head.startswith(b"PK\x03\x04") else None
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
    return all((stated.get(one) or member_of(one, names)).casefold() in names for one in (WORD, LABEL))


# The largest share of characters that text has not.
MOST_STRANGE = 0.2


def check_text(path: File) -> None:
    """Raises an error if the beginning of a file is not UTF-8 text with lines that end in LF."""
    head = beginning(path)
    text = head.decode("utf-8", "replace")
    strange = len(re.findall("[\N{REPLACEMENT CHARACTER}\x00-\x08\x0e-\x1f]", text))
    if head.startswith(COMPRESSED) or b"\0" in head or strange > MOST_STRANGE * len(text):
        raise malformed(path, 1, "expected UTF-8 text: got other bytes, such as those of a packed file.")
    if head.count(b"\r") - head.count(b"\r\n") > head.count(b"\n"):
        raise malformed(path, 1, "lines must end in LF or CR LF: got CR alone, as on old Macs.")


def read_data(
    path: File,
    form: str | None = None,
    columns: str | None = None,
    tabs: bool = False,
    valid: str | None = None,
) -> Data:
    """The structures or vectors of a file.

    `form` is one of `FORMATS` or registered, or None: found from the file. `columns` states the places of the
    columns: for CoNLL columns as `word,pos,label` or `word=1,label=-1`, for the others by the names in the
    file, as `word=tokens,label=tags`.
    `tabs`: the file is CoNLL columns, and one tab separates the cells, so that they may contain blanks.
    `valid`: the label of valid vectors in a table of psi vectors, if its labels are not 0 and 1.
    """
    form = form or tell_format(path, columns is not None, tabs)
    if form in (CONLL, JSON, CSV):
        check_text(path)
    if form == CONLL:
        data = _read_conll(path, columns, tabs)
    else:
        stated = {} if columns is None else members_of(columns)
        if form == NPZ or (form == CSV and not _holds_tokens(path, stated)):
            if stated:
                raise InvalidInput("a table of psi vectors needs no `columns`: its header names them.")
            return TABLES[form](path, valid)
        if form == DATASETS:
            data = from_dataset(load_dataset(path), stated, path)
        elif form in RECORDS:
            data = read_records(path, RECORDS[form](path, stated), stated)
        else:
            data = _read_registered(path, form, stated)
    if valid is not None:
        raise InvalidInput("`valid` is for tables of psi vectors: all structures in a file are valid.")
    if len(data) == 1 and len(data.instances[0].y) > LONGEST_SENTENCE:
        text = f"{Path(path).name} has no blank line, so that all its tokens are one sentence"
        warnings.warn(text, stacklevel=2)
    return data


def _holds_tokens(path: File, stated: Record) -> bool:
    return _are_tokens(next(csv_rows(path), (1, []))[1], stated)


def _read_conll(path: File, columns: str | None, tabs: bool) -> Structures:
    sentences = list(read_columns(path, labelled_layout(path, columns, tabs)))
    # A line such as `# comment` may have as many cells as a token. It is one if its label is that of others.
    labels = {
        label for one in sentences for word, label in zip(one.words, one.labels, strict=True) if word != "#"
    }
    labels = labels and labels | {"#"}
    tokens = (_without_comments(one, labels) if labels else one for one in sentences)
    instances = [one.instance for one in tokens if one.words]
    if not instances:
        raise malformed(path, 1, "expected sentences with one line per token: got none.")
    return Structures(tuple(instances))


def _without_comments(sentence: Sentence, labels: set[str]) -> Sentence:
    """The sentence from its first token on that is no comment."""
    tokens = zip(sentence.words, sentence.labels, strict=True)
    first = next(
        (i for i, (word, label) in enumerate(tokens) if word != "#" or label in labels), len(sentence)
    )
    columns = {name: values[first:] for name, values in sentence.columns.items()}
    return Sentence(sentence.words[first:], sentence.labels[first:], columns) if first else sentence


def _read_registered(path: File, form: str, stated: Mapping[str, str]) -> Structures:
    """The sentences of a registered reader."""
    entry = _registered().get(form)
    if entry is None and form in _OF_CONTRIB:
        raise MissingExtra(f"the format {form!r} comes with lcons-contrib; run: pip install lcons-contrib.")
    if entry is None:
        raise InvalidInput(f"unknown format {form!r}; it is one of {_known()}.")
    read = entry.load()
    try:
        inspect.signature(read).bind(path, **stated)
    except TypeError as error:
        raise InvalidInput(f"expected `columns` that the format {form} knows: {error}.") from None
    try:
        return Structures.of(read(path, **stated))
    except OSError as error:
        raise unreadable(error.filename or path, error) from None
    except ValueError as error:
        raise MalformedCorpus(f"{os.fspath(path)}: {error}") from None


def labelled_layout(path: File, columns: str | None, tabs: bool = False) -> Columns:
    """The layout that `columns` states, with the label in the last column unless it names `label`.

    Without `columns`, the first column is the word, the last is the label, and the second of three or more is
    `pos`. In CoNLL-U (`.conllu`), the words are FORM and the labels UPOS, unless `columns` names others.
    """
    options = _options(path, tabs)
    first = first_width(path, options)
    if first is None:
        raise malformed(path, 1, "expected sentences with one line per token: got none.")
    number, width = first
    if columns is None and options.conllu:
        return replace(options, words=FORM, labels=UPOS)
    if columns is None:
        if width < 2:
            raise malformed(path, number, "expected a word and its label in each line: got one column.")
        return replace(options, words=1, labels=LAST, context={POS: 2} if width > 2 else {})
    stated = column_layout(columns)
    context = dict(stated.context)
    labels = context.pop(LABEL, UPOS if options.conllu else LAST)
    layout = replace(options, words=stated.words, labels=labels, context=context)
    try:
        places = layout.places(width)
        if len(set(places.values())) < len(places):
            raise InvalidInput(f"name the column of the labels, as in `{WORD}=1,{LABEL}={min(width, 2)}`.")
    except InvalidInput as error:
        raise malformed(path, number, str(error)) from None
    return layout


def _options(path: File, tabs: bool) -> Columns:
    conllu = Path(path).suffix.lower() == ".conllu"
    separator = "\t" if tabs or conllu else None
    return Columns(separator=separator, skip_docstart=True, comments=True, conllu=conllu)


def described_layout(layout: Columns) -> str:
    """The layout in the form of the argument `columns`."""
    places = {WORD: layout.words, **layout.context, LABEL: layout.labels}
    return ",".join(f"{name}={place}" for name, place in places.items())


def members_of(columns: str) -> dict[str, str]:
    """The member of each column, from text such as `word=tokens,label=tags`; `word`, `label` and `sentence`
    alone have their usual names."""
    members: dict[str, str] = {}
    for item in columns.split(","):
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
    form = _form_of_words(path, tabs)
    if form in (RAW, CONLL, JSON, CSV):
        check_text(path)
    if form == RAW:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            sentences = [x[WORD] for x in text_sentences(file)]
    elif form == CONLL:
        sentences = _words_of_columns(path, columns, tabs)
    elif form in RECORDS and not (form == CSV and not _holds_tokens(path, {})):
        name = "" if columns is None else members_of(columns).get(WORD, "")
        stated = {} if not name or name.lstrip("-").isdecimal() else {WORD: name}
        sentences = list(read_words_of_records(path, RECORDS[form](path, stated), stated))
    else:
        data = read_data(path, form)
        if not isinstance(data, Structures):
            raise InvalidInput(f"{os.fspath(path)}: expected text or sentences: got a table of psi vectors.")
        sentences = [tuple(one.x[WORD]) for one in data.instances]
    if not any(sentences):
        raise malformed(path, 1, "expected text: got no word.")
    return tuple(words for words in sentences if words)


def _form_of_words(path: File, tabs: bool) -> str:
    """The format of a file, which is raw text unless its name or its beginning says otherwise."""
    ending = Path(path).suffix.lower()
    if not is_dataset(path) and ending not in (".csv", ".npz") and _has_single_words(path):
        return CONLL
    try:
        return tell_format(path, tabs=tabs and ending not in (".txt", ".jsonl", ".ndjson", ".json"))
    except InvalidInput:
        return RAW


def _has_single_words(path: File) -> bool:
    """Whether each line of the beginning of a file has one cell or none; one line may be a heading."""
    head = beginning(path)
    lines = [line for line in head.splitlines() if line.strip()]
    is_other = b"\0" in head or re.match(rb"(\xef\xbb\xbf)?\s*[{\[]", head)
    return not is_other and len(lines) > 1 and all(len(line.split()) == 1 for line in lines)


def _words_of_columns(path: File, columns: str | None, tabs: bool) -> list[Words]:
    options = _options(path, tabs)
    place: Column = FORM if options.conllu else 1
    if not options.conllu and _has_single_words(path):
        options = replace(options, comments=False)
    elif columns is not None:
        with contextlib.suppress(InvalidInput):
            place = column_layout(columns).words
    return [one.words for one in read_columns(path, replace(options, words=place, labels=place))]
