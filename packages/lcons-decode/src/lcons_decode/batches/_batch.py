"""Batches of four types, read by column and written back as the same type.

| type | of | a cell of several values is |
|---|---|---|
| dict of columns | Ray Data, `datasets.map(batched=True)` | a list or an array |
| pyarrow table or record batch | Ray Data with `batch_format="pyarrow"`, Parquet | a list value |
| pandas frame | Dask, Spark `mapInPandas` | a list or an array |
| list or iterator of records | Dask bags | a list |

Spark passes an iterator of frames and expects one: an iterator of batches is answered by a generator.
pyarrow and pandas are imported only for batches of their own types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from lcons_core import InvalidInput

Rows = list[dict[str, Any]]


def is_arrow(value: Any) -> bool:
    """Whether a value is a pyarrow table or record batch."""
    return _library(value) == "pyarrow" and hasattr(value, "schema")


def is_frame(value: Any) -> bool:
    """Whether a value is a pandas frame."""
    return _library(value) == "pandas" and hasattr(value, "columns")


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


class BatchFunction:
    """A picklable function of batches, by what it does to rows; `answers` are the new columns with their
    types, and `drops` are the columns that the answer leaves out.

    A subclass has `_rows`, and may have `_table` for pyarrow tables without a Python object per cell.
    """

    answers: Mapping[str, Any]
    drops: tuple[str, ...] = ()

    def __call__(self, batch: Any) -> Any:
        """The batch without the columns that are dropped, and with those of the answers."""
        if is_arrow(batch):
            return self._table(batch)
        if is_frame(batch):
            return self._frame(batch)
        if isinstance(batch, Mapping):
            return self._columns(batch)
        if isinstance(batch, Iterable) and not isinstance(batch, str | bytes):
            return self._several(batch)
        raise InvalidInput(
            "expected a batch (a dict of columns, a pyarrow table, a pandas frame, a list of records), found"
            f" {type(batch).__name__}; pass one row per sequence."
        )

    def _rows(self, rows: Rows, places: Sequence[str]) -> Rows:
        """The answers for records, one each; `places` are their names in errors."""
        raise NotImplementedError

    def _table(self, table: Any) -> Any:
        from lcons_decode.batches._arrow import replaced, rows_of, spec_arrays

        found = self._rows(rows_of(table), self._places(table.num_rows))
        return replaced(table, self.drops, spec_arrays(found, self.answers))

    def _frame(self, frame: Any) -> Any:
        names = self._checked(list(frame.columns))
        rows = [
            dict(zip(names, cells, strict=True))
            for cells in zip(*(frame[name].tolist() for name in names), strict=True)
        ]
        found = self._rows(rows, self._places(len(rows)))
        kept = frame.drop(columns=[name for name in self.drops if name in names])
        # Each column is a list of cells, which may be lists themselves.
        new = {name: _object_array([row[name] for row in found], kind) for name, kind in self.answers.items()}
        return kept.assign(**new)

    def _columns(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        names = self._checked(list(batch))
        rows = [
            dict(zip(names, cells, strict=True))
            for cells in zip(*(batch[name] for name in names), strict=True)
        ]
        found = self._rows(rows, self._places(len(rows)))
        arrays = any(isinstance(batch[name], np.ndarray) for name in names)
        new = {name: [row[name] for row in found] for name in self.answers}
        if arrays:
            new = {name: _object_array(cells, self.answers[name]) for name, cells in new.items()}
        return {**{name: batch[name] for name in names if name not in self.drops}, **new}

    def _several(self, batches: Iterable[Any]) -> Any:
        """The answer for records as a list; for an iterator of frames or tables, an iterator."""
        each = iter(batches)
        first = next(each, None)
        if first is None:
            return []
        if is_arrow(first) or is_frame(first):
            return self._stream(chain([first], each))
        rows: Rows = [first, *each]
        for row in rows:
            if not isinstance(row, Mapping):
                raise InvalidInput(
                    f"expected records, dicts with one value per column, found {type(row).__name__}; pass a"
                    " list of dicts."
                )
            self._checked(list(row))
        found = self._rows(rows, self._places(len(rows)))
        return [self.kept(row) | answer for row, answer in zip(rows, found, strict=True)]

    def _stream(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield self(batch)

    def kept(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of a record that its answer keeps."""
        return {name: value for name, value in row.items() if name not in self.drops}

    def _checked(self, names: list[str]) -> list[str]:
        check_names(names, self.answers)
        return names

    @staticmethod
    def _places(count: int) -> Sequence[str]:
        return _Places(count)


class _Places(Sequence[str]):
    """The names of the rows of a batch in errors."""

    def __init__(self, count: int, name: Callable[[int], str] = "row {} of the batch".format) -> None:
        self._count, self._name = count, name

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < self._count:
            raise IndexError(i)
        return self._name(i)


def check_names(names: Iterable[str], answers: Iterable[str], where: str = "the batch") -> None:
    """Raises an error if a column has the name of an answer."""
    twice = sorted(set(names) & set(answers))
    if twice:
        raise InvalidInput(
            f"{where}: expected no column {twice[0]!r}, which is the name of an answer, found one; rename it,"
            " for example to `gold`."
        )


def plain(cell: Any) -> Any:
    """A cell as a list or an array of numbers; pandas and Ray nest arrays in arrays of objects."""
    if isinstance(cell, np.ndarray):
        return cell if cell.dtype.kind in "fiub" else [plain(value) for value in cell]
    if isinstance(cell, np.generic):
        return cell.item()
    if isinstance(cell, list | tuple) and cell and isinstance(cell[0], np.ndarray):
        return [plain(value) for value in cell]
    return cell


def _object_array(cells: list[Any], kind: Any) -> Any:
    """The cells of a column as an array; lists, texts and what may be missing are objects."""
    if kind in (int, float):
        missing = float("nan")
        return np.array([missing if cell is None else cell for cell in cells], dtype=kind)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array
