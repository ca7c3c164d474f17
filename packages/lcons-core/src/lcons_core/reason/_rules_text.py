"""Names as text: `load_rules` and `parse_rules` read rules, `rules_text` writes them, `read_assignment` reads
a combination of values such as `Location Kill` or `source=Location,relation=Kill`.

A line of rules consists of tokens: names in quotes, commas, and words of the format. A condition is the name
of a block and its values.

A word `name=value,...` of an assignment names the block or axis of each value (`exists title=0`, `count
author=3` are axes). A word without a name is a value of the block that has it. If several blocks have it, the
words are read in the order of the blocks (`B-NP I-NP` is label 1 and label 2).
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from lcons_core._blocks import Block, Kind
from lcons_core._errors import InvalidInput
from lcons_core._files import open_regular
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools
from lcons_core.reason._rules import Box, Rules, members
from lcons_core.reason._words import runs

MAX_BYTES = 2**24
MOST_READINGS = 10**5
FORBID, ALLOW = "forbid:", "allow only:"
NEEDS, CANNOT = "needs", "cannot go with"
RESERVED = {"or", "and", "not", "to", NEEDS, *CANNOT.split()}
ESCAPES = {"n": "\n", "r": "\r"}
COMPARED = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}

_BARE = re.compile(r"[^\s,\"#:<>=\\][^\s,\"\\]*")
_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(,)|(#.*)|([^\s,"]+)|(.))')
_RANGE = re.compile(r"(<=|>=|=|<|>)? ?(-?\d{1,9})(?: to (-?\d{1,9}))?", re.ASCII)


def load_rules(path: str | os.PathLike[str], space: FeatureSpace) -> Rules:
    """The rules in the file at `path`, about the points of `space`."""
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot read {str(path)!r} as a file of rules: {reason}.") from None
    return parse_rules(text, space, str(path))


def parse_rules(text: str, space: FeatureSpace, name: str = "the rules") -> Rules:
    """The rules in a text; errors call the text `name`.

    >>> from lcons_core._space import one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> rules = parse_rules("relation Kill needs source Person  # not a Location", FeatureSpace(blocks))
    >>> rules.forbidden[0].to_dict()
    {'source': ['Location'], 'relation': ['Kill']}
    """
    forbidden: list[Box] = []
    allowed: list[Box] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        try:
            tokens = _tokens(line)
            if _starts(tokens, ALLOW):
                allowed.append(Box.of(space, _conditions(space, tokens[2:])))
            elif tokens:
                forbidden += _forbidden(space, tokens)
        except InvalidInput as error:
            raise InvalidInput(f"{name}, line {number}: {error}") from None
    if not forbidden and not allowed:
        raise InvalidInput(f"expected one rule per line in {name}, such as `forbid: ...`, found none.")
    return Rules(space, forbidden, allowed or None)


def _forbidden(space: FeatureSpace, tokens: Tokens) -> tuple[Box, ...]:
    """The boxes that a rule forbids; for all kinds of rules except `allow only:`."""
    if _starts(tokens, FORBID):
        return (Box.of(space, _conditions(space, tokens[1:])),)
    for at in range(len(tokens)):
        if _starts(tokens, NEEDS, at):
            sides = (_conditions(space, part) for part in (tokens[:at], tokens[at + 1 :]))
            return Rules(space).needs(*sides).forbidden
        if _starts(tokens, CANNOT, at):
            both = [*tokens[:at], Token(","), *tokens[at + len(CANNOT.split()) :]]
            return (Box.of(space, _conditions(space, both)),)
    raise InvalidInput(f"expected `A needs B`, `A cannot go with B` or `{FORBID} A`, got {_shown(tokens)!r}.")


@dataclass(frozen=True)
class Token:
    """A comma, a word, or a name in quotes."""

    text: str
    quoted: bool = False

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words of the format (a name in quotes never is)."""
        return not self.quoted and self.text in words


Tokens = Sequence[Token]


def _tokens(line: str) -> list[Token]:
    """Names in quotes, commas and words, without the text after a #."""
    tokens = []
    for match in _TOKEN.finditer(line.rstrip()):
        quoted, comma, comment, word, odd = match.groups()
        if odd is not None:
            raise InvalidInput(f"expected a closing quote after {match[0].strip()[:40]!r}.")
        if comment is not None:
            break
        if quoted is None:
            tokens.append(Token(comma or word))
        else:
            unescaped = re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), quoted)
            tokens.append(Token(unescaped, quoted=True))
    return tokens


def _starts(tokens: Tokens, words: str, at: int = 0) -> bool:
    """Whether the tokens from `at` on begin with these words of the format."""
    some = tokens[at : at + len(words.split())]
    return [token.text for token in some if not token.quoted] == words.split()


def _split(tokens: Tokens, *separators: str) -> list[list[Token]]:
    """The tokens between the separators."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.is_word(*separators):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _longest(tokens: Tokens, names: Iterable[str]) -> tuple[str | None, Tokens]:
    """The longest name with which the tokens begin, and the tokens after it."""
    known = set(names)
    bare = next((i for i, token in enumerate(tokens) if token.quoted), len(tokens))
    bare = min(bare, 1 + max(name.count(" ") for name in known))
    for stop in range(bare, 0, -1) if bare else [1]:
        if tokens and _shown(tokens[:stop]) in known:
            return _shown(tokens[:stop]), tokens[stop:]
    return None, tokens


def _shown(tokens: Tokens) -> str:
    """The tokens as text, without quotes."""
    return " ".join(token.text for token in tokens)


def _conditions(space: FeatureSpace, tokens: Tokens) -> dict[str, Any]:
    """Conditions as `Box.of` accepts them."""
    conditions: dict[str, Any] = {}
    for part in _split(tokens, ",", "and"):
        if not part:
            raise InvalidInput("expected a condition such as `source Person`, found none.")
        name, rest = _longest(part, [block.name for block in space.blocks])
        block = space.block(part[0].text if name is None else name)
        values = _values(space, block, rest)
        before = conditions.setdefault(block.name, values)
        if before is not values:
            if not isinstance(values, dict) or before.keys() & values.keys():
                raise InvalidInput(f"{block.name!r} is twice in one rule; write `A or B`, or two rules.")
            before.update(values)
    return conditions


def _values(space: FeatureSpace, block: Block, tokens: Tokens) -> Any:
    """The values of one condition, as `Box.of` accepts them."""
    name, rest = _longest(tokens, block.values) if block.whole else ("", tokens)
    if name is None:
        raise InvalidInput(f"expected a value of {block.name!r} and a number, found {_shown(tokens)!r}.")
    negated = bool(rest) and rest[0].is_word("not")
    parts = _split(rest[1:] if negated else rest, "or")
    if block.kind is Kind.BINARY and len(parts) > 1:
        raise InvalidInput(f"`or` needs values that exclude each other, but those of {block.name!r} do not.")
    if not all(parts):
        raise InvalidInput(f"expected a value of {block.name!r}, found none.")
    if block.kind is Kind.BINARY:
        return {_shown(parts[0]): not negated}
    if block.whole:
        numbers = np.arange(block.low, block.high + 1)
        inside = np.any([_in_range(numbers, _shown(part)) for part in parts], axis=0)
        values: list[Any] = numbers[inside != negated].tolist()
    else:
        every = space.axes[space.axis_index(block.name)].values
        chosen = {_shown(part) for part in parts}
        for value in chosen - set(every):
            space.column(block.name, value)  # raises with the list of values
        values = [value for value in every if (value in chosen) != negated]
    if not values:
        raise InvalidInput(f"the condition excludes every value of {block.name!r}.")
    return {name: values} if block.whole else values


def _in_range(numbers: Any, text: str) -> Bools:
    """Which numbers are in `3`, `= 3`, `>= 3`, `<= 3`, `> 3`, `< 3` or `2 to 4`."""
    match = _RANGE.fullmatch(text)
    if match is None or (match[3] and match[1] not in (None, "=")):
        raise InvalidInput(f"expected a count such as `3`, `>= 3` or `2 to 4`, found {text!r}.")
    first = int(match[2])
    if match[1] in COMPARED:
        return np.asarray(COMPARED[match[1]](numbers, first), dtype=np.bool_)
    return np.asarray((numbers >= first) & (numbers <= int(match[3] or first)), dtype=np.bool_)


def rules_text(boxes: Sequence[Box], space: FeatureSpace, comments: Sequence[str] = ()) -> str:
    """The rules that forbid the boxes, after the comments; `parse_rules` reads the same set from them.

    A box without conditions contains every point, and is written value by value.

    >>> from lcons_core._space import one_hot
    >>> space = FeatureSpace([one_hot("pos 1", [",", "NN"]), one_hot("label", ["B", "I"])])
    >>> print(rules_text([Box.of(space, {"pos 1": ",", "label": "I"})], space), end="")
    forbid: pos 1 ",", label I
    """
    first = space.axes[0]
    every = [Box(((first.name, (value,)),)) for value in first.values]
    lines = [] if boxes else [f"{ALLOW} {_box_text(box, space)}" for box in every]
    for i, box in enumerate(boxes):
        lines += [f"# {comment}" for comment in comments[i : i + 1]]
        lines += [f"{FORBID} {_box_text(some, space)}" for some in ([box] if box.conditions else every)]
    return "".join(f"{line}\n" for line in lines)


def _box_text(box: Box, space: FeatureSpace) -> str:
    """The conditions of a box, in the format of the rules."""
    return ", ".join(_condition_text(space, name, values) for name, values in box.conditions)


def _condition_text(space: FeatureSpace, axis_name: str, values: Sequence[str]) -> str:
    axis = space.axes[space.axis_index(axis_name)]
    block = space.block(axis.block)
    words = block.name.split(" ")
    bare = all(_BARE.fullmatch(word) and word not in RESERVED for word in words)
    named = block.name if bare else _quoted(block.name)
    # Words without quotes could be read as part of a longer name: of a block, or of a value before a number.
    longer = any(other.name.startswith(f"{block.name} ") for other in space.blocks)
    names = values if block.kind is Kind.ONE_HOT else [space.columns[int(axis.columns[-1])][1]]
    spelt = [
        _quoted(name)
        if longer or name in RESERVED or name in block.beginnings or not _BARE.fullmatch(name)
        else name
        for name in names
    ]
    if block.kind is Kind.ONE_HOT:
        return f"{named} {' or '.join(spelt)}"
    if block.whole:
        ends = runs(members(axis.values, values))
        ranges = (f"{axis.values[a]}{f' to {axis.values[b]}' * (a < b)}" for a, b in ends)
        return f"{named} {spelt[0]} {' or '.join(ranges)}"
    if len(values) > 1:
        raise InvalidInput(f"a condition with both values of {axis_name!r} is always true; omit it.")
    return f"{named} {'' if values[0] == '1' else 'not '}{spelt[0]}"


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    for letter, character in ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    return f'"{escaped}"'


def read_assignment(space: FeatureSpace, words: Sequence[str]) -> dict[str, Any]:
    """The assignment that the words describe, in the form that `why` accepts; other blocks stay open.

    >>> from lcons_core._space import one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> read_assignment(FeatureSpace(blocks), ["Kill", "Location"])
    {'source': 'Location', 'relation': 'Kill'}
    """
    assignment: dict[str, Any] = {}
    bare: list[str] = []
    for word in words:
        pairs = _named_values(space, word)
        bare += [] if pairs else [word]
        for name, value in pairs:
            _assign(space, assignment, *_column_value(space, name, value))
    places = [_columns_of(space, word, assignment) for word in bare]
    for (block, column), word in zip(_only_reading(space, bare, places), bare, strict=True):
        _assign(space, assignment, block, column, word if space.block(block).kind is Kind.ONE_HOT else "1")
    if not assignment:
        raise InvalidInput("expected values such as `Location Kill`, found none; name one or more.")
    order = [block.name for block in space.blocks]
    return {name: assignment[name] for name in sorted(assignment, key=order.index)}


def _named_values(space: FeatureSpace, word: str) -> list[tuple[str, str]]:
    """The (name, value) pairs of a word that begins with a known name and `=`."""
    axes = (name for block in space.blocks for name in block.axis_names())
    names = sorted({*(block.name for block in space.blocks), *axes}, key=len, reverse=True)
    # A comma may itself be a value, so only a comma before a name is a separator.
    known = "|".join(re.escape(name) for name in names)
    starts = list(re.finditer(rf"(?:^|,)\s*({known})\s*=", word))
    if not starts or starts[0].start():
        name, equals, _ = word.partition("=")
        if equals and not _columns_of(space, word, {}):
            space.block(name.strip())  # raises with the list of blocks
        return []
    stops = [*(match.start() for match in starts[1:]), len(word)]
    return [(m[1], word[m.end() : stop].strip()) for m, stop in zip(starts, stops, strict=True)]


def _column_value(space: FeatureSpace, name: str, value: str) -> tuple[str, str, str]:
    """The block, the column (of a block of several axes) and the value of `name=value`."""
    for block in space.blocks:
        if block.kind is Kind.ONE_HOT and block.name == name:
            if value not in space.finite_part.axes[space.finite_part.axis_index(name)].values:
                space.column(name, value)  # raises with the list of values
            return name, "", value
        if block.kind is not Kind.ONE_HOT and name in block.axis_names():
            return block.name, block.values[block.axis_names().index(name)], value
        if block.kind is Kind.BINARY and block.name == name:
            space.column(name, value)
            return name, value, "1"
    example = space.block(name).axis_names()[0]
    raise InvalidInput(f"{name!r} is a block of numbers; name one of them, as in `{example}=1`.")


def _assign(space: FeatureSpace, assignment: dict[str, Any], name: str, column: str, value: str) -> None:
    """Adds a value to the assignment."""
    block = space.block(name)
    number: Any = value
    if block.kind is not Kind.ONE_HOT:
        try:
            number = float(value) if block.kind is Kind.REAL else int(value)
        except ValueError:
            raise InvalidInput(f"expected a number for {name!r}, found {value!r}.") from None
        low, high = (block.low, block.high) if block.numeric else (0, 1)
        if not low <= number <= high:
            raise InvalidInput(f"unknown value {value!r} for {name!r}; use {low} to {high}.")
        number = bool(number) if block.kind is Kind.BINARY else number
    part, key = (assignment, name) if not column else (assignment.setdefault(name, {}), column)
    if part.setdefault(key, number) != number:
        raise InvalidInput(f"expected one value for {name!r}, found two; name only one.")


def _columns_of(space: FeatureSpace, word: str, assignment: dict[str, Any]) -> list[tuple[str, str]]:
    """Where a word without a name can be: the one-hot blocks that have the value and none yet, and the binary
    columns of that name."""
    places = []
    for block in space.blocks:
        if block.kind is Kind.ONE_HOT and block.name not in assignment:
            axis = space.finite_part.axes[space.finite_part.axis_index(block.name)]
            places += [(block.name, "")] if word in axis.values else []
        elif block.kind is Kind.BINARY and word in block.values:
            places += [(block.name, word)]
    return places


def _only_reading(
    space: FeatureSpace, words: Sequence[str], places: Sequence[list[tuple[str, str]]]
) -> tuple[tuple[str, str], ...]:
    """The only way to place the words: in the order of the blocks, otherwise in any order."""
    for word, some in zip(words, places, strict=True):
        if not some:
            known = "; ".join(f"{block.name} ({', '.join(block.values[:6])})" for block in space.blocks[:6])
            raise InvalidInput(f"unknown value {word!r}; the values are those of {known}.")
    if math.prod(map(len, places)) > MOST_READINGS:
        raise InvalidInput(f"{' '.join(words)!r} has too many readings; name the blocks.")
    order = [block.name for block in space.blocks]
    readings = [reading for reading in product(*places) if len({*reading}) == len(reading)]
    ordered = [some for some in readings if [*some] == sorted(some, key=lambda place: order.index(place[0]))]
    readings = ordered or readings
    if len(readings) == 1:
        return readings[0]
    if readings:
        named = ",".join(f"{place[0]}={word}" for place, word in zip(readings[0], words, strict=True))
        raise InvalidInput(f"{' '.join(words)!r} is ambiguous; choose one reading, as in `{named}`.")
    raise InvalidInput(f"{' '.join(words)!r} does not fit the blocks; name at most one value per block.")
