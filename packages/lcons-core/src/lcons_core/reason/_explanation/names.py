"""Assignments by name from a few words, such as `Location Kill` or `source=Location,relation=Kill`.

A word `name=value,...` names the block or axis of each value (`exists title=0`, `count author=3` are axes). A
word without a name is a value of the block that has it. If several blocks have it, the words are read in the
order of the blocks (`B-NP I-NP` is label 1 and label 2); if more than one reading remains, this is an error.

Not in the paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from lcons_core._blocks import Axis, Kind
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace


def read_assignment(space: FeatureSpace, words: Sequence[str]) -> dict[str, Any]:
    """The assignment that the words describe, in the form that `why` accepts; other blocks stay open.

    >>> from lcons_core._space import one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> read_assignment(FeatureSpace(blocks), ["Kill", "Location"])
    {'source': 'Location', 'relation': 'Kill'}
    """
    if not space.integral:
        numbers, others = _numbers(space, words)
        return numbers | (read_assignment(space.finite_part, others) if others else {})
    chosen: dict[int, str] = {}
    bare = []
    for word in words:
        pairs = _named(space, word)
        if not pairs:
            bare.append(word)
        for name, value in pairs:
            axis, text = _axis_value(space, name, value)
            if chosen.setdefault(axis, text) != text:
                raise InvalidInput(f"expected one value for {name!r}, found two in {words!r}; name only one.")
    free = [i for i in range(len(space.axes)) if i not in chosen]
    for i, word in zip(_places(space, bare, free), bare, strict=True):
        chosen[i] = _held(space, space.axes[i], word) or word
    if not chosen:
        raise InvalidInput("expected values such as `Location Kill`, found none; name one or more.")
    return _assignment(space, chosen)


def _numbers(space: FeatureSpace, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The numbers of real columns, written as `name=number`, and the other words."""
    real = {
        name: (block.name, value)
        for block in space.blocks
        if block.kind is Kind.REAL
        for name, value in zip(block.axis_names(), block.values, strict=True)
    }
    numbers: dict[str, Any] = {}
    others = []
    for word in (part for text in words for part in re.split(r",\s*(?=[^,]*=)", text)):
        name, _, text = (part.strip() for part in word.partition("="))
        if name not in real:
            others.append(word)
            continue
        block, value = real[name]
        try:
            numbers.setdefault(block, {})[value] = float(text)
        except ValueError:
            raise InvalidInput(
                f"expected a number for {name!r}, found {text!r}; write it as in `{name}=0.5`."
            ) from None
    return numbers, others


def _named(space: FeatureSpace, word: str) -> list[tuple[str, str]]:
    """The (name, value) pairs of a word that begins with a known name and `=`."""
    names = sorted({*(block.name for block in space.blocks), *(axis.name for axis in space.axes)}, key=len)
    known = "|".join(re.escape(name) for name in reversed(names))
    # A comma may itself be a value, so only a comma before a name is a separator.
    found = list(re.finditer(rf"(?:^|,)\s*({known})\s*=", word))
    if not found or found[0].start():
        name, equals, _ = word.partition("=")
        if equals and not any(_held(space, axis, word) or word in axis.values for axis in space.axes):
            space.block(name.strip())  # raises with the list of blocks
        return []
    stops = [*(match.start() for match in found[1:]), len(word)]
    return [(m[1], word[m.end() : stop].strip()) for m, stop in zip(found, stops, strict=True)]


def _axis_value(space: FeatureSpace, name: str, value: str) -> tuple[int, str]:
    """The axis and the value of `name=value`."""
    blocks = {block.name: block for block in space.blocks}
    if name in blocks and blocks[name].kind is Kind.BINARY:
        space.column(name, value)
        return space.axis_index(f"{name} {value}"), "1"
    if name in blocks and blocks[name].whole and name not in blocks[name].axis_names():
        raise InvalidInput(
            f"{name!r} is a block of counts, found {name}={value}; name the count, as in"
            f" `{name} {blocks[name].values[0]}=1`."
        )
    i = space.axis_index(name)
    if value not in space.axes[i].values:
        if name in blocks:
            space.column(name, value)  # raises with the list of values
        values = space.axes[i].values
        raise InvalidInput(f"unknown value {value!r} for {name!r}; use {values[0]} to {values[-1]}.")
    return i, value


def _places(space: FeatureSpace, words: Sequence[str], free: Sequence[int]) -> tuple[int, ...]:
    """The only way to assign the words to axes: in their order, otherwise in any order."""
    candidates = []
    for word in words:
        fits = [i for i in free if _held(space, space.axes[i], word) or _is_value(space, i, word)]
        if not fits:
            raise InvalidInput(
                f"unknown value {word!r}; the values are those of {_listed(space, 6)}; name some of these."
            )
        candidates.append(fits)
    for ordered in (True, False):
        readings = list(islice(_readings(candidates, ordered), 2))
        if len(readings) == 1:
            return readings[0]
        if readings:
            named = ",".join(
                f"{space.axes[i].name}={word}" for i, word in zip(readings[0], words, strict=True)
            )
            raise InvalidInput(
                f"{' '.join(words)!r} can be read in several ways; choose one, as in `{named}`."
            )
    raise InvalidInput(f"{' '.join(words)!r} does not fit the blocks; name at most one value per block.")


def _listed(space: FeatureSpace, most: int) -> str:
    """The first blocks with their first values."""
    blocks = [
        f"{block.name} ({', '.join(block.values[:most])}{', ...' if len(block.values) > most else ''})"
        for block in space.blocks[:most]
    ]
    return "; ".join(blocks) + ("; ..." if len(space.blocks) > most else "")


def _readings(candidates: Sequence[Sequence[int]], ordered: bool) -> Iterator[tuple[int, ...]]:
    """Distinct axes for the words, one of the candidates of each word; increasing if `ordered`."""
    if not candidates:
        yield ()
        return
    *rest, last = candidates
    for places in _readings(rest, ordered):
        for i in last:
            if i not in places and not (ordered and places and i < places[-1]):
                yield (*places, i)


def _is_value(space: FeatureSpace, i: int, word: str) -> bool:
    axis = space.axes[i]
    return space.block(axis.block).kind is Kind.ONE_HOT and word in axis.values


def _held(space: FeatureSpace, axis: Axis, word: str) -> str:
    """ "1" if the axis is the binary column of that name."""
    binary = space.block(axis.block).kind is Kind.BINARY
    return "1" if binary and axis.name == f"{axis.block} {word}" else ""


def _assignment(space: FeatureSpace, chosen: dict[int, str]) -> dict[str, Any]:
    assignment: dict[str, Any] = {}
    for i in sorted(chosen):
        axis = space.axes[i]
        kind = space.block(axis.block).kind
        if kind is Kind.ONE_HOT:
            assignment[axis.block] = chosen[i]
            continue
        column = space.columns[int(axis.columns[-1])][1]
        number = int(chosen[i])
        assignment.setdefault(axis.block, {})[column] = bool(number) if kind is Kind.BINARY else number
    return assignment
