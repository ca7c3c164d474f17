"""Rules as text, read: `load_rules` and `parse_rules`.

Boxes as rules in text, which `parse_rules` reads back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lcons_core._blocks import Block, Kind
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace
from lcons_core.reason._rules import Box, Rules
from lcons_core.reason._rules_grammar import (
    ALLOW,
    CANNOT,
    ESCAPES,
    FORBID,
    NEEDS,
    RESERVED,
    Tokens,
    conditions,
    merged,
    shown,
    starts_with,
    tokens_of,
)

MAX_BYTES = 2**24


def load_rules(path: str | os.PathLike[str], space: FeatureSpace) -> Rules:
    """The rules in the file at `path`, about the points of `space`."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"cannot read {name!r}: {getattr(error, 'strerror', None) or error}; name a file of rules."
        ) from None
    if len(content) > MAX_BYTES:
        raise InvalidInput(f"{name!r} is larger than {MAX_BYTES:,} bytes, the limit for a file of rules.")
    try:
        return parse_rules(content.decode("utf-8-sig"), space, name)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name!r} is no file of rules: it is not UTF-8 text from byte {error.start} on; save it so."
        ) from None


def parse_rules(text: str, space: FeatureSpace, name: str = "the rules") -> Rules:
    """The rules of a text; `name` is what errors call it.

    >>> from lcons_core._space import one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> rules = parse_rules("relation Kill needs source Person  # not a Location", FeatureSpace(blocks))
    >>> rules.forbidden[0].to_dict()
    {'source': ['Location'], 'relation': ['Kill']}
    """
    forbidden: list[Box] = []
    allowed: list[Box] = []
    found = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        try:
            tokens = tokens_of(line)
            if not tokens:
                continue
            found += 1
            if starts_with(tokens, ALLOW):
                allowed.append(_box(space, tokens[2:]))
            else:
                forbidden += _forbidden(space, tokens)
        except InvalidInput as error:
            raise InvalidInput(f"{name}, line {number}: {error}") from None
    if not found:
        raise InvalidInput(
            f"expected a rule a line in {name}, such as `forbid: ...`, found none; write one, or name"
            " another file."
        )
    return Rules(space, forbidden, allowed or None)


def _forbidden(space: FeatureSpace, tokens: Tokens) -> tuple[Box, ...]:
    """The boxes that one rule forbids, of any kind but `allow only:`."""
    if starts_with(tokens, FORBID):
        return (_box(space, tokens[1:]),)
    for at in range(len(tokens)):
        for verb in (NEEDS, CANNOT):
            if not starts_with(tokens[at:], verb):
                continue
            left = conditions(space, tokens[:at])
            right = conditions(space, tokens[at + len(verb.split()) :])
            if verb == NEEDS:
                return Rules(space).needs(left, right).forbidden
            return (Box.of(space, merged(left, right)),)
    raise InvalidInput(
        f"expected `A needs B`, `A cannot go with B`, `{FORBID} A` or `{ALLOW} A`, found"
        f" {shown(tokens)!r}; write the rule in one of these ways."
    )


def _box(space: FeatureSpace, tokens: Tokens) -> Box:
    return Box.of(space, conditions(space, tokens))


_BARE = re.compile(r"[^\s,\"#:<>=\\][^\s,\"\\]*")


def rules_text(boxes: Sequence[Box], space: FeatureSpace, comments: Sequence[str] = ()) -> str:
    """The rules that forbid the boxes, which `parse_rules` reads back as the same set; comments go before.

    A box without conditions is everything, and is written value by value.

    >>> from lcons_core._space import one_hot
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
