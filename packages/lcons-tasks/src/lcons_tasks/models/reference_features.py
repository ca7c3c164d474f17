"""What a practitioner would read of each token of a bibliographic reference, as keys and attributes.

word      the word, its lower case, shape, prefixes and suffixes
-2 .. +2  the words around and their shapes; pairs with the next
place     how far into the reference
segment   the words, length and last mark of the stretch between marks of punctuation; those before, after
story     which clues (a year, `In`, `Proc.`, `pp.`, ...) stand before and after; sentences so far
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from lcons_core.features.sequence import WORD
from lcons_core.features.words import shape
from lcons_tasks.models.token_ids import Columns
from lcons_tasks.models.token_ids import shape as letters

AROUND = (-2, -1, 1, 2)
AFFIXES = (1, 2, 3)
LONGEST_SUFFIX = 4
MARKS = frozenset('.,;:()[]"\u201c\u201d')
# A longer stretch without a mark is no field of a reference, and is read by its first words.
LONGEST_SEGMENT = 40

CLUES = {
    word: clue
    for clue, words in {
        "in": "in",
        "proc": "proc proceedings conference symposium workshop",
        "journal": "journal j trans transactions magazine review letters",
        "pages": "pages pp p",
        "volume": "vol volume no number",
        "editor": "editors eds ed editor edited",
        "school": "university univ dept department institute laboratory",
        "press": "press publishers publishing verlag wiley springer",
        "report": "thesis report technical tech tr phd dissertation memo",
        "quote": '" \u201c \u201d',
        "bracket": "( [",
        "link": "http https www doi",
    }.items()
    for word in words.split()
}


def reference_keys(x: Columns, columns: Sequence[str] = ()) -> list[list[str]]:
    """The keys of each token.

    >>> reference_keys({"word": ["Mind", ",", "59"]})[2][:6]
    ['w=59', 'w-2=Mind', 'w-1=,', 'w+1', 'w+2', 'pair-1=, 59']
    """
    words = x[WORD]
    T = len(words)
    segments = _segments(words)
    names = ["\t".join(words[a : min(b, a + LONGEST_SEGMENT)]) for a, b in segments]
    ends = [words[b - 1] for _, b in segments]
    clues = [_clue(word) for word in words]
    before = list(accumulate(clues, _with, initial=frozenset[str]()))
    after = list(accumulate(reversed(clues), _with, initial=frozenset[str]()))[::-1]
    stops = list(accumulate((w == "." and len(v) > 1 for v, w in pairwise(words)), initial=0))
    rows: list[list[str]] = []
    for s, (first, last) in enumerate(segments):
        around = [f"segment={names[s]}", f"end={ends[s]}", f"length={min(last - first, 8)}"]
        around += [f"nth={min(s, 6)}", f"left={min(len(segments) - s, 5)}"]
        if s:
            around += [f"segment-1={names[s - 1]}", f"end-1={ends[s - 1]}"]
        if s + 1 < len(segments):
            around.append(f"segment+1={names[s + 1]}")
        for t in range(first, last):
            row = [f"w={words[t]}"]
            row += [f"w{k:+}={words[t + k]}" if 0 <= t + k < T else f"w{k:+}" for k in AROUND]
            if t:
                row.append(f"pair-1={words[t - 1]} {words[t]}")
            if t + 1 < T:
                row.append(f"pair+1={words[t]} {words[t + 1]}")
            row += [f"place={t * 10 // T}", f"start={min(t, 5)}", f"at={min(t - first, 4)}"]
            row += [f"before={'+'.join(sorted(before[t]))}", f"after={'+'.join(sorted(after[t + 1]))}"]
            row.append(f"stops={min(stops[t - 1] if t else 0, 4)}")
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
        clues = {clue for clue in map(_clue, words) if clue}
        own = {word.lower() for word in words} if slot == "segment" else set()
        return found + [f"in{slot}={name}" for name in sorted(clues | own)]
    if slot in ("before", "after"):
        return [f"{slot}={clue}" for clue in value.split("+")] if value else []
    return [key]


def _segments(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where stretches that end with a mark of punctuation start and end."""
    ends = [t + 1 for t, word in enumerate(words) if word in MARKS]
    edges = sorted({0, *ends, len(words)})
    return list(pairwise(edges))


def _clue(word: str) -> str:
    return "year" if shape(word) == "year" else CLUES.get(word.lower(), "")


def _with(seen: frozenset[str], clue: str) -> frozenset[str]:
    return seen if not clue or clue in seen else seen | {clue}
