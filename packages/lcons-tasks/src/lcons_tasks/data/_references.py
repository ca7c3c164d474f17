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
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from lcons_tasks.data._lines import MalformedCorpus, malformed, numbered_lines, quoted, unreadable


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


_LEVELS = ("a <dataset>", "a <sequence>", "a field")


def read_anystyle(path: str | os.PathLike[str]) -> Iterator[Reference]:
    """The references of a file; the whole file is read before the first one is returned."""
    document = _Document(path)
    try:
        with Path(path).open("rb") as file:
            document.parser.ParseFile(file)
    except OSError as error:
        raise unreadable(path, error) from None
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise malformed(
            path, error.lineno, f"expected well-formed XML, found: {reason}; correct the file."
        ) from None
    return iter(document.references)


class _Document:
    """The state of one parse: the open elements, and the segments of the current sequence so far."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.references: list[Reference] = []
        self.open: list[str] = []
        self.segments: list[Segment] = []
        self.text: list[str] = []
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text.append

    def doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        raise self.wrong("expected no document type, found <!DOCTYPE>; remove it.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        level = len(self.open)
        expected = _LEVELS[level] if level < len(_LEVELS) else f"the text of <{self.open[-1]}>"
        named = ("dataset", "sequence")
        if level >= len(_LEVELS) or (level < len(named) and name != named[level]):
            raise self.wrong(f"expected {expected}, found <{name}>; correct the nesting.")
        self.outside()
        self.open.append(name)

    def end(self, name: str) -> None:
        level = len(self.open)
        if level == 3:
            content = self.taken()
            if not content:
                raise self.wrong(f"expected text in <{name}>, found none; remove the empty field.")
            self.segments.append(Segment(name, content))
        else:
            self.outside()
        if level == 2:
            if not self.segments:
                raise self.wrong("expected fields in <sequence>, found none; remove the empty sequence.")
            self.references.append(Reference(tuple(self.segments)))
            self.segments = []
        self.open.pop()

    def outside(self) -> None:
        """Keeps the text between fields; raises `MalformedCorpus` for text between sequences."""
        content = self.taken()
        if content and len(self.open) == 2:
            self.segments.append(Segment(None, content))
        elif content:
            raise self.wrong(f"expected a <sequence>, found the text {quoted(content)}; put it into one.")

    def taken(self) -> str:
        content = squeezed("".join(self.text))
        self.text.clear()
        return content

    def wrong(self, problem: str) -> MalformedCorpus:
        return malformed(self.path, self.parser.CurrentLineNumber, problem)
