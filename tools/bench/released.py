"""Version 0.1.0, beside the one at work: its sources from git, run by the same environment.

A measured time means little on another machine; the ratio to a released version in the same run does.
"""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "5703a250e16b72084e6e147be0a29729cac9d41b"  # the last one before the changes that follow 0.1.0
SOURCES = [f"packages/{name}/src" for name in ("lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli")]


def environment() -> dict[str, str]:
    """Variables under which the Python of this environment imports 0.1.0; sources are unpacked once."""
    folder = ROOT / "dist" / "released" / COMMIT[:12]
    if not folder.is_dir():
        archive = subprocess.run(
            ["git", "archive", COMMIT, *SOURCES], cwd=ROOT, check=True, capture_output=True
        ).stdout
        part = folder.with_suffix(".part")
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            members.extractall(part, filter="data")
        part.rename(folder)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder / source) for source in SOURCES)}


def run_released(*arguments: str) -> str:
    """The stdout of this Python with these arguments, under 0.1.0."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment(), check=True, capture_output=True, text=True).stdout


LCONS = (sys.executable, "-c", "from lcons_cli.main import main; main()")


class Run(NamedTuple):
    """What a command took: seconds, CPU seconds of all its processes together, and MB at its peak."""

    seconds: float
    cpu: float
    memory: float


def run_lcons(arguments: Sequence[str], released: bool = False, also: Mapping[str, str] | None = None) -> Run:
    """The command, of the version at work or of 0.1.0, in an environment that has `also` some variables."""
    variables = {**(environment() if released else os.environ), **(also or {})}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed version has its bytecode
    start = time.perf_counter()
    process = subprocess.Popen(
        [*LCONS, *arguments], env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"lcons {' '.join(map(str, arguments))} ended with {process.returncode}")
    seconds = time.perf_counter() - start
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**10)


def compare(run: Callable[[bool], Run], repeats: int) -> tuple[Run, Run]:
    """The medians of 0.1.0 and of the version at work, which run in turn; `run` is called with whether the
    version is 0.1.0."""
    pairs = [(run(True), run(False)) for _ in range(repeats)]
    old, new = (Run(*map(statistics.median, zip(*side, strict=True))) for side in zip(*pairs, strict=True))
    return old, new


if __name__ == "__main__":
    print(run_released("-c", "import lcons_core; print(lcons_core.__file__)"), end="")
