"""Bibliographic references, as segments of text with or without a field, and the readers of two formats.

Tagged references, as in Cora, have one line per reference: `<author> ... </author> <title> ... </title>`.
Fields do not nest. The format has no escapes: a `<` that does not begin a tag is text. A line may begin with
the mark `<NEWREFERENCE>` and a number, which are dropped.

AnyStyle's XML is a `<dataset>` with one `<sequence>` per reference, each a list of fields. A document type is
an error before anything in it is expanded, so that no entity can grow without limit or name a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree as ET

from lcons_tasks.data._lines import malformed, numbered_lines, quoted, unreadable


class Segment(NamedTuple):
    """The text of one field; the field is None for text outside any field."""

    field: str | None
    text: str


@dataclass(frozen=True)
class Reference:
    """The segments in the order of the text, with single spaces between words."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The whole reference without its fields."""
        return " ".join(segment.text for segment in self.segments)


def squeezed(text: str) -> str:
    """`text` with single spaces between words, and no spaces at its ends."""
    return " ".join(text.split())


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
        if (closing and name != field) or (not closing and field is not None):
            expected = "an opening tag" if field is None else f"</{field}>"
            raise malformed(path, number, f"expected {expected}, found {tag.group()} in {quoted(text)}.")
        if fields is not None and name not in fields:
            raise malformed(path, number, f"expected a field of {', '.join(fields)}, found {tag.group()}.")
        content = squeezed(text[end : tag.start()])
        if closing and not content:
            raise malformed(path, number, f"expected text in <{name}>, found none.")
        if content:
            yield Segment(field, content)
        field, end = None if closing else name, tag.end()
    if field is not None:
        raise malformed(path, number, f"expected </{field}>, found the end of the line.")
    if content := squeezed(text[end:]):
        yield Segment(None, content)


class _NoDocumentType(ET.TreeBuilder):
    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Called before anything in a document type is expanded."""
        raise ValueError("a document type")


def read_anystyle(path: str | os.PathLike[str]) -> Iterator[Reference]:
    """The references of a file; the whole file is read before the first one is returned."""
    try:
        parser = ET.XMLParser(target=_NoDocumentType())  # noqa: S314 (without document types)
        root = ET.parse(path, parser).getroot()  # noqa: S314
    except OSError as error:
        raise unreadable(path, error) from None
    except ET.ParseError as error:
        raise malformed(path, error.position[0], f"expected well-formed XML, found: {error}.") from None
    except ValueError as error:
        raise malformed(path, 1, f"expected no {error}.") from None
    outside = squeezed("".join([root.text or "", *(sequence.tail or "" for sequence in root)]))
    if root.tag != "dataset" or outside or any(sequence.tag != "sequence" for sequence in root):
        raise malformed(path, 1, "expected <sequence> and nothing else in a <dataset>, found something else.")
    return iter([_reference(path, number, sequence) for number, sequence in enumerate(root, start=1)])


def _reference(path: str | os.PathLike[str], number: int, sequence: ET.Element) -> Reference:
    """The reference of a sequence: its fields, and the text between them."""
    pieces: list[tuple[str | None, str | None]] = [(None, sequence.text)]
    for field in sequence:
        if len(field) or not squeezed(field.text or ""):
            raise malformed(path, 1, f"expected text in <{field.tag}> of sequence {number}, found none.")
        pieces += [(field.tag, field.text), (None, field.tail)]
    segments = [Segment(field, squeezed(text)) for field, text in pieces if text and squeezed(text)]
    if not len(sequence):
        raise malformed(path, 1, f"expected fields in sequence {number}, found none.")
    return Reference(tuple(segments))
