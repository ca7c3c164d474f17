"""Boxes as rules in text, which `parse_rules` reads back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lcons_core.blocks import Block, Kind
from lcons_core.errors import InvalidInput
from lcons_core.rules import Box
from lcons_core.rules_file.tokens import ALLOW, ESCAPES, FORBID, RESERVED
from lcons_core.space import FeatureSpace

_BARE = re.compile(r"[^\s,\"#:<>=\\][^\s,\"\\]*")


def rules_text(boxes: Sequence[Box], space: FeatureSpace, comments: Sequence[str] = ()) -> str:
    """The rules that forbid the boxes, which `parse_rules` reads back as the same set; comments go before.

    A box without conditions is everything, and is written value by value.

    >>> from lcons_core.space import one_hot
    >>> space = FeatureSpace([one_hot("pos 1", [",", "NN"]), one_hot("label", ["B", "I"])])
    >>> print(rules_text([Box.of(space, {"pos 1": ",", "label": "I"})], space), end="")
    forbid: pos 1 ",", label I
    """
    first = space.axes[0]
    every = [Box(((first.name, (value,)),)) for value in first.values]
    lines = [] if boxes else [f"{ALLOW} {box_text(box, space)}" for box in every]
    for i, box in enumerate(boxes):
        lines += [f"# {comment}" for comment in comments[i : i + 1]]
        lines += [f"{FORBID} {box_text(some, space)}" for some in ([box] if box.conditions else every)]
    return "".join(f"{line}\n" for line in lines)


def box_text(box: Box, space: FeatureSpace) -> str:
    """The conditions of a box, as the rules are written."""
    return ", ".join(_condition_text(space, name, values) for name, values in box.conditions)


def _condition_text(space: FeatureSpace, axis_name: str, values: Sequence[str]) -> str:
    axis = space.axes[space.axis_index(axis_name)]
    block = space.block(axis.block)
    if block.kind is Kind.ONE_HOT:
        return f"{_block_text(block)} {' or '.join(_spelt(v, space, block) for v in values)}"
    name = _spelt(space.columns[int(axis.columns[-1])][1], space, block)
    if block.kind is Kind.COUNT:
        return f"{_block_text(block)} {name} {_ranges_text([int(value) for value in values])}"
    if len(values) > 1:
        raise InvalidInput(
            f"both values of {axis_name!r} meet this condition, which cannot be written; leave it out."
        )
    return f"{_block_text(block)} {'' if values[0] == '1' else 'not '}{name}"


def _ranges_text(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " or ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _block_text(block: Block) -> str:
    words = block.name.split(" ")
    bare = all(_BARE.fullmatch(word) and word not in RESERVED for word in words)
    return block.name if bare else _quoted(block.name)


def _spelt(name: str, space: FeatureSpace, block: Block) -> str:
    """A value as it is, or in quotes where it could be read otherwise."""
    bare = _BARE.fullmatch(name) and name not in RESERVED
    # Bare words could be read as part of a longer name: of a block, or of a value before a number.
    longer = [other.name for other in space.blocks if other.name.startswith(f"{block.name} ")]
    longer += [value for value in block.values if value.startswith(f"{name} ")]
    return name if bare and not longer else _quoted(name)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    for letter, character in ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    return f'"{escaped}"'
