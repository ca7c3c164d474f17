"""Where a long text is cut, so that time and memory do not grow with the square of its candidates.

A part ends after the last sentence that fits, else after the last word that does, never within a candidate.
What fits in one part is not cut. Relations between candidates of different parts are not looked for.

Not in the paper: cutting; its sentences have at most some thirty candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from lcons_tasks.er.passage import Passage

MOST_CANDIDATES = 40
MOST_WORDS = 300
# How many words a tagger or recogniser reads together: each needs memory by the length of a text.
MOST_READ = 2**11
STOPS = frozenset(".!?")

Span = tuple[int, int]


def cut(
    words: Sequence[str],
    spans: Sequence[Span] = (),
    most_words: int = MOST_WORDS,
    most_candidates: int = MOST_CANDIDATES,
) -> Iterator[Span]:
    """(first, after the last) of each part, in order; together they are all words, at least one part.

    >>> list(cut("Ann left . Bo came in .".split(), most_words=5))
    [(0, 3), (3, 7)]
    """
    n = len(words)
    begun, within = [0] * (n + 1), [False] * (n + 1)
    for first, after in spans:
        begun[first + 1] = 1
        within[first + 1 : after] = [True] * (after - first - 1)
    begun = list(accumulate(begun))
    start = 0
    while start < n:
        reach = []
        for end in range(start + 1, min(start + most_words, n) + 1):
            if begun[end] - begun[start] > most_candidates:
                break
            if not within[end]:
                reach.append(end)
        if not reach:
            # A candidate longer than a part is a part.
            reach = [next(end for end in range(start + 1, n + 1) if not within[end])]
        stops = [end for end in reach if words[end - 1] in STOPS]
        end = n if reach[-1] == n else (stops or reach)[-1]
        yield start, end
        start = end
    if not n:
        yield 0, 0


def parts(passage: Passage) -> list[Passage]:
    """A passage in parts, each with the candidates that are in it; parts without candidates are left out."""
    found = []
    for start, end in cut(passage.words, passage.spans):
        spans = tuple((a - start, b - start) for a, b in passage.spans if start <= a < end)
        if spans:
            found.append(Passage(passage.words[start:end], passage.pos[start:end], spans))
    return found or [passage]
