"""Input that is read as it arrives: from a file, or from a program that sends a line and waits for an answer;
and output that is written completely or is an error.

A chunk of lines ends if the next line has not arrived yet (`waits`), and its answers are written then.
"""

from __future__ import annotations

import codecs
import io
import select
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TextIO

Waits = Callable[[], bool]

_BUFFER = 2**16


def never() -> bool:
    """False: a source that never waits."""
    return False


def waits_of(source: object) -> Waits:
    """The function that returns whether the next line of a source has not arrived yet; `never` if the source
    has no such function."""
    found: Waits = getattr(source, "waits", never)
    return found


class _Counted(io.FileIO):
    """A file that counts the bytes that are read from it."""

    given = 0

    def readinto(self, buffer: Any, /) -> int | None:
        size = super().readinto(buffer)
        self.given += size or 0
        return size


class Arriving(io.BufferedReader):
    """The bytes of a descriptor, and whether their next line has not arrived yet."""

    def __init__(self, descriptor: int) -> None:
        self._counted = _Counted(descriptor, closefd=False)
        self._taken = 0
        super().__init__(self._counted, _BUFFER)

    def __next__(self) -> bytes:
        line = super().__next__()
        self._taken += len(line)
        return line

    def read1(self, size: int = -1, /) -> bytes:
        found = super().read1(size)
        self._taken += len(found)
        return found

    def waits(self) -> bool:
        """Whether reading the next line would block."""
        # `peek` blocks, too, if the buffer is empty.
        if self._counted.given > self._taken and b"\n" in self.peek():
            return False
        try:
            return not select.select([self.fileno()], [], [], 0)[0]
        except (OSError, ValueError):
            return False


def arriving(stream: BinaryIO) -> BinaryIO:
    """Standard input, which has not been read yet, as `Arriving`; unchanged if it has no descriptor."""
    try:
        return Arriving(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return stream


def complete_output(stream: TextIO) -> TextIO:
    """Standard output whose writes are complete or raise an error.

    With PYTHONUNBUFFERED, text goes to the descriptor in single writes, and the rest of a short write, as on
    a disk that is nearly full, is lost without an error. A buffered writer writes the rest or raises.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.FileIO):
        return stream
    buffer = io.BufferedWriter(io.FileIO(raw.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(buffer, stream.encoding, stream.errors, newline="", line_buffering=True)


class Text:
    """Bytes as text: without a byte order mark; bytes that are not UTF-8 are kept; a newline ends a line.

    >>> list(Text(io.BytesIO(b"\\xef\\xbb\\xbfone\\ntwo")))
    ['one\\n', 'two']
    """

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self.waits = waits_of(source)

    def __iter__(self) -> Iterator[str]:
        for line in self._source:
            # Only the last line may lack a newline; it may even end in the middle of a character.
            text = self._decoder.decode(line, not line.endswith(b"\n"))
            if text:
                yield text

    def read(self, size: int, /) -> str:
        """The text that has arrived, at most about `size` characters; "" at the end."""
        while data := self._source.read1(size):  # type: ignore[attr-defined]
            text = self._decoder.decode(data)
            if text:
                return text
        return self._decoder.decode(b"", True)
