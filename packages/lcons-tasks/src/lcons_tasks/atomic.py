"""Files and folders that appear whole or not at all, for content too large to hold in memory.

Until it is whole, it has a hidden name beside its place and is locked by the process that writes it. What a
killed process left behind is not locked any more, and the next one to write there removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is removed
    fcntl = None  # type: ignore[assignment]

__all__ = ["replacing", "replacing_folder", "write_text"]

_HIDDEN = ".lcons-"
_LOCK = "lock"
# A process that has just made a hidden file may not have locked it yet.
_YOUNG_SECONDS = 10.0


@contextlib.contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file beside `target` that takes its place when the block ends well, and vanishes when it does not."""
    path = Path(os.path.realpath(target))
    # A rename would turn a device such as /dev/null into a file.
    if path.exists() and not path.is_file():
        raise OSError(None, "a directory or device is there", str(target))
    _remove_abandoned(path.parent)
    temporary = path.parent / f"{_HIDDEN}{os.urandom(8).hex()}-{path.name}"
    try:
        with temporary.open("xb") as file:
            _lock(file)
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
    _remove_abandoned(target.parent)
    beside = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=target.parent))
    made, replaced = beside / "made", beside / "replaced"
    lock = (beside / _LOCK).open("xb")
    try:
        _lock(lock)
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
        lock.close()
        # Never the only copy.
        if target.exists() or not replaced.exists():
            shutil.rmtree(beside, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text as UTF-8, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def _lock(file: BinaryIO) -> None:
    """Locks a file until it is closed or its process ends."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(folder: Path) -> None:
    """Removes what processes that have ended left in a folder; only copies of something stay."""
    if fcntl is None:
        return
    for path in folder.glob(f"{_HIDDEN}*"):
        with contextlib.suppress(OSError):
            lock = path / _LOCK if path.is_dir() else path
            if time.time() - lock.stat().st_mtime < _YOUNG_SECONDS or (path / "replaced").exists():
                continue
            with lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
