"""JSON lines of labelled structures: one object per line.

    {"labels": ["B-PER", "O"], "words": ["Ann", "sings"], "pos": ["NNP", "VBZ"]}     a sequence
    {"tuples": [["Person", "Kill"], ["Person", "NoRel"]]}                            tuples

Without `labels`, the labels are `ner_tags` or `tags`. The column `word` is `words` or, without it, `tokens`.
Every other list with one text per label is a column with the name of its member. Members that are not lists
are ignored. Labels are names, never numbers.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from typing import Any

from lcons_core import Instance, InvalidInput, LconsError
from lcons_core._files import parse
from lcons_core._instance import WORD
from lcons_tasks.data._lines import malformed, numbered_lines
from lcons_tasks.own_data._data import Structures

LABEL = "label"
TUPLES = "tuples"
# The members of the labels and of the words: the first that a line has.
MEMBERS = {LABEL: ("labels", "ner_tags", "tags"), WORD: ("words", "tokens")}


def read_json_lines(path: str | os.PathLike[str], members: Mapping[str, str] | None = None) -> Structures:
    """The structures of a file; `members` is the member of each column, of `MEMBERS` by default."""
    instances: list[Instance] = []
    of_tuples: bool | None = None
    for number, text in numbered_lines(path):
        if not text:
            continue
        try:
            found, tuples = _instance(text, members or {})
        except LconsError as error:
            raise malformed(path, number, str(error)) from None
        if of_tuples not in (None, tuples):
            raise malformed(
                path,
                number,
                f"expected {TUPLES if of_tuples else 'labels'} as in the lines before, found another kind of"
                " structure; write one file per kind.",
            )
        of_tuples = tuples
        instances.append(found)
    if not instances:
        raise malformed(path, 1, "expected one object per line, found none; add at least one structure.")
    return Structures(tuple(instances), bool(of_tuples))


def first_member(column: str, data: Container[str]) -> str:
    """The member of a column in an object.

    >>> first_member("word", {"tokens": [], "tags": []}), first_member("label", {})
    ('tokens', 'labels')
    """
    return next((name for name in MEMBERS[column] if name in data), MEMBERS[column][0])


def _instance(text: str, stated: Mapping[str, str]) -> tuple[Instance, bool]:
    try:
        data = parse(text)
    except InvalidInput as error:
        raise InvalidInput(
            f"expected a JSON object, found that {str(error).rstrip('.')}; write one object per line."
        ) from None
    if not isinstance(data, dict):
        raise InvalidInput(
            f"expected a JSON object, found a {type(data).__name__}; write one object per line, with"
            f" `labels` or `{TUPLES}`."
        )
    named = {**{column: first_member(column, data) for column in MEMBERS}, **stated}
    if TUPLES in data and named[LABEL] not in data:
        return Instance({}, _tuples(data[TUPLES])), True
    if named[LABEL] not in data:
        found = ", ".join(list(data)[:8]) or "none"
        raise InvalidInput(
            f"expected a member `{named[LABEL]}` or `{TUPLES}`, found {found};"
            ' name the member of the labels, as in `columns="word=tokens,label=NAME"`.'
        )
    labels = names_of(data[named[LABEL]], named[LABEL])
    x = {}
    for column, member in named.items():
        if column == LABEL:
            continue
        if member in data:
            x[column] = names_of(data[member], member, len(labels))
        elif column in stated:
            raise InvalidInput(
                f"expected a member `{member}`, found none; add it or leave it out of the argument `columns`."
            )
    for member, values in data.items():
        if member not in named.values() and member not in x and isinstance(values, list) and not stated:
            x[member] = names_of(values, member, len(labels))
    return Instance(x, labels), False


def names_of(values: Any, member: str, length: int | None = None) -> tuple[str, ...]:
    """The names in a member; `length`: how many there must be."""
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise InvalidInput(
            f"expected `{member}` to be a list of names, found {repr(values)[:60]}; write labels and tags as"
            " text, not as numbers."
        )
    if length is not None and len(values) != length:
        raise InvalidInput(
            f"expected {length} values in `{member}`, one per label, found {len(values)}; correct the list."
        )
    return tuple(values)


def _tuples(values: Any) -> tuple[tuple[str, ...], ...]:
    whole = isinstance(values, list) and all(
        isinstance(one, list) and one and all(isinstance(value, str) and value for value in one)
        for one in values
    )
    if not whole:
        raise InvalidInput(
            f"expected `{TUPLES}` to be a list of lists of names, found {repr(values)[:60]}; write them as"
            ' [["Person", "Kill"], ...].'
        )
    return tuple(tuple(one) for one in values)
