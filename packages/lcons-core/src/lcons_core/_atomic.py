"""Files and folders that appear whole or not at all: until then they have a hidden name beside their own."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_HIDDEN = ".lcons-"


@contextlib.contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file beside `target` that takes its place when the block ends well, and vanishes when it does not."""
    path = Path(os.path.realpath(target))
    # A rename would turn a device such as /dev/null into a file.
    if path.exists() and not path.is_file():
        raise OSError(None, "a directory or device is there", str(target))
    # Readers of the file, too, may go by its ending.
    temporary = path.parent / f"{_HIDDEN}{os.urandom(8).hex()}{path.suffix[:16]}"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing_folder(target: Path, first_stays: bool = False) -> Iterator[Path]:
    """A folder beside `target` that takes its place when the block ends well, and vanishes when it does not.

    It is made first, so that a place that cannot be written to is known before the work and not after. Two
    processes may do the same work at the same time: the last to end stays, or, with `first_stays`, the first.
    """
    with hidden_folder(target.parent) as beside:
        new, old = beside / "new", beside / "old"
        new.mkdir()
        yield new
        if target.exists() and not first_stays:
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            if not (first_stays and target.is_dir()):
                raise


@contextlib.contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """A hidden folder in `parent` for the time of the block."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_HIDDEN, dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
