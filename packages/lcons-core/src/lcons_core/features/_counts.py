"""Label counts: the number of occurrences of each label in the structure.

psi[l] = number of tokens with label l, or with `spans` of maximal runs of l.

Paper: Appendix D.1 (token counts). Not in the paper: counts of spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from lcons_core._blocks import count
from lcons_core._errors import InvalidInput, Unsupported
from lcons_core._instance import WORD, read_instance, read_instances
from lcons_core._psi import SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.features._ngrams import NgramLabels
from lcons_core.features._protocol import GroundedRow, Scope, checked_flag, checked_names, vocabulary


@dataclass(frozen=True)
class Counts:
    """One number per label, at most `high`.

    >>> Counts(("A", "B"), high=5).psi(["B", "B", "A"]).dense()
    array([[1., 2.]])
    """

    kind: ClassVar[str] = "counts"
    scope: ClassVar[Scope] = Scope.GLOBAL
    column: ClassVar[str] = WORD
    context_column: ClassVar[None] = None
    pad: ClassVar[bool] = False
    names: ClassVar[tuple[str, ...]] = ()
    n: ClassVar[None] = None
    labels: tuple[str, ...]
    high: int = 100
    spans: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", checked_names(self.labels, "labels"))
        checked_flag(self.spans, "spans")

    @cached_property
    def space(self) -> FeatureSpace:
        """One count block, `count`."""
        return FeatureSpace([count("count", self.labels, high=self.high)])

    def psi(self, structure: Any) -> SparsePsi:
        """One row; raises `InvalidInput` if a count is above `high`."""
        ids = NgramLabels(self.labels, 1).label_ids(read_instance(structure, WORD).y)
        if self.spans:
            ids = ids[np.flatnonzero(np.diff(ids, prepend=-1))]
        counts = np.bincount(ids, minlength=len(self.labels))
        if counts.max(initial=0) > self.high:
            raise InvalidInput(
                f"label {self.labels[int(counts.argmax())]!r} occurs {counts.max()} times, more than the"
                f" stated bound of {self.high}; raise `high`."
            )
        return SparsePsi.from_dense(counts[None].astype(np.float64))

    def ground(self, structure: Any) -> list[GroundedRow]:
        """One row, linear in the output indicators; raises `Unsupported` for spans, which are not linear."""
        if self.spans:
            raise Unsupported(
                "span counts are not linear in the output indicators; use token counts (spans=False)."
            )
        length = len(read_instance(structure, WORD).y)
        linear = {j: tuple((t, v) for t in range(length)) for j, v in enumerate(self.labels)}
        return [GroundedRow({}, linear, {})]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "labels": list(self.labels),
            "high": self.high,
            "spans": self.spans,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The feature that `to_dict` described."""
        return cls(tuple(data["labels"]), data["high"], data["spans"])

    @classmethod
    def from_instances(cls, instances: Iterable[Any], spans: bool = False, high: int | None = None) -> Self:
        """The labels of the training structures, sorted; `high` is by default twice the longest length."""
        found = read_instances(instances, WORD)
        longest = max(len(i.y) for i in found)
        labels = vocabulary((label for i in found for label in i.y), "label")
        return cls(labels, high or max(1, 2 * longest), spans)
