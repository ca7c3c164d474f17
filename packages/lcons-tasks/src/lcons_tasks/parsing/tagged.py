"""A labelled reference as tagged text, one line: `<author> ... </author> <title> ... </title>`.

`lcons_tasks.corpus.read_references` reads the line back to the same pieces, with single spaces and without
the empty ones; adjacent pieces outside any field come back as one. The format has no escapes, so a text that
itself contains a tag gets a space into it: `<b>` becomes `< b>`, which is text. A field whose name cannot be
a tag is written with hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lcons_tasks.corpus.reference import squeezed
from lcons_tasks.parsing.pieces import Piece
from lcons_tasks.text.encodable import encodable

_TAG = re.compile(r"<(?=/?[A-Za-z][A-Za-z0-9_-]*>)")
_NOT_IN_TAGS = re.compile(r"[^A-Za-z0-9_-]+")
_MARK = "NEWREFERENCE"


def to_tagged(pieces: Iterable[Piece]) -> str:
    """The pieces on a line, each in the tags of its field; text outside any has none.

    >>> to_tagged([("author", "A. Cau."), (None, "see"), ("title", "The <b> tag,")])
    '<author> A. Cau. </author> see <title> The < b> tag, </title>'
    """
    return " ".join(_tagged(field, text) for field, raw in pieces if (text := _untagged(raw)))


def _tagged(field: str | None, text: str) -> str:
    if field is None:
        return text
    tag = _tag(field)
    return f"<{tag}> {text} </{tag}>"


def _untagged(text: str) -> str:
    return _TAG.sub("< ", squeezed(encodable(text)))


def _tag(field: str) -> str:
    """The field as the name of a tag; the mark of a new reference is none.

    >>> _tag("container-title"), _tag("run in"), _tag("1")
    ('container-title', 'run-in', 'field-1')
    """
    name = _NOT_IN_TAGS.sub("-", field)
    if not name[:1].isalpha():
        return f"field-{name}"
    return name.lower() if name == _MARK else name
