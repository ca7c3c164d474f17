"""The table form of a local constraint: one Boolean array of allowed label n-grams per input context.

For a window with contexts c and labels v the activations are the sum of a part from the contexts and a part
from the labels,

    a = b + context(c) + label(v),       mask[c][v_1, ..., v_n] = (sum_k ReLU(a_k) <= 1)

so a constraint is compiled into masks once, and a verdict is then one look-up. Masks are exact.

Not in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lcons_core._blocks import check_numbers
from lcons_core._constraint import LearnedConstraint, as_constraint
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Ints
from lcons_core.features._ngrams import SequenceFeature

MAX_CELLS = 2**28
_CACHE_NUMBERS = 2**17


@dataclass(frozen=True, eq=False)
class MaskTable:
    """Masks of `points` for the windows of `feature`, computed on demand."""

    points: PointSet
    space: FeatureSpace
    feature: SequenceFeature

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one mask: the number of `feature.label_values` at each position of the window."""
        return tuple(len(axis) for axis in self.space.axes[-self.feature.n :])

    @property
    def context_axes(self) -> int:
        """The number of context indices of a window: 0 or n."""
        return len(self.space.axes) - self.feature.n

    def masks(self, contexts: Ints | None = None) -> Bools:
        """(C, *shape) masks of windows with context indices (C, context_axes); one mask without contexts.

        An n-gram that padding excludes (a START after a label) is False.
        """
        indices = np.zeros((1, 0), dtype=np.int64) if contexts is None else np.asarray(contexts)
        if indices.ndim != 2 or indices.shape[1] != self.context_axes:
            raise InvalidInput(f"contexts must have shape (C, {self.context_axes}), found {indices.shape}.")
        cells = math.prod(self.shape)
        if len(indices) * cells > MAX_CELLS:
            raise TooLarge(f"{len(indices):,} masks of {cells:,} cells exceed {MAX_CELLS:,} cells.")
        check_numbers(cells * (self.feature.n + self.points.width), f"a mask of {cells:,} cells")
        decide = self.points.decider(self.space, self.context_axes)
        out = np.empty((len(indices), cells), dtype=np.bool_)
        step = max(1, _CACHE_NUMBERS // (cells * self.points.width))
        for first in range(0, len(indices), step):
            chunk = slice(first, first + step)
            out[chunk] = decide(indices[chunk], slice(0, cells)).reshape(-1, cells)
        if self.space.requires:
            labels = self.space.unravelled(np.arange(cells), self.context_axes)
            for row, context in zip(out, indices, strict=True):
                row &= self.space.possible(np.hstack([np.tile(context, (cells, 1)), labels]))
        return out.reshape(len(indices), *self.shape)


def compile_masks(constraint: LearnedConstraint) -> MaskTable:
    """The table form of a local constraint on label n-grams.

    >>> from lcons_core import iob2
    >>> compile_masks(iob2(["B", "I", "O"][2:])).masks()[0]
    array([[ True,  True],
           [ True, False]])
    """
    as_constraint(constraint, "compile_masks", "its feature")
    if not isinstance(constraint.feature, SequenceFeature):
        kind = constraint.feature.kind if constraint.feature else "no feature"
        raise Unsupported(f"masks need a feature over windows of labels, got {kind!r}; use rows or lift.")
    return MaskTable(constraint.network, constraint.space, constraint.feature)
