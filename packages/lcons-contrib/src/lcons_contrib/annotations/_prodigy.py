"""Prodigy: JSON lines with a text, its spans and often its tokens.

    {"text": "Ann left", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}

Offsets count characters. A line with `tokens` is one sentence of these tokens; of other lines lcons makes
sentences and tokens. A line whose `answer` is `reject` or `ignore` is not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lcons_contrib.annotations._passage import Passage, Sentence, labelled, member, span_of
from lcons_core import InvalidInput, LconsError
from lcons_core._files import parse
from lcons_tasks.data.text import Token


def read_prodigy(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """The labelled sentences of a file."""
    return labelled(_passages(path))


def _passages(path: str | os.PathLike[str]) -> Iterator[Passage]:
    with Path(path).open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            try:
                if line.strip() and member(task := parse(line), "answer", str, "accept") == "accept":
                    yield _passage(task)
            except LconsError as error:
                raise InvalidInput(f"line {number}: {error}") from None


def _passage(task: dict[str, Any]) -> Passage:
    text = member(task, "text", str)
    spans = [span_of(span, member(span, "label", str)) for span in member(task, "spans", list, [])]
    if "tokens" not in task:
        return Passage(text, spans)
    ends = [span_of(token, "token") for token in member(task, "tokens", list)]
    if any(not 0 <= start < end <= len(text) for start, end, _ in ends):
        raise InvalidInput(f"expected tokens inside a text of {len(text)} characters, found others.")
    return Passage(text, spans, [[Token(text[start:end], start, end) for start, end, _ in ends]])
