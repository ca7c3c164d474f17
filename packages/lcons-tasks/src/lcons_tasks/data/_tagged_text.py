"""Tagged sentences as text: CoNLL columns, a line of JSON, or brackets for human readers.

conll      one line per word, with the word, context columns and label; then a blank line
json       {"words", "offsets", "pos", "labels", "chunks": [{"type", "start", "end", "text"}], "status"}
brackets   [NP the dog] [VP barked] .
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from lcons_core._instance import WORD
from lcons_core._schemes import OUTSIDE
from lcons_decode import Decoding
from lcons_tasks.stats import are_spans
from lcons_tasks.stats import chunks as iob_chunks

Columns = Mapping[str, Sequence[str]]
Places = Sequence[tuple[int, int]] | None
"""Where each word begins and ends in the text, in characters; None: there is no text."""
Format = Callable[[Columns, Decoding, Places], str]

NO_LABEL = "_"


def labels_of(x: Columns, answer: Decoding) -> Sequence[str]:
    """One label per word; `_` if the decoder found none."""
    return answer.y or [NO_LABEL] * len(x[WORD])


def spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(type, first, after the last) of each chunk; if labels are not IOB, BIOES or BILOU, a run of one label
    is a chunk.

    >>> list(spans(["B-NP", "I-NP", "O"])), list(spans(["author", "author", "O", "date"]))
    ([('NP', 0, 2)], [('author', 0, 2), ('date', 3, 4)])
    """
    if are_spans(labels):
        yield from iob_chunks(labels)
        return
    first = 0
    for label, run in groupby(labels):
        after = first + sum(1 for _ in run)
        if label not in (OUTSIDE, NO_LABEL):
            yield label, first, after
        first = after


def conll(x: Columns, answer: Decoding, places: Places = None) -> str:
    """One line per word, then a blank line."""
    context = [values for name, values in x.items() if name != WORD]
    rows = zip(x[WORD], *context, labels_of(x, answer), strict=True)
    return "".join(" ".join(cells) + "\n" for cells in rows) + "\n"


def json_line(x: Columns, answer: Decoding, places: Places = None) -> str:
    """A JSON object. `start` and `end` of a chunk count words from 0, and `end` is the first word after it;
    `offsets` are the places of words in the text, and those of a chunk where it begins and ends."""
    words, labels, chunks = list(x[WORD]), list(labels_of(x, answer)), []
    for kind, first, after in spans(labels):
        offsets = {} if places is None else {"offsets": [places[first][0], places[after - 1][1]]}
        text = " ".join(words[first:after])
        chunks.append({"type": kind, "start": first, "end": after, "text": text, **offsets})
    pos = list(x["pos"]) if "pos" in x else None
    line = {"words": words, "offsets": places, "pos": pos, "labels": labels, "chunks": chunks}
    return json.dumps({**line, "status": str(answer.status)}, ensure_ascii=False) + "\n"


def brackets(x: Columns, answer: Decoding, places: Places = None) -> str:
    """The words on one line, with chunks in brackets."""
    shown = list(x[WORD])
    for kind, first, after in spans(labels_of(x, answer)):
        shown[first] = f"[{kind} {shown[first]}"
        shown[after - 1] += "]"
    return " ".join(shown) + "\n"


TAGGED_FORMATS: dict[str, Format] = {"conll": conll, "json": json_line, "brackets": brackets}
