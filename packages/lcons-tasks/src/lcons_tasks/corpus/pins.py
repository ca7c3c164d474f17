"""Checksums of first downloads, for addresses that publish none: a later download must be the same.

They are in `pins.json` in the cache: {address: sha256}.
"""

from __future__ import annotations

import json
from pathlib import Path

from lcons_tasks.atomic import replacing
from lcons_tasks.corpus.errors import FetchFailed

PINS = "pins.json"


def read_pins(folder: Path) -> dict[str, str]:
    """The pinned sha256 by address."""
    path = folder / PINS
    try:
        pins = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        pins = None
    if not isinstance(pins, dict) or not all(isinstance(value, str) for value in pins.values()):
        raise FetchFailed(
            f"expected checksums by address in {str(path)!r}, found something else; delete the file to pin"
            " downloads anew."
        )
    return pins


def pin(folder: Path, address: str, sha256: str) -> None:
    """Keeps the checksum of a first download."""
    pins = {**read_pins(folder), address: sha256}
    with replacing(folder / PINS) as file:
        file.write(json.dumps(pins, indent=2, sort_keys=True).encode("utf-8") + b"\n")
