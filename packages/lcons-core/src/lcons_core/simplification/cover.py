"""Cover: a small set of rows that rejects the same points of a domain, none of which can be left out.

Every rejected point violates some rows, its pattern; rows are needed that meet every pattern (set
cover). Rows that meet many points are chosen first. Patterns are not kept for the whole domain: a scan
stores only patterns of points that the rows chosen so far accept, rows that no stored pattern needs are
dropped, and the domain is scanned again. When a scan finds nothing, the chosen rows reject every
rejected point, and each has a stored pattern that only it meets.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lcons_core.domain import Bools, PointSet, row_verdicts
from lcons_core.enumeration import points_at, scan
from lcons_core.exact import Floats
from lcons_core.psi import Ints
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import LinearInequalities

_CELLS = 2**24
_STORED_A_CHUNK = 256


def irredundant_rows(
    rows: LinearInequalities,
    space: FeatureSpace,
    reference: PointSet,
    progress: Callable[[int, int], None] | None = None,
) -> Ints:
    """The positions of rows that reject what `reference` (the set of all rows) rejects, none superfluous."""
    cover = _Cover(rows, space)
    for flat in cover.pieces(_sample(space, _CELLS // max(1, len(rows)))):
        cover.extend(flat, stored=len(flat))
    cover.reduce()
    searching = True
    while searching:
        searching = False
        start = list(cover.chosen)
        for flat, (accepted, open_) in scan([reference, rows.take(np.array(start, np.int64))], space):
            for piece in cover.pieces(flat[open_ & ~accepted]):
                cover.extend(piece, stored=_STORED_A_CHUNK)
            if progress is not None and flat.size:
                progress(int(flat[-1]) + 1, space.size)
        if len(cover.chosen) > len(start):
            searching = cover.reduce()
    return np.sort(np.array(cover.chosen, dtype=np.int64))


class _Cover:
    """Rows chosen so far, and the patterns that made them be chosen."""

    def __init__(self, rows: LinearInequalities, space: FeatureSpace) -> None:
        self.rows, self.space = rows, space
        self.chosen: list[int] = []
        self.stored: dict[bytes, int] = {}

    def pieces(self, flat: Ints) -> list[Ints]:
        """The points in pieces whose patterns fit in memory."""
        size = max(1, _CELLS // max(1, len(self.rows)))
        return [flat[i : i + size] for i in range(0, len(flat), size)]

    def extend(self, flat: Ints, stored: int) -> None:
        """Chooses rows until every rejected point among these is met; stores at most `stored` patterns."""
        points = points_at(self.space, flat)
        violated = ~row_verdicts(self.rows, self.space, points)
        violated = violated[violated.any(1) & ~violated[:, self.chosen].any(1)]
        if not len(violated):
            return
        packed, counts = np.unique(np.packbits(violated, axis=1), axis=0, return_counts=True)
        weights = counts.astype(np.float64)
        for pattern, weight in zip(packed[:stored], counts[:stored], strict=True):
            key = pattern.tobytes()
            self.stored[key] = self.stored.get(key, 0) + int(weight)
        patterns = _unpacked(packed, len(self.rows))
        gain: Floats = weights @ patterns.astype(np.float64)
        open_ = np.ones(len(patterns), dtype=np.bool_)
        while open_.any():
            row = int(np.argmax(gain))
            met = open_ & patterns[:, row]
            gain -= weights[met] @ patterns[met].astype(np.float64)
            open_ &= ~met
            self.chosen.append(row)

    def reduce(self) -> bool:
        """Drops chosen rows that no stored pattern needs, those that meet few points first; True if any."""
        before = len(self.chosen)
        if not before:
            return False
        keys = np.frombuffer(b"".join(self.stored), dtype=np.uint8).reshape(len(self.stored), -1)
        patterns = _unpacked(keys, len(self.rows))[:, self.chosen]
        weights = np.array(list(self.stored.values()), dtype=np.float64)
        needed, times_met = np.ones(before, dtype=np.bool_), patterns.sum(1)
        for i in np.argsort(weights @ patterns, kind="stable"):
            if (times_met[patterns[:, i]] >= 2).all():
                needed[i] = False
                times_met = times_met - patterns[:, i]
        self.chosen = [row for row, keep in zip(self.chosen, needed, strict=True) if keep]
        return len(self.chosen) < before


def _unpacked(packed: NDArray[np.uint8], rows: int) -> Bools:
    return np.unpackbits(packed, axis=1, count=rows).view(np.bool_)


def _sample(space: FeatureSpace, most: int) -> Ints:
    """All points of a small domain, else drawn ones, so that the first rows chosen meet many points."""
    if space.size <= most:
        flat = np.arange(space.size)
    else:
        flat = np.unique(np.random.default_rng(0).integers(0, space.size, max(most // 8, 1024)))
    return flat[space.possible(points_at(space, flat))]
