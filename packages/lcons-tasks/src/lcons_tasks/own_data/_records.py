"""Records, as other tools write them, and the structures in them.

| record | a structure is |
|---|---|
| `{"labels": ["B-PER", "O"], "words": ["Ann", "sings"], "pos": ["NNP", "VBZ"]}` | a sequence |
| `{"tuples": [["Person", "Kill"], ["Person", "NoRel"]]}` | tuples |
| `{"text": "Ann sings.", "label": [[0, 3, "PER"]]}` (doccano) | a sentence of the text |
| `["Ann sings.", {"entities": [[0, 3, "PER"]]}]` (spaCy's tuples) | a sentence of the text |
| rows of CSV with a token and a tag | the rows with one number of a sentence |
| a row of a dataset of Hugging Face | a sequence |

A file of JSON holds one record per line, or an array of them. The labels and the words have the names of
`MEMBERS`, the first that a record has, or those that the user states. Without stated names, every other list
with one text per label is a column with the name of its member. Labels are names, never numbers.

Spans of characters become B-X and I-X on the tokens of `lcons_tasks.data.text`. A span that does not begin
and end with tokens of one sentence, or overlaps an earlier one, is left out, and a warning counts these.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from lcons_core import Instance, InvalidInput, LconsError
from lcons_core._files import parse
from lcons_core._instance import WORD
from lcons_core._schemes import OUTSIDE
from lcons_tasks.data._lines import malformed, numbered_lines
from lcons_tasks.data.text import sentences
from lcons_tasks.own_data._data import Structures

LABEL, TEXT, TUPLES, SENTENCE = "label", "text", "tuples", "sentence"
MEMBERS = {
    LABEL: ("labels", "ner_tags", "tags", "label", "tag", "ner_tag", "ner"),
    WORD: ("words", "tokens", "word", "token"),
    SENTENCE: ("sentence #", "sentence", "sentence_id", "sentence_idx", "sent_id"),
}
SPANS = ("entities", "labels", "label")

File = str | os.PathLike[str]
Record = Mapping[str, Any]
Records = Iterable[tuple[int, Record]]
Words = tuple[str, ...]
Value = TypeVar("Value")


def member_of(column: str, names: Iterable[str]) -> str:
    """The name of a column among the names of a record, in small or capital letters.

    >>> member_of("word", ["Sentence #", "Token", "Tag"]), member_of("label", [])
    ('Token', 'labels')
    """
    by_name = {name.casefold(): name for name in reversed([*names])}
    return next((by_name[usual] for usual in MEMBERS[column] if usual in by_name), MEMBERS[column][0])


def json_records(path: File) -> Iterator[tuple[int, Record]]:
    """(line or number in an array, object) of each object of a file of JSON lines, or of one JSON array."""
    lines = [(number, text) for number, text in numbered_lines(path) if text]
    values: Iterator[tuple[int, Any]] = ((number, _parsed(path, number, text)) for number, text in lines)
    if lines and _begins_array(lines[0][1]):
        values = enumerate(_parsed(path, 1, "\n".join(text for _, text in lines)), start=1)
    for number, value in values:
        match value:
            case dict():
                yield number, value
            case [str() as text, {"entities": list() as spans}] | [str() as text, list() as spans]:
                yield number, {TEXT: text, "entities": spans}
            case _:
                raise malformed(path, number, f"expected a JSON object: got a {type(value).__name__}.")


def _begins_array(line: str) -> bool:
    """Whether the first line is not a record itself, but the beginning of an array of records."""
    try:
        value = parse(line)
    except InvalidInput:
        return line.startswith("[")
    return isinstance(value, list) and not (value and isinstance(value[0], str))


def _parsed(path: File, number: int, text: str) -> Any:
    try:
        return parse(text)
    except InvalidInput as error:
        raise malformed(path, number, f"expected a JSON object: {error}") from None


def row_records(rows: Iterator[tuple[int, list[str]]], stated: Record) -> Iterator[tuple[int, Record]]:
    """(line, columns) of each sentence of a table with one row per token. A sentence ends where the cell in
    the column of sentences changes and is not empty, and at a row without cells."""
    names = [name if name in stated.values() else name.casefold() for name in next(rows)[1]]
    place = stated.get(SENTENCE) or member_of(SENTENCE, names)
    needed = (*stated.values(), *MEMBERS[WORD], *MEMBERS[LABEL])
    tokens: list[dict[str, str]] = []
    first, sentence = 0, ""
    for line, cells in chain(rows, [(0, [])]):
        token = dict(zip(names, cells, strict=False))
        number = token.pop(place, "") or sentence
        if tokens and (not token or number != sentence):
            columns = {name: [token[name] for token in tokens] for name in tokens[0] if name}
            yield first, {name: column for name, column in columns.items() if all(column) or name in needed}
            tokens = []
        if token:
            first, sentence = first if tokens else line, number
            tokens.append(token)


def read_records(path: File, records: Records, stated: Record) -> Structures:
    """The structures of numbered records; `stated` is the member of each column that the user names."""
    instances: list[Instance] = []
    kinds, spans, lost = set(), 0, 0
    located = _located(path, records, lambda record: _structures(record, stated))
    for number, (some, of_text, left_out) in located:
        instances += some
        spans, lost = spans + of_text, lost + left_out
        kinds |= {isinstance(instance.y[0], tuple) for instance in some if instance.y}
        if len(kinds) > 1:
            raise malformed(path, number, f"expected one kind of structure: got `{TUPLES}` and labels.")
    if not instances:
        raise malformed(path, 1, "expected labelled structures: got none.")
    if lost:
        text = f"{Path(path).name}: {lost:,} of {spans:,} spans do not fit the tokens, and are left out"
        warnings.warn(text, stacklevel=3)
    return Structures(tuple(instances), kinds == {True})


def words_of_records(path: File, records: Records, stated: Record) -> Iterator[Words]:
    """The words of each sentence of numbered records; labels are not read."""

    def words(record: Record) -> list[Words]:
        name = stated.get(WORD) or member_of(WORD, record)
        if name in record or not isinstance(record.get(TEXT), str):
            return [names_of(record.get(name), name)]
        return [tuple(token.text for token in tokens) for tokens in sentences(record[TEXT])]

    return chain.from_iterable(some for _, some in _located(path, records, words))


def _located(path: File, records: Records, read: Callable[[Record], Value]) -> Iterator[tuple[int, Value]]:
    """What is read from each record; errors have its place."""
    for number, record in records:
        try:
            yield number, read(record)
        except LconsError as error:
            raise malformed(path, number, str(error)) from None


def _structures(record: Record, stated: Record) -> tuple[list[Instance], int, int]:
    """The structures of a record, and how many spans of characters it has, of which how many do not fit."""
    label, word = (stated.get(column) or member_of(column, record) for column in (LABEL, WORD))
    if isinstance(record.get(TEXT), str) and word not in record:
        spans = _spans(record, stated.get(LABEL))
        instances, lost = labelled_text(record[TEXT], spans)
        return instances, len(spans), lost
    if TUPLES in record and label not in record:
        tuples = record[TUPLES] if isinstance(record[TUPLES], list) else [None]
        return [Instance({}, tuple(names_of(names, TUPLES) for names in tuples))], 0, 0
    columns = {column: name for column, name in stated.items() if column not in (SENTENCE, LABEL)}
    if missing := [name for name in (label, *columns.values()) if name not in record]:
        raise InvalidInput(
            f"expected a member `{missing[0]}`: got {', '.join(list(record)[:8])}; name the columns,"
            ' as in `columns="word=tokens,label=NAME"`.'
        )
    if not stated.keys() - {SENTENCE}:
        lists = (name for name, values in record.items() if isinstance(values, list))
        columns = {name: name for name in lists if name not in (word, label)}
    columns = {WORD: word, **columns} if word in record else columns
    x = {name: names_of(record[member], member) for name, member in columns.items()}
    return [Instance(x, names_of(record[label], label))], 0, 0


def _spans(record: Record, stated: str | None) -> list[tuple[int, int, str]]:
    """The spans of a text: [first character, the one after the last, label], or objects with these."""
    member = stated or next((name for name in SPANS if name in record), SPANS[0])
    spans = []
    for value in record.get(member, ()):
        match value:
            case (
                [int() as first, int() as stop, str() as label]
                | {"start_offset": int() as first, "end_offset": int() as stop, "label": str() as label}
                | {"start": int() as first, "end": int() as stop, "label": str() as label}
            ):
                spans.append((first, stop, label))
            case _:
                raise InvalidInput(f'`{member}` holds spans such as [0, 3, "PER"]: got {value!r:.60}.')
    return spans


def labelled_text(text: str, spans: Iterable[tuple[int, int, str]]) -> tuple[list[Instance], int]:
    """(the sentences of a text with IOB2 labels, the number of spans that do not fit its tokens). Blanks at
    the ends of a span are no part of it.

    >>> [sentence], lost = labelled_text("New York sleeps.", [(0, 9, "LOC"), (9, 12, "X")])
    >>> sentence.y, lost
    (('B-LOC', 'I-LOC', 'O', 'O'), 1)
    """
    runs = sentences(text)
    labels = [[OUTSIDE] * len(run) for run in runs]
    starts = {token.start: (s, i) for s, run in enumerate(runs) for i, token in enumerate(run)}
    stops = {token.end: (s, i) for s, run in enumerate(runs) for i, token in enumerate(run)}
    lost = 0
    for first, stop, label in sorted(spans, key=lambda span: (span[0], -span[1])):
        inside = text[max(first, 0) : max(stop, 0)]
        run, begin = starts.get(first + len(inside) - len(inside.lstrip()), (-1, 0))
        other, end = stops.get(first + len(inside.rstrip()), (-2, 0))
        if run != other or not label or set(labels[run][begin : end + 1]) != {OUTSIDE}:
            lost += 1
            continue
        labels[run][begin : end + 1] = [f"B-{label}", *[f"I-{label}"] * (end - begin)]
    words = (tuple(token.text for token in run) for run in runs)
    return [Instance({WORD: tokens}, tuple(y)) for tokens, y in zip(words, labels, strict=True)], lost


def names_of(values: Any, member: str) -> Words:
    """The names in a member."""
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise InvalidInput(f"`{member}` must be a list of names, as text: got {values!r:.60}.")
    return tuple(values)
