"""The shards of a folder, and the folder of their outputs.

Names that begin with `_` or `.` are not shards: pyarrow, Dask and Spark ignore them, too. So the notes of
finished shards and the manifest do not disturb a reader of the output.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput, LconsError
from lcons_core.storage import replacing

ENDINGS = (".parquet", ".jsonl", ".jsonl.gz")
FINISHED, MANIFEST = "_finished", "_manifest.json"
FORMAT = 1


@dataclass(frozen=True)
class Shard:
    """A shard by its name, which is its path below the folder, with its size in bytes."""

    name: str
    size: int

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file, and not JSON lines."""
        return self.name.endswith(".parquet")


def find_shards(folder: str | os.PathLike[str]) -> tuple[list[Shard], list[str]]:
    """The shards of a folder and its subfolders, the largest first, and the names of other files."""
    top = Path(folder)
    shards, others = [], []
    for here, folders, files in os.walk(top, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        for file in files:
            path = Path(here, file)
            name = path.relative_to(top).as_posix()
            if file.startswith(("_", ".")):
                continue
            if file.endswith(ENDINGS):
                shards.append(Shard(name, path.stat().st_size))
            else:
                others.append(name)
    if not shards:
        found = f"{len(others)} other files" if others else "no file"
        raise InvalidInput(
            f"expected shards ({', '.join(ENDINGS)}) in {str(folder)!r}, found {found}; name a folder of"
            " Parquet files or JSON lines."
        )
    return sorted(shards, key=lambda shard: (-shard.size, shard.name)), sorted(others)


def _refuse(error: OSError) -> None:
    raise LconsError(f"cannot read {error.filename!r}: {error.strerror or error}; name a folder of shards.")


def check_folders(folder: Path, out: Path) -> None:
    """Makes the output folder; raises an error if that fails, or if its files would be shards."""
    source, target = Path(os.path.realpath(folder)), Path(os.path.realpath(out))
    if target == source or source in target.parents:
        raise InvalidInput(
            f"the output folder {str(out)!r} is within the folder of shards {str(folder)!r}; name another"
            " one."
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LconsError(
            f"cannot write into {str(out)!r}: {error.strerror or error}; name another folder."
        ) from None
    if not os.access(target, os.W_OK):
        raise LconsError(f"cannot write into {str(out)!r}: it is not writable; name another folder.")


def note_path(out: Path, name: str) -> Path:
    """The note on a finished shard."""
    return out / FINISHED / f"{name}.json"


def write_json(path: Path, value: Any) -> None:
    """Writes plain data, whole or not at all; equal data is equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n")


def write_manifest(out: Path, settings: Mapping[str, Any], notes: Iterable[Mapping[str, Any]]) -> None:
    """Writes the manifest: settings, counts and checksums of all shards; no times and no machines."""
    shards = sorted(notes, key=lambda note: str(note["shard"]))
    counts: Counter[str] = Counter()
    for note in shards:
        counts.update(note["counts"])
    members = {"format": FORMAT, "settings": dict(settings), "counts": dict(counts), "shards": shards}
    write_json(out / MANIFEST, members)
