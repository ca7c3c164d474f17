"""Tagged sentences as text: CoNLL columns, a line of JSON, or brackets for human readers.

conll      one line per word, with the word, context columns and label; then a blank line
json       {"words", "pos", "labels", "chunks": [{"type", "start", "end", "text"}], "status"}
brackets   [NP the dog] [VP barked] .
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from lcons_core._instance import WORD
from lcons_core._schemes import OUTSIDE
from lcons_decode import Decoding
from lcons_tasks.stats import are_spans, chunks

Columns = Mapping[str, Sequence[str]]
Format = Callable[[Columns, Decoding], str]

NO_LABEL = "_"


def labels_of(x: Columns, found: Decoding) -> Sequence[str]:
    """One label per word; `_` if the decoder found none."""
    return found.y or [NO_LABEL] * len(x[WORD])


def spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(type, first, after the last) of each chunk; if labels are not IOB, BIOES or BILOU, a run of one label
    is a chunk.

    >>> list(spans(["B-NP", "I-NP", "O"])), list(spans(["author", "author", "O", "date"]))
    ([('NP', 0, 2)], [('author', 0, 2), ('date', 3, 4)])
    """
    if are_spans(labels):
        yield from chunks(labels)
        return
    first = 0
    for label, run in groupby(labels):
        after = first + sum(1 for _ in run)
        if label not in (OUTSIDE, NO_LABEL):
            yield label, first, after
        first = after


def conll(x: Columns, found: Decoding) -> str:
    """One line per word, then a blank line."""
    context = [values for name, values in x.items() if name != WORD]
    rows = zip(x[WORD], *context, labels_of(x, found), strict=True)
    return "".join(" ".join(cells) + "\n" for cells in rows) + "\n"


def json_line(x: Columns, found: Decoding) -> str:
    """A JSON object; `start` and `end` count words from 0, and `end` is the first word after the chunk."""
    words, labels = x[WORD], labels_of(x, found)
    pos = x.get("pos")
    line = {
        "words": list(words),
        "pos": None if pos is None else list(pos),
        "labels": list(labels),
        "chunks": [
            {"type": kind, "start": first, "end": after, "text": " ".join(words[first:after])}
            for kind, first, after in spans(labels)
        ],
        "status": str(found.status),
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def brackets(x: Columns, found: Decoding) -> str:
    """The words on one line, with chunks in brackets."""
    return bracketed(x[WORD], labels_of(x, found)) + "\n"


def bracketed(words: Sequence[str], labels: Sequence[str]) -> str:
    """Words with their chunks in brackets.

    >>> bracketed(["the", "dog", "barks", "."], ["B-NP", "I-NP", "B-VP", "O"])
    '[NP the dog] [VP barks] .'
    """
    shown = list(words)
    for kind, first, after in spans(labels):
        shown[first] = f"[{kind} {shown[first]}"
        shown[after - 1] += "]"
    return " ".join(shown)


TAGGED_FORMATS: dict[str, Format] = {"conll": conll, "json": json_line, "brackets": brackets}
