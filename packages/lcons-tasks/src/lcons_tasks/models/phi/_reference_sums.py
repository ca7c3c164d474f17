"""Emissions of references by numbers: the keys of `_references.py` without their strings.

    emission[t] = sum over the keys of token t of (sum over the attributes of the key of weights[attribute])

A token has ten keys: its word, four words around it, two pairs, its position, its story and its segment.
Words are numbered once per text; everything else is found from their numbers, and attributes are looked up
once per new word, pair, story or segment. Attributes and keys are added in the order of `reference_keys` and
`reference_attributes`, so that the sums are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise, repeat

import numpy as np

from lcons_core.features import shape
from lcons_decode.kernels import Floats, Ints
from lcons_tasks.data.text._clues import WORDS, clue
from lcons_tasks.models.phi._references import (
    AROUND,
    LONGEST_SEGMENT,
    MARKS,
    POSITION,
    reference_attributes,
)

# How much is cached at most: unusual text may have any number of words.
MOST_WORDS, MOST_PAIRS, MOST_CHARACTERS = 2**15, 2**17, 2**24

CLUES = tuple(sorted({*WORDS.values(), "year"}))
KEYS = len(AROUND) + 6
_BESIDE = ("-1", "+1")
_AROUND = tuple(f"w{k:+}=" for k in AROUND)
_FIRST = ("firstsegment=", *(f"firstsegment{s}=" for s in _BESIDE))
_STOPS, _LENGTHS, _NTH, _LEFT = 4, 8, 6, 5


def sums_of(weights: Floats, lists: Iterable[Sequence[int]]) -> Floats:
    """(lists, L) the sum of the rows of `weights` in each list; the last row of `weights` is zero.

    Each list is read as if it began with the row of zeros, so that an empty list has a sum, too.
    """
    ids: list[int] = []
    starts: list[int] = []
    nothing = len(weights) - 1
    for own in lists:
        starts.append(len(ids))
        ids.append(nothing)
        ids += own
    if not starts:
        return np.zeros((0, weights.shape[1]))
    return np.add.reduceat(weights[ids], starts, axis=0)


class _Rows:
    """A table that grows by rows."""

    def __init__(self, width: int) -> None:
        self.rows, self.size = np.zeros((1024, width)), 0

    def add(self, rows: Floats) -> None:
        last = self.size + len(rows)
        if last > len(self.rows):
            grown = np.zeros((2 * last, self.rows.shape[1]))
            grown[: self.size] = self.rows[: self.size]
            self.rows = grown
        self.rows[self.size : last] = rows
        self.size = last


class ReferenceSums:
    """A cache of the summed weights of words, pairs and stories; `weights` (A + 1, L) ends with a row of
    zeros, which stands for attributes without weights."""

    def __init__(self, index: dict[str, int], weights: Floats) -> None:
        self.weights = weights
        self.index = index
        keys = chain.from_iterable(chain.from_iterable(POSITION))
        self.positions = sums_of(weights, map(self._numbers, keys))
        self.edges = sums_of(weights, [[self.number(f"w{k:+}")] for k in AROUND])
        # By number: attributes of a segment that do not depend on its words.
        self.lengths = [self.number(f"length={i}") for i in range(_LENGTHS + 1)]
        self.nth = [self.number(f"nth={i}") for i in range(_NTH + 1)]
        self.left = [self.number(f"left={i}") for i in range(_LEFT + 1)]
        self.inside = {
            name.removeprefix("insegment="): i for name, i in index.items() if name.startswith("insegment=")
        }
        self.told: dict[tuple[str, int], list[int]] = {}
        self.forget()

    def forget(self) -> None:
        """Empties the cache."""
        L = self.weights.shape[1]
        self.words: dict[str, int] = {}
        self.pairs: dict[int, int] = {}
        self.stories: dict[int, int] = {}
        self.by_shape: dict[str, list[int]] = {}
        self.shapes: dict[tuple[str, str], list[int]] = {}
        self.characters = 0
        self.by_word = _Rows((1 + len(AROUND)) * L)
        self.by_pair, self.by_story = _Rows(2 * L), _Rows(L)
        # By number of the word.
        self.lower: list[str] = []
        self.shape: list[str] = []
        self.names: list[tuple[str, ...]] = []
        self.heads: list[list[list[int]]] = []
        self.ends: list[tuple[int, int]] = []
        self.traits = np.zeros((1024, 3), dtype=np.int64)  # clues as bits, is a mark, is a full stop or long

    def emission(self, sentences: Sequence[Sequence[str]]) -> Floats | None:
        """(N, L) of references without an empty one; None if a word is empty or has white space, which the
        strings of keys use to separate words."""
        if (
            len(self.words) > MOST_WORDS
            or max(len(self.pairs), len(self.stories)) > MOST_PAIRS
            or self.characters > MOST_CHARACTERS
        ):
            self.forget()
        words = list(chain.from_iterable(sentences))
        known = self.words
        fresh = [word for word in dict.fromkeys(words) if word not in known]
        if any(word.split() != [word] for word in fresh):
            return None
        self._add_words(fresh)
        ids = np.fromiter(map(known.__getitem__, words), dtype=np.int64, count=len(words))
        offsets = np.cumsum([0, *map(len, sentences)])
        L, N = self.weights.shape[1], len(words)
        owner = np.repeat(np.arange(len(sentences)), np.diff(offsets))
        first, after = offsets[:-1][owner], offsets[1:][owner]
        summed = np.zeros((N, KEYS, L))
        self._sum_words(ids, first, after, summed)
        self._sum_pairs(ids, first, summed)
        place = np.arange(N)
        marks = self.traits[ids, 1]
        starts = np.flatnonzero((place == first) | np.concatenate([[0], marks[:-1]]).astype(np.bool_))
        segment = np.zeros(N, dtype=np.int64)
        segment[starts[1:]] = 1
        segment = np.cumsum(segment)
        t, at = place - first, place - starts[segment]
        # Integer division rounds down, as in `reference_keys`.
        code = (t * 10 // (after - first) * 6 + np.minimum(t, 5)) * 5 + np.minimum(at, 4)
        summed[:, 3 + len(AROUND)] = self.positions[code]
        stories = self._story_rows(ids, offsets)
        summed[:, 4 + len(AROUND)] = self.by_story.rows[stories]
        lists = self._segment_lists(ids, starts, owner)
        summed[:, 5 + len(AROUND)] = sums_of(self.weights, lists)[segment]
        return np.add.reduceat(summed.reshape(-1, L), np.arange(0, N * KEYS, KEYS), axis=0)

    def number(self, attribute: str) -> int:
        """The row of an attribute in `weights`."""
        return self.index.get(attribute, len(self.weights) - 1)

    def _numbers(self, key: str) -> list[int]:
        return list(map(self.index.get, reference_attributes(key), repeat(len(self.weights) - 1)))

    def _add_words(self, words: Sequence[str]) -> None:
        get, nothing, first = self.index.get, len(self.weights) - 1, len(self.words)
        lists: list[list[int]] = []
        for word in words:
            lower, shapes = word.lower(), self._shape_numbers(shape(word))
            lists.append(self._numbers(f"w={word}"))
            lists += [[get(slot + lower, nothing), i] for slot, i in zip(_AROUND, shapes, strict=False)]
        self.by_word.add(sums_of(self.weights, lists).reshape(-1, self.by_word.rows.shape[1]))
        if first + len(words) > len(self.traits):
            grown = np.zeros((2 * (first + len(words)), 3), dtype=np.int64)
            grown[:first] = self.traits[:first]
            self.traits = grown
        for i, word in enumerate(words, start=first):
            lower, own, hint = word.lower(), shape(word), clue(word)
            self.words[word] = i
            self.characters += len(word)
            self.lower.append(lower)
            self.shape.append(own)
            self.names.append((lower, hint) if hint else (lower,))
            shapes = self._shape_numbers(own)[len(_AROUND) :]
            self.heads.append(
                [[get(slot + lower, nothing), s] for slot, s in zip(_FIRST, shapes, strict=True)]
            )
            self.ends.append((get("end=" + word, nothing), get("end-1=" + word, nothing)))
            self.traits[i] = (
                1 << CLUES.index(hint) if hint else 0,
                word in MARKS,
                (word == ".") + 2 * (len(word) > 1),
            )

    def _shape_numbers(self, shape: str) -> list[int]:
        """The attributes of a shape: of the words around, and of the first words of segments."""
        found = self.by_shape.get(shape)
        if found is None:
            found = self.by_shape[shape] = [self.number(f"shape{slot}{shape}") for slot in _AROUND]
            found += [self.number(f"firstshape{slot.removeprefix('first')}{shape}") for slot in _FIRST]
        return found

    def _sum_words(self, ids: Ints, first: Ints, after: Ints, summed: Floats) -> None:
        """The word of each token, and the words around it."""
        L, place = summed.shape[2], np.arange(len(ids))
        rows = self.by_word.rows
        summed[:, 0] = rows[ids, :L]
        for i, k in enumerate(AROUND, start=1):
            other = place + k
            inside = (other >= first) & (other < after)
            summed[inside, i] = rows[ids[other[inside]], i * L : (i + 1) * L]
            summed[~inside, i] = self.edges[i - 1]

    def _sum_pairs(self, ids: Ints, first: Ints, summed: Floats) -> None:
        """The pairs of each token with the one before it, and with the one after it."""
        L, seconds = summed.shape[2], np.flatnonzero(np.arange(len(ids)) > first)
        codes, which = np.unique((ids[seconds - 1] << 32) | ids[seconds], return_inverse=True)
        known = self.pairs
        fresh = [code for code in codes.tolist() if code not in known]
        get, nothing, lower, shapes = self.index.get, len(self.weights) - 1, self.lower, self.shape
        lists: list[list[int]] = []
        for code in fresh:
            one, other = code >> 32, code & 0xFFFFFFFF
            pair, between = f"{lower[one]} {lower[other]}", (shapes[one], shapes[other])
            own = self.shapes.get(between)
            if own is None:
                own = [self.number(f"shapespair{s}={between[0]} {between[1]}") for s in _BESIDE]
                self.shapes[between] = own
            lists.append([get("pair-1=" + pair, nothing), own[0]])
            lists.append([get("pair+1=" + pair, nothing), own[1]])
        known.update(zip(fresh, range(self.by_pair.size, self.by_pair.size + len(fresh)), strict=True))
        self.by_pair.add(sums_of(self.weights, lists).reshape(-1, 2 * L))
        rows = np.array([known[code] for code in codes.tolist()], dtype=np.int64)[which.reshape(-1)]
        summed[seconds, 1 + len(AROUND)] = self.by_pair.rows[rows, :L]
        summed[seconds - 1, 2 + len(AROUND)] = self.by_pair.rows[rows, L:]

    def _story_rows(self, ids: Ints, offsets: Ints) -> Ints:
        """The rows of the clues before and after each token, and of the number of sentences that ended."""
        clues, ends = self.traits[ids, 0], self.traits[ids, 2]
        before, after, stops = (np.zeros(len(ids), dtype=np.int64) for _ in range(3))
        full = np.concatenate([[0], (ends[:-1] >= 2) & (ends[1:] % 2 == 1)])
        full[offsets[:-1]] = 0
        for a, b in pairwise(offsets.tolist()):
            before[a + 1 : b] = np.bitwise_or.accumulate(clues[a : b - 1])
            after[a : b - 1] = np.bitwise_or.accumulate(clues[a + 1 : b][::-1])[::-1]
            stops[a + 1 : b] = np.cumsum(full[a : b - 1])
        width = len(CLUES)
        own = (((before << width) | after) << 3) | np.minimum(stops, _STOPS)
        codes, which = np.unique(own, return_inverse=True)
        known = self.stories
        fresh = [code for code in codes.tolist() if code not in known]
        lists = [
            [
                *self._tell("before=", code >> (3 + width)),
                *self._tell("after=", (code >> 3) & ((1 << width) - 1)),
                self.number(f"stops={code & 7}"),
            ]
            for code in fresh
        ]
        known.update(zip(fresh, range(self.by_story.size, self.by_story.size + len(fresh)), strict=True))
        self.by_story.add(sums_of(self.weights, lists))
        return np.array([known[code] for code in codes.tolist()], dtype=np.int64)[which.reshape(-1)]

    def _tell(self, slot: str, clues: int) -> list[int]:
        """The attributes of a set of clues, sorted by name."""
        found = self.told.get((slot, clues))
        if found is None:
            found = [self.number(slot + name) for i, name in enumerate(CLUES) if clues >> i & 1]
            self.told[slot, clues] = found
        return found

    def _segment_lists(self, ids: Ints, starts: Ints, owner: Ints) -> list[list[int]]:
        """The attributes of each segment with the segments beside it."""
        edges = [*starts.tolist(), len(ids)]
        line = owner[starts].tolist()
        sizes = np.bincount(line).tolist()
        clues = self.traits[ids, 0]
        numbers = ids.tolist()
        names, heads, ends, inside = self.names, self.heads, self.ends, self.inside
        unknown = repeat(len(self.weights) - 1)
        read = [numbers[a : min(b, a + LONGEST_SEGMENT)] for a, b in pairwise(edges)]
        hints = np.bitwise_or.reduceat(clues, starts).tolist()
        for s, own in enumerate(read):
            if edges[s + 1] - edges[s] > LONGEST_SEGMENT:
                hints[s] = int(np.bitwise_or.reduce(self.traits[own, 0]))
        lists = []
        nth = 0
        for s, own in enumerate(read):
            nth = nth + 1 if s and line[s] == line[s - 1] else 0
            left = sizes[line[s]] - nth
            found = sorted({name for word in own for name in names[word]})
            attributes = [
                *heads[own[0]][0],
                *map(inside.get, found, unknown),
                ends[numbers[edges[s + 1] - 1]][0],
                self.lengths[min(edges[s + 1] - edges[s], _LENGTHS)],
                self.nth[min(nth, _NTH)],
                self.left[min(left, _LEFT)],
            ]
            if nth:
                attributes += heads[read[s - 1][0]][1]
                attributes += self._tell("insegment-1=", hints[s - 1])
                attributes.append(ends[numbers[edges[s] - 1]][1])
            if left > 1:
                attributes += heads[read[s + 1][0]][2]
                attributes += self._tell("insegment+1=", hints[s + 1])
            lists.append(attributes)
        return lists
