"""`import lcons_core` takes at most 1.5 times as long as `import numpy`.

Each import is timed inside a fresh interpreter, so that the interpreter's own start does not hide it; the two
take turns, and medians are compared. Run: .venv/bin/python tools/bench/imports.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from timing import report

REPEATS = 15
MOST = 1.5
PROGRAM = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def import_seconds(module: str) -> float:
    """The time that one import takes in a fresh interpreter."""
    command = [sys.executable, "-c", PROGRAM.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    for module in ("numpy", "lcons_core"):
        import_seconds(module)  # compiles byte code and fills the file cache
    turns = [(import_seconds("numpy"), import_seconds("lcons_core")) for _ in range(REPEATS)]
    numpy, lcons_core = (statistics.median(times) for times in zip(*turns, strict=True))
    print(f"numpy {numpy * 1e3:.0f} ms, lcons_core {lcons_core * 1e3:.0f} ms (medians of {REPEATS})")
    return int(not report("import lcons_core / import numpy", lcons_core / numpy, at_most=MOST))


if __name__ == "__main__":
    sys.exit(main())
