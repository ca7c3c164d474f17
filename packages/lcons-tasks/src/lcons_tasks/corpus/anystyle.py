"""AnyStyle's XML: a `<dataset>` of `<sequence>`s, one a reference, each a list of fields.

Document types are refused before anything in them is expanded, so that no entity can blow up or name a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from lcons_tasks.corpus.errors import MalformedCorpus
from lcons_tasks.corpus.lines import malformed, quoted, unreadable
from lcons_tasks.corpus.reference import Reference, Segment, squeezed

_LEVELS = ("a <dataset>", "a <sequence>", "a field")


def read_anystyle(path: str | os.PathLike[str]) -> Iterator[Reference]:
    """The references of a file, which is read as a whole first."""
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
    """The state of one parse: the open elements and what was read of the current sequence."""

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
        """Keeps text between fields; there is none between sequences."""
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
