"""spaCy's English tokens without spaCy, which takes seconds to import.

A chunk is text without white space. Its tokens are found as `spacy.tokenizer.Tokenizer` finds them:

    chunk -> a special case, or prefixes + middle + suffixes
    middle -> a special case, a URL, or parts between infixes

Prefixes and suffixes are taken off while there are any, until the rest is a special case (`don't`, `p.m.`).
Then special cases that were split (`Mr.` in `(Ms/Mr.)`) are put together again: the longest first, and of
equally long ones the first.

`english.json` holds spaCy's rules: the patterns of affixes, infixes and URLs, the tokens of special cases
(`cases`), and the tokens into which the affixes alone would split some of them (`split`). `tools/english.py`
writes it, and a test compares it with the spaCy that is installed.

A sentence ends after a full stop or the like, before the next token that is no punctuation.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

RULES = Path(__file__).with_name("english.json")

# The chunks whose tokens are kept.
_KEPT = 2**15
_CHUNK = re.compile(r"\S+")


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of `english.json`."""

    prefix: re.Pattern[str]
    suffix: re.Pattern[str]
    infix: re.Pattern[str]
    url: re.Pattern[str]
    cases: dict[str, list[str]]
    split: dict[str, list[str]]
    stops: frozenset[str]

    @cached_property
    def split_by_first(self) -> dict[str, list[list[str]]]:
        """The token sequences of special cases that were split, by their first token."""
        found: dict[str, list[list[str]]] = {}
        for tokens in self.split.values():
            found.setdefault(tokens[0], []).append(tokens)
        return found


@cache
def rules() -> Rules:
    """The rules, read once."""
    found = json.loads(RULES.read_text(encoding="utf-8"))
    prefix, suffix, infix, url = (re.compile(found[name]) for name in ("prefix", "suffix", "infix", "url"))
    return Rules(prefix, suffix, infix, url, found["cases"], found["split"], frozenset(found["stops"]))


def pieces(text: str) -> Iterator[tuple[str, int]]:
    """(token, start) of each token of a text without lone surrogates.

    >>> [token for token, _ in pieces("She's late (Ms/Mr.)")]
    ['She', "'s", 'late', '(', 'Ms', '/', 'Mr.', ')']
    """
    tokens: list[str] = []
    starts: list[int] = []
    # Special cases are put together again only among tokens with nothing, or one blank, between them.
    first = end = 0
    for chunk in _CHUNK.finditer(text):
        if starts and text[end : chunk.start()] != " ":
            yield from _joined(text, tokens[first:], starts[first:])
            first = len(tokens)
        at, end = chunk.span()
        for token in _chunk_tokens(chunk.group()):
            tokens.append(token)
            starts.append(at)
            at += len(token)
    yield from _joined(text, tokens[first:], starts[first:])


def sentence_starts(tokens: Sequence[str]) -> Iterator[int]:
    """The places where sentences begin after the first.

    >>> list(sentence_starts(["No", "!", '"', "He", "left", "."]))
    [3]
    """
    stops = rules().stops
    seen = False
    for i, token in enumerate(tokens):
        if token in stops:
            seen = True
        elif seen and not all(unicodedata.category(character)[0] == "P" for character in token):
            yield i
            seen = False


@lru_cache(_KEPT)
def _chunk_tokens(chunk: str) -> tuple[str, ...]:
    known = rules()
    if chunk in known.cases:
        return tuple(known.cases[chunk])
    middle, before, after = _without_affixes(chunk, known)
    return (*before, *(_middle_tokens(middle, known) if middle else ()), *reversed(after))


def _without_affixes(chunk: str, known: Rules) -> tuple[str, list[str], list[str]]:
    before: list[str] = []
    after: list[str] = []
    size = -1
    while chunk and len(chunk) != size and chunk not in known.cases:
        size = len(chunk)
        prefix = _length(known.prefix, chunk)
        if prefix and chunk[prefix:] in known.cases:
            before.append(chunk[:prefix])
            return chunk[prefix:], before, after
        suffix = _length(known.suffix, chunk[prefix:])
        if suffix and chunk[:-suffix] in known.cases:
            after.append(chunk[-suffix:])
            return chunk[:-suffix], before, after
        if prefix:
            before.append(chunk[:prefix])
        if suffix:
            # The suffix was found after the prefix, so they do not overlap.
            after.append(chunk[-suffix:])
        chunk = chunk[prefix : len(chunk) - suffix]
    return chunk, before, after


def _length(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return found.end() - found.start() if found else 0


def _middle_tokens(middle: str, known: Rules) -> list[str]:
    if middle in known.cases:
        return known.cases[middle]
    if known.url.match(middle):
        return [middle]
    tokens = []
    start = 0
    for found in known.infix.finditer(middle):
        first, end = found.span()
        if first:
            tokens += [middle[start:first], middle[first:end]]
            start = end
    return [token for token in (*tokens, middle[start:]) if token]


def _joined(text: str, tokens: list[str], starts: list[int]) -> Iterator[tuple[str, int]]:
    """The tokens, with special cases that were split put together."""
    known = rules()
    by_first = known.split_by_first
    spans = [
        (-len(case), i)
        for i, token in enumerate(tokens)
        if token in by_first
        for case in by_first[token]
        if tokens[i : i + len(case)] == case
    ]
    replaced: dict[int, int] = {}
    seen: set[int] = set()
    for size, i in sorted(set(spans)):
        stop = i - size
        if i not in seen and stop - 1 not in seen:
            replaced[i] = stop
        seen.update(range(i, stop))
    i = 0
    while i < len(tokens):
        stop = replaced.get(i, i + 1)
        whole = text[starts[i] : starts[stop - 1] + len(tokens[stop - 1])]
        at = starts[i]
        if i in replaced and whole in known.cases:
            for token in known.cases[whole]:
                yield token, at
                at += len(token)
        else:
            yield from zip(tokens[i:stop], starts[i:stop], strict=True)
        i = stop
