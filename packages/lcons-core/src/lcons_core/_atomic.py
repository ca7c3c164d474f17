"""Files and folders that appear whole or not at all, for content too large to hold in memory.

Until it is whole, it has a hidden name beside its place and is locked by the process that writes it. What a
killed process left behind is not locked any more: the next one to write there removes it, and puts a folder
that was about to be replaced back into its place.

A folder may be shared by several machines, and locks may not reach from one to another. So the hidden name
also names the machine, and a machine removes only what its own processes left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is removed
    fcntl = None  # type: ignore[assignment]

_HIDDEN = ".lcons-"
# In the hidden folder: the lock, the new folder, and the folder that holds the old one under its own name.
_LOCK, _MADE, _BEFORE = "lock", "made", "before"
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
    # Readers of the file, too, may go by its ending.
    temporary = path.parent / f"{_own_prefix()}{os.urandom(8).hex()}{path.suffix[:16]}"
    try:
        with temporary.open("xb") as file:
            _lock(file)
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
        made, before = beside / _MADE, beside / _BEFORE
        made.mkdir()
        yield made
        if target.exists() and not first_stays:
            before.mkdir()
            target.rename(before / target.name)
        try:
            made.rename(target)
        except OSError:
            if not (first_stays and target.is_dir()):
                raise


@contextlib.contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """A hidden folder in `parent` for the time of the block; if its process is killed, the next one to write
    there removes it."""
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=_own_prefix(), dir=parent))
    try:
        with (folder / _LOCK).open("xb") as lock:
            _lock(lock)
            yield folder
    finally:
        _remove(folder)


@cache
def _own_prefix() -> str:
    """How the hidden names of this machine begin."""
    return f"{_HIDDEN}{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"


def _lock(file: BinaryIO) -> None:
    """Locks a file until it is closed or its process ends."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(folder: Path) -> None:
    """Removes what processes that have ended left in a folder; only copies of something stay."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        with os.scandir(folder) as entries:
            hidden = [entry.path for entry in entries if _is_own(entry.name)]
        for path in hidden:
            with contextlib.suppress(OSError):
                _remove_if_abandoned(Path(path))


def _is_own(name: str) -> bool:
    """Whether this machine made a hidden name."""
    return name.startswith(_own_prefix())


def _remove_if_abandoned(path: Path) -> None:
    lock = path / _LOCK if path.is_dir() else path
    if not lock.exists():
        # Its process ended before it made the lock, or after it removed it.
        if time.time() - path.stat().st_mtime >= _YOUNG_SECONDS:
            _remove(path)
        return
    if time.time() - lock.stat().st_mtime < _YOUNG_SECONDS:
        return
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(path)


def _remove(path: Path) -> None:
    """Removes what is hidden; if it holds the only copy of a folder, puts that back into its place first."""
    with contextlib.suppress(OSError):
        if not path.is_dir():
            path.unlink()
            return
        if (path / _BEFORE).exists():
            for old in (path / _BEFORE).iterdir():
                if not (path.parent / old.name).exists():
                    old.rename(path.parent / old.name)
        shutil.rmtree(path, ignore_errors=True)
