"""One shard, from disk to disk: skipped if it is finished, else done; whole or not at all.

A shard is finished if its note has the sha256 of the settings, of the input as it is now, and of the output
as it is now. Problems are values: the other shards go on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lcons_core import LconsError
from lcons_core.storage import ProgressFile, replacing
from lcons_decode.shards._folder import Shard, note_path, write_json
from lcons_decode.shards._lines import convert_lines
from lcons_decode.shards._work import Work

# Progress is written at most once in so many seconds.
_TELL_SECONDS = 1.0


@dataclass(frozen=True)
class Finished:
    """A finished shard and its note; `before`: an earlier run had finished it."""

    shard: str
    note: Mapping[str, Any]
    before: bool


@dataclass(frozen=True)
class Failed:
    """A shard without output, and why: one sentence, or for a bug its traceback as well."""

    shard: str
    why: str
    traceback: str = ""


@dataclass(frozen=True)
class ShardTask:
    """All that a worker needs to do any shard of a run; `columns` are those that Parquet shards have."""

    work: Work
    settings: str
    folder: Path
    out: Path
    columns: Any = None

    def __call__(self, piece: tuple[Shard, ProgressFile]) -> Finished | Failed:
        """The outcome of a shard."""
        shard, progress = piece
        name = shard.name
        try:
            return self._done(shard, progress)
        except LconsError as error:
            why = str(error) if name in str(error) else f"{name}: {error}"
            return Failed(name, why)
        except MemoryError:
            return Failed(
                name, f"{name}: there is not enough memory for it; use fewer jobs or smaller shards."
            )
        except OSError as error:
            return Failed(name, _of_disk(name, error))
        except Exception as error:
            why = f"{name}: this is a bug in lcons, not a mistake in your input ({type(error).__name__})."
            return Failed(name, why, traceback.format_exc())
        finally:
            progress.remove()

    def _done(self, shard: Shard, progress: ProgressFile) -> Finished:
        source, target = self.folder / shard.name, self.out / shard.name
        note = note_path(self.out, shard.name)
        given = _digest(source)
        kept = _read_note(note)
        if kept is not None:
            if _is_finished(kept, shard.name, self.settings, given, target):
                return Finished(shard.name, kept, before=True)
            # Of other settings or other input, or altered since.
            note.unlink(missing_ok=True)
            target.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        work = self.work.begin(shard.name)
        share = _shares(progress, work.counts)
        with replacing(target) as file:
            out = _Hashed(file)
            if shard.is_parquet:
                from lcons_decode.shards._parquet import convert_parquet

                convert_parquet(source, shard.name, out, work, share, self.columns)  # type: ignore[arg-type]
            else:
                convert_lines(source, shard.name, out, work, share)  # type: ignore[arg-type]
        found = {
            "shard": shard.name,
            "settings": self.settings,
            "input": given,
            "output": {"bytes": out.size, "sha256": out.hash.hexdigest()},
            "counts": dict(work.counts),
        }
        write_json(note, found)
        return Finished(shard.name, found, before=False)


def _shares(progress: ProgressFile, counts: Mapping[str, int]) -> Callable[[float], None]:
    last = 0.0

    def share(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _TELL_SECONDS:
            last = now
            progress.tell(done, counts.get("tokens", 0))

    return share


class _Hashed:
    """A file whose bytes are counted and hashed as they are written."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.hash, self.size = hashlib.sha256(), 0

    def write(self, data: Any) -> int:
        content = memoryview(data).cast("B")
        self._file.write(content)
        self.hash.update(content)
        self.size += len(content)
        return len(content)

    def flush(self) -> None:
        self._file.flush()

    def tell(self) -> int:
        return self.size

    def close(self) -> None:
        """The file is closed where it was opened."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def _digest(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": found}


def _read_note(path: Path) -> dict[str, Any] | None:
    """The note; empty if it is damaged, None if there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_finished(
    note: Mapping[str, Any], shard: str, settings: str, given: Mapping[str, Any], target: Path
) -> bool:
    if note.get("settings") != settings or note.get("input") != given:
        return False
    counts = note.get("counts")
    if not isinstance(counts, dict) or not all(type(count) is int for count in counts.values()):
        return False
    if note.get("shard") != shard:
        return False
    with contextlib.suppress(OSError):
        return bool(note.get("output") == _digest(target))
    return False


def _of_disk(name: str, error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{name}: cannot read or write it: {reason}; make room or correct that, and run the same again."
