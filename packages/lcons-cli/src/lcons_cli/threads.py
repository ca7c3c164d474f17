"""One thread for the products of numpy, in commands whose matrices are small.

OpenBLAS starts one thread per core, and threads that wait for the next product spin. With products of a
millisecond each, this costs more time than the threads save.
"""

from __future__ import annotations

import os
import sys

THREADS = "OPENBLAS_NUM_THREADS"


def use_one_thread() -> None:
    """Lets numpy start with one thread, unless the environment names a number; call it before the first
    import of numpy, because later the number is fixed."""
    if "numpy" not in sys.modules:
        os.environ.setdefault(THREADS, "1")
