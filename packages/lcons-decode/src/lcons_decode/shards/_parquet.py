"""Shards of Parquet, read and written some thousand rows at a time.

The size of a step depends on the file alone, never on the machine: equal input gives equal bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from lcons_core import InvalidInput
from lcons_decode.shards._work import ShardWork

# A step ends at so many rows, or at about so many bytes of input.
STEP_ROWS, STEP_BYTES = 4096, 2**24
# A row group of the output has at least so many rows, or about so many bytes.
GROUP_ROWS, GROUP_BYTES = 2**16, 2**26
# The number of shards whose columns are compared to find what most of them have.
SAMPLE = 9

Columns = tuple[tuple[str, str], ...]
Share = Callable[[float], None]


def convert_parquet(
    source: Path, name: str, target: BinaryIO, work: ShardWork, share: Share, columns: Columns | None
) -> None:
    """Writes the output for all rows of a shard; raises an error if it has not the expected `columns`."""
    with ExitStack() as stack:
        with _damage_is(name):
            file = stack.enter_context(pq.ParquetFile(source, buffer_size=2**20, pre_buffer=False))
            found = _columns(file.schema_arrow)
        _check_columns(found, columns, name)
        _convert(file, name, target, work, share)


@contextmanager
def _damage_is(name: str) -> Iterator[None]:
    """Turns what pyarrow raises while it reads into one sentence."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        # Errors of the disk and of memory are not of the file.
        if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
            raise
        raise InvalidInput(
            f"{name}: expected a Parquet file, found damage ({_first_line(error)}); write it again."
        ) from None


def _convert(file: Any, name: str, target: BinaryIO, work: ShardWork, share: Share) -> None:
    total = max(1, file.metadata.num_rows)
    writer, done, tables, held = None, 0, [], 0
    try:
        for batch in _batches(file, name):
            table = pa.Table.from_batches([batch.replace_schema_metadata(file.schema_arrow.metadata)])
            tables.append(work.table(table))
            done += table.num_rows
            held += tables[-1].nbytes
            writer = writer or pq.ParquetWriter(target, tables[-1].schema, compression="snappy")
            if sum(one.num_rows for one in tables) >= GROUP_ROWS or held >= GROUP_BYTES:
                writer.write_table(pa.concat_tables(tables))
                tables, held = [], 0
            share(done / total)
        if tables and writer is not None:
            writer.write_table(pa.concat_tables(tables))
    finally:
        if writer is not None:
            writer.close()


def _batches(file: Any, name: str) -> Iterator[Any]:
    """The rows, some at a time; without rows, one batch of none: its columns are those of the answer."""
    with _damage_is(name):
        meta = file.metadata
        size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        step = max(1, min(STEP_ROWS, STEP_BYTES * meta.num_rows // max(1, size)))
        empty = [pa.RecordBatch.from_pylist([], schema=file.schema_arrow)]
        steps = iter(file.iter_batches(batch_size=step, use_threads=False) if meta.num_rows else empty)
    while True:
        with _damage_is(name):
            batch = next(steps, None)
        if batch is None:
            return
        yield batch


def usual_columns(paths: Iterable[Path]) -> Columns | None:
    """The columns that most of the first shards have; None if none of them can be read."""
    found: Counter[Columns] = Counter()
    for path, _ in zip(paths, range(SAMPLE), strict=False):
        try:
            found[_columns(pq.read_schema(path))] += 1
        except (pa.ArrowException, UnicodeDecodeError, OSError):
            continue
    return found.most_common(1)[0][0] if found else None


def _columns(schema: Any) -> Columns:
    return tuple((field.name, str(field.type)) for field in schema)


def _check_columns(found: Columns, expected: Columns | None, name: str) -> None:
    if expected is None or found == expected:
        return
    missing = [_shown(one) for one in expected if one not in found]
    more = [_shown(one) for one in found if one not in expected]
    parts = [f"{', '.join(missing)} missing" if missing else "", f"{', '.join(more)} more" if more else ""]
    raise InvalidInput(
        f"{name}: expected the columns of the other shards, found others"
        f" ({'; '.join(part for part in parts if part) or 'another order'}); write the same columns in each"
        " shard."
    )


def _shown(column: tuple[str, str]) -> str:
    return f"{column[0]!r} ({column[1]})"


def _first_line(error: Exception) -> str:
    return f"{str(error).splitlines()[0] if str(error) else type(error).__name__:.80}"
