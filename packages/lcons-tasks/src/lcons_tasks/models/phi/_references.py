"""phi of a token of a bibliographic reference, as a practitioner would choose it: keys and their attributes.

word      the word, its lower case, shape, prefixes and suffixes
-2 .. +2  the words around and their shapes; pairs with the next word
place     how far into the reference the token is
segment   the words, length and last mark of the text between two marks of punctuation; of this segment, the
          one before and the one after
story     the clues (a year, `In`, `Proc.`, `pp.`, ...) before and after; the number of sentences so far
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from lcons_core._instance import WORD
from lcons_core.features._ngrams import shape
from lcons_tasks.data.text._clues import clue
from lcons_tasks.models.phi._tokens import Columns, Slot
from lcons_tasks.models.phi._tokens import shape as letters

AROUND = (-1, 1, -2, 2)
AFFIXES = (1, 2, 3)
LONGEST_SUFFIX = 4
MARKS = frozenset('.,;:()[]"\u201c\u201d')
# A longer segment without a mark is not a field of a reference; only its first words are read.
LONGEST_SEGMENT = 40

NOTHING = ""

# Keys by tenth of the reference, tokens from its start, and tokens from the start of the segment.
POSITION = [
    [[f"all=place={place}\nstart={start}\nat={at}" for at in range(5)] for start in range(6)]
    for place in range(10)
]


def reference_keys(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The keys of each token, one column per kind of key; NOTHING if a token has no key of that kind.

    The attributes that all tokens of a segment share are one key.

    >>> reference_keys({"word": ["Mind", ",", "59"]})[2][:7]
    ['w=59', 'w-1=,', 'w+1', 'w-2=Mind', 'w+2', 'pair-1=, 59', '']
    """
    words = list(x[WORD])
    if not words:
        return []
    segments = _segments(words)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    kinds = [
        [f"w={word}" for word in words],
        # Each word as its neighbours' key: shifted, with the edges marked by a bare `w-1`.
        *(_shifted(words, k) for k in AROUND),
        [NOTHING, *(f"pair-1={pair}" for pair in pairs)],
        [*(f"pair+1={pair}" for pair in pairs), NOTHING],
        _positions(len(words), segments),
        _stories(words),
        _arounds(words, segments),
    ]
    slots = reference_slots(columns)
    kinds += [[key or NOTHING for key in slot.keys(x[slot.column])] for slot in slots]
    return list(map(list, zip(*kinds, strict=True)))


def reference_slots(columns: Sequence[str] = ()) -> list[Slot]:
    """The keys of context columns: the value of the token and of its neighbours."""
    return [
        Slot(name, f"column {name}{place}=".__add__, (k,), NOTHING)
        for name in columns
        for k, place in ((0, ""), (-1, "-1"), (1, "+1"))
    ]


def reference_attributes(key: str) -> Sequence[str]:
    """The attributes that a key stands for.

    >>> reference_attributes("w=Mind")[:4], reference_attributes("before=in+year")
    (['bias', 'w=Mind', 'lower=mind', 'shape=Aa'], ['before=in', 'before=year'])
    """
    if not key:
        return ()
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
    if slot == "all":
        return [attribute for part in value.split("\n") for attribute in reference_attributes(part)]
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
    """(start, end) of each segment; a segment ends with a mark of punctuation."""
    ends = [t + 1 for t, word in enumerate(words) if word in MARKS]
    edges = sorted({0, *ends, len(words)})
    return list(pairwise(edges))


def _shifted(words: Sequence[str], k: int) -> list[str]:
    """The key of the word at distance k, for each token."""
    edge = [f"w{k:+}"] * min(abs(k), len(words))
    keys = [f"w{k:+}={word}" for word in words]
    return [*edge, *keys[: len(words) + k]] if k < 0 else [*keys[k:], *edge]


def _positions(T: int, segments: Sequence[tuple[int, int]]) -> list[str]:
    """The position of each token in the reference and in its segment, as one key per token."""
    return [
        POSITION[t * 10 // T][t if t < 5 else 5][t - first if t < first + 4 else 4]
        for first, last in segments
        for t in range(first, last)
    ]


def _arounds(words: Sequence[str], segments: Sequence[tuple[int, int]]) -> list[str]:
    """The segment of each token and the segments beside it, as one key per token."""
    names = ["\t".join(words[a : min(b, a + LONGEST_SEGMENT)]) for a, b in segments]
    keys: list[str] = []
    for s, (first, last) in enumerate(segments):
        parts = [f"segment={names[s]}", f"end={words[last - 1]}", f"length={min(last - first, 8)}"]
        parts += [f"nth={min(s, 6)}", f"left={min(len(segments) - s, 5)}"]
        if s:
            parts += [f"segment-1={names[s - 1]}", f"end-1={words[first - 1]}"]
        if s + 1 < len(segments):
            parts.append(f"segment+1={names[s + 1]}")
        keys += ["all=" + "\n".join(parts)] * (last - first)
    return keys


def _stories(words: Sequence[str]) -> list[str]:
    """The clues before and after each token, and the number of sentences that ended, as one key per token."""
    clues = [clue(word) for word in words]
    before, after = _told("before", clues), _told("after", clues[::-1])[::-1]
    ends = (word == "." and len(one) > 1 for one, word in pairwise(words[:-1]))
    stops = [0, *accumulate(ends, initial=0)][: len(words)]
    parts = zip(before[:-1], after[1:], stops, strict=True)
    return [f"all={one}\n{other}\nstops={stop if stop < 4 else 4}" for one, other, stop in parts]


def _told(slot: str, clues: Sequence[str]) -> list[str]:
    """The key of the clues before each token; the last key is that of all clues."""
    seen: set[str] = set()
    told = [f"{slot}="]
    for one in clues:
        if one and one not in seen:
            seen.add(one)
            told.append(f"{slot}={'+'.join(sorted(seen))}")
        else:
            told.append(told[-1])
    return told
