"""Tagged references, one a line: `<author> ... </author> <title> ... </title>`, as in Cora.

Fields do not nest. The format has no escapes: a `<` that begins no tag is text. A line may begin with the
mark `<NEWREFERENCE>` and a number, which are dropped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator

from lcons_tasks.corpus.lines import malformed, numbered_lines, quoted
from lcons_tasks.corpus.reference import Reference, Segment, squeezed

CORA_FIELDS = (
    "author",
    "booktitle",
    "date",
    "editor",
    "institution",
    "journal",
    "location",
    "note",
    "pages",
    "publisher",
    "tech",
    "title",
    "volume",
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_-]*)>")
_MARK = re.compile(r"\s*<NEWREFERENCE>\s*\d*")


def read_references(
    path: str | os.PathLike[str], fields: Collection[str] | None = None
) -> Iterator[Reference]:
    """The references of a file; with `fields`, any other tag is an error."""
    for number, text in numbered_lines(path):
        if text.strip():
            yield Reference(tuple(_segments(path, number, _MARK.sub("", text, count=1), fields)))


def _segments(
    path: str | os.PathLike[str], number: int, text: str, fields: Collection[str] | None
) -> Iterator[Segment]:
    field: str | None = None
    end = 0
    for tag in _TAG.finditer(text):
        closing, name = tag.groups()
        expected = None if field is None else f"</{field}>"
        if (closing and name != field) or (not closing and field is not None):
            raise malformed(
                path,
                number,
                f"expected {expected or 'an opening tag'}, found {tag.group()} in {quoted(text)}; close each"
                " field before the next one opens.",
            )
        if fields is not None and name not in fields:
            raise malformed(
                path,
                number,
                f"expected a field of {', '.join(sorted(fields))}, found {tag.group()}; correct the tag.",
            )
        content = squeezed(text[end : tag.start()])
        if content or closing:
            yield _segment(path, number, field, content)
        field = None if closing else name
        end = tag.end()
    if field is not None:
        raise malformed(path, number, f"expected </{field}>, found the end of the line; close the field.")
    if content := squeezed(text[end:]):
        yield Segment(None, content)


def _segment(path: str | os.PathLike[str], number: int, field: str | None, content: str) -> Segment:
    if not content:
        raise malformed(path, number, f"expected text in <{field}>, found none; remove the empty field.")
    return Segment(field, content)
