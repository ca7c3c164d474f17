"""A labelled sentence: words, one label per word, and context columns such as POS tags."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lcons_core import Instance, InvalidInput
from lcons_core._instance import WORD


@dataclass(frozen=True)
class Sentence:
    """Words, labels and context columns, all of the same length.

    >>> sentence = Sentence(("the", "dog"), ("B-NP", "I-NP"), {"pos": ("DT", "NN")})
    >>> sentence.x
    {'word': ('the', 'dog'), 'pos': ('DT', 'NN')}
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "labels", tuple(self.labels))
        columns = {name: tuple(values) for name, values in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        if WORD in columns:
            raise InvalidInput(f"a context column cannot have the name {WORD!r}, which is that of the words.")
        for name, values in {"labels": self.labels, **columns}.items():
            if len(values) != len(self.words):
                raise InvalidInput(f"{name!r} needs {len(self)} values, one per word: got {len(values)}.")

    def __len__(self) -> int:
        return len(self.words)

    @property
    def x(self) -> dict[str, tuple[str, ...]]:
        """The input columns by name, as constraint features and decoders read them."""
        return {WORD: self.words, **self.columns}

    @property
    def y(self) -> tuple[str, ...]:
        """The labels."""
        return self.labels

    @property
    def instance(self) -> Instance:
        """The sentence as an `Instance` of lcons-core."""
        return Instance(self.x, self.y)


def hash_sentences(sentences: Iterable[Sentence]) -> str:
    """The sha256 of words, columns and labels."""
    digest = hashlib.sha256()
    for sentence in sentences:
        for token in zip(sentence.words, *sentence.columns.values(), sentence.labels, strict=True):
            digest.update(("\t".join(token) + "\n").encode())
        digest.update(b"\n")
    return digest.hexdigest()
