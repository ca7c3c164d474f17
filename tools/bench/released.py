"""Version 0.1.0, beside the one at work: its sources from git, run by the same environment.

A measured time means little on another machine; the ratio to a released version in the same run does.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

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


if __name__ == "__main__":
    print(run_released("-c", "import lcons_core; print(lcons_core.__file__)"), end="")
