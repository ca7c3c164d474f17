"""A line of rules as tokens: names in quotes, commas, words; and the words of the format.

Conditions of rules: a block by name, and what it may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcons_core._blocks import Block, Kind
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace

FORBID, ALLOW = "forbid:", "allow only:"
NEEDS, CANNOT = "needs", "cannot go with"
RESERVED = {"or", "and", "not", "to", NEEDS, *CANNOT.split()}
ESCAPES = {"n": "\n", "r": "\r"}

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(,)|(#.*)|([^\s,"]+)|(.))')


@dataclass(frozen=True)
class Token:
    """A comma, a word, or a name that was in quotes."""

    text: str
    quoted: bool = False

    def is_word(self, word: str) -> bool:
        """Whether it is this word of the format, which a name in quotes is not."""
        return not self.quoted and self.text == word


Tokens = Sequence[Token]


def tokens_of(line: str) -> list[Token]:
    """Names in quotes, commas and words; what follows a # is left out."""
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


def starts_with(tokens: Tokens, words: str) -> bool:
    """Whether the tokens begin with these words of the format."""
    wanted = words.split()
    return len(tokens) >= len(wanted) and all(
        token.is_word(word) for token, word in zip(tokens, wanted, strict=False)
    )


def split(tokens: Tokens, separators: tuple[str, ...]) -> list[list[Token]]:
    """What stands between the separators."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if any(token.is_word(separator) for separator in separators):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def longest(tokens: Tokens, names: Iterable[str]) -> tuple[str | None, Tokens]:
    """The longest of the names that the tokens begin with, and what follows it."""
    known = set(names)
    if tokens and tokens[0].quoted:
        return (tokens[0].text, tokens[1:]) if tokens[0].text in known else (None, tokens)
    bare = next((i for i, token in enumerate(tokens) if token.quoted), len(tokens))
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


_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_COMPARED = re.compile(r"(<=|>=|=|<|>)(.*)")


def conditions(space: FeatureSpace, tokens: Tokens) -> dict[str, Any]:
    """Conditions as `Box.of` takes them."""
    found: dict[str, Any] = {}
    for part in split(tokens, (",", "and")):
        if not part:
            raise InvalidInput(
                "expected a condition such as `source Person`, found none; name a block and a value."
            )
        found = merged(found, _condition(space, part))
    return found


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, unless they are about the same choice."""
    both = dict(first)
    for block, given in second.items():
        if block not in both:
            both[block] = given
        elif isinstance(given, Mapping) and not set(given) & set(both[block]):
            both[block] = {**both[block], **given}
        else:
            raise InvalidInput(
                f"{block!r} is named twice in one rule; write `{block} A or B`, or rules of their own."
            )
    return both


def _condition(space: FeatureSpace, tokens: Tokens) -> dict[str, Any]:
    """One condition, as a mapping from its block."""
    name, rest = longest(tokens, [block.name for block in space.blocks])
    if name is None:
        space.block(tokens[0].text)  # says which there are
        raise InvalidInput(f"expected a block and a value, found {shown(tokens)!r}; name both.")
    block = space.block(name)
    if block.kind is Kind.COUNT:
        return _count(block, rest)
    negated, rest = (True, rest[1:]) if rest and rest[0].is_word("not") else (False, rest)
    values = [_value(space, block, part) for part in split(rest, ("or",))]
    if block.kind is Kind.BINARY:
        if len(values) > 1:
            raise InvalidInput(
                f"the values of {name!r} do not exclude each other, so `or` between them is no condition;"
                " write a rule for each."
            )
        return {name: {values[0]: not negated}}
    if negated:
        known = space.axes[space.axis_index(name)].values
        values = [value for value in known if value not in values]
        if not values:
            raise InvalidInput(f"`not` leaves no value of {name!r}; leave one.")
    return {name: values}


def _value(space: FeatureSpace, block: Block, tokens: Tokens) -> str:
    if not tokens:
        raise InvalidInput(f"expected a value of {block.name!r}, found none; name one.")
    value = shown(tokens)
    if block.kind is Kind.BINARY or value not in space.axes[space.axis_index(block.name)].values:
        space.column(block.name, value)  # says which there are
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
    inside = {number for part in split(rest, ("or",)) for number in _range(block, part)}
    every = range(block.low, block.high + 1)
    numbers = [number for number in every if (number in inside) != negated]
    if not numbers:
        raise InvalidInput(
            f"no count of {name!r} is left, which is from {block.low} to {block.high}; leave one."
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
            f"expected a count such as `3`, `>= 3` or `2 to 4`, found {text!r}; write numbers so."
        )
    first, last = int(ends[0]), int(ends[-1])
    within = {
        "=": range(first, last + 1),
        ">=": range(first, block.high + 1),
        ">": range(first + 1, block.high + 1),
        "<=": range(block.low, first + 1),
        "<": range(block.low, first),
    }[sign]
    return range(max(within.start, block.low), min(within.stop, block.high + 1))
