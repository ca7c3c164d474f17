"""Records, which are JSON objects or rows of a table, as structures.

    {"labels": ["B-PER", "O"], "words": ["Ann", "sings"], "pos": ["NNP", "VBZ"]}     a sequence
    {"tuples": [["Person", "Kill"], ["Person", "NoRel"]]}                            tuples

Without `labels`, the labels are `ner_tags` or `tags`. The column `word` is `words` or, without it, `tokens`.
Every other list with one text per label is a column with the name of its member. Members that are not lists
are ignored. Labels are names, never numbers.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from lcons_core import Instance, InvalidInput, LconsError
from lcons_core._files import parse
from lcons_core._instance import WORD
from lcons_tasks.data._lines import malformed, numbered_lines
from lcons_tasks.own_data._data import Structures

LABEL = "label"
TUPLES = "tuples"
# The members of the labels and of the words: the first that a record has.
MEMBERS = {LABEL: ("labels", "ner_tags", "tags"), WORD: ("words", "tokens")}


def json_records(path: str | os.PathLike[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, object) of each line of a file."""
    for number, text in numbered_lines(path):
        if not text:
            continue
        try:
            record = parse(text)
        except InvalidInput as error:
            raise malformed(path, number, f"expected a JSON object: {error}") from None
        if not isinstance(record, dict):
            raise malformed(path, number, f"expected a JSON object: got a {type(record).__name__}.")
        yield number, record


def read_records(
    path: str | os.PathLike[str],
    records: Iterable[tuple[int, Mapping[str, Any]]],
    members: Mapping[str, str] | None = None,
) -> Structures:
    """The structures of numbered records; `members` is the member of each column, of `MEMBERS` by default."""
    instances: list[Instance] = []
    kinds = set()
    for number, record in records:
        try:
            instances.append(_instance(record, members or {}))
        except LconsError as error:
            raise malformed(path, number, str(error)) from None
        kinds.add(not instances[-1].x and TUPLES in record)
        if len(kinds) > 1:
            raise malformed(path, number, f"expected one kind of structure: got `{TUPLES}` and labels.")
    if not instances:
        raise malformed(path, 1, "expected labelled structures: got none.")
    return Structures(tuple(instances), kinds == {True})


def read_words_of_records(
    path: str | os.PathLike[str], records: Iterable[tuple[int, Mapping[str, Any]]], member: str | None
) -> tuple[tuple[str, ...], ...]:
    """The words of numbered records that have some; labels are not read."""
    sentences = []
    for number, record in records:
        name = member or first_member(WORD, record)
        try:
            sentences.append(names_of(record.get(name), name))
        except LconsError as error:
            raise malformed(path, number, str(error)) from None
    return tuple(words for words in sentences if words)


def first_member(column: str, record: Container[str]) -> str:
    """The member of a column in a record.

    >>> first_member("word", {"tokens": [], "tags": []}), first_member("label", {})
    ('tokens', 'labels')
    """
    return next((name for name in MEMBERS[column] if name in record), MEMBERS[column][0])


def _instance(record: Mapping[str, Any], stated: Mapping[str, str]) -> Instance:
    named = {**{column: first_member(column, record) for column in MEMBERS}, **stated}
    if TUPLES in record and named[LABEL] not in record:
        return Instance({}, _tuples(record[TUPLES]))
    required = [named[LABEL], *(member for column, member in stated.items() if column != LABEL)]
    missing = [member for member in required if member not in record]
    if missing:
        there = ", ".join(list(record)[:8]) or "none"
        raise InvalidInput(
            f"expected a member `{missing[0]}`{'' if stated else f' or `{TUPLES}`'}: got {there}; name the"
            ' columns, as in `columns="word=tokens,label=NAME"`.'
        )
    labels = names_of(record[named[LABEL]], named[LABEL])
    columns = {column: member for column, member in named.items() if column != LABEL and member in record}
    if not stated:
        others = (name for name, values in record.items() if isinstance(values, list))
        columns |= {name: name for name in others if name not in named.values()}
    return Instance({name: names_of(record[one], one, len(labels)) for name, one in columns.items()}, labels)


def names_of(values: Any, member: str, length: int | None = None) -> tuple[str, ...]:
    """The names in a member; `length`: how many there must be."""
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise InvalidInput(f"`{member}` must be a list of names, as text: got {values!r:.60}.")
    if length is not None and len(values) != length:
        raise InvalidInput(f"`{member}` must have {length} values, one per label: got {len(values)}.")
    return tuple(values)


def _tuples(values: Any) -> tuple[tuple[str, ...], ...]:
    if not isinstance(values, list) or not all(isinstance(one, list) and one for one in values):
        raise InvalidInput(f"`{TUPLES}` must be a list of lists of names: got {values!r:.60}.")
    return tuple(names_of(one, TUPLES) for one in values)
