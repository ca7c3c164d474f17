"""Files and folders that appear whole or not at all, for content too large to hold in memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing", "replacing_folder", "write_text"]


@contextlib.contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file beside `target` that takes its place when the block ends well, and vanishes when it does not."""
    path = Path(os.path.realpath(target))
    # A rename would turn a device such as /dev/null into a file.
    if path.exists() and not path.is_file():
        raise OSError(None, "a directory or device is there", str(target))
    temporary = path.parent / f".lcons-{os.urandom(8).hex()}-{path.name}"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_folder(target: Path, first_stays: bool = False) -> Iterator[Path]:
    """A folder beside `target` that takes its place when the block ends well, and vanishes when it does not.

    It is made first, so that a place that cannot be written to is known before the work and not after. Two
    processes may do the same work at the same time: the last to end stays, or, with `first_stays`, the first.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".lcons-", dir=target.parent))
    made, replaced = beside / "made", beside / "replaced"
    try:
        made.mkdir()
        yield made
        if target.exists() and not first_stays:
            target.rename(replaced)
        try:
            made.rename(target)
        except OSError:
            if not (first_stays and target.is_dir()):
                raise
    except BaseException:
        if replaced.exists() and not target.exists():
            replaced.rename(target)
        raise
    finally:
        # Never the only copy.
        if target.exists() or not replaced.exists():
            shutil.rmtree(beside, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text as UTF-8, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
