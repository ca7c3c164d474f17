"""Rules as text: `load_rules` and `parse_rules` read it, `rules_text` writes it.

A line consists of tokens: names in quotes, commas, and words of the format. A condition is the name of a
block and its values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._blocks import Block, Kind
from lcons_core._errors import InvalidInput
from lcons_core._files import open_regular
from lcons_core._space import FeatureSpace
from lcons_core.reason._domain import Box
from lcons_core.reason._rules import Rules

MAX_BYTES = 2**24


def load_rules(path: str | os.PathLike[str], space: FeatureSpace) -> Rules:
    """The rules in the file at `path`, about the points of `space`."""
    name = str(path)
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"cannot read {name!r}: {getattr(error, 'strerror', None) or error}; pass a file of rules."
        ) from None
    if len(content) > MAX_BYTES:
        raise InvalidInput(f"a file of rules must have at most {MAX_BYTES:,} bytes, but {name!r} is larger.")
    try:
        return parse_rules(content.decode("utf-8-sig"), space, name)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name!r} is not a file of rules: it is not UTF-8 text, from byte {error.start} on; save it as"
            " UTF-8."
        ) from None


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
            f"expected one rule per line in {name}, such as `forbid: ...`, found none; write one, or pass"
            " another file."
        )
    return Rules(space, forbidden, allowed or None)


def _forbidden(space: FeatureSpace, tokens: Tokens) -> tuple[Box, ...]:
    """The boxes that one rule forbids; for all kinds of rules except `allow only:`."""
    if starts_with(tokens, FORBID):
        return (_box(space, tokens[1:]),)
    for at in range(len(tokens)):
        for verb in (NEEDS, CANNOT):
            if not starts_with(tokens, verb, at):
                continue
            left = conditions(space, tokens[:at])
            right = conditions(space, tokens[at + len(verb.split()) :])
            if verb == NEEDS:
                return Rules(space).needs(left, right).forbidden
            return (Box.of(space, merged(left, right)),)
    raise InvalidInput(
        f"expected `A needs B`, `A cannot go with B`, `{FORBID} A` or `{ALLOW} A`, found"
        f" {shown(tokens)!r}; write the rule in one of these forms."
    )


def _box(space: FeatureSpace, tokens: Tokens) -> Box:
    return Box.of(space, conditions(space, tokens))


_BARE = re.compile(r"[^\s,\"#:<>=\\][^\s,\"\\]*")


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
    lines = [] if boxes else [f"{ALLOW} {box_text(box, space)}" for box in every]
    for i, box in enumerate(boxes):
        lines += [f"# {comment}" for comment in comments[i : i + 1]]
        lines += [f"{FORBID} {box_text(some, space)}" for some in ([box] if box.conditions else every)]
    return "".join(f"{line}\n" for line in lines)


def box_text(box: Box, space: FeatureSpace) -> str:
    """The conditions of a box, in the format of the rules."""
    return ", ".join(_condition_text(space, name, values) for name, values in box.conditions)


def _condition_text(space: FeatureSpace, axis_name: str, values: Sequence[str]) -> str:
    axis = space.axes[space.axis_index(axis_name)]
    block = space.block(axis.block)
    if block.kind is Kind.ONE_HOT:
        return f"{_block_text(block)} {' or '.join(_spelt(values, space, block))}"
    [name] = _spelt([space.columns[int(axis.columns[-1])][1]], space, block)
    if block.whole:
        return f"{_block_text(block)} {name} {_ranges_text([int(value) for value in values])}"
    if len(values) > 1:
        raise InvalidInput(
            f"a condition with both values of {axis_name!r} is always true and cannot be written; omit it."
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


def _spelt(names: Sequence[str], space: FeatureSpace, block: Block) -> list[str]:
    """Values without quotes, or in quotes if they could be misread."""
    # Words without quotes could be read as part of a longer name: of a block, or of a value before a number.
    longer = any(other.name.startswith(f"{block.name} ") for other in space.blocks)
    return [
        name
        if _BARE.fullmatch(name) and name not in RESERVED and name not in block.beginnings and not longer
        else _quoted(name)
        for name in names
    ]


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    for letter, character in ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    return f'"{escaped}"'


FORBID, ALLOW = "forbid:", "allow only:"
NEEDS, CANNOT = "needs", "cannot go with"
RESERVED = {"or", "and", "not", "to", NEEDS, *CANNOT.split()}
ESCAPES = {"n": "\n", "r": "\r"}

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(,)|(#.*)|([^\s,"]+)|(.))')


@dataclass(frozen=True)
class Token:
    """A comma, a word, or a name in quotes."""

    text: str
    quoted: bool = False

    def is_word(self, word: str) -> bool:
        """Whether it is this word of the format (a name in quotes never is)."""
        return not self.quoted and self.text == word


Tokens = Sequence[Token]


def tokens_of(line: str) -> list[Token]:
    """Names in quotes, commas and words, without the text after a #."""
    tokens, at = [], 0
    line = line.rstrip()
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            break
        quoted, comma, comment, word, odd = match.groups()
        if odd is not None:
            raise InvalidInput(f"expected a closing quote after {line[at:].strip()[:40]!r}; add one.")
        if comment is not None:
            break
        if quoted is not None:
            tokens.append(Token(_unescaped(quoted), quoted=True))
        else:
            tokens.append(Token(comma or word))
        at = match.end()
    return tokens


def starts_with(tokens: Tokens, words: str, at: int = 0) -> bool:
    """Whether the tokens from `at` on begin with these words of the format."""
    wanted = words.split()
    some = tokens[at : at + len(wanted)]
    return len(some) == len(wanted) and all(
        token.is_word(word) for token, word in zip(some, wanted, strict=True)
    )


def split(tokens: Tokens, separators: tuple[str, ...]) -> list[list[Token]]:
    """The tokens between the separators."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if any(token.is_word(separator) for separator in separators):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def longest(tokens: Tokens, names: Iterable[str]) -> tuple[str | None, Tokens]:
    """The longest name with which the tokens begin, and the tokens after it."""
    known = set(names)
    if tokens and tokens[0].quoted:
        return (tokens[0].text, tokens[1:]) if tokens[0].text in known else (None, tokens)
    bare = next((i for i, token in enumerate(tokens) if token.quoted), len(tokens))
    bare = min(bare, 1 + max((name.count(" ") for name in known), default=-1))
    for stop in range(bare, 0, -1):
        name = shown(tokens[:stop])
        if name in known:
            return name, tokens[stop:]
    return None, tokens


def shown(tokens: Tokens) -> str:
    """The tokens as text, without quotes."""
    return " ".join(token.text for token in tokens)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text)


_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_COMPARED = re.compile(r"(<=|>=|=|<|>)(.*)")


def conditions(space: FeatureSpace, tokens: Tokens) -> dict[str, Any]:
    """Conditions as `Box.of` accepts them."""
    found: dict[str, Any] = {}
    for part in split(tokens, (",", "and")):
        if not part:
            raise InvalidInput(
                "expected a condition such as `source Person`, found none; name a block and a value."
            )
        _add(found, _condition(space, part))
    return found


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both mappings as one; raises `InvalidInput` if both are about the same choice."""
    both: dict[str, Any] = {}
    for conditions in (first, second):
        _add(both, conditions)
    return both


def _add(all_of: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds conditions on other choices."""
    for block, given in more.items():
        if block not in all_of:
            all_of[block] = dict(given) if isinstance(given, Mapping) else given
        elif isinstance(given, Mapping) and not given.keys() & all_of[block].keys():
            all_of[block].update(given)
        else:
            raise InvalidInput(f"{block!r} is named twice in one rule; write `{block} A or B`, or two rules.")


def _condition(space: FeatureSpace, tokens: Tokens) -> dict[str, Any]:
    """One condition, as a mapping from its block."""
    name, rest = longest(tokens, [block.name for block in space.blocks])
    if name is None:
        space.block(tokens[0].text)  # raises with the list of blocks
        raise InvalidInput(f"expected a block and a value, found {shown(tokens)!r}; name both.")
    block = space.block(name)
    if block.whole:
        return _count(block, rest)
    negated, rest = (True, rest[1:]) if rest and rest[0].is_word("not") else (False, rest)
    known = (
        frozenset(space.axes[space.axis_index(name)].values) if block.kind is Kind.ONE_HOT else frozenset()
    )
    values = [_value(space, block, part, known) for part in split(rest, ("or",))]
    if block.kind is Kind.BINARY:
        if len(values) > 1:
            raise InvalidInput(
                f"`or` needs values that exclude each other, but those of {name!r} do not; write one rule for"
                " each value."
            )
        return {name: {values[0]: not negated}}
    if negated:
        excluded = set(values)
        values = [value for value in space.axes[space.axis_index(name)].values if value not in excluded]
        if not values:
            raise InvalidInput(f"`not` excludes every value of {name!r}; allow at least one.")
    return {name: values}


def _value(space: FeatureSpace, block: Block, tokens: Tokens, known: frozenset[str]) -> str:
    """A value, which is checked if it is not one of those that are `known`."""
    if not tokens:
        raise InvalidInput(f"expected a value of {block.name!r}, found none; name one.")
    value = shown(tokens)
    if value not in known:
        space.column(block.name, value)  # raises with the list of values
    return value


def _count(block: Block, tokens: Tokens) -> dict[str, Any]:
    name, rest = longest(tokens, block.values)
    if name is None:
        known = ", ".join(map(repr, block.values[:12]))
        raise InvalidInput(
            f"expected a value of block {block.name!r} and a number, found {shown(tokens)!r}; its values are"
            f" {known}{' ...' if len(block.values) > 12 else ''}."
        )
    negated, rest = (True, rest[1:]) if rest and rest[0].is_word("not") else (False, rest)
    inside = np.zeros(block.high + 1 - block.low, dtype=np.bool_)
    done = block.low
    for part in sorted((_range(block, part) for part in split(rest, ("or",))), key=lambda part: part.start):
        inside[max(part.start, done) - block.low : part.stop - block.low] = True
        done = max(done, part.stop)
    numbers = (block.low + np.flatnonzero(inside != negated)).tolist()
    if not numbers:
        raise InvalidInput(
            f"the condition excludes every count of {name!r}, which are {block.low} to {block.high}; allow at"
            " least one."
        )
    return {block.name: {name: numbers}}


def _range(block: Block, tokens: Tokens) -> range:
    """`3`, `= 3`, `>= 3`, `<= 3`, `> 3`, `< 3`, `2 to 4`."""
    text = " ".join(token.text for token in tokens)
    compared = _COMPARED.fullmatch(text)
    sign, body = (compared[1], compared[2].strip()) if compared else ("=", text)
    low, _, high = body.partition(" to ")
    ends = [end.strip() for end in ((low, high) if high else (low,))]
    if not all(_NUMBER.fullmatch(end) for end in ends) or (high and sign != "="):
        raise InvalidInput(
            f"expected a count such as `3`, `>= 3` or `2 to 4`, found {text!r}; write one of these forms."
        )
    first, last = int(ends[0]), int(ends[-1])
    within = {
        "=": range(first, last + 1),
        ">=": range(first, block.high + 1),
        ">": range(first + 1, block.high + 1),
        "<=": range(block.low, first + 1),
        "<": range(block.low, first),
    }[sign]
    start = min(max(within.start, block.low), block.high + 1)
    return range(start, max(start, min(within.stop, block.high + 1)))
