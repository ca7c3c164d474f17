"""A line of rules as tokens: names in quotes, commas, words; and the words of the format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lcons_core.errors import InvalidInput

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
