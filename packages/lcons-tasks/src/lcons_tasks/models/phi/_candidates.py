"""phi of entities and relations: all attributes of candidates and of ordered pairs of candidates.

They follow Roth and Yih (2004) and come from the text alone: no gazetteers, no parser; clusters of words, if
there are any, come from word vectors. Words are in lower case, except in shapes; `^` and `$` stand for the
places before and after the sentence.

A candidate has: its phrase, words, first and last word, prefixes and suffixes, shapes and POS tags, length,
digits, capitals and initials; the clusters of its words and of the two words to each side; the three words
(two POS tags) to each side and some of these together, a bag of four words to each side; and the next
candidate if one word stands between.

An ordered pair has, each with the order in which source and target stand: the number of words (candidates
between count as one) and candidates between them, before and after them and in the sentence, some of these
together; the words between, and their bigrams, trigrams, first and last, verbs and stems; the whole string
between, as words, as POS tags, and as a skeleton of verbs, prepositions, conjunctions and punctuation; the
words beside the two; stems of the verbs and nouns of the sentence; and phrase, words, last word, suffixes,
shape, length and POS tags of both, some of them with the string between.

Paper: Sec. 4. Differs from the paper: Roth and Yih's own feature files are not available.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from lcons_tasks.data._passage import Passage
from lcons_tasks.models._clusters import Clusters
from lcons_tasks.models.phi._tokens import shape

# The number of words between two candidates is rounded up to one of these; above the last it is `far`.
DISTANCES = (0, 1, 2, 3, 4, 6, 9, 14, 20)
# The first character of a pair's attribute: the source stands before the target, or after it.
FORWARD, BACKWARD = ">", "<"
BIAS = "bias"
_SKELETON = {"IN", "TO", "POS", "CC", "WP", "WDT"}
_LONG = "..."
_INITIAL = re.compile(r"[A-Z]\.?")


def candidate_attributes(passage: Passage, candidate: int, clusters: Clusters | None = None) -> list[str]:
    """The attributes of a candidate, each once.

    >>> oslo = Passage(("Ann", "lives", "in", "Oslo"), ("NNP", "VBZ", "IN", "NNP"), ((0, 1), (3, 4)))
    >>> candidate_attributes(oslo, 1)[:4]
    ['bias', 'phrase=oslo', 'length=1', 'tags=NNP']
    """
    text = _text(passage)
    clustered = () if clusters is None else _clustered(text, candidate, clusters)
    return list(dict.fromkeys([*_candidate(text, candidate), *clustered]))


def pair_attributes(passage: Passage, source: int, target: int) -> list[str]:
    """The attributes of an ordered pair of candidates, each once: the shared attributes with the order."""
    order = FORWARD if source < target else BACKWARD
    return [BIAS, *(order + name for name in shared_attributes(passage, *sorted((source, target))))]


def shared_attributes(passage: Passage, first: int, second: int) -> list[str]:
    """The attributes that both ordered pairs of two candidates share, without the order, each once."""
    return list(dict.fromkeys(_pair(_text(passage), first, second)))


class _Text:
    """A passage with its words in lower case, for each word the candidate that it belongs to (-1: none), and
    the stems of verbs and nouns outside candidates."""

    def __init__(self, passage: Passage) -> None:
        self.words, self.pos, self.spans = passage.words, passage.pos, passage.spans
        self.lower = tuple(word.lower() for word in passage.words)
        self.owner = [-1] * len(self.words)
        for i, (first, last) in enumerate(self.spans):
            self.owner[first:last] = [i] * (last - first)
        outside = [t for t, owner in enumerate(self.owner) if owner < 0]
        kinds = {"VB": ("verb", 4), "NN": ("noun", 5)}
        named = [(kinds[self.pos[t][:2]], self.lower[t]) for t in outside if self.pos[t][:2] in kinds]
        self.stems = [f"{kind} stem={word[:size]}" for (kind, size), word in named]

    def word(self, t: int) -> str:
        return _at(self.lower, t)

    def tag(self, t: int) -> str:
        return _at(self.pos, t)

    def between(self, first: int, second: int) -> list[tuple[str, str]]:
        """The (word, tag) pairs between two candidates; a candidate between them counts as one pair."""
        places = range(self.spans[first][1], self.spans[second][0])
        starts = {start for start, _ in self.spans}
        return [
            ("[]", "[]") if self.owner[t] >= 0 else (self.lower[t], self.pos[t])
            for t in places
            if self.owner[t] < 0 or t in starts
        ]


# Cached, because all candidates and pairs of a passage read its text one after another.
_text = lru_cache(maxsize=1)(_Text)


def _candidate(text: _Text, i: int) -> Iterator[str]:
    first, last = text.spans[i]
    cased, words, tags = (values[first:last] for values in (text.words, text.lower, text.pos))
    shapes = list(map(shape, cased))
    yield from (BIAS, f"phrase={' '.join(words)}", f"length={min(len(words), 5)}")
    yield from (f"tags={' '.join(tags) if len(tags) <= 4 else _LONG}", f"shapes={' '.join(shapes[:5])}")
    yield from (f"first={words[0]}", f"last={words[-1]}", f"first tag={tags[0]}", f"last tag={tags[-1]}")
    yield from (f"first shape={shapes[0]}", f"last shape={shapes[-1]}")
    for word in words:
        yield f"word={word}"
        yield from _affixes(word, "prefix", "suffix", (2, 3, 4))
    yield from _affixes(words[-1], "last prefix", "last suffix", (1, 2, 3, 4))
    yield from (f"first suffix={words[0][-m:]}" for m in (2, 3) if len(words[0]) > m)
    if any(char.isdigit() for word in cased for char in word):
        yield "digit"
    if all(word.isupper() for word in cased):
        yield f"capitals={min(len(cased), 4)}"
    if any(_INITIAL.fullmatch(word) for word in cased):
        yield "initial"
    if first == 0:
        yield "sentence start"
    yield from _around(text, first, last, shapes[-1])
    if i > 0 and text.spans[i - 1][1] == first - 1:
        yield from (f"after={text.word(first - 1)}", f"after {text.lower[first - 2]} {text.word(first - 1)}")
    if i + 1 < len(text.spans) and text.spans[i + 1][0] == last + 1:
        following = text.lower[text.spans[i + 1][1] - 1]
        yield from (f"before={text.word(last)}", f"before {text.word(last)} {following}")


def _around(text: _Text, first: int, last: int, form: str) -> Iterator[str]:
    """The attributes of the words and tags beside a candidate."""
    left, right = [text.word(first - k) for k in (1, 2, 3, 4)], [text.word(last + k) for k in range(4)]
    tags = [text.tag(t) for t in (first - 2, first - 1, last, last + 1)]
    for k in range(3):
        yield from (f"left {k + 1}={left[k]}", f"right {k + 1}={right[k]}")
    for name, tag in zip(("left 2", "left 1", "right 1", "right 2"), tags, strict=True):
        yield f"{name} tag={tag}"
    yield from (f"left={left[1]} {left[0]}", f"right={right[0]} {right[1]}", f"both={left[0]} {right[0]}")
    yield from (f"both tags={tags[1]} {tags[2]}", f"all tags={' '.join(tags)}")
    yield from (f"left shape={left[0]} {form}", f"right shape={right[0]} {form}")
    yield from (f"near={word}" for word in (*left, *right))


def _clustered(text: _Text, i: int, clusters: Clusters) -> Iterator[str]:
    """The clusters of the words of a candidate, of its last word, and of the words beside it."""
    first, last = text.spans[i]
    places = [("word", t) for t in range(first, last)] + [("last", last - 1)]
    places += [("left 1", first - 1), ("right 1", last), ("left 2", first - 2), ("right 2", last + 1)]
    for name, t in places:
        if 0 <= t < len(text.words):
            known = clusters.of(text.words[t]) or clusters.of(text.words[t].rstrip("."))
            if known is not None:
                yield from (f"{name} cluster {k}={cluster}" for k, cluster in enumerate(known, start=1))
            elif name == "word":
                yield "no cluster"


def _pair(text: _Text, first: int, second: int) -> Iterator[str]:
    """The attributes of two candidates in the order of the text."""
    between = text.between(first, second)
    words, tags = [word for word, _ in between], [tag for _, tag in between]
    short = " ".join(words) if len(words) <= 3 else _LONG
    (a, b), (c, d) = text.spans[first], text.spans[second]
    n = len(text.spans)
    yield from ("order", f"distance={next((str(d) for d in DISTANCES if len(words) <= d), 'far')}")
    yield from (f"candidates={min(n, 6)}", f"distance, candidates={min(c - b, 8)} {min(n, 4)}")
    yield from (f"candidates between={min(second - first - 1, 5)}", f"before={min(first, 3)}")
    yield from (f"after={min(n - 1 - second, 3)}", f"between, all={min(second - first - 1, 3)} {min(n, 6)}")
    yield from text.stems
    yield from _between(words, tags)
    yield from _beside(text, a, b, c, d, short)
    kinds = [_kind(text.words[a:b]), _kind(text.words[c:d])]
    skeleton = _skeleton(between)
    yield from (f"skeleton={' '.join(skeleton[:7])}", f"skeleton, kinds={' '.join(skeleton[:5])} {kinds}")
    shapes = [shape(text.words[b - 1]), shape(text.words[d - 1])]
    yield from (f"shape 1={shapes[0]}", f"shape 2={shapes[1]}", f"shapes={' '.join(shapes)}")
    yield from (f"shapes with {short}: {' '.join(shapes)}", f"lengths={min(b - a, 3)} {min(d - c, 3)}")
    for k, (start, end) in enumerate(((a, b), (c, d)), 1):
        last = text.lower[end - 1]
        yield f"phrase {k}={' '.join(text.lower[start:end])}"
        yield from (f"word {k}={word}" for word in text.lower[start:end])
        yield from (f"last {k}={last}", f"tags {k}={' '.join(text.pos[start:end][:4])}")
        yield from (f"suffix {k}={last[-m:]}" for m in (2, 3) if len(last) > m)
        yield from (f"length {k}={min(end - start, 4)}", f"{k} with {short}: {last}")
        if all(word.isupper() for word in text.words[start:end]):
            yield f"capitals {k}"


def _between(words: Sequence[str], tags: Sequence[str]) -> Iterator[str]:
    """The attributes of the words between two candidates."""
    yield from (f"between={word}" for word in words)
    yield from (f"between={' '.join(two)}" for two in pairwise(words))
    yield from (f"between={' '.join(three)}" for three in zip(words, words[1:], words[2:], strict=False))
    yield from (f"stem between={word[:4]}" for word in words if len(word) > 4)
    yield f"all between={' '.join(words) if len(words) <= 6 else _LONG}"
    yield f"tags between={' '.join(tags) if len(tags) <= 8 else _LONG}"
    yield f"ends={' '.join((*words[:1], *words[-1:]))}"
    yield from (f"first between={words[0] if words else ''}", f"last between={words[-1] if words else ''}")
    verbs = [word for word, tag in zip(words, tags, strict=True) if tag.startswith("VB")]
    yield f"verbs={' '.join(verbs[:3])}"
    yield from (f"verb={verb}" for verb in verbs)


def _beside(text: _Text, a: int, b: int, c: int, d: int, short: str) -> Iterator[str]:
    """The attributes of the words next to two candidates at [a, b) and [c, d), outside and between them."""
    left, right = text.word(a - 1), text.word(d)
    yield from (f"left={left}", f"left={text.word(a - 2)} {left}", f"left tag={text.tag(a - 1)}")
    yield from (f"right={right}", f"right={right} {text.word(d + 1)}", f"right tag={text.tag(d)}")
    yield from (f"left with {short}: {left}", f"right with {short}: {right}")
    yield from (f"after 1={text.word(b)}", f"after 1={text.word(b)} {text.word(b + 1)}")
    yield from (f"before 2={text.word(c - 1)}", f"before 2={text.word(c - 2)} {text.word(c - 1)}")
    yield from (f"after 1 tag={text.tag(b)}", f"before 2 tag={text.tag(c - 1)}")


def _skeleton(between: Sequence[tuple[str, str]]) -> list[str]:
    """The words between, without determiners, adjectives and adverbs; a run of nouns becomes one N."""
    skeleton: list[str] = []
    for word, tag in between:
        if tag.startswith("VB") or tag in _SKELETON or not tag[:1].isalpha():
            skeleton.append(word)
        elif tag.startswith("NN") and skeleton[-1:] != ["N"]:
            skeleton.append("N")
    return skeleton


def _kind(words: Sequence[str]) -> str:
    """The kind of a phrase: `A` in capitals, `0` with digits, else its number of words, at most 3."""
    if all(word.isupper() for word in words):
        return "A"
    return "0" if any(char.isdigit() for word in words for char in word) else str(min(len(words), 3))


def _affixes(word: str, prefix: str, suffix: str, sizes: Sequence[int]) -> Iterator[str]:
    for m in sizes:
        if len(word) > m:
            yield from (f"{prefix}={word[:m]}", f"{suffix}={word[-m:]}")


def _at(values: Sequence[str], t: int) -> str:
    return values[t] if 0 <= t < len(values) else "^" if t < 0 else "$"
