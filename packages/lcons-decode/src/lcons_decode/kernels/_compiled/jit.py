"""How kernels are compiled: at the first call, without the interpreter lock, and kept on disk.

numba notices when a function changes but not when one that it calls does, so compiled code is kept in a
folder named after a hash of all kernel sources: old code is never run for new sources.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numba


def cache_folder() -> str:
    """A folder of the user's cache for exactly these sources."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return str(Path(home) / "lcons" / "numba" / digest.hexdigest()[:16])


def kernel(function: Any) -> Any:
    """The compiled function. Scores are never NaN, which lets maxima run on several lanes; sums keep
    their order."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = before or cache_folder()
    try:
        return numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})(function)
    finally:
        config.CACHE_DIR = before
