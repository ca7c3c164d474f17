"""Chunk precision, recall and F1 over IOB labels, by the rules of conlleval and seqeval.

A chunk of type X starts at B-X, and at I-X where no chunk of type X goes on; it ends before B, O or another
type. A predicted chunk is right iff the gold labels have a chunk of that type at exactly those tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# The type of bare B and I.
UNTYPED = "_"


@dataclass(frozen=True)
class ChunkF1:
    """Counts of right, predicted and gold chunks, and what follows from them (0 where nothing is counted)."""

    right: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """The share of predicted chunks that are right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold chunks that are found."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.right / (self.predicted + self.gold) if self.predicted + self.gold else 0.0


def chunks(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(type, first, after the last) of each chunk.

    >>> list(chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-PP"]))
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5), ('PP', 5, 6)]
    """
    kind, first = "", 0
    for t, label in enumerate([*labels, "O"]):
        prefix, _, name = label.partition("-")
        name = name or UNTYPED
        if kind and not (prefix == "I" and name == kind):
            yield kind, first, t
            kind = ""
        if prefix in ("B", "I") and not kind:
            kind, first = name, t


def chunk_f1(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> ChunkF1:
    """The counts over all sentences."""
    right = predicted = wanted = 0
    for y, z in zip(gold, found, strict=True):
        there, claimed = set(chunks(y)), set(chunks(z))
        right, predicted, wanted = right + len(there & claimed), predicted + len(claimed), wanted + len(there)
    return ChunkF1(right, predicted, wanted)


def runs_as_iob2(labels: Sequence[str]) -> list[str]:
    """Labels without prefixes, a chunk a run of one label, as IOB2.

    >>> runs_as_iob2(["author", "author", "date"])
    ['B-author', 'I-author', 'B-date']
    """
    before = [None, *labels[:-1]] if labels else []
    return [f"{'I' if old == label else 'B'}-{label}" for old, label in zip(before, labels, strict=True)]
