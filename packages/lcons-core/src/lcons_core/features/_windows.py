"""Windows over label sequences: what the n-gram features share.

A sequence shorter than n has no n-gram and satisfies every constraint, unless the feature pads: n - 1 START
before the first label and one STOP after the last, T + 1 windows in all. Padding is explicit: START is a
value of the first n - 1 label blocks, STOP of the last, and the space leaves out what cannot occur. An
empty sequence has none.

Not in the paper: padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from lcons_core._blocks import Block, Requirement, one_hot
from lcons_core._errors import InvalidInput
from lcons_core._instance import WORD as WORD
from lcons_core._instance import Instance
from lcons_core._psi import Ints, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core.features._protocol import GroundedRow, Scope, checked_flag, checked_n, checked_names

START = "(start)"
STOP = "(stop)"


class SequenceFeature:
    """What the n-gram features share: windows over labels, with or without padding."""

    scope: ClassVar[Scope] = Scope.LOCAL
    labels: tuple[str, ...]
    n: int
    pad: bool

    @cached_property
    def space(self) -> FeatureSpace:
        """Context blocks, if any, then `label 1` .. `label n`."""
        raise NotImplementedError

    def values(self, instance: Instance) -> Ints:
        """(windows, axes) value indices of every window of a structure."""
        raise NotImplementedError

    def psi_of_values(self, values: Ints) -> SparsePsi:
        """psi rows of value indices (N, axes)."""
        return SparsePsi.from_columns(self.space.columns_of(values), self.space.d)

    def _check(self) -> None:
        object.__setattr__(self, "labels", checked_names(self.labels, "labels"))
        checked_n(self.n, 2 if checked_flag(self.pad, "pad") else 1)
        if self.pad and {START, STOP} & set(self.labels):
            raise InvalidInput(f"{START!r} and {STOP!r} are reserved by padding; rename the labels.")

    def label_values(self, position: int) -> tuple[str, ...]:
        """The values of the label block at `position` (0 .. n - 1): the labels, then its padding symbol."""
        if not self.pad:
            return self.labels
        return (*self.labels, STOP if position == self.n - 1 else START)

    def label_windows(self, y: Sequence[str]) -> Ints:
        """(windows, n) indices into `label_values` of each position."""
        ids = self.label_ids(y)
        if self.pad and len(ids):
            padding = len(self.labels)
            ids = np.concatenate([np.full(self.n - 1, padding), ids, [padding]])
        return windows(ids, self.n)

    def label_ids(self, y: Sequence[str]) -> Ints:
        """(T,) indices into `labels`; an unknown label is an error."""
        try:
            return np.array([self._label_ids[label] for label in y], dtype=np.int64)
        except (KeyError, TypeError):
            unknown = next(label for label in y if label not in self.labels)
            raise InvalidInput(
                f"unknown label {unknown!r}; the feature knows {', '.join(self.labels[:12])}"
                f"{' ...' if len(self.labels) > 12 else ''}; relabel it or learn from data that has it."
            ) from None

    def label_blocks(self) -> tuple[list[Block], list[Requirement]]:
        """The label blocks of the space and what padding rules out."""
        names = block_names("label", self.n)
        blocks = [one_hot(name, self.label_values(i)) for i, name in enumerate(names)]
        requires = []
        if self.pad:
            for before, name in pairwise(names[:-1]):
                requires.append(Requirement(name, START, before, (START,)))
            requires.append(Requirement(names[-1], STOP, names[-2], self.labels))
        return blocks, requires

    def label_terms(self, length: int, window: int) -> list[tuple[int, int]]:
        """(position in y, position in the window) of a window's labels that are not padding."""
        first = window - (self.n - 1 if self.pad else 0)
        return [(first + i, i) for i in range(self.n) if 0 <= first + i < length]

    def window_count(self, length: int) -> int:
        """How many windows a sequence of that length has."""
        if self.pad:
            return length + 1 if length else 0
        return max(0, length - self.n + 1)

    @cached_property
    def _label_ids(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}


def block_names(name: str, n: int) -> list[str]:
    """`name 1` .. `name n`, or just `name` where n is 1."""
    return [name] if n == 1 else [f"{name} {i + 1}" for i in range(n)]


def windows(ids: Ints, n: int) -> Ints:
    """(T - n + 1, n) sliding windows; (0, n) where T < n."""
    if len(ids) < n:
        return np.zeros((0, n), dtype=np.int64)
    return np.lib.stride_tricks.sliding_window_view(ids, n)


def ground_windows(feature: SequenceFeature, length: int, contexts: Ints | None) -> list[GroundedRow]:
    """The windows of a sequence as functions of the indicators (position, label)."""
    space = feature.space
    offset = len(space.axes) - feature.n
    rows = []
    for window in range(feature.window_count(length)):
        constant: dict[int, int] = {}
        if contexts is not None:
            for axis, value in zip(space.axes, contexts[window], strict=False):
                if axis.columns[value] >= 0:
                    constant[int(axis.columns[value])] = 1
        terms = feature.label_terms(length, window)
        inside = {i for _, i in terms}
        linear = {
            int(space.axes[offset + i].columns[v]): ((position, label),)
            for position, i in terms
            for v, label in enumerate(feature.labels)
        }
        for i in set(range(feature.n)) - inside:
            constant[int(space.axes[offset + i].columns[len(feature.labels)])] = 1
        rows.append(GroundedRow(constant, linear, {}))
    return rows
