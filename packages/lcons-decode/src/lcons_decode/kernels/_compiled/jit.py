"""How kernels are compiled: at the first call, without the interpreter lock, and kept on disk.

numba notices when a function changes but not when one that it calls does, so compiled code is kept in a
folder named after a hash of all kernel sources: old code is never run for new sources. That folder is in the
user's cache for lcons, which `LCONS_CACHE_DIR` moves, or where `NUMBA_CACHE_DIR` says.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numba

SOURCES = Path(__file__).parent.parent


def cache_folder() -> Path:
    """The user's cache for lcons, by the rule of all its packages; it need not exist yet."""
    named = os.environ.get("LCONS_CACHE_DIR")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("lcons", appauthor=False))


def kernel_folder() -> Path:
    """The folder of code that is compiled from exactly these sources."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    config: Any = numba.config
    home = Path(config.CACHE_DIR) if config.CACHE_DIR else cache_folder() / "numba"
    return home / digest.hexdigest()[:16]


FOLDER = str(kernel_folder())


def kernel(function: Any) -> Any:
    """The compiled function. Scores are never NaN, which lets maxima run on several lanes; sums keep
    their order."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = FOLDER
    try:
        return numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})(function)
    finally:
        config.CACHE_DIR = before
