"""JSON schemas of tuples and records: one alternative per box of accepted points.

    {"anyOf": [{"type": "object", "properties": {"source": {"enum": [...]}, ...}, "required": [...],
                "additionalProperties": false}, ...]}

for a record; tuples are an array of such items. The boxes are disjoint, so a valid document fits one of
them. Reading a schema back gives the table of the points that it allows, which is compared with the table
of verdicts: both are over the whole finite domain, so this is exact.

Not in the paper.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lcons_core._blocks import Block
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools
from lcons_core.grammars._records import Records, axis_values, block_columns


def write_json_schema(records: Records) -> str:
    """The schema of accepted records, or of lists of them."""
    options = [_object(records.space, box) for box in records.diagram.boxes()]
    schema: dict[str, Any] = options[0] if len(options) == 1 else {"anyOf": options}
    if records.listed:
        schema = {"type": "array", "items": schema} if options else {"enum": [[]]}
    return json.dumps(schema, ensure_ascii=False, indent=1) + "\n"


def _object(space: FeatureSpace, box: tuple[tuple[int, ...], ...]) -> dict[str, Any]:
    axes = iter(box)
    properties: dict[str, Any] = {}
    for block in space.blocks:
        columns = {name: _values(block, next(axes)) for name in block_columns(block)}
        properties[block.name] = columns[""] if "" in columns else _closed(columns)
    return _closed(properties)


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _values(block: Block, chosen: tuple[int, ...]) -> dict[str, Any]:
    # Not every engine reads the bounds of numbers, so they are listed.
    values = axis_values(block)
    return {"enum": [values[i] for i in chosen]}


def read_json_schema(text: str, space: FeatureSpace, listed: bool) -> Bools:
    """The points of a space that a schema of this form allows, one axis per choice."""
    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"the schema is not JSON: {error}.") from None
    table = np.zeros([len(axis) for axis in space.axes], dtype=np.bool_)
    if listed:
        if schema == {"enum": [[]]}:
            return table
        schema = _entry(schema, {"type": "array"}, "items")
    for option in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
        table[np.ix_(*_read_object(option, space))] = True
    return table


def _read_object(schema: Any, space: FeatureSpace) -> list[list[int]]:
    """The values of each axis that one alternative allows."""
    box = []
    blocks = _read_closed(schema, [block.name for block in space.blocks])
    for block in space.blocks:
        columns = block_columns(block)
        own = {"": blocks[block.name]} if columns == [""] else _read_closed(blocks[block.name], columns)
        box += [_read_values(own[name], block) for name in columns]
    return box


def _read_closed(schema: Any, names: list[str]) -> dict[str, Any]:
    closed = {"type": "object", "required": names, "additionalProperties": False}
    properties = _entry(schema, closed, "properties")
    if list(properties) != names:
        raise InvalidInput(f"expected the properties {', '.join(names)}, found {', '.join(properties)}.")
    return dict(properties)


def _entry(schema: Any, rest: dict[str, Any], name: str) -> Any:
    """The entry `name` of a schema that has nothing else but `rest`."""
    if (
        not isinstance(schema, dict)
        or {key: schema[key] for key in schema if key != name} != rest
        or name not in schema
    ):
        raise InvalidInput(f"expected a schema with {name!r} and {rest}, found {schema!r:.80}.")
    return schema[name]


def _read_values(schema: Any, block: Block) -> list[int]:
    """The indices of the values that a schema allows; all must be values of the block."""
    known = {json.dumps(value): i for i, value in enumerate(axis_values(block))}
    values = _entry(schema, {}, "enum")
    unknown = [value for value in values if json.dumps(value) not in known]
    if unknown or not values:
        raise InvalidInput(
            f"expected values of {block.name!r}, found {unknown[0] if unknown else 'none'!r:.60}."
        )
    return [known[json.dumps(value)] for value in values]
