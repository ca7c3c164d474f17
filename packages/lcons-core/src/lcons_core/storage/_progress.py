"""Progress of work that runs elsewhere, in files of a shared folder: one file per piece of work.

A worker of this machine or of another one appends one JSON line per message; the process that waits for the
work reads the lines that are complete. Nothing else connects the two, so this works wherever both see the
folder. Progress is never worth a failure: what cannot be written is left out.
"""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core._atomic import hidden_folder


@dataclass(frozen=True)
class ProgressFile:
    """Where one piece of work reports to; it can be pickled. None: nowhere."""

    path: Path | None = None

    def tell(self, *message: Any) -> None:
        """Appends a message of plain data."""
        if self.path is None:
            return
        # A folder that is not there any more has no reader.
        with contextlib.suppress(OSError), self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(message).encode() + b"\n")

    def remove(self) -> None:
        """Removes the messages of a piece of work that has ended, so that few files stay."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)


class ProgressFolder:
    """The messages of all pieces of work."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: defaultdict[str, int] = defaultdict(int)

    def file(self, piece: int) -> ProgressFile:
        """Where a piece of work reports to."""
        return ProgressFile(self._folder / str(piece))

    def pieces(self) -> list[int]:
        """The pieces of work that have messages."""
        try:
            return sorted(int(path.name) for path in self._folder.iterdir() if path.name.isdecimal())
        except OSError:
            return []

    def news(self, piece: int) -> list[list[Any]]:
        """The complete messages of a piece of work since the last call."""
        name = str(piece)
        try:
            with (self._folder / name).open("rb") as file:
                file.seek(self._read[name])
                content = file.read()
        except OSError:
            return []
        lines = content[: content.rfind(b"\n") + 1]
        self._read[name] += len(lines)
        return [json.loads(line) for line in lines.splitlines()]


@contextlib.contextmanager
def progress_folder(parent: Path) -> Iterator[ProgressFolder]:
    """A hidden folder of progress files in a folder that all workers see, for the time of the block.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as shared, progress_folder(Path(shared)) as folder:
    ...     folder.file(0).tell(0.5, "half")
    ...     folder.news(0), folder.news(0), folder.news(1)
    ([[0.5, 'half']], [], [])
    """
    with hidden_folder(parent) as folder:
        yield ProgressFolder(folder)
