"""Rules as text, read: `load_rules` and `parse_rules`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lcons_core.errors import InvalidInput
from lcons_core.rules import Box, Rules
from lcons_core.rules_file.conditions import conditions, merged
from lcons_core.rules_file.tokens import ALLOW, CANNOT, FORBID, NEEDS, Tokens, shown, starts_with, tokens_of
from lcons_core.space import FeatureSpace

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

    >>> from lcons_core.space import one_hot
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
