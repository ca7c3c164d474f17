"""Rules over label types: one sentence for all types of a span scheme.

Labels such as B-PER have a prefix and a type. For label pairs, the cell (h, p, same) is the set of pairs
whose first label has the prefix h (or is the label h, such as O), whose second label has the prefix p, and
whose types are the same or not. A cell is forbidden if all its pairs are. If every cell before the prefix p
is forbidden but some of the same type, the sentence is

    "I-X needs B-X or I-X before it"

otherwise the forbidden cells are listed: "I-X cannot follow O or B-Y", where X and Y are different types. The
first form is also used for what follows a prefix. Each sentence means exactly its cells.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats
from lcons_core.features._ngrams import block_names, type_of
from lcons_core.reason._domain import Box
from lcons_core.reason._explanation.regions import box_of
from lcons_core.reason._explanation.words import listed

CANNOT = "cannot follow"


@dataclass(frozen=True)
class TypeRule:
    """A rule for all types: its words, the labels that it is about (`antecedent`), the number of forbidden
    pairs, and its figures, if any, as in `Rule`."""

    words: str
    antecedent: Box
    size: int
    support: float | None = None
    exceptions: float | None = None
    expected: float | None = None
    bound: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "words": self.words,
            "antecedent": self.antecedent.to_dict(),
            "size": self.size,
            "support": whole(self.support),
            "exceptions": whole(self.exceptions),
            "expected": None if self.expected is None else round(self.expected, 3),
            **({} if self.bound is None else {"bound": round(self.bound, 6)}),
        }


def whole(value: float | None) -> float | None:
    """A weight for files; an int if it is a whole number."""
    return value if value is None or value != int(value) else int(value)


def is_label_pairs(space: FeatureSpace) -> bool:
    """Whether the points of the space are pairs of labels."""
    return [axis.name for axis in space.axes] == block_names("label", 2)


def type_rules(
    space: FeatureSpace, rejected: Bools, possible: Bools, counts: Floats | None
) -> tuple[tuple[TypeRule, ...], Bools]:
    """The rules over types of label pairs, and the pairs (labels, labels) that they forbid; `counts` are the
    valid pairs in training."""
    before, after = ([type_of(value) for value in axis.values] for axis in space.axes)
    tables = _Tables(rejected, possible, counts)
    same = np.array([[a[1] == b[1] and bool(a[1]) for b in after] for a in before])
    found: list[tuple[str, Bools, Bools, int]] = []
    for prefix in _shared(after):
        chosen = np.array([one[0] == prefix for one in after])
        cells = list(_cells(space.axes[0].values, before, chosen[None, :] & possible, same))
        found += ((words, mask, chosen, 1) for words, mask in tables.said(prefix, cells, "before"))
    for prefix in _shared(before):
        chosen = np.array([one[0] == prefix for one in before])
        turned = _cells(space.axes[1].values, after, (chosen[:, None] & possible).T, same.T)
        cells = [(name, cell.T) for name, cell in turned]
        found += ((words, mask, chosen, 0) for words, mask in tables.said(prefix, cells, "after"))
    covered = np.zeros_like(rejected)
    rules = []
    # What a label needs says more than what it cannot follow.
    found.sort(key=lambda one: CANNOT in one[0])
    for words, mask, chosen, axis in found:
        if (mask & ~covered).any():
            figures = tables.figures(mask, chosen[None, :] if axis else chosen[:, None])
            rules.append(TypeRule(words, box_of(space, {axis: chosen}), int(mask.sum()), *figures))
            covered |= mask
    return tuple(rules), covered


def _shared(kinds: Sequence[tuple[str, str]]) -> list[str]:
    """The prefixes that occur with two types or more."""
    prefixes = sorted({prefix for prefix, kind in kinds if kind})
    return [prefix for prefix in prefixes if len({kind for one, kind in kinds if one == prefix}) > 1]


def _cells(
    values: Sequence[str], kinds: Sequence[tuple[str, str]], own: Bools, same: Bools
) -> Iterator[tuple[str, Bools]]:
    """The non-empty cells: the name of the neighbours, and their pairs."""
    heads = [prefix or value for value, (prefix, _) in zip(values, kinds, strict=True)]
    for head in dict.fromkeys(heads):
        rows = np.array([one == head for one in heads])[:, None] & own
        typed = any(prefix == head for prefix, _ in kinds)
        cells = [(f"{head}-X", rows & same), (f"{head}-Y", rows & ~same)] if typed else [(head, rows)]
        yield from ((name, cell) for name, cell in cells if cell.any())


@dataclass(frozen=True, eq=False)
class _Tables:
    """Which pairs are rejected and possible, and how often valid ones occur."""

    rejected: Bools
    possible: Bools
    counts: Floats | None

    def said(self, prefix: str, cells: Sequence[tuple[str, Bools]], side: str) -> Iterator[tuple[str, Bools]]:
        """The sentence for the forbidden cells next to a prefix, if there is one, with its pairs."""
        forbidden = [(name, cell) for name, cell in cells if self.rejected[cell].all()]
        others = [name for name, cell in cells if not self.rejected[cell].all()]
        if not forbidden or not others:
            return
        mask = np.any([cell for _, cell in forbidden], axis=0)
        if all(name.endswith("-X") for name in others):
            yield f"{prefix}-X needs {listed(others)} {side} it", mask
        elif side == "before":
            yield f"{prefix}-X {CANNOT} {listed([name for name, _ in forbidden])}", mask

    def figures(self, mask: Bools, premise: Bools) -> tuple[float, float, float] | tuple[()]:
        """(support, exceptions, expected) of a rule; nothing without examples."""
        if self.counts is None:
            return ()
        total = self.counts.sum() or 1.0
        chance = np.outer(self.counts.sum(1), self.counts.sum(0)) / total
        support, seen = float((self.counts * premise).sum()), float(self.counts[mask].sum())
        return support, seen, float(chance[mask].sum())
