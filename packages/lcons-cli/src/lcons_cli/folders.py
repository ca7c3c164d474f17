"""Folders of Parquet files or JSON lines, for `lcons decode` and `lcons tag`.

    in/a.parquet, in/b.parquet -> a function of batches -> out/a.parquet, out/b.parquet

| engine | reads and writes | cluster |
|---|---|---|
| local | joblib, one file at a time; a file that is finished is not done again | `--jobs` processes |
| ray | Ray Data, all files or none | as Ray is set up: `RAY_ADDRESS`, else this machine |
| dask | Dask's frames and bags, all files or none | `DASK_SCHEDULER_ADDRESS`, else this machine |
"""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from lcons_cli.console import say
from lcons_cli.progress import progress
from lcons_core import InvalidInput, LconsError, MissingExtra
from lcons_core._files import hidden_folder, replacing

Work = Callable[[dict[str, Any]], dict[str, Any]]
KINDS = {".parquet": "parquet", ".jsonl": "json"}
# Rows of a batch.
ROWS = 4096


@contextmanager
def locked(folder: Path, record: str, names: Iterable[str]) -> Iterator[None]:
    """The folder for one run alone. Raises `LconsError` if another run writes into it, or if it has files of
    these names that are not of a run, which would be beside its `record`."""
    folder.mkdir(parents=True, exist_ok=True)
    there = [name for name in names if (folder / name).exists()]
    if there and not (folder / record).exists():
        raise InvalidInput(f"{str(folder)!r} has a file {there[0]!r} that is not of a run: name another.")
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A run that ended may have unlinked the file after it was opened here: then it locks nothing.
            if not os.path.samestat(os.fstat(lock.fileno()), (folder / ".lock").stat()):
                raise BlockingIOError
        except OSError:
            raise LconsError(f"another run writes into {str(folder)!r}: name another folder.") from None
        try:
            yield
        finally:
            (folder / ".lock").unlink(missing_ok=True)
            with suppress(OSError):  # it holds results
                folder.rmdir()


def run_folder(work: Work, folder: str, out: str | None, engine: str, jobs: int | None) -> None:
    """Writes the answers of `work` for all files of a folder into another folder, which is locked."""
    files = sorted(path for path in Path(folder).resolve().iterdir() if path.suffix in KINDS)
    target = Path(out or folder).resolve()
    if len({path.suffix for path in files}) != 1 or files[0].parent in (target, *target.parents):
        raise InvalidInput("a folder needs files of one kind (.parquet, .jsonl) and another one, `-o OUT`.")
    # Plain data pickles to the same bytes in each run.
    record, settings = target / "_settings", sha256(pickle.dumps((engine, work))).hexdigest()
    with locked(target, record.name, [path.name for path in files]):
        present = [path.name for path in target.iterdir() if path.suffix in KINDS]
        if present and not (record.exists() and record.read_text() == settings):
            raise InvalidInput(
                f"{out!r} has files of another run, such as {present[0]}; name another folder."
            )
        try:
            if engine == "local":
                record.write_text(settings)
                _local(work, files, target, jobs)
            elif not present:
                with hidden_folder(target) as unfinished:
                    (_ray if engine == "ray" else _dask)(work, files[0], unfinished / "files")
                    for path in (unfinished / "files").iterdir():
                        path.replace(target / f"{path.stem}{files[0].suffix}")
                record.write_text(settings)  # last, as nothing says which files would be missing
        except ModuleNotFoundError as error:
            raise MissingExtra(f"{error}; run `pip install lcons-cli[parquet,ray,dask]`.") from None
    say(f"files: {len(files):,} done, into {out}")


def _local(work: Work, files: Sequence[Path], target: Path, jobs: int | None) -> None:
    left = [file for file in files if not (target / file.name).exists()]
    calls = (delayed(_convert)(work, file, target / file.name) for file in left)
    with progress("files done") as report:
        try:
            answers = Parallel(jobs or -1, batch_size=1, return_as="generator_unordered")(calls)
            for done, _ in enumerate(answers, start=1 + len(files) - len(left)):
                report(done, len(files))
        except BrokenExecutor:
            raise LconsError("a process ended early; run the same again, which does the rest.") from None


def _convert(work: Work, source: Path, target: Path) -> None:
    """Writes one file, whole or not at all."""
    try:
        with source.open("rb") as data, replacing(target) as file:
            if source.suffix == ".jsonl":
                while lines := list(islice(data, ROWS)):
                    file.writelines(f"{line}\n".encode() for line in _on_lines(work, lines))
            else:
                from pyarrow import concat_tables, parquet

                rows = parquet.ParquetFile(data)
                batches = chain(rows.iter_batches(ROWS), [rows.schema_arrow.empty_table()])
                tables = [_on_table(work, batch) for batch in batches]
                parquet.write_table(concat_tables(tables, promote_options="default"), file)
    except (ValueError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise LconsError(f"{source.name}: {error}") from None


def _ray(work: Work, first: Path, out: Path) -> None:
    import ray.data

    read, write = (f"{verb}_{KINDS[first.suffix]}" for verb in ("read", "write"))
    rows = getattr(ray.data, read)(str(first.parent), file_extensions=[first.suffix[1:]])
    answers = rows.map_batches(partial(_on_table, work), batch_format="pyarrow", batch_size=ROWS)
    getattr(answers, write)(str(out))


def _dask(work: Work, first: Path, out: Path) -> None:
    import dask.bag
    import dask.dataframe
    from distributed import Client, progress

    files = f"{first.parent}/*{first.suffix}"
    with Client() as client, redirect_stdout(sys.stderr):
        if first.suffix == ".jsonl":
            lines = dask.bag.read_text(files).map_partitions(partial(_on_lines, work))
            tasks = lines.to_textfiles(f"{out}/*.jsonl", compute=False)
        else:
            dask.config.set({"dataframe.convert-string": False})  # else cells that are lists become text
            frame = dask.dataframe.read_parquet(files)
            answers = frame.map_partitions(partial(_on_frame, work), meta=_on_frame(work, frame._meta))
            tasks = answers.to_parquet(str(out), write_index=False, schema=None, compute=False)
        futures = client.compute(tasks, retries=3)
        progress(futures)
        client.gather(futures)


def _on_lines(work: Work, lines: Iterable[str | bytes]) -> list[str]:
    rows = [json.loads(line) for line in lines]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = work({name: [row.get(name) for row in rows] for name in names})
    cells = zip(*columns.values(), strict=True)
    return [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in cells]


def _on_table(work: Work, table: Any) -> Any:
    import pyarrow as pa

    return pa.table(work(dict(zip(table.schema.names, table.columns, strict=True))))


def _on_frame(work: Work, frame: Any) -> Any:
    return type(frame)(work(frame.to_dict("list"))).astype(object)
