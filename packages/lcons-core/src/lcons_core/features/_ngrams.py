"""Classes of words that a context can be made of, each a name or nothing.

| class | what it tells |
|---|---|
| punctuation | `punctuation` for marks and symbols, nothing for others |
| shape | capitals, lower case, a number by its length, a year, or the mark of punctuation itself |

Paper: Appendix D (punctuation). Not in the paper: the shapes of words.

n-gram features: n adjacent labels, alone or beside n context values (POS tags, word classes).

psi of window t = onehot(context_{t-n+1}) ... onehot(context_t) onehot(label_{t-n+1}) ... onehot(label_t)

Paper: Appendix D (bigram, trigram, part-of-speech, punctuation) and Appendix E (n-gram POS). Context
blocks have an OTHER for values that training did not see; label blocks have none, and an unknown label is
an error.

Not in the paper: padding (`sequence.py`), OTHER.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, Self

import numpy as np

from lcons_core._blocks import OTHER, Requirement, one_hot
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD, Instance, read_instance, read_instances
from lcons_core._psi import Ints, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.features._protocol import GroundedRow, checked_names, vocabulary
from lcons_core.features._windows import START, STOP, SequenceFeature, block_names, ground_windows, windows

NO_CLASS = ""
LONGEST_NUMBER = 4

_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.ASCII)


def is_punctuation(word: str) -> bool:
    """True iff every character is punctuation or a symbol."""
    return bool(word) and all(unicodedata.category(c)[0] in "PS" for c in word)


def shape(word: str) -> str:
    """What a word looks like.

    >>> [shape(word) for word in ["Mind", "of", "ACM", "A", "1950", "433", "(", "McCoy", "3rd"]]
    ['Aa', 'a', 'AA', 'A', 'year', '999', '(', 'mixed', 'mixed']
    """
    if word.isalpha():
        if word.islower():
            return "a"
        if word.isupper():
            return "A" if len(word) == 1 else "AA"
        return "Aa" if word[0].isupper() and word[1:].islower() else "mixed"
    if word.isdigit():
        return "year" if _YEAR.fullmatch(word) else "9" * min(len(word), LONGEST_NUMBER)
    return word if len(word) == 1 and is_punctuation(word) else "mixed"


WORD_CLASSES: dict[str, Callable[[str], str]] = {
    "punctuation": lambda word: "punctuation" if is_punctuation(word) else NO_CLASS,
    "shape": shape,
}


@dataclass(frozen=True)
class NgramLabels(SequenceFeature):
    """n adjacent labels.

    >>> NgramLabels(("B", "I", "O"), n=2).psi(["B", "I", "O"]).dense().astype(int)
    array([[1, 0, 0, 0, 1, 0],
           [0, 1, 0, 0, 0, 1]])
    """

    kind: ClassVar[str] = "ngram"
    column: ClassVar[str] = WORD
    labels: tuple[str, ...]
    n: int = 2
    pad: bool = False

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def space(self) -> FeatureSpace:
        """Blocks `label 1` .. `label n`."""
        return FeatureSpace(*self.label_blocks())

    def psi(self, structure: Any) -> SparsePsi:
        """A row per n-gram."""
        return self.psi_of_values(self.values(read_instance(structure, WORD)))

    def values(self, instance: Instance) -> Ints:
        """(windows, n) value indices."""
        return self.label_windows(instance.y)

    def ground(self, structure: Any) -> list[GroundedRow]:
        """A row per n-gram, linear in the output indicators."""
        return ground_windows(self, len(read_instance(structure, WORD).y), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, "labels": list(self.labels), "n": self.n, "pad": self.pad}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        return cls(tuple(data["labels"]), data["n"], data["pad"])

    @classmethod
    def from_instances(cls, instances: Iterable[Any], n: int = 2, pad: bool = False) -> Self:
        """The labels of the training structures, sorted."""
        found = read_instances(instances, WORD)
        return cls(vocabulary((label for i in found for label in i.y), "label"), n, pad)


@dataclass(frozen=True)
class NgramContext(SequenceFeature):
    """n context values, then n labels; `contexts` of `column`, through `word_class` where that is named.

    >>> feature = NgramContext(("B", "O"), contexts=("DT", "NN"), n=1)
    >>> feature.psi(({"pos": ["NN", "XX"]}, ["B", "O"])).dense().astype(int)
    array([[0, 1, 1, 0],
           [0, 0, 0, 1]])
    """

    kind: ClassVar[str] = "context"
    labels: tuple[str, ...]
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
            raise InvalidInput(
                f"unknown word class {self.word_class!r}; it is one of {', '.join(WORD_CLASSES)}."
            )

    @property
    def context_name(self) -> str:
        """What the context blocks are called."""
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

    def psi(self, structure: Any) -> SparsePsi:
        """A row per n-gram."""
        return self.psi_of_values(self.values(read_instance(structure, self.column)))

    def values(self, instance: Instance) -> Ints:
        """(windows, 2 n) value indices, contexts first."""
        return np.concatenate([self.context_windows(instance), self.label_windows(instance.y)], axis=1)

    def context_ids(self, instance: Instance) -> Ints:
        """(T,) indices into `contexts`; len(contexts) is OTHER."""
        if self.column not in instance.x:
            raise InvalidInput(
                f"the structure has no column {self.column!r} (it has {list(instance.x) or 'none'});"
                " pass (x, y) with that column in x."
            )
        return self.ids_of(instance.x[self.column])

    def ids_of(self, values: Iterable[str]) -> Ints:
        """Indices into `contexts` of the values of `column`, one after another."""
        if self.word_class is not None:
            values = map(WORD_CLASSES[self.word_class], values)
        return np.fromiter(map(self._context_ids.get, values, repeat(len(self.contexts))), dtype=np.int64)

    def context_windows(self, instance: Instance) -> Ints:
        """(windows, n) indices into `contexts`, OTHER where a window reaches into the padding."""
        ids = self.context_ids(instance)
        if self.pad and len(ids):
            other = len(self.contexts)
            ids = np.concatenate([np.full(self.n - 1, other), ids, [other]])
        return windows(ids, self.n)

    def unknown(self, structure: Any) -> int:
        """How many tokens have a context that maps to OTHER."""
        ids = self.context_ids(read_instance(structure, self.column))
        return int((ids == len(self.contexts)).sum())

    def ground(self, structure: Any) -> list[GroundedRow]:
        """A row per n-gram, linear in the output indicators; contexts are constants."""
        instance = read_instance(structure, self.column)
        return ground_windows(self, len(instance.y), self.context_windows(instance))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "labels": list(self.labels),
            "contexts": list(self.contexts),
            "n": self.n,
            "column": self.column,
            "word_class": self.word_class,
            "pad": self.pad,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        fields = {key: data[key] for key in ("n", "column", "word_class", "pad")}
        return cls(tuple(data["labels"]), tuple(data["contexts"]), **fields)

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
        found = read_instances(instances, column)
        labels = vocabulary((label for i in found for label in i.y), "label")
        probe = cls(labels, (), n, column, word_class, pad)
        for instance in found:
            probe.context_ids(instance)
        seen = (value for i in found for value in i.x[column])
        values = seen if word_class is None else map(WORD_CLASSES[word_class], seen)
        known = Counter(value for value in values if value != NO_CLASS)
        contexts = vocabulary((v for v, count in known.items() if count >= least), f"value of {column}")
        return cls(labels, contexts, n, column, word_class, pad)

    @cached_property
    def _context_ids(self) -> dict[str, int]:
        return {context: i for i, context in enumerate(self.contexts)}
