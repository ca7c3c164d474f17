"""Labelled data read from a file of any format.

A folder is a dataset of Hugging Face. The format of a file is found by the ending of its name, or else by its
first bytes. If neither decides, an error asks the user to state it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lcons_core import WORD, InvalidInput
from lcons_tasks.data import Columns, MalformedCorpus, read_columns
from lcons_tasks.data._columns import first_width
from lcons_tasks.data._lines import malformed, unreadable
from lcons_tasks.data._stream import POS, column_layout
from lcons_tasks.own_data._data import Data, Structures
from lcons_tasks.own_data._datasets import is_dataset, read_dataset
from lcons_tasks.own_data._json_lines import LABEL, read_json_lines
from lcons_tasks.own_data._tables import VALID, delimiter_of, read_csv, read_npz
from lcons_tasks.own_data.annotations import (
    read_brat,
    read_docbin,
    read_label_studio,
    read_prodigy,
    read_webanno,
)
from lcons_tasks.own_data.annotations._brat import files_of
from lcons_tasks.own_data.annotations._prodigy import is_prodigy
from lcons_tasks.own_data.annotations._webanno import HEADER

FORMATS = ("conll", "jsonl", "csv", "npz", "spacy", "prodigy", "label-studio", "webanno", "brat", "datasets")

_BY_NAME = {
    ".spacy": "spacy",
    ".ann": "brat",
    ".npz": "npz",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".conll": "conll",
    ".conllu": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
}
# Formats that some content has under an ending that usually means JSON lines.
_OF_NAME = {".jsonl": ["prodigy"], ".ndjson": ["prodigy"], ".json": ["prodigy", "label-studio"]}
_BEGINNING = 2**16


def tell_format(path: str | os.PathLike[str], columns: bool = False, tabs: bool = False) -> str:
    """The format of a file, one of `FORMATS`. `columns`: whether columns were stated, so that text without a
    header is CoNLL columns. `tabs`: whether tabs separate the cells, which is possible only for CoNLL."""
    if is_dataset(path):
        return "datasets"
    if tabs:
        return "conll"
    named = _BY_NAME.get(Path(path).suffix.lower())
    if named not in (None, "jsonl"):
        return named
    if Path(path).is_dir():
        return _folder_format(path)
    try:
        with Path(path).open("rb") as file:
            head = file.read(_BEGINNING)
            whole = not file.read(1)
    except OSError as error:
        raise unreadable(path, error) from None
    told = _by_content(head, whole, columns)
    if named is not None and told not in _OF_NAME[Path(path).suffix.lower()]:
        return named
    if told is None:
        raise InvalidInput(
            f"expected CoNLL columns, JSON lines, a file of an annotation tool, or a table of psi vectors in"
            f" {os.fspath(path)!r}, found text or bytes of an unknown format; state it with the argument"
            f" `form` ({', '.join(FORMATS)})."
        )
    return told


def _folder_format(path: str | os.PathLike[str]) -> str:
    if files_of(path):
        return "brat"
    raise InvalidInput(
        f"expected a file, or a folder of `.ann` files of brat, found the folder {os.fspath(path)!r} without"
        " any; name the file of the labelled data."
    )


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
        return "prodigy" if is_prodigy(tokens[0]) else "jsonl"
    if "".join(tokens[:2]).replace(" ", "").startswith("[{"):
        return "label-studio"
    if tokens[0].startswith(HEADER):
        return "webanno"
    if VALID in tokens[0].split(delimiter_of(tokens[0])):
        return "csv"
    return "conll" if columns or _looks_like_columns(lines) else None


def _looks_like_columns(lines: list[str]) -> bool:
    """Whether blank lines separate groups of lines, and all lines have the same number of cells, two or
    more."""
    tokens = [line for line in lines if line and not line.startswith("#")]
    widths = {len(line.split()) for line in tokens}
    return len(widths) == 1 and min(widths) >= 2 and "" in "\n".join(lines).strip().split("\n")


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

    `form` is one of `FORMATS`, or None: found from the file. `columns` states the places of the columns: for
    CoNLL columns as `word,pos,label` or `word=1,label=-1`, for JSON lines and datasets as
    `word=tokens,label=tags`, and as `label=NAME` the span layer of WebAnno or the span group of spaCy.
    `tabs`: the file is CoNLL columns, and one tab separates the cells, so that they may contain blanks.
    `valid`: the label of valid vectors in a table of psi vectors, if its labels are not 0 and 1.
    """
    chosen = form or tell_format(path, columns is not None, tabs)
    if chosen not in FORMATS:
        raise InvalidInput(f"unknown format {chosen!r}; it is one of {', '.join(FORMATS)}.")
    if chosen in ("csv", "npz"):
        if columns is not None:
            raise InvalidInput(
                f"expected no argument `columns` with a table of psi vectors, found {columns!r:.60}; leave it"
                " out, because the header names the columns."
            )
        return read_csv(path, valid) if chosen == "csv" else read_npz(path, valid)
    if valid is not None:
        raise InvalidInput(
            f"expected no argument `valid` with structures, found {valid!r:.60}; leave it out, because all"
            " structures in the file are valid."
        )
    if chosen in ("jsonl", "datasets"):
        read = read_json_lines if chosen == "jsonl" else read_dataset
        return read(path, None if columns is None else members_of(columns))
    if chosen in _TOOLS:
        return _TOOLS[chosen](path, **_layer(chosen, columns))
    layout = labelled_layout(path, columns, tabs)
    instances = tuple(sentence.instance for sentence in read_columns(path, layout))
    if not instances:
        raise malformed(
            path, 1, "expected sentences with one line per token, found none; add at least one sentence."
        )
    return Structures(instances)


_TOOLS: dict[str, Callable[..., Structures]] = {
    "spacy": read_docbin,
    "prodigy": read_prodigy,
    "label-studio": read_label_studio,
    "webanno": read_webanno,
    "brat": read_brat,
}
# The argument of a reader that `label=NAME` in `columns` names, if it has one.
_LAYERS = {"spacy": "spans_key", "webanno": "layer"}


def _layer(form: str, columns: str | None) -> dict[str, str]:
    """The layer of a tool's file that has the labels, as an argument of its reader."""
    if columns is None:
        return {}
    members = members_of(columns)
    if form not in _LAYERS or members.keys() != {LABEL}:
        wanted = f"`{LABEL}=NAME` alone" if form in _LAYERS else "no argument `columns`"
        raise InvalidInput(
            f"expected {wanted} with the format {form}, found {columns!r:.60}; leave the rest out, because"
            " the file states where its words are."
        )
    return {_LAYERS[form]: members[LABEL]}


def labelled_layout(path: str | os.PathLike[str], columns: str | None, tabs: bool = False) -> Columns:
    """The layout that `columns` states, with the label in the last column unless it names `label`.

    Without `columns`, the first column is the word, the last is the label, and the second of three or more is
    `pos`. In CoNLL-U (`.conllu`), the words are FORM and the labels UPOS, unless `columns` names others.
    """
    conllu = Path(path).suffix.lower() == ".conllu"
    options = Columns(
        separator="\t" if tabs or conllu else None, skip_docstart=True, comments=True, conllu=conllu
    )
    usual = UPOS if conllu else LAST
    number, width = _first_width(path, options)
    if columns is None:
        if width < 2:
            raise malformed(
                path,
                number,
                "expected a word and its label in each line, found one column; write both.",
            )
        if conllu:
            return replace(options, words=FORM, labels=UPOS)
        return replace(options, words=1, labels=LAST, context={POS: 2} if width > 2 else {})
    found = column_layout(columns)
    context = dict(found.context)
    layout = replace(options, words=found.words, labels=context.pop(LABEL, usual), context=context)
    try:
        places = layout.places(width)
    except InvalidInput as error:
        raise malformed(path, number, str(error)) from None
    labels = places.pop("labels")
    shared = [name for name, place in places.items() if place == labels]
    if shared:
        name = WORD if shared[0] == "words" else shared[0]
        raise malformed(
            path,
            number,
            f"expected different columns for the labels and for {name!r}, found column {labels + 1} for both;"
            f' name the column of the labels, as in `columns="word=1,{LABEL}={min(width, 2)}"`.',
        )
    return layout


def described_layout(layout: Columns) -> str:
    """The layout in the form of the argument `columns`."""
    return ",".join(
        f"{name}={place}"
        for name, place in {WORD: layout.words, **layout.context, LABEL: layout.labels}.items()
    )


def _first_width(path: str | os.PathLike[str], layout: Columns) -> tuple[int, int]:
    """(line, cells) of the first token."""
    if found := first_width(path, layout):
        return found
    raise MalformedCorpus(
        f"{os.fspath(path)}: expected sentences with one line per token, found an empty file; add at least"
        " one sentence."
    )


def members_of(columns: str) -> dict[str, str]:
    """The member of each column, from text such as `word=tokens,label=tags`."""
    members: dict[str, str] = {}
    for item in columns.split(","):
        name, equals, member = (part.strip() for part in item.partition("="))
        if not name or name in members or (equals and not member):
            raise InvalidInput(
                f"expected members such as `word=tokens,{LABEL}=tags`, found {columns!r:.80}; name each"
                " column once."
            )
        members[name] = member if equals else {WORD: "words", LABEL: "labels"}.get(name, name)
    return members
