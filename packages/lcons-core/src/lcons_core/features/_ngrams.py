"""n-gram features: n adjacent labels, alone or with n context values (POS tags, word classes).

psi of window t = onehot(context_{t-n+1}) ... onehot(context_t) onehot(label_{t-n+1}) ... onehot(label_t)

Paper: Appendix D.1 (bigram, trigram, part-of-speech, punctuation) and Appendix E.1 (n-gram POS).

Context blocks have an OTHER for values that do not occur in training. Label blocks have no OTHER, and an
unknown label is an error.

A sequence shorter than n has no n-gram and satisfies every constraint, unless the feature pads: with padding
there are n - 1 START before the first label and one STOP after the last, so T + 1 windows. START is a value
of the first n - 1 label blocks, STOP is a value of the last, and the space excludes combinations that cannot
occur. An empty sequence has no windows.

A context can be a class of words; a word has one name in the class, or none:

| class | names |
|---|---|
| punctuation | `punctuation` for marks and symbols, none for other words |
| shape | capitals, lower case, a number by its length, a year, or the punctuation mark itself |

Not in the paper: padding, OTHER, the shapes of words.
"""

from __future__ import annotations

import re
import unicodedata
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise, repeat
from typing import Any, Self

import numpy as np

from lcons_core._blocks import OTHER, Block, Requirement, one_hot
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD, CodedColumn, Instance, read_instance, read_instances
from lcons_core._psi import SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Ints
from lcons_core.features._feature import (
    ConstraintFeature,
    GroundedRow,
    Scope,
    checked_flag,
    checked_n,
    checked_names,
    vocabulary,
)

NO_CLASS = ""
LONGEST_NUMBER = 4

_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.ASCII)


def is_punctuation(word: str) -> bool:
    """True iff every character is punctuation or a symbol."""
    return bool(word) and all(unicodedata.category(c)[0] in "PS" for c in word)


def shape(word: str) -> str:
    """The shape of a word.

    >>> [shape(word) for word in ["Mind", "of", "ACM", "A", "1950", "433", "(", "McCoy", "3rd"]]
    ['Aa', 'a', 'AA', 'A', 'year', '999', '(', 'mixed', 'mixed']
    """
    return _known_shape(word) if len(word) <= LONGEST_KNOWN else _shape(word)


def _shape(word: str) -> str:
    if word.isalpha():
        if word.islower():
            return "a"
        if word.isupper():
            return "A" if len(word) == 1 else "AA"
        return "Aa" if word[0].isupper() and word[1:].islower() else "mixed"
    if word.isdigit():
        return "year" if _YEAR.fullmatch(word) else "9" * min(len(word), LONGEST_NUMBER)
    return word if len(word) == 1 and is_punctuation(word) else "mixed"


# Longer words are not cached: a text may have any number of them.
LONGEST_KNOWN = 64
_known_shape = lru_cache(maxsize=2**14)(_shape)


WORD_CLASSES: dict[str, Callable[[str], str]] = {
    "punctuation": lambda word: "punctuation" if is_punctuation(word) else NO_CLASS,
    "shape": shape,
}


def type_of(label: str) -> tuple[str, str]:
    """(prefix, type) of a label of a span scheme; ("", "") for any other label.

    >>> type_of("B-PER"), type_of("O"), type_of("NN-X")
    (('B', 'PER'), ('', ''), ('', ''))
    """
    prefix, dash, kind = label.partition("-")
    return (prefix, kind) if dash and kind and len(prefix) == 1 and prefix.isalpha() else ("", "")


START = "(start)"
STOP = "(stop)"


class SequenceFeature(ConstraintFeature):
    """The common part of the n-gram features: windows over contexts, if any, and labels, with or without
    padding."""

    scope = Scope.LOCAL
    n: int

    @abstractmethod
    def values(self, instance: Instance) -> Ints:
        """(windows, axes) value indices of every window of a structure."""

    def psi(self, structure: Any) -> SparsePsi:
        """One row per n-gram."""
        return self.psi_of_values(self.values(read_instance(structure, self.column)))

    def psi_of_values(self, values: Ints) -> SparsePsi:
        """psi rows of value indices (N, axes)."""
        return SparsePsi.from_columns(self.space.columns_of(values), self.space.d)

    def _check(self) -> None:
        object.__setattr__(self, "labels", checked_names(self.labels, "labels"))
        checked_n(self.n, 2 if checked_flag(self.pad, "pad") else 1)
        if self.pad and {START, STOP} & set(self.labels):
            raise InvalidInput(f"{START!r} and {STOP!r} are reserved for padding; rename these labels.")

    def label_values(self, position: int) -> tuple[str, ...]:
        """The values of the label block at `position` (0 .. n - 1): the labels, then the padding symbol."""
        if not self.pad:
            return self.labels
        return (*self.labels, STOP if position == self.n - 1 else START)

    def label_windows(self, y: Sequence[str]) -> Ints:
        """(windows, n) indices into `label_values` of each position."""
        return self._windows(self.label_ids(y), len(self.labels))

    def label_blocks(self) -> tuple[list[Block], list[Requirement]]:
        """The label blocks of the space, and the requirements that exclude impossible padding."""
        names = block_names("label", self.n)
        blocks = [one_hot(name, self.label_values(i)) for i, name in enumerate(names)]
        requires = []
        if self.pad:
            for before, name in pairwise(names[:-1]):
                requires.append(Requirement(name, START, before, (START,)))
            requires.append(Requirement(names[-1], STOP, names[-2], self.labels))
        return blocks, requires

    def label_terms(self, length: int, window: int) -> list[tuple[int, int]]:
        """(position in y, position in the window) of the labels of a window that are not padding."""
        first = window - (self.n - 1 if self.pad else 0)
        return [(first + i, i) for i in range(self.n) if 0 <= first + i < length]

    def window_count(self, length: int) -> int:
        """The number of windows of a sequence of this length."""
        if self.pad:
            return length + 1 if length else 0
        return max(0, length - self.n + 1)

    def _windows(self, ids: Ints, padding: int) -> Ints:
        """(windows, n) of ids, padded if the feature pads."""
        if self.pad and len(ids):
            ids = np.concatenate([np.full(self.n - 1, padding), ids, [padding]])
        return windows(ids, self.n)

    def _grounded(self, length: int, contexts: Ints) -> list[GroundedRow]:
        """The windows of a sequence, with context indices (windows, 0 or n), as functions of indicators."""
        axes = self.space.axes
        context_axes, label_axes = axes[: -self.n], axes[-self.n :]
        rows = []
        for window in range(self.window_count(length)):
            columns = [int(axis.columns[v]) for axis, v in zip(context_axes, contexts[window], strict=True)]
            constant = {column: 1 for column in columns if column >= 0}
            linear = {}
            inside = {i: position for position, i in self.label_terms(length, window)}
            for i, axis in enumerate(label_axes):
                if i not in inside:
                    constant[int(axis.columns[len(self.labels)])] = 1
                    continue
                for v, label in enumerate(self.labels):
                    linear[int(axis.columns[v])] = ((inside[i], label),)
            rows.append(GroundedRow(constant, linear, {}))
        return rows


def block_names(name: str, n: int) -> list[str]:
    """`name 1` .. `name n`, or only `name` if n is 1."""
    return [name] if n == 1 else [f"{name} {i + 1}" for i in range(n)]


def windows(ids: Ints, n: int) -> Ints:
    """(T - n + 1, n) sliding windows; (0, n) if T < n."""
    if len(ids) < n:
        return np.zeros((0, n), dtype=np.int64)
    return np.stack([ids[i : len(ids) - n + 1 + i] for i in range(n)], axis=1)


@dataclass(frozen=True)
class NgramLabels(SequenceFeature):
    """n adjacent labels.

    >>> NgramLabels(("B", "I", "O"), n=2).psi(["B", "I", "O"]).dense().astype(int)
    array([[1, 0, 0, 0, 1, 0],
           [0, 1, 0, 0, 0, 1]])
    """

    kind = "ngram"
    column = WORD
    labels: tuple[str, ...] = field()
    n: int = 2
    pad: bool = False

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def space(self) -> FeatureSpace:
        """Blocks `label 1` .. `label n`."""
        return FeatureSpace(*self.label_blocks())

    def values(self, instance: Instance) -> Ints:
        """(windows, n) value indices."""
        return self.label_windows(instance.y)

    def ground(self, structure: Any) -> list[GroundedRow]:
        """One row per n-gram, linear in the output indicators."""
        length = len(read_instance(structure, WORD).y)
        return self._grounded(length, np.zeros((self.window_count(length), 0), dtype=np.int64))

    @classmethod
    def from_instances(cls, instances: Iterable[Any], n: int = 2, pad: bool = False) -> Self:
        """The labels of the training structures, sorted."""
        labels = (label for instance in read_instances(instances, WORD) for label in instance.y)
        return cls(vocabulary(labels, "label"), n, pad)


@dataclass(frozen=True)
class NgramContext(SequenceFeature):
    """n context values, then n labels. Contexts are values of `column`, or their `word_class` if given.

    >>> feature = NgramContext(("B", "O"), contexts=("DT", "NN"), n=1)
    >>> feature.psi(({"pos": ["NN", "XX"]}, ["B", "O"])).dense().astype(int)
    array([[0, 1, 1, 0],
           [0, 0, 0, 1]])
    """

    kind = "context"
    labels: tuple[str, ...] = field()
    contexts: tuple[str, ...]
    n: int = 2
    column: str = "pos"
    word_class: str | None = None
    pad: bool = False

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "contexts", tuple(self.contexts))
        checked_names([self.column], "column")
        if self.word_class is not None and self.word_class not in tuple(WORD_CLASSES):
            raise InvalidInput(f"the word class must be one of {', '.join(WORD_CLASSES)}.")

    @cached_property
    def context_column(self) -> str:  # type: ignore[override]
        """The column that every x must have, from which contexts are computed."""
        return self.column

    @property
    def context_name(self) -> str:
        """The name of the context blocks."""
        return self.word_class or self.column

    @cached_property
    def space(self) -> FeatureSpace:
        """Blocks `pos 1` .. `pos n`, each with OTHER, then `label 1` .. `label n`."""
        names = block_names(self.context_name, self.n)
        blocks = [one_hot(name, self.contexts, other=True) for name in names]
        labels, requires = self.label_blocks()
        if self.pad:
            symbols = [START] * (self.n - 1) + [STOP]
            for context, label, symbol in zip(blocks, labels, symbols, strict=True):
                requires.append(Requirement(label.name, symbol, context.name, (OTHER,)))
        return FeatureSpace([*blocks, *labels], requires)

    def values(self, instance: Instance) -> Ints:
        """(windows, 2 n) value indices, contexts first."""
        return np.concatenate([self.context_windows(instance), self.label_windows(instance.y)], axis=1)

    def context_ids(self, instance: Instance) -> Ints:
        """(T,) indices into `contexts`; len(contexts) is OTHER."""
        if self.column not in instance.x:
            raise InvalidInput(f"the structure needs the column {self.column!r}, got {list(instance.x)}.")
        return self.ids_of(instance.x[self.column])

    def ids_of(self, values: Iterable[str]) -> Ints:
        """Indices into `contexts` of values of `column`, in order; a `CodedColumn` is read by its codes."""
        if isinstance(values, CodedColumn):
            ids = self.ids_of(values.values)
            return ids[values.codes]
        if self.word_class is not None:
            values = map(WORD_CLASSES[self.word_class], values)
        return np.fromiter(map(self._context_ids.get, values, repeat(len(self.contexts))), dtype=np.int64)

    def context_windows(self, instance: Instance) -> Ints:
        """(windows, n) indices into `contexts`; OTHER at padding."""
        return self._windows(self.context_ids(instance), len(self.contexts))

    def ground(self, structure: Any) -> list[GroundedRow]:
        """One row per n-gram, linear in the output indicators; contexts are constants."""
        instance = read_instance(structure, self.column)
        return self._grounded(len(instance.y), self.context_windows(instance))

    @classmethod
    def from_instances(
        cls,
        instances: Iterable[Any],
        n: int = 2,
        column: str = "pos",
        word_class: str | None = None,
        pad: bool = False,
        least: int = 1,
    ) -> Self:
        """The labels and context values of the training structures, sorted; values seen fewer than `least`
        times are OTHER."""
        read = read_instances(instances, column)
        labels = vocabulary((label for i in read for label in i.y), "label")
        probe = cls(labels, (), n, column, word_class, pad)
        for instance in read:
            probe.context_ids(instance)
        seen = (value for i in read for value in i.x[column])
        values = seen if word_class is None else map(WORD_CLASSES[word_class], seen)
        known = Counter(value for value in values if value != NO_CLASS)
        contexts = vocabulary((v for v, count in known.items() if count >= least), f"value of {column}")
        return cls(labels, contexts, n, column, word_class, pad)

    @cached_property
    def _context_ids(self) -> dict[str, int]:
        return {context: i for i, context in enumerate(self.contexts)}
