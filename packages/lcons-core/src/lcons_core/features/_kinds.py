"""Features of whole structures (existence, counts) and of tuples, and all kinds by name.

    existence   psi[g] = 1 iff the label n-gram g occurs, over all L^n n-grams
    counts      psi[l] = the number of tokens with label l, or with `spans` of maximal runs of l
    tuples      psi of (v_1, ..., v_m) = onehot(v_1) ... onehot(v_m)

An existence bit is an OR of conjunctions of output indicators, and is grounded as such: e >= every
conjunction, e <= the sum of all conjunctions. Tuples are the labels of several decisions that belong
together, such as a source entity and its relation.

Paper: Appendix C.2 (source-relation, relation-target and relation-relation pairs), Appendix D.1 (existence
for n = 1, token counts) and Appendix E.1 (existence for any n).
Not in the paper: counts of spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np

from lcons_core._blocks import binary, count, one_hot
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._instance import WORD, read_instance, read_instances
from lcons_core._psi import SparsePsi
from lcons_core._space import MAX_COLUMNS, FeatureSpace
from lcons_core.features._feature import (
    DEFINED,
    ConstraintFeature,
    GroundedRow,
    Scope,
    checked_flag,
    checked_n,
    checked_names,
    vocabulary,
)
from lcons_core.features._ngrams import NgramContext, NgramLabels, windows

ENTRY_POINTS = "lcons.features"
MAX_TEXT = 2**28


@dataclass(frozen=True)
class Existence(ConstraintFeature):
    """One bit per label n-gram.

    >>> Existence(("A", "B"), n=1).psi(["B", "B"]).dense()
    array([[0., 1.]])
    """

    kind = "existence"
    scope = Scope.GLOBAL
    column = WORD
    labels: tuple[str, ...] = field()
    n: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", checked_names(self.labels, "labels"))
        columns = len(self.labels) ** checked_n(self.n)
        if columns > MAX_COLUMNS or columns * self.n * max(map(len, self.labels)) > MAX_TEXT:
            raise TooLarge(f"{len(self.labels)}^{self.n} n-grams need more than {MAX_COLUMNS:,} columns.")

    @cached_property
    def space(self) -> FeatureSpace:
        """One binary block, `exists`; the name of an n-gram is its labels, joined by spaces."""
        return FeatureSpace([binary("exists", map(" ".join, product(self.labels, repeat=self.n)))])

    def psi(self, structure: Any) -> SparsePsi:
        """One row."""
        ids = self.label_ids(read_instance(structure, WORD).y)
        powers = len(self.labels) ** np.arange(self.n)[::-1]
        return SparsePsi.from_indices([np.unique(windows(ids, self.n) @ powers)], self.space.d)

    def ground(self, structure: Any) -> list[GroundedRow]:
        """One row of OR indicators."""
        starts = range(len(read_instance(structure, WORD).y) - self.n + 1)
        grams = enumerate(product(self.labels, repeat=self.n))
        any_of = {j: tuple(tuple(enumerate(gram, t)) for t in starts) for j, gram in grams}
        return [GroundedRow({}, {}, any_of)]

    @classmethod
    def from_instances(cls, instances: Iterable[Any], n: int = 1) -> Self:
        """The labels of the training structures, sorted."""
        return cls(vocabulary((label for i in read_instances(instances, WORD) for label in i.y), "label"), n)


@dataclass(frozen=True)
class Counts(ConstraintFeature):
    """One number per label, at most `high`.

    >>> Counts(("A", "B"), high=5).psi(["B", "B", "A"]).dense()
    array([[1., 2.]])
    """

    kind = "counts"
    scope = Scope.GLOBAL
    column = WORD
    labels: tuple[str, ...] = field()
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
        ids = self.label_ids(read_instance(structure, WORD).y)
        if self.spans:
            ids = ids[np.flatnonzero(np.diff(ids, prepend=-1))]
        counts = np.bincount(ids, minlength=len(self.labels))
        if counts.max(initial=0) > self.high:
            label = self.labels[int(counts.argmax())]
            raise InvalidInput(f"label {label!r} occurs {counts.max()} times, more than high = {self.high}.")
        return SparsePsi.from_dense(counts[None].astype(np.float64))

    def ground(self, structure: Any) -> list[GroundedRow]:
        """One row, linear in the output indicators; raises `Unsupported` for spans, which are not linear."""
        if self.spans:
            raise Unsupported("span counts are not linear in the output indicators; use spans=False.")
        length = len(read_instance(structure, WORD).y)
        linear = {j: tuple((t, v) for t in range(length)) for j, v in enumerate(self.labels)}
        return [GroundedRow({}, linear, {})]

    @classmethod
    def from_instances(cls, instances: Iterable[Any], spans: bool = False, high: int | None = None) -> Self:
        """The labels of the training structures, sorted; `high` is by default twice the longest length."""
        read = read_instances(instances, WORD)
        labels = vocabulary((label for i in read for label in i.y), "label")
        return cls(labels, high or max(1, 2 * max(len(i.y) for i in read)), spans)


@dataclass(frozen=True)
class Tuples(ConstraintFeature):
    """One one-hot block per member: `names[i]` with `values[i]`.

    >>> pairs = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
    >>> pairs.psi([("Person", "Kill")]).dense()
    array([[1., 0., 0., 1.]])
    """

    kind = "tuples"
    scope = Scope.LOCAL
    names: tuple[str, ...] = field()
    values: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", checked_names(self.names, "names"))
        if len(self.names) != len(self.values):
            raise InvalidInput(f"{len(self.names)} names need as many tuples of values.")
        pairs = zip(self.names, self.values, strict=True)
        checked = tuple(checked_names(values, f"the values of {name!r}") for name, values in pairs)
        object.__setattr__(self, "values", checked)

    @cached_property
    def space(self) -> FeatureSpace:
        """One block per name."""
        return FeatureSpace(one_hot(n, v) for n, v in zip(self.names, self.values, strict=True))

    def psi(self, structure: Any) -> SparsePsi:
        """One row per tuple, or one row of a single tuple; a tuple may also be a mapping by name."""
        alone = isinstance(structure, tuple) and bool(structure) and isinstance(structure[0], str)
        parts = [structure] if alone or isinstance(structure, Mapping) else read_instance(structure).y
        named = [self.space.by_block(part) for part in parts]
        columns = [self.space.column(name, part.get(name, "")) for part in named for name in self.names]
        places = np.array(columns, dtype=np.int64).reshape(len(parts), len(self.names))
        return SparsePsi.from_columns(places, self.space.d)

    @classmethod
    def from_instances(cls, instances: Iterable[Any], names: Sequence[str] = ()) -> Self:
        """The values of the training tuples, sorted, member by member."""
        parts = [part for instance in read_instances(instances) for part in instance.y]
        chosen = tuple(names) or tuple(f"value {i + 1}" for i in range(len(parts[0]) if parts else 0))
        if any(isinstance(part, str) or len(part) != len(chosen) for part in parts):
            raise InvalidInput(f"every tuple must have {len(chosen)} members.")
        return cls(chosen, tuple(vocabulary((p[i] for p in parts), name) for i, name in enumerate(chosen)))


_GENERIC: dict[str, type[ConstraintFeature]] = {
    kind.kind: kind for kind in (NgramLabels, NgramContext, Existence, Counts, Tuples)
}


def feature_from_dict(data: Mapping[str, Any]) -> ConstraintFeature:
    """The feature of any kind that a `to_dict` described; code of another package is loaded only if it
    registers exactly this kind."""
    name = str(data.get("kind"))
    if name in _GENERIC:
        return _GENERIC[name].from_dict(data)
    if name in DEFINED:
        return DEFINED[name].from_dict(data)
    registered = _registered()
    if name not in registered:
        raise InvalidInput(f"unknown feature kind {name!r}; install the package that registers it.")
    kind: type[ConstraintFeature] = registered[name].load()
    return kind.from_dict(data)


def _registered() -> dict[str, Any]:
    from importlib.metadata import entry_points  # slow to import

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
