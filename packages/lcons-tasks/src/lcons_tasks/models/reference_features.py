"""What a practitioner would read of each token of a bibliographic reference, as keys and attributes.

word      the word, its lower case, shape, prefixes and suffixes
-2 .. +2  the words around and their shapes; pairs with the next
place     how far into the reference
segment   the words, length and last mark of the stretch between marks of punctuation; those before, after
story     which clues (a year, `In`, `Proc.`, `pp.`, ...) stand before and after; sentences so far
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from lcons_core.features.sequence import WORD
from lcons_core.features.words import shape as word_shape
from lcons_tasks.models.token_ids import Columns
from lcons_tasks.models.token_ids import shape as letters
from lcons_tasks.text.clues import clue

AROUND = (-1, 1, -2, 2)
PLACE, START, AT, STOPS, LENGTH, NTH, REST = (
    [f"{name}={i}" for i in range(11)] for name in ("place", "start", "at", "stops", "length", "nth", "left")
)
AFFIXES = (1, 2, 3)
LONGEST_SUFFIX = 4
MARKS = frozenset('.,;:()[]"\u201c\u201d')
# A longer stretch without a mark is no field of a reference, and is read by its first words.
LONGEST_SEGMENT = 40

shape = lru_cache(maxsize=2**14)(word_shape)


def reference_keys(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The keys of each token.

    >>> reference_keys({"word": ["Mind", ",", "59"]})[2][:6]
    ['w=59', 'w-1=,', 'w+1', 'w-2=Mind', 'w+2', 'pair-1=, 59']
    """
    words = x[WORD]
    T = len(words)
    segments = _segments(words)
    names = ["\t".join(words[a : min(b, a + LONGEST_SEGMENT)]) for a, b in segments]
    clues = [clue(word) for word in words]
    before = _told("before", clues)
    after = _told("after", clues[::-1])[::-1]
    stops = [0, *accumulate((w == "." and len(v) > 1 for v, w in pairwise(words)), initial=0)]
    # Each word as its neighbours' key: shifted, with the edges marked by a bare `w-1`.
    shifted = [_shifted(words, k) for k in AROUND]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    rows: list[list[str]] = []
    for s, (first, last) in enumerate(segments):
        around = [f"segment={names[s]}", f"end={words[last - 1]}", LENGTH[min(last - first, 8)]]
        around += [NTH[min(s, 6)], REST[min(len(segments) - s, 5)]]
        if s:
            around += [f"segment-1={names[s - 1]}", f"end-1={words[first - 1]}"]
        if s + 1 < len(segments):
            around.append(f"segment+1={names[s + 1]}")
        for t in range(first, last):
            row = [f"w={words[t]}", *(keys[t] for keys in shifted)]
            if t:
                row.append(f"pair-1={pairs[t - 1]}")
            if t + 1 < T:
                row.append(f"pair+1={pairs[t]}")
            row += (PLACE[t * 10 // T], START[min(t, 5)], AT[min(t - first, 4)])
            row += (before[t], after[t + 1], STOPS[min(stops[t], 4)])
            for name in columns:
                values = x[name]
                row.append(f"column {name}={values[t]}")
                row += [f"column {name}{k:+}={values[t + k]}" for k in (-1, 1) if 0 <= t + k < T]
            rows.append(row + around)
    return rows


def reference_attributes(key: str) -> Sequence[str]:
    """The attributes that a key stands for.

    >>> reference_attributes("w=Mind")[:4], reference_attributes("before=in+year")
    (['bias', 'w=Mind', 'lower=mind', 'shape=Aa'], ['before=in', 'before=year'])
    """
    slot, _, value = key.partition("=")
    if slot == "w":
        lower = value.lower()
        found = ["bias", key, f"lower={lower}", f"shape={shape(value)}", f"letters={letters(value)}"]
        found += [f"prefix={lower[:k]}" for k in AFFIXES]
        return found + [f"suffix={lower[-k:]}" for k in (*AFFIXES, LONGEST_SUFFIX)]
    if slot.startswith("w"):
        return [f"{slot}={value.lower()}", f"shape{slot}={shape(value)}"] if value else [key]
    if slot.startswith("pair"):
        one, _, other = value.partition(" ")
        return [f"{slot}={value.lower()}", f"shapes{slot}={shape(one)} {shape(other)}"]
    if slot.startswith("segment"):
        words = value.split("\t")
        found = [f"first{slot}={words[0].lower()}", f"firstshape{slot}={shape(words[0])}"]
        clues = set(map(clue, words)) - {""}
        own = {word.lower() for word in words} if slot == "segment" else set()
        return found + [f"in{slot}={name}" for name in sorted(clues | own)]
    if slot in ("before", "after"):
        return [f"{slot}={one}" for one in value.split("+")] if value else []
    return [key]


def _segments(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where stretches that end with a mark of punctuation start and end."""
    ends = [t + 1 for t, word in enumerate(words) if word in MARKS]
    edges = sorted({0, *ends, len(words)})
    return list(pairwise(edges))


def _shifted(words: Sequence[str], k: int) -> list[str]:
    """The key of the word at distance k, of each token."""
    edge = [f"w{k:+}"] * min(abs(k), len(words))
    keys = [f"w{k:+}={word}" for word in words]
    return [*edge, *keys[: len(words) + k]] if k < 0 else [*keys[k:], *edge]


def _told(slot: str, clues: Sequence[str]) -> list[str]:
    """The keys of which clues stand before each token and, last, before the end."""
    seen: set[str] = set()
    told = [f"{slot}="]
    for one in clues:
        if one and one not in seen:
            seen.add(one)
            told.append(f"{slot}={'+'.join(sorted(seen))}")
        else:
            told.append(told[-1])
    return told
