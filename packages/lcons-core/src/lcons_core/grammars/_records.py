"""Tuples and records as JSON: the accepted points of a finite space as a diagram and as boxes.

A point of a space has one value per axis. The accepted points are a table of verdicts, which is folded from
the last axis to the first: two rows of the table that are equal become one node,

    node(v_1, ..., v_i) = (node(v_1, ..., v_i, v) for every value v of axis i + 1)

so the nodes are those of the minimal automaton that reads a point value by value. A path through the
diagram that takes all values with the same next node together is a box; the boxes are disjoint, and their
union is the accepted set.

A record is written as JSON in the order of the axes: the name of a one-hot block with its value, any other
block with true or false, or a whole number, for each of its columns (without their names, if a block has
one number). `FeatureSpace.vector` reads such a record.

Not in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lcons_core._blocks import OTHER, Block, Kind
from lcons_core._errors import TooLarge, Unsupported
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Ints
from lcons_core.grammars._texts import TextGraph, numbered

MAX_POINTS = 2**22
MAX_BOXES = 2**12


@dataclass(frozen=True, eq=False)
class Diagram:
    """levels[i][node, value] is the node after axis i; after the last axis, 1 is accepted. -1 holds
    nothing."""

    levels: tuple[Ints, ...]
    root: int

    @classmethod
    def of(cls, table: Bools) -> Diagram:
        """The diagram of a table of verdicts, one axis per choice."""
        nodes = table.reshape(-1).astype(np.int64)
        empty, levels = 0, []
        for size in reversed(table.shape):
            rows = nodes.reshape(-1, size)
            found, nodes = np.unique(rows, axis=0, return_inverse=True)
            nodes = nodes.reshape(-1)
            levels.append(np.where(found == empty, -1, found))
            blank = np.flatnonzero((found == empty).all(1))
            empty = int(blank[0]) if len(blank) else -1
        root = int(nodes[0])
        return cls(tuple(reversed(levels)), -1 if root == empty else root)

    def boxes(self, most: int = MAX_BOXES) -> list[tuple[tuple[int, ...], ...]]:
        """Disjoint boxes, each with the values of every axis; raises `TooLarge` above `most`."""
        found: list[tuple[tuple[int, ...], ...]] = []
        for box in self._paths(0, self.root):
            if len(found) == most:
                raise TooLarge(
                    f"the accepted set has more than {most:,} boxes, the limit; use a simpler constraint, or"
                    " the lark, ebnf or regex form."
                )
            found.append(box)
        return found

    def _paths(self, level: int, node: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if level == len(self.levels):
            yield ()
            return
        if node < 0:
            return
        row = self.levels[level][node]
        for after in dict.fromkeys(row.tolist()):
            if after >= 0:
                values = tuple(np.flatnonzero(row == after).tolist())
                for rest in self._paths(level + 1, after):
                    yield (values, *rest)


@dataclass(frozen=True, eq=False)
class Records:
    """The points of `space` that `points` accepts; `listed` if a text is a list of them."""

    space: FeatureSpace
    points: PointSet
    listed: bool

    def __post_init__(self) -> None:
        for block in self.space.blocks:
            if block.kind is Kind.REAL:
                raise Unsupported(
                    f"block {block.name!r} has real numbers, which a grammar cannot list; use whole"
                    " numbers, or check the numbers after decoding."
                )
        if self.space.size > MAX_POINTS:
            raise TooLarge(
                f"the domain has {self.space.size:,} points, above the limit of {MAX_POINTS:,}, and a grammar"
                " of records is made from all of them; use fewer or smaller blocks."
            )

    @cached_property
    def verdicts(self) -> Bools:
        """The verdict on every point, one axis per choice; a point that the space excludes is not
        accepted."""
        flat = np.zeros(self.space.size, dtype=np.bool_)
        for first in range(0, len(flat), 2**16):
            indices = np.arange(first, min(first + 2**16, len(flat)))
            values = self.space.unravelled(indices)
            flat[indices] = self.points.verdicts(self.space, values) & self.space.possible(values)
        return flat.reshape([len(axis) for axis in self.space.axes])

    @cached_property
    def diagram(self) -> Diagram:
        """The accepted points."""
        return Diagram.of(self.verdicts)

    @cached_property
    def pieces(self) -> list[list[str]]:
        """The text of each value of each axis, with what stands before and after it in the JSON of a
        record."""
        found: list[list[str]] = []
        for block in self.space.blocks:
            names = block_columns(block)
            for i, name in enumerate(names):
                before = ("{" if not found else ", ") + (f"{_quoted(block.name)}: " if i == 0 else "")
                before += ("{" if i == 0 else "") + f"{_quoted(name)}: " if name else ""
                after = "}" if name and i == len(names) - 1 else ""
                found.append([before + _quoted(value) + after for value in axis_values(block)])
        found[-1] = [piece + "}" for piece in found[-1]]
        return found

    def graph(self) -> TextGraph:
        """The texts of the accepted records, or of the lists of them."""
        return numbered(_RecordTexts(self))


def block_columns(block: Block) -> list[str]:
    """The name of each choice of a block; "" if the block is one choice."""
    alone = block.kind is Kind.ONE_HOT or (block.whole and len(block.values) == 1)
    return [""] if alone else list(block.values)


def axis_values(block: Block) -> list[Any]:
    """The values of an axis of a block, as JSON has them."""
    if block.kind is Kind.ONE_HOT:
        return [*block.values, *([OTHER] if block.other else [])]
    return [False, True] if block.kind is Kind.BINARY else list(range(block.low, block.high + 1))


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, eq=False)
class _RecordTexts:
    """Node (level, node of the diagram); in a list, also the nodes "[", after a record, and the end."""

    records: Records

    @property
    def start(self) -> Any:
        return "list" if self.records.listed else self._root

    @property
    def _root(self) -> tuple[int, int]:
        return 0, self.records.diagram.root

    def arcs(self, node: Any) -> list[tuple[str, Any]]:
        diagram = self.records.diagram
        if node == "end":
            return []
        some = diagram.root >= 0
        if node == "list":
            return [("[]", "end"), *([("[", self._root)] if some else [])]
        level, own = node
        if level == len(diagram.levels):
            return [("]", "end"), (", ", self._root)] if self.records.listed else []
        if own < 0:
            return []
        row = zip(self.records.pieces[level], diagram.levels[level][own].tolist(), strict=True)
        return [(piece, (level + 1, after)) for piece, after in row if after >= 0]

    def final(self, node: Any) -> bool:
        return node == "end" if self.records.listed else node == (len(self.records.diagram.levels), 1)
