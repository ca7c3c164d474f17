"""Two sets on a domain too large to enumerate: proofs of equality, and where to look for a difference.

Equal for sure are two networks with the same units: a unit that is never active counts for nothing, and
units are compared by their values on the domain, so a constant that moves between a one-hot block and the
bias changes nothing. Equal for sure are two systems of rows of which each implies the other row by row
(`dominance.py`).

Candidates for a difference are drawn points, points near both boundaries, points climbed to
min(margin_a, -margin_b) and the reverse, and points in and beside the boxes of rules. A candidate proves a
difference once both verdicts on it are exact; no number of candidates proves equality.

Not in the paper.
"""

from __future__ import annotations

import numpy as np

from lcons_core._affine import least_values
from lcons_core._errors import LconsError
from lcons_core._inequalities import LinearInequalities
from lcons_core._network import RectifierNetwork
from lcons_core._pointset import PointSet
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats, Ints
from lcons_core.reason._boundary import climb, near_boundary
from lcons_core.reason._domain import drawn_points
from lcons_core.reason._dominance import singly_implied

PROOF_ROWS = 2**11
DRAWN = 2**14
CLIMBED = 2**8


def proof_of_equality(a: PointSet, b: PointSet, space: FeatureSpace) -> str | None:
    """Why a and b are the same set, where a closed form shows it."""
    units = [_units(points, space) for points in (a, b)]
    if units[0] is not None and units[0] == units[1]:
        return "both have the same units on this space, in some order"
    rows_a, rows_b = _rows(a), _rows(b)
    if rows_a is None or rows_b is None:
        return None
    implied = singly_implied(rows_b, rows_a, space).all() and singly_implied(rows_a, rows_b, space).all()
    return "each row of one is implied by a row of the other" if implied else None


def candidates(a: PointSet, b: PointSet, space: FeatureSpace, rng: np.random.Generator) -> Ints:
    """Distinct assignments where a and b may differ."""
    starts = drawn_points(space, CLIMBED, rng)
    found = [drawn_points(space, DRAWN, rng), starts]
    for inside, outside in ((a, b), (b, a)):

        def difference(p: Ints, inside: PointSet = inside, outside: PointSet = outside) -> Floats:
            return np.minimum(inside.margins(space, p), -outside.margins(space, p))

        found.append(climb(space, starts, difference))
        found.append(near_boundary(inside, space, 2 * CLIMBED, rng))
        found.append(climb(space, found[-1], difference))
        found += inside.landmarks(rng)
    return np.unique(np.concatenate(found), axis=0)


def _units(points: PointSet, space: FeatureSpace) -> list[list[bytes]] | None:
    """For each part its units that can be active, by their values on the domain, in a canonical order."""
    networks = points.networks()
    return sorted(sorted(_unit_keys(part, space)) for part in networks) if networks else None


def _unit_keys(part: RectifierNetwork, space: FeatureSpace) -> list[bytes]:
    rows = np.column_stack([part.W, part.b])
    if not part.error_bound(space):
        active = least_values(space, -part.W, -part.b) < 0
        tables = [axis.table(part.W[active]) for axis in space.axes]
        first = part.b[active] + np.sum([table[0] for table in tables], axis=0)
        rows = np.column_stack([*((table - table[0]).T for table in tables), first])
    return [(row + 0.0).tobytes() for row in rows]


def _rows(points: PointSet) -> LinearInequalities | None:
    """Few exact rows of the same set, where there are such."""
    if points.networks() and points.rounded:
        return None
    try:
        return points.inequalities(PROOF_ROWS)
    except LconsError:
        return None  # too many, or rules without rows: about counts, or too many points to complement
