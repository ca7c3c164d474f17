"""pyarrow tables: scores and strings of nested columns as flat arrays, and answers as new columns.

The values of a nested column are one flat array with offsets, which numpy reads without a copy: no Python
object is made per token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lcons_core import CodedColumn, InvalidInput
from lcons_decode._scores import Floats, Ints
from lcons_decode.batches._answers import STATUSES, Answers
from lcons_decode.batches._batch import check_names

# The member of a schema's metadata that holds the labels and scores that all sequences share.
METADATA = b"lcons"
_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def shared_model(schema: Any, where: str) -> dict[str, Any]:
    """Labels, transition, start and stop of a schema's metadata; empty if it has none."""
    text = (schema.metadata or {}).get(METADATA)
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(
            f"{where}: expected a JSON object under {METADATA.decode()!r} in the metadata of the schema,"
            f" found {text[:40]!r}; write labels, transition, start and stop there."
        )
    return found


def rows_of(table: Any) -> list[dict[str, Any]]:
    """The rows as records."""
    return table.to_pylist()


def emission_of(table: Any, name: str, L: int, where: str) -> tuple[Floats, Ints]:
    """The scores (N, L) of all sequences of a table, and their offsets (B + 1,)."""
    array = _one(table, name, where)
    tokens, offsets = _lists(array, name, where)
    width = tokens.type.list_size if pa.types.is_fixed_size_list(tokens.type) else None
    values, bounds = _lists(tokens, name, where)
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)) or values.null_count:
        found = f"{values.null_count} nulls" if values.null_count else str(array.type)
        raise InvalidInput(
            f"{where}: expected lists of lists of numbers in {name!r}, found {found}; write one score per"
            " token and label, and -inf to forbid a label."
        )
    wrong = [width] if width is not None else np.diff(bounds)[np.diff(bounds) != L].tolist()
    if len(tokens) and any(size != L for size in wrong):
        raise InvalidInput(
            f"{where}: expected {L} scores per token in {name!r}, one per label, found {wrong[0]}; write one"
            " score for each label, in the order of the labels."
        )
    return values.to_numpy(zero_copy_only=False).reshape(-1, L), offsets


def strings_of(table: Any, name: str, where: str) -> tuple[CodedColumn, Ints]:
    """The strings of all tokens, and the offsets of sequences."""
    values, offsets = _lists(_one(table, name, where), name, where)
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if kind != values.type and values.dictionary.null_count:
        values = values.cast(kind)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if not (any(is_text(kind) for is_text in texts) or not len(values)) or values.null_count:
        raise InvalidInput(
            f"{where}: expected lists of strings in {name!r}, found {table.schema.field(name).type}"
            f"{' with nulls' * bool(values.null_count)}; write one string per token."
        )
    return CodedColumn.of(values) if len(values) else CodedColumn((), np.zeros(0, np.int64)), offsets


def _one(table: Any, name: str, where: str) -> Any:
    """A column as one array."""
    if name not in table.schema.names:
        raise InvalidInput(
            f"{where}: expected a column {name!r}, found {', '.join(table.schema.names) or 'no column'}; add"
            " it, or rename the one that holds it."
        )
    column = table.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _lists(array: Any, name: str, where: str) -> tuple[Any, Ints]:
    """The flat values of an array of lists, and offsets into them that begin with 0."""
    nested = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_nested(array.type) for is_nested in nested):
        if pa.types.is_null(array.type) and not array.null_count:
            return array, np.zeros(1, np.int64)
        raise InvalidInput(
            f"{where}: expected lists in {name!r}, one value per token, found {array.type}; write lists."
        )
    if array.null_count:
        raise InvalidInput(
            f"{where}: expected a value of {name!r} in every row, found {array.null_count} nulls; fill them"
            " or leave these rows out."
        )
    values = array.flatten()
    if pa.types.is_fixed_size_list(array.type):
        return values, np.arange(len(array) + 1, dtype=np.int64) * array.type.list_size
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    return values, offsets - offsets[0]


def answer_arrays(answers: Answers) -> dict[str, Any]:
    """The columns of `ANSWERS`."""
    found = answers.found
    names = pa.DictionaryArray.from_arrays(answers.y.astype(np.int32), list(answers.labels))
    words = names.cast(pa.string())
    offsets = pa.array(answers.offsets.astype(np.int32))
    statuses = pa.DictionaryArray.from_arrays(answers.statuses.astype(np.int8), list(map(str, STATUSES)))
    mask = None if found.all() else pa.array(~found)
    return {
        "labels": pa.ListArray.from_arrays(offsets, words, mask=mask),
        "score": pa.array(answers.scores, mask=~found),
        "status": statuses.cast(pa.string()),
        "changed": pa.array(answers.changed.astype(np.int64)),
    }


def spec_arrays(rows: Sequence[Mapping[str, Any]], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Records as columns of the types of a specification."""
    return {name: pa.array([row[name] for row in rows], arrow_type(kind)) for name, kind in spec.items()}


def arrow_type(kind: Any) -> Any:
    """The pyarrow type of a type of cells: str, int, float, bool, [type], or {name: type}.

    >>> arrow_type([{"field": str, "start": int}])
    ListType(list<item: struct<field: string, start: int64>>)
    """
    if isinstance(kind, list):
        return pa.list_(arrow_type(kind[0]))
    if isinstance(kind, Mapping):
        return pa.struct([(name, arrow_type(own)) for name, own in kind.items()])
    return _PLAIN[kind]


def replaced(table: Any, drops: Sequence[str], new: Mapping[str, Any], where: str = "the batch") -> Any:
    """A table without some columns and with new ones; the metadata of its schema is not kept."""
    check_names(table.schema.names, new, where)
    kept = [name for name in table.schema.names if name not in drops]
    arrays = [table.column(name) for name in kept] + list(new.values())
    make = pa.RecordBatch.from_arrays if isinstance(table, pa.RecordBatch) else pa.Table.from_arrays
    return make(arrays, names=[*kept, *new])
