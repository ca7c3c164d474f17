"""`lcons --help` takes at most twice as long as `python -c "import click"`.

Whole processes are timed, interpreter and byte code from the cache included; the two take turns, and medians
are compared. Run: .venv/bin/python tools/bench/start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from timing import median_seconds, report

REPEATS = 31
MOST = 2.0
LCONS = Path(sys.executable).with_name("lcons")
# Both may keep their byte code, as they do for users.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(*command: object) -> None:
    """Runs a command to its end, and keeps what it says to itself."""
    subprocess.run([*map(str, command)], env=ENVIRONMENT, check=True, capture_output=True)


def main() -> int:
    def click() -> None:
        run(sys.executable, "-c", "import click")

    def lcons() -> None:
        run(LCONS, "--help")

    median_seconds(click, lcons, repeats=1)  # compiles byte code and fills the file cache
    alone, help_ = median_seconds(click, lcons, repeats=REPEATS)
    print(f"import click {alone * 1e3:.0f} ms, lcons --help {help_ * 1e3:.0f} ms (medians of {REPEATS})")
    return int(not report('lcons --help / python -c "import click"', help_ / alone, at_most=MOST))


if __name__ == "__main__":
    sys.exit(main())
