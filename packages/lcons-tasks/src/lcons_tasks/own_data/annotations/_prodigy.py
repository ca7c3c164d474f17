"""Prodigy: JSON lines with a text, its spans and often its tokens.

    {"text": "Ann left", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}

Offsets count characters. Where `tokens` is given, its tokens are read; where it is not, lcons makes them. A
line whose `answer` is `reject` or `ignore` is not read. A line is one passage: it is a sentence unless the
tokens are those of lcons.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from lcons_core import InvalidInput, LconsError
from lcons_core.storage import parse
from lcons_tasks.data._lines import malformed, numbered_lines
from lcons_tasks.data.text import Token
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data.annotations._passage import Passage, check_object, span_of, structures_of

ACCEPTED = "accept"


def read_prodigy(path: str | os.PathLike[str]) -> Structures:
    """The labelled sentences of a file."""
    return structures_of(path, _passages(path))


def is_prodigy(line: str) -> bool:
    """Whether a line of JSON looks like one of Prodigy."""
    try:
        found = parse(line)
    except LconsError:
        return False
    return (
        isinstance(found, dict)
        and isinstance(found.get("text"), str)
        and any(isinstance(found.get(name), list) for name in ("spans", "tokens"))
        and "labels" not in found
    )


def _passages(path: str | os.PathLike[str]) -> Iterator[Passage]:
    for number, line in numbered_lines(path):
        if not line:
            continue
        try:
            task = check_object(parse(line), "a task")
            if task.get("answer", ACCEPTED) == ACCEPTED:
                yield _passage(task)
        except LconsError as error:
            raise malformed(path, number, str(error)) from None


def _passage(task: dict[str, Any]) -> Passage:
    text = task.get("text")
    if not isinstance(text, str):
        raise InvalidInput(f"expected a member `text`, found {text!r:.40}; export tasks of text.")
    spans = tuple(span_of(check_object(span, "a span"), span.get("label")) for span in _list(task, "spans"))
    if "tokens" not in task:
        return Passage(text, spans)
    tokens = [_token(text, check_object(token, "a token")) for token in _list(task, "tokens")]
    return Passage(text, spans, (tuple(token for token in tokens if token.text.strip()),))


def _token(text: str, value: dict[str, Any]) -> Token:
    start, end, _ = span_of(value, "token")
    if not 0 <= start < end <= len(text) or text[start:end] != value.get("text", text[start:end]):
        raise InvalidInput(
            f"expected a token {value.get('text')!r:.40} at the characters {start} to {end}, found"
            f" {text[start:end]!r:.40}; export the tokens again."
        )
    return Token(text[start:end], start, end)


def _list(task: dict[str, Any], name: str) -> list[Any]:
    found = task.get(name) or []
    if not isinstance(found, list):
        raise InvalidInput(f"expected a list `{name}`, found {found!r:.40}; export the tasks again.")
    return found
