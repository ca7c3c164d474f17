"""Compilation of kernels: at the first call, without the interpreter lock, cached on disk.

numba notices if a function changes, but not if a function that it calls changes. Therefore compiled code is
cached in a folder named after a hash of all kernel sources: old code is never run for new sources. The folder
is in `NUMBA_CACHE_DIR`, if that is set, or else in the user's cache for lcons (`LCONS_CACHE_DIR` moves it).

A cache only saves time: on a full disk, or if its files are damaged, kernels are compiled again. Its files
are pickles, which can run any code when they are read. Therefore the folder is made for the user alone, and
is not used if somebody else owns it or can write to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

SOURCES = Path(__file__).parent.parent


def cache_folder() -> Path:
    """The user's cache for lcons, the same for all its packages; the folder may not exist yet."""
    named = os.environ.get("LCONS_CACHE_DIR")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("lcons", appauthor=False))


def kernel_folder() -> Path:
    """The folder of the code compiled from exactly these sources."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    config: Any = numba.config
    home = Path(config.CACHE_DIR) if config.CACHE_DIR else cache_folder() / "numba"
    return home / digest.hexdigest()[:16]


def is_private(folder: Path) -> bool:
    """Whether the folder exists, or can be made, and nobody but the user can write to it or replace it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status, parent = folder.stat(), folder.parent.stat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    mine = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    open_to_all = parent.st_mode & stat.S_IWOTH and not parent.st_mode & stat.S_ISVTX
    return bool(mine and parent.st_uid in (os.getuid(), 0) and not open_to_all)


FOLDER = str(kernel_folder())


class _Cache(FunctionCache):
    """numba's cache, without its errors."""

    def load_overload(self, *arguments: Any) -> Any:
        with contextlib.suppress(Exception):  # whatever damaged pickles raise
            return super().load_overload(*arguments)

    def save_overload(self, *arguments: Any) -> None:
        with contextlib.suppress(OSError):
            try:
                super().save_overload(*arguments)
            except Exception:  # its index is damaged: without it, the next process saves
                self.flush()


def kernel(function: Any) -> Any:
    """The compiled function. It may assume that scores are never NaN, so that maxima use SIMD; the order of
    sums does not change."""
    compiled: Any = numba.njit(nogil=True, fastmath={"nnan", "nsz"})(function)
    if not is_private(Path(FOLDER)):
        return compiled
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = FOLDER
    try:
        # RuntimeError: numba finds no place for files.
        with contextlib.suppress(OSError, RuntimeError):
            compiled._cache = _Cache(function)
    finally:
        config.CACHE_DIR = before
    return compiled


def inlined(function: Any) -> Any:
    """A small compiled function that is copied into its callers, because a call would count the references
    to each of its arrays; the callers are cached."""
    return numba.njit(nogil=True, fastmath={"nnan", "nsz"}, forceinline=True)(function)


def _lowest(context: Any, bits: Any) -> Any:
    """The place of the lowest 1 of an unsigned number that is not 0, as one instruction."""

    def generate(_: Any, builder: Any, __: Any, operands: Any) -> Any:
        return builder.cttz(operands[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


lowest: Any = intrinsic(_lowest)
