"""psi of a model: one variable, linear expression or number per column, in column order or by name.

A mapping has the keys (block, value), or the value alone if only one block has it, or the column 0 .. d - 1.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core.optimisers._tool import Tool


def read_entries(tool: Tool, points: PointSet, psi: Any) -> list[Any]:
    """The d entries of psi in column order, each checked to be a number or to be known to the tool."""
    entries = _by_name(points, psi) if hasattr(psi, "keys") else _in_order(tool, points, psi)
    for j, entry in enumerate(entries):
        if not is_number(entry) and not tool.knows(entry):
            raise InvalidInput(
                f"psi must hold {tool.entry} of {tool.name} or numbers, found {type(entry).__name__} in"
                f" column {j}; pass one entry per column."
            )
    return entries


def is_number(entry: Any) -> bool:
    """Whether an entry is a constant and not part of the model."""
    return isinstance(entry, numbers.Number | np.generic)


def _in_order(tool: Tool, points: PointSet, psi: Any) -> list[Any]:
    try:
        entries = list(tool.listed(psi))
    except TypeError:
        raise InvalidInput(
            f"psi must be a sequence of {points.d} entries or a mapping from names of columns, found"
            f" {type(psi).__name__}; pass one variable, expression or number per column."
        ) from None
    if len(entries) != points.d:
        raise InvalidInput(
            f"psi must have one entry per column of the constraint: expected {points.d}, found"
            f" {len(entries)}; pass 0 for a column that is absent."
        )
    return entries


def _by_name(points: PointSet, psi: Mapping[Any, Any]) -> list[Any]:
    if {*psi.keys()} == {*range(points.d)}:
        return [psi[j] for j in range(points.d)]
    space = points.space
    if space is None:
        raise InvalidInput(
            f"{type(points).__name__} has no names of columns, but psi is a mapping by name; pass psi in"
            " column order, or LearnedConstraint(network, space) as the constraint."
        )
    found: dict[int, Any] = {}
    for key in psi.keys():  # noqa: SIM118 (a Pyomo variable is no Mapping)
        column = _column(space, key)
        if column in found:
            raise InvalidInput(f"psi names the column {space.columns[column]} twice; name it once.")
        found[column] = psi[key]
    absent = [space.columns[j] for j in range(space.d) if j not in found]
    if absent:
        raise InvalidInput(
            f"psi must name all {space.d} columns, but {len(absent)} are missing, such as {absent[0]}; pass 0"
            " for a column that is absent."
        )
    return [found[j] for j in range(space.d)]


def _column(space: FeatureSpace, key: Any) -> int:
    if isinstance(key, Sequence) and not isinstance(key, str) and len(key) == 2:
        return space.column(*key)
    columns = [j for j, (_, value) in enumerate(space.columns) if value == key]
    if len(columns) != 1:
        found = "no column has" if not columns else f"{len(columns)} columns have"
        raise InvalidInput(f"{found} the name {key!r} in psi; name each column as (block, value).")
    return columns[0]
