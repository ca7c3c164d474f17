"""Input that is read as it comes: from a file, or from somebody who writes a line and waits for the answer.

What is decoded together is cut where the next line is not there yet (`waits`), and answers go out then.
"""

from __future__ import annotations

import codecs
import io
import select
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

Waits = Callable[[], bool]

_BUFFER = 2**16


def never() -> bool:
    """There is always more, or nothing to wait for."""
    return False


def waits_of(source: object) -> Waits:
    """Whether the next line of a source has yet to come; never, where that cannot be told."""
    found: Waits = getattr(source, "waits", never)
    return found


class _Counted(io.FileIO):
    """A file that counts the bytes it gives."""

    given = 0

    def readinto(self, buffer: Any, /) -> int | None:
        size = super().readinto(buffer)
        self.given += size or 0
        return size


class Arriving(io.BufferedReader):
    """The bytes of a descriptor, and whether the next line of them has yet to come."""

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
        """Whether reading the next line would have to wait for it."""
        # Where nothing is left in the buffer, to look into it would wait, too.
        if self._counted.given > self._taken and b"\n" in self.peek():
            return False
        try:
            return not select.select([self.fileno()], [], [], 0)[0]
        except (OSError, ValueError):
            return False


def arriving(stream: BinaryIO) -> BinaryIO:
    """Standard input, which has not been read yet, as `Arriving`; as it is, where it has no descriptor."""
    try:
        return Arriving(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return stream


class Text:
    """Bytes as text: without a byte order mark, with what is not UTF-8 kept; a newline ends a line.

    >>> list(Text(io.BytesIO(b"\\xef\\xbb\\xbfone\\ntwo")))
    ['one\\n', 'two']
    """

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self.waits = waits_of(source)

    def __iter__(self) -> Iterator[str]:
        for line in self._source:
            # Only the last line may end otherwise, perhaps in the middle of a character.
            text = self._decoder.decode(line, not line.endswith(b"\n"))
            if text:
                yield text

    def read(self, size: int, /) -> str:
        """Some of the text, about so many characters at most, without waiting for more; "" at the end."""
        while data := self._source.read1(size):  # type: ignore[attr-defined]
            text = self._decoder.decode(data)
            if text:
                return text
        return self._decoder.decode(b"", True)
