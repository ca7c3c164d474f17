"""Compilation of kernels: at the first call, without the interpreter lock, cached on disk.

numba notices if a function changes, but not if a function that it calls changes. Therefore compiled code is
cached in a folder named after a hash of all kernel sources: old code is never run for new sources. The folder
is in `NUMBA_CACHE_DIR`, if that is set, or else in the user's cache for lcons (`LCONS_CACHE_DIR` moves it).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numba

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


FOLDER = str(kernel_folder())


def kernel(function: Any) -> Any:
    """The compiled function. It may assume that scores are never NaN, so that maxima use SIMD; the order of
    sums does not change."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = FOLDER
    try:
        return numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})(function)
    finally:
        config.CACHE_DIR = before
