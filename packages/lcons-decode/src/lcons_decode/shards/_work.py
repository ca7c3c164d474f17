"""What is done to the rows of shards.

`Work` travels to the workers, so it is pickled and holds plain data; heavy things load on first use. For each
shard it begins a `ShardWork`, which sees the rows in order, some at a time, and counts what it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from lcons_decode.batches._batch import Rows, check_names


class ShardWork(Protocol):
    """The work on one shard."""

    counts: Counter[str]

    def rows(self, rows: Rows, places: Sequence[str]) -> Rows:
        """The output of some rows of JSON lines; `places` are their names in errors."""
        ...

    def table(self, table: Any) -> Any:
        """The output of some rows of a Parquet file, as pyarrow tables."""
        ...


class Work(Protocol):
    """The work on any number of shards."""

    def settings(self) -> Mapping[str, Any]:
        """All that the output depends on besides the input, as plain data."""
        ...

    def begin(self, shard: str) -> ShardWork:
        """The work on a shard; errors name it."""
        ...


Answer = Callable[[Rows, Sequence[str]], tuple[Rows, Counter[str]]]


class RowWork:
    """The work on a shard by a function of rows: the answers, one per row, and counts.

    spec: the new columns with the types of their cells: str, int, float, [type] or {name: type}.
    """

    def __init__(self, shard: str, answer: Answer, spec: Mapping[str, Any]) -> None:
        self.counts: Counter[str] = Counter()
        self._shard, self._answer, self._spec = shard, answer, spec
        self._done = 0

    def rows(self, rows: Rows, places: Sequence[str]) -> Rows:
        for row, place in zip(rows, places, strict=True):
            check_names(row, self._spec, place)
        found = self._answered(rows, places)
        return [row | answer for row, answer in zip(rows, found, strict=True)]

    def table(self, table: Any) -> Any:
        from lcons_decode.batches._arrow import replaced, rows_of, spec_arrays

        places = [f"{self._shard}: row {self._done + i}" for i in range(table.num_rows)]
        found = self._answered(rows_of(table), places)
        return replaced(table, (), spec_arrays(found, self._spec), self._shard)

    def _answered(self, rows: Rows, places: Sequence[str]) -> Rows:
        found, counts = self._answer(rows, places)
        self._done += len(rows)
        self.counts += counts
        return found
