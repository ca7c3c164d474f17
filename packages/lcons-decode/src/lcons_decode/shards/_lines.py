"""Shards of JSON lines, plain or compressed by gzip: one object per line, some hundreds at a time."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from lcons_core import InvalidInput
from lcons_core.storage import unique_keys
from lcons_decode.batches._batch import Rows
from lcons_decode.shards._work import ShardWork

# A chunk ends when it has so many lines or bytes.
CHUNK_LINES, CHUNK_BYTES = 512, 2**23
# A few bytes may unpack to a line of any length.
LONGEST_LINE = 2**28
# JSON may hold these characters unescaped, but some readers treat them as the end of a line.
_LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})

Share = Callable[[float], None]


def convert_lines(source: Path, name: str, target: BinaryIO, work: ShardWork, share: Share) -> None:
    """Writes the output for all lines of a shard; `share` is called with the share that is done."""
    size = max(1, source.stat().st_size)
    with source.open("rb") as raw, _written(target, name) as out:
        lines = _unpacked(raw, name)
        for rows, places in _chunks(lines, name):
            for row in work.rows(rows, places):
                text = json.dumps(row, ensure_ascii=False).translate(_LINE_ENDS)
                # A JSON string may hold half a surrogate pair, which is written as an escape.
                out.write(text.encode("utf-8", "backslashreplace") + b"\n")
            share(min(1.0, raw.tell() / size))


def _unpacked(raw: BinaryIO, name: str) -> Iterator[bytes]:
    if not name.endswith(".gz"):
        yield from raw
        return
    try:
        with gzip.open(raw) as lines:
            while line := lines.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise InvalidInput(
                        f"{name}: expected lines of at most {LONGEST_LINE:,} bytes, found a longer one; split"
                        " its text."
                    )
                yield line
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{name}: expected JSON lines compressed by gzip, found damage ({error!s:.60}); write it again."
        ) from None


@contextmanager
def _written(target: BinaryIO, name: str) -> Iterator[Any]:
    if not name.endswith(".gz"):
        yield target
        return
    with gzip.GzipFile("", "wb", 6, target, mtime=0) as packed:
        yield packed


def _chunks(lines: Iterator[bytes], name: str) -> Iterator[tuple[Rows, list[str]]]:
    rows: Rows = []
    places: list[str] = []
    size = 0
    for number, line in enumerate(lines, start=1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        place = f"{name}:{number}"
        rows.append(_object(line, place))
        places.append(place)
        size += len(line)
        if len(rows) == CHUNK_LINES or size >= CHUNK_BYTES:
            yield rows, places
            rows, places, size = [], [], 0
    if rows:
        yield rows, places


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{place}: expected a JSON object, found something else ({error!s:.80}); write one object per"
            " line in UTF-8."
        ) from None
    if not isinstance(found, dict):
        raise InvalidInput(
            f"{place}: expected a JSON object, found a {type(found).__name__}; write one object per line."
        )
    return found
