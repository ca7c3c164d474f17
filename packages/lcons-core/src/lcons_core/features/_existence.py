"""Label existence: which label n-grams occur in the structure.

psi[g] = 1 iff n-gram g occurs, over all L^n n-grams.

Paper: Appendix D.1 (n = 1) and Appendix E.1 (any n). Each bit is an OR of conjunctions of output indicators,
and is grounded as such: e >= every conjunction, e <= the sum of all conjunctions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from lcons_core._blocks import binary
from lcons_core._errors import TooLarge
from lcons_core._instance import WORD, read_instance, read_instances
from lcons_core._psi import SparsePsi
from lcons_core._space import MAX_COLUMNS, FeatureSpace
from lcons_core.features._ngrams import NgramLabels, windows
from lcons_core.features._protocol import GroundedRow, Scope, checked_n, checked_names, vocabulary

MAX_TEXT = 2**28


@dataclass(frozen=True)
class Existence:
    """One bit per label n-gram.

    >>> Existence(("A", "B"), n=1).psi(["B", "B"]).dense()
    array([[0., 1.]])
    """

    kind: ClassVar[str] = "existence"
    scope: ClassVar[Scope] = Scope.GLOBAL
    column: ClassVar[str] = WORD
    context_column: ClassVar[None] = None
    pad: ClassVar[bool] = False
    names: ClassVar[tuple[str, ...]] = ()
    labels: tuple[str, ...]
    n: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", checked_names(self.labels, "labels"))
        checked_n(self.n)
        columns = len(self.labels) ** self.n
        if columns > MAX_COLUMNS:
            raise TooLarge(
                f"{len(self.labels)}^{self.n} = {columns:,} columns exceed the limit of {MAX_COLUMNS:,};"
                " use a smaller n."
            )
        if columns * self.n * max(map(len, self.labels)) > MAX_TEXT:
            raise TooLarge(
                f"the names of {columns:,} n-grams exceed {MAX_TEXT:,} characters; use a smaller n."
            )

    @cached_property
    def space(self) -> FeatureSpace:
        """One binary block, `exists`; the name of an n-gram is its labels, joined by spaces."""
        return FeatureSpace([binary("exists", map(" ".join, product(self.labels, repeat=self.n)))])

    def psi(self, structure: Any) -> SparsePsi:
        """One row."""
        ids = NgramLabels(self.labels, 1).label_ids(read_instance(structure, WORD).y)
        powers = len(self.labels) ** np.arange(self.n)[::-1]
        return SparsePsi.from_indices([np.unique(windows(ids, self.n) @ powers)], self.space.d)

    def ground(self, structure: Any) -> list[GroundedRow]:
        """One row of OR indicators."""
        length = len(read_instance(structure, WORD).y)
        any_of = {
            column: tuple(
                tuple((t + i, label) for i, label in enumerate(gram)) for t in range(length - self.n + 1)
            )
            for column, gram in enumerate(product(self.labels, repeat=self.n))
        }
        return [GroundedRow({}, {}, any_of)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, "labels": list(self.labels), "n": self.n}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        return cls(tuple(data["labels"]), data["n"])

    @classmethod
    def from_instances(cls, instances: Iterable[Any], n: int = 1) -> Self:
        """The labels of the training structures, sorted."""
        found = read_instances(instances, WORD)
        return cls(vocabulary((label for i in found for label in i.y), "label"), n)
