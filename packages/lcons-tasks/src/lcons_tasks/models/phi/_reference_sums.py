"""Emissions of references by numbers: the keys of `_references.py` without their strings.

    emission[t] = sum over the keys of token t of (sum over the attributes of the key of weights[attribute])

A token has ten keys: its word, four words around it, two pairs, its position, its story and its segment.
Distinct words are numbered once per batch; everything else is found from their numbers, and attributes are
looked up once per new word, pair, story or segment. Attributes and keys are added in the order of
`reference_keys` and `reference_attributes`, so that the sums are the same to the last bit. A key that a token
lacks has the sum zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from lcons_core import CodedColumn
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
from lcons_tasks.models.phi._sums import KeySums, sums_of

# How much is cached at most: unusual text may have any number of words.
MOST_WORDS, MOST_PAIRS, MOST_SEGMENTS, MOST_CHARACTERS = 2**15, 2**17, 2**15, 2**24

CLUES = tuple(sorted({*WORDS.values(), "year"}))
_BESIDE = ("-1", "+1")
_AROUND = tuple(f"w{k:+}=" for k in AROUND)
_FIRST = ("firstsegment=", *(f"firstsegment{s}=" for s in _BESIDE))
_STOPS, _LENGTHS, _NTH, _LEFT = 4, 8, 6, 5
# The word of places outside the reference.
_EDGE = 0
_NO_PAIR = 0
# Columns of `traits`: clues as bits; is a mark; is a full stop (1) or long (2); then attributes of a segment:
# its last word, here and in the segment before; the first word and its shape, of the segment before and the
# segment after.
_CLUES, _MARK, _STOP, _END, _END_BEFORE, _HEAD_BEFORE = range(6)
_HEAD_AFTER = _HEAD_BEFORE + 2
_TRAITS = _HEAD_AFTER + 2


class ReferenceSums:
    """A cache of the summed weights of words, pairs and stories, and of the attributes of segments.

    weights: (A + 1, L); the last row is zero, and stands for attributes without weights.
    """

    def __init__(self, index: dict[str, int], weights: Floats) -> None:
        self.weights = weights
        self.index = index
        keys = chain.from_iterable(chain.from_iterable(POSITION))
        self.positions = sums_of(weights, map(self._numbers, keys))
        self.edges = sums_of(weights, [[], *([self.number(f"w{k:+}")] for k in AROUND)])
        # By number: attributes of a segment that do not depend on its words.
        self.lengths = np.array([self.number(f"length={i}") for i in range(_LENGTHS + 1)])
        self.nth = np.array([self.number(f"nth={i}") for i in range(_NTH + 1)])
        self.left = np.array([self.number(f"left={i}") for i in range(_LEFT + 1)])
        self.inside = {
            name.removeprefix("insegment="): i for name, i in index.items() if name.startswith("insegment=")
        }
        # The attributes of a clue in the segment before, and in the segment after.
        self.beside = [np.array([self.number(f"insegment{s}={name}") for name in CLUES]) for s in _BESIDE]
        self.told: dict[tuple[str, int], list[int]] = {}
        self.forget()

    def forget(self) -> None:
        """Empties the cache."""
        L = self.weights.shape[1]
        # The sums of a word: its own, and those that it adds to the words around it.
        self.words: KeySums[str | None] = KeySums((1 + len(AROUND)) * L)
        self._forget_pairs()
        self.stories: KeySums[int] = KeySums(L)
        self.segments: dict[bytes, list[int]] = {}
        self.by_shape: dict[str, list[int]] = {}
        self.shapes: dict[tuple[str, str], list[int]] = {}
        self.characters = 0
        # By number of the word; the first is the edge.
        self.lower: list[str] = [""]
        self.shape: list[str] = [""]
        self.names: list[tuple[str, ...]] = [()]
        self.heads: list[list[int]] = [[]]
        self.traits = np.zeros((len(self.words.sums), _TRAITS), dtype=np.int64)
        self.words.add([None], self.edges.reshape(1, -1))

    def kinds(self, column: CodedColumn, offsets: Ints) -> list[Floats] | None:
        """The sums (N, L) of each kind of key, from the words of references at `offsets`; None if a word is
        empty or has white space, which the strings of keys use to separate words."""
        self._make_room()
        known = self.words.places
        fresh = list(dict.fromkeys(word for word in column.values if word not in known))
        if any(word.split() != [word] for word in fresh):
            return None
        if fresh:
            self._add_words(fresh)
        ids = np.array([known[word] for word in column.values], dtype=np.int64)[column.codes]
        N, bounds = len(ids), np.unique(offsets)  # without empty references
        owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        first, after, place = bounds[:-1][owner], bounds[1:][owner], np.arange(N)
        starts = np.flatnonzero((place == first) | np.append(False, self.traits[ids[:-1], _MARK]))
        segment = np.repeat(np.arange(len(starts)), np.diff(starts, append=N))
        t, at = place - first, place - starts[segment]
        # Integer division rounds down, as in `reference_keys`.
        code = (t * 10 // (after - first) * 6 + np.minimum(t, 5)) * 5 + np.minimum(at, 4)
        return [
            *self._word_sums(ids, first, after),
            *self._pair_sums(ids, t > 0),
            self.positions[code],
            self.stories.of(self._stories(ids, bounds), self._sum_stories),
            self._segment_sums(ids, starts, owner[starts])[segment],
        ]

    def _make_room(self) -> None:
        if len(self.words) > MOST_WORDS or self.characters > MOST_CHARACTERS:
            self.forget()
        if len(self.pairs) > MOST_PAIRS:
            self._forget_pairs()
        if len(self.stories) > MOST_PAIRS:
            self.stories = KeySums(self.weights.shape[1])
        if len(self.segments) > MOST_SEGMENTS:
            self.segments.clear()

    def _forget_pairs(self) -> None:
        L = self.weights.shape[1]
        self.pairs: KeySums[int] = KeySums(2 * L)
        self.pairs.add([_NO_PAIR], np.zeros((1, 2 * L)))

    def number(self, attribute: str) -> int:
        """The row of an attribute in `weights`."""
        return self.index.get(attribute, len(self.weights) - 1)

    def _numbers(self, key: str) -> list[int]:
        return list(map(self.index.get, reference_attributes(key), repeat(len(self.weights) - 1)))

    def _add_words(self, words: Sequence[str]) -> None:
        get, nothing, first = self.index.get, len(self.weights) - 1, len(self.words)
        lists: list[list[int]] = []
        traits: list[tuple[int, ...]] = []
        for word in words:
            lower, own, hint = word.lower(), shape(word), clue(word)
            shapes = self._shape_numbers(own)
            lists.append(self._numbers(f"w={word}"))
            lists += [[get(slot + lower, nothing), i] for slot, i in zip(_AROUND, shapes, strict=False)]
            heads = [
                i
                for slot, own_shape in zip(_FIRST, shapes[len(_AROUND) :], strict=True)
                for i in (get(slot + lower, nothing), own_shape)
            ]
            traits.append(
                (
                    1 << CLUES.index(hint) if hint else 0,
                    word in MARKS,
                    (word == ".") + 2 * (len(word) > 1),
                    get("end=" + word, nothing),
                    get("end-1=" + word, nothing),
                    *heads[2:],
                )
            )
            self.characters += len(word)
            self.lower.append(lower)
            self.shape.append(own)
            self.heads.append(heads[:2])
            self.names.append((lower, hint) if hint else (lower,))
        self.words.add(words, sums_of(self.weights, lists).reshape(len(words), -1))
        if len(self.words.sums) > len(self.traits):
            grown = np.zeros((len(self.words.sums), _TRAITS), dtype=np.int64)
            grown[:first] = self.traits[:first]
            self.traits = grown
        self.traits[first : first + len(words)] = traits

    def _shape_numbers(self, shape: str) -> list[int]:
        """The attributes of a shape: of the words around, and of the first words of segments."""
        found = self.by_shape.get(shape)
        if found is None:
            found = self.by_shape[shape] = [self.number(f"shape{slot}{shape}") for slot in _AROUND]
            found += [self.number(f"firstshape{slot.removeprefix('first')}{shape}") for slot in _FIRST]
        return found

    def _word_sums(self, ids: Ints, first: Ints, after: Ints) -> Iterator[Floats]:
        """The word of each token, and the words around it."""
        kinds = 1 + len(AROUND)
        sums = self.words.sums.reshape(len(self.words.sums) * kinds, -1)
        yield sums[ids * kinds]
        place = np.arange(len(ids))
        for i, k in enumerate(AROUND, start=1):
            other = place + k
            inside = (other >= first) & (other < after)
            yield sums[np.where(inside, np.roll(ids, -k), _EDGE) * kinds + i]

    def _pair_sums(self, ids: Ints, second: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The pairs of each token with the one before it, and with the one after it."""
        codes = np.where(second, (np.roll(ids, 1) << 32) | ids, _NO_PAIR)
        rows = 2 * self.pairs.rows(codes.tolist(), self._sum_pairs)
        sums = self.pairs.sums.reshape(2 * len(self.pairs.sums), -1)
        # The pair after the last token is that before the first token of the next reference: none.
        return sums[rows], sums[np.roll(rows, -1) + 1]

    def _sum_pairs(self, codes: Sequence[int]) -> Floats:
        get, nothing, lower, shapes = self.index.get, len(self.weights) - 1, self.lower, self.shape
        lists: list[list[int]] = []
        for code in codes:
            one, other = code >> 32, code & 0xFFFFFFFF
            pair, between = f"{lower[one]} {lower[other]}", (shapes[one], shapes[other])
            own = self.shapes.get(between)
            if own is None:
                own = [self.number(f"shapespair{s}={between[0]} {between[1]}") for s in _BESIDE]
                self.shapes[between] = own
            lists.append([get("pair-1=" + pair, nothing), own[0]])
            lists.append([get("pair+1=" + pair, nothing), own[1]])
        return sums_of(self.weights, lists).reshape(len(codes), -1)

    def _stories(self, ids: Ints, bounds: Ints) -> list[int]:
        """The clues before and after each token and the number of sentences that ended, as one number."""
        clues, ends = self.traits[ids, _CLUES], self.traits[ids, _STOP]
        before, after, stops = (np.zeros(len(ids), dtype=np.int64) for _ in range(3))
        full = np.append(False, (ends[:-1] >= 2) & (ends[1:] % 2 == 1))
        full[bounds[:-1]] = False
        for a, b in pairwise(bounds.tolist()):
            before[a + 1 : b] = np.bitwise_or.accumulate(clues[a : b - 1])
            after[a : b - 1] = np.bitwise_or.accumulate(clues[a + 1 : b][::-1])[::-1]
            stops[a + 1 : b] = np.cumsum(full[a : b - 1])
        codes = (((before << len(CLUES)) | after) << 3) | np.minimum(stops, _STOPS)
        return codes.tolist()

    def _sum_stories(self, codes: Sequence[int]) -> Floats:
        width = len(CLUES)
        lists = (
            [
                *self._tell("before=", code >> (3 + width)),
                *self._tell("after=", (code >> 3) & ((1 << width) - 1)),
                self.number(f"stops={code & 7}"),
            ]
            for code in codes
        )
        return sums_of(self.weights, lists)

    def _tell(self, slot: str, clues: int) -> list[int]:
        """The attributes of a set of clues, sorted by name."""
        found = self.told.get((slot, clues))
        if found is None:
            found = [self.number(slot + name) for i, name in enumerate(CLUES) if clues >> i & 1]
            self.told[slot, clues] = found
        return found

    def _segment_sums(self, ids: Ints, starts: Ints, line: Ints) -> Floats:
        """(segments, L) of each segment with the segments beside it; `line` is the reference of each."""
        S, after = len(starts), np.append(starts[1:], len(ids))
        read = np.minimum(after, starts + LONGEST_SEGMENT)
        content = ids.astype(np.int32).tobytes()
        keys = [content[a:b] for a, b in zip((4 * starts).tolist(), (4 * read).tolist(), strict=True)]
        own = [self.segments.get(key) or self._segment(key) for key in keys]
        others = self._other_attributes(ids, starts, after, read, line)
        present = others >= 0
        # Each list has the row of zeros, as in `sums_of`, the attributes of the words, and the others.
        lengths, more = np.fromiter(map(len, own), np.int64, S), present.sum(1)
        firsts = np.cumsum(lengths + more) - lengths - more
        where = np.repeat(firsts + lengths - (np.cumsum(more) - more), more) + np.arange(int(more.sum()))
        flat = np.zeros(int((lengths + more).sum()), dtype=np.int64)
        is_own = np.ones(len(flat), dtype=np.bool_)
        is_own[where] = False
        flat[where] = others[present]
        flat[is_own] = np.fromiter(chain.from_iterable(own), np.int64, int(lengths.sum()))
        return np.add.reduceat(self.weights[flat], firsts, axis=0)

    def _segment(self, key: bytes) -> list[int]:
        """The row of zeros and the attributes of the words of a segment, given as numbers."""
        words = memoryview(key).cast("i").tolist()
        found = sorted({name for word in words for name in self.names[word]})
        nothing = len(self.weights) - 1
        own = [nothing, *self.heads[words[0]], *map(self.inside.get, found, repeat(nothing))]
        self.segments[key] = own
        return own

    def _other_attributes(self, ids: Ints, starts: Ints, after: Ints, read: Ints, line: Ints) -> Ints:
        """(segments, attributes) what a segment has besides its words, -1 where there is none: its end,
        length and place; and the first words, the clues and the end of the segments beside it."""
        S, traits = len(starts), self.traits
        firsts = np.flatnonzero(np.diff(line, prepend=-1))  # the first segment of each reference
        nth = np.arange(S) - firsts[line]
        left = np.diff(firsts, append=S)[line] - nth
        heads, ends = traits[ids[starts]], traits[ids[after - 1]]
        hints = np.bitwise_or.reduceat(traits[ids, _CLUES], starts)
        for s in np.flatnonzero(read < after).tolist():
            hints[s] = np.bitwise_or.reduce(traits[ids[starts[s] : read[s]], _CLUES])
        clues = hints[:, None] >> np.arange(len(CLUES)) & 1
        before, behind = (np.where(clues, own, -1) for own in self.beside)
        own = (
            ends[:, _END],
            self.lengths[np.minimum(after - starts, _LENGTHS)],
            self.nth[np.minimum(nth, _NTH)],
            self.left[np.minimum(left, _LEFT)],
        )
        last = np.column_stack([heads[:, _HEAD_BEFORE : _HEAD_BEFORE + 2], before, ends[:, _END_BEFORE]])
        next_ = np.column_stack([heads[:, _HEAD_AFTER : _HEAD_AFTER + 2], behind])
        last, next_ = np.roll(last, 1, axis=0), np.roll(next_, -1, axis=0)
        last[nth == 0], next_[left == 1] = -1, -1
        return np.column_stack([*own, last, next_])
