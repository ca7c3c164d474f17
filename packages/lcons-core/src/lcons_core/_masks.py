"""The table form of a local constraint: one Boolean array of allowed label n-grams per input context.

For a window with contexts c and labels v the activations are the sum of a part from the contexts and a part
from the labels,

    a = b + context(c) + label(v),       mask[c][v_1, ..., v_n] = (sum_k ReLU(a_k) <= 1)

so a constraint is compiled into masks once, and a verdict is then one look-up. Masks are exact.

Not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcons_core._blocks import Axis, check_numbers
from lcons_core._coercion import Fitted, as_constraint
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._network import RectifierNetwork
from lcons_core._pointset import PointSet, as_points
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats, Ints
from lcons_core.features._ngrams import SequenceFeature

MAX_CELLS = 2**28
_CACHE_CELLS = 2**15


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
        given = np.zeros((1, 0), dtype=np.int64) if contexts is None else np.asarray(contexts)
        if given.ndim != 2 or given.shape[1] != self.context_axes:
            raise InvalidInput(
                f"contexts must be indices of shape (C, {self.context_axes}), found shape {given.shape}."
            )
        cells = math.prod(self.shape)
        if len(given) * cells > MAX_CELLS:
            raise TooLarge(
                f"{len(given):,} masks of {cells:,} cells exceed the limit of {MAX_CELLS:,} cells;"
                " pass fewer contexts at a time."
            )
        units = max((part.K for part in self.points.networks()), default=1)
        check_numbers(cells * (self.feature.n + units), f"a mask of {cells:,} cells", "use a smaller n")
        labels = np.stack(np.unravel_index(np.arange(cells), self.shape), axis=1)
        out = self._accepted(given, labels)
        if self.space.requires:
            for row, context in zip(out, given, strict=True):
                row &= self.space.possible(_windows(context, labels))
        return out.reshape(len(given), *self.shape)

    def _accepted(self, contexts: Ints, labels: Ints) -> Bools:
        """(C, cells) verdicts."""
        out = np.ones((len(contexts), len(labels)), dtype=np.bool_)
        networks = self.points.networks()
        if not networks or any(part.error_bound(self.space) for part in networks):
            for row, context in zip(out, contexts, strict=True):
                row[:] = self.points.verdicts(self.space, _windows(context, labels))
            return out
        for part in networks:
            out &= self._exact_masks(part, contexts, labels)
        return out

    def _exact_masks(self, part: RectifierNetwork, contexts: Ints, labels: Ints) -> Bools:
        out = np.empty((len(contexts), len(labels)), dtype=np.bool_)
        split = self.context_axes
        given = _activations(self.space.axes[:split], part.W, contexts) + part.b[:, None]
        free = _activations(self.space.axes[split:], part.W, labels)
        step = max(1, _CACHE_CELLS // len(labels))
        for first in range(0, len(contexts), step):
            chunk = slice(first, first + step)
            total = np.zeros((len(contexts[chunk]), len(labels)))
            activation = np.empty_like(total)
            for k in range(part.K):
                np.add.outer(given[k, chunk], free[k], out=activation)
                np.maximum(activation, 0.0, out=activation)
                total += activation
            np.less_equal(total, 1.0, out=out[chunk])
        return out


def compile_masks(constraint: LearnedConstraint, points: PointSet | Fitted | None = None) -> MaskTable:
    """The table form of a local constraint on label n-grams; `points`, if given, replaces its network.

    >>> from lcons_core import iob2
    >>> compile_masks(iob2(["B", "I", "O"][2:])).masks()[0]
    array([[ True,  True],
           [ True, False]])
    """
    as_constraint(constraint, "compile_masks", "its feature")
    if not isinstance(constraint.feature, SequenceFeature):
        raise Unsupported(
            "masks need a local feature over label n-grams (ngram, context), found"
            f" {constraint.feature.kind if constraint.feature else 'no feature'!r}; use the rows or lift."
        )
    replaced = constraint.network if points is None else as_points(points, "compile_masks")
    return MaskTable(replaced, constraint.space, constraint.feature)


def _activations(axes: Sequence[Axis], W: Floats, values: Ints) -> Floats:
    """(K, N) contributions of the given axes to the activations."""
    total = np.zeros((len(W), len(values)))
    for axis, chosen in zip(axes, values.T, strict=True):
        total += axis.contributions(W, chosen).T
    return total


def _windows(context: Ints, labels: Ints) -> Ints:
    """(cells, axes) value indices of all label n-grams with one context."""
    return np.concatenate([np.tile(context, (len(labels), 1)), labels], axis=1)
