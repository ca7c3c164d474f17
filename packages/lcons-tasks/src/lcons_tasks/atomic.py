"""Texts that appear whole or not at all, by `lcons_core.storage`."""

from __future__ import annotations

from pathlib import Path

from lcons_core._files import replacing, replacing_folder

__all__ = ["replacing", "replacing_folder", "write_text"]


def write_text(path: Path, text: str) -> None:
    """Writes a text as UTF-8, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
