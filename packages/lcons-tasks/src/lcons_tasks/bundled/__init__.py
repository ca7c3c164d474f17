"""The mini corpora that come with the package: one folder per task, each with a data card; CC0."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def bundled(task: str, name: str) -> Path:
    """The path of a file of a task's mini corpus."""
    return FOLDER / task / name
