"""JSON schemas of tuples and records: one alternative per box of accepted points.

    {"anyOf": [{"type": "object", "properties": {"source": {"enum": [...]}, ...}, "required": [...],
                "additionalProperties": false}, ...]}

for a record (a constraint without a feature, on a space of named fields); a constraint on tuples allows an
array of such objects. A box takes, axis by axis, all values with the same accepted rest together, so boxes
are disjoint and their union is the accepted set. `FeatureSpace.vector` reads such a record.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, LearnedConstraint, TooLarge, Unsupported
from lcons_core._blocks import OTHER, Block, Kind

MAX_POINTS = 2**22
MAX_BOXES = 2**12

Box = tuple[list[int], ...]


def record_schema(constraint: LearnedConstraint) -> dict[str, Any]:
    """The schema of the records, or the lists of tuples, that satisfy a constraint."""
    space, tuples = constraint.space, constraint.feature is not None
    real = [block.name for block in space.blocks if block.kind is Kind.REAL]
    if real:
        raise Unsupported(f"block {real[0]!r} has real numbers, which a schema cannot list.")
    if space.size > MAX_POINTS:
        raise TooLarge(f"the domain has {space.size:,} points, above the limit of {MAX_POINTS:,}.")
    boxes = list(islice(_boxes(_verdicts(constraint)), MAX_BOXES + 1))
    if len(boxes) > MAX_BOXES:
        raise TooLarge(f"the accepted set has more than {MAX_BOXES:,} boxes, the limit; simplify it.")
    if not boxes and not tuples:
        raise InvalidInput("no record satisfies the constraint, so there is no schema; check it.")
    options = [_record(space.blocks, box) for box in boxes]
    schema = options[0] if len(options) == 1 else {"anyOf": options}
    if tuples:
        return {"type": "array", "items": schema} if options else {"enum": [[]]}
    return schema


def _verdicts(constraint: LearnedConstraint) -> NDArray[np.bool_]:
    """The verdict on each point, one axis per choice; False for points that the space excludes."""
    space = constraint.space
    table = np.zeros([len(axis) for axis in space.axes], dtype=np.bool_)
    for points in space.points():
        table[tuple(points.T)] = constraint.network.verdicts(space, points)
    return table


def _boxes(table: NDArray[np.bool_]) -> Iterator[Box]:
    """Disjoint boxes of the points where the table is True."""
    if not table.ndim:
        yield ()
        return
    alike: dict[bytes, list[int]] = {}
    for value, rest in enumerate(table):
        if rest.any():
            alike.setdefault(rest.tobytes(), []).append(value)
    for values in alike.values():
        for box in _boxes(table[values[0]]):
            yield (values, *box)


def _record(blocks: tuple[Block, ...], box: Box) -> dict[str, Any]:
    axes = iter(box)
    properties: dict[str, Any] = {}
    for block in blocks:
        if block.kind is Kind.ONE_HOT:
            values: list[Any] = [*block.values, *([OTHER] if block.other else [])]
        else:
            values = [False, True] if block.kind is Kind.BINARY else list(range(block.low, block.high + 1))
        alone = block.kind is Kind.ONE_HOT or (block.whole and len(block.values) == 1)
        # Not every engine reads the bounds of numbers, so they are listed.
        columns = {
            name: {"enum": [values[i] for i in next(axes)]} for name in ([""] if alone else block.values)
        }
        properties[block.name] = columns[""] if alone else _closed(columns)
    return _closed(properties)


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
