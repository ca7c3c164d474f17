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

from lcons_core._arithmetic import Floats, rounding_bound
from lcons_core._errors import LconsError, Unsupported
from lcons_core._inequalities import LinearInequalities, estimate_rows, to_inequalities
from lcons_core._network import Conjunction, RectifierNetwork
from lcons_core._psi import Ints
from lcons_core._space import FeatureSpace
from lcons_core.reason._boundary import climb, drawn_points, margins, near_boundary
from lcons_core.reason._dominance import singly_implied
from lcons_core.reason._points import AnyPoints, least_values, margin_bound
from lcons_core.reason._rules import Box, Rules

PROOF_ROWS = 2**11
DRAWN = 2**14
CLIMBED = 2**8
BOXES = 2**7


def proof_of_equality(a: AnyPoints, b: AnyPoints, space: FeatureSpace) -> str | None:
    """Why a and b are the same set, where a closed form shows it."""
    units = [_units(points, space) for points in (a, b)]
    if units[0] is not None and units[0] == units[1]:
        return "both have the same units on this space, in some order"
    rows_a, rows_b = _rows(a), _rows(b)
    if rows_a is None or rows_b is None:
        return None
    implied = singly_implied(rows_b, rows_a, space).all() and singly_implied(rows_a, rows_b, space).all()
    return "each row of one is implied by a row of the other" if implied else None


def candidates(a: AnyPoints, b: AnyPoints, space: FeatureSpace, rng: np.random.Generator) -> Ints:
    """Distinct assignments where a and b may differ."""
    starts = drawn_points(space, CLIMBED, rng)
    found = [drawn_points(space, DRAWN, rng), starts]
    for inside, outside in ((a, b), (b, a)):

        def difference(p: Ints, inside: AnyPoints = inside, outside: AnyPoints = outside) -> Floats:
            return np.minimum(margins(inside, space, p), -margins(outside, space, p))

        found.append(climb(space, starts, difference))
        found.append(near_boundary(inside, space, 2 * CLIMBED, rng))
        found.append(climb(space, found[-1], difference))
        if isinstance(inside, Rules):
            boxes = (*inside.forbidden, *(inside.allowed or ()))[:BOXES]
            found += [_around(box, space, rng) for box in boxes]
    return np.unique(np.concatenate(found), axis=0)


def _units(points: AnyPoints, space: FeatureSpace) -> list[list[bytes]] | None:
    """For each part its units that can be active, by their values on the domain, in a canonical order."""
    if isinstance(points, Rules) and points.allowed is None:
        try:
            points = points.network()
        except Unsupported:
            return None  # rules about counts
    if not isinstance(points, RectifierNetwork | Conjunction):
        return None
    return sorted(sorted(_unit_keys(part, space)) for part in points.parts)


def _unit_keys(part: RectifierNetwork, space: FeatureSpace) -> list[bytes]:
    rows = np.column_stack([part.W, part.b])
    if not margin_bound(part, space):
        active = least_values(space, -part.W, -part.b) < 0
        tables = [axis.table(part.W[active]) for axis in space.axes]
        first = part.b[active] + np.sum([table[0] for table in tables], axis=0)
        rows = np.column_stack([*((table - table[0]).T for table in tables), first])
    return [(row + 0.0).tobytes() for row in rows]


def _rows(points: AnyPoints) -> LinearInequalities | None:
    """Few exact rows of the same set, where there are such."""
    if isinstance(points, LinearInequalities):
        return points if len(points) <= PROOF_ROWS else None
    if isinstance(points, RectifierNetwork | Conjunction):
        exact = not any(rounding_bound(part.magnitude(1.0), 0, part.exponent) for part in points.parts)
        return to_inequalities(points) if exact and estimate_rows(points).rows <= PROOF_ROWS else None
    try:
        rows = points.rows() if isinstance(points, Rules) else None
    except LconsError:
        return None  # counts, or too many points to complement: rules without rows
    return rows if rows is not None and len(rows) <= PROOF_ROWS else None


def _around(box: Box, space: FeatureSpace, rng: np.random.Generator) -> Ints:
    """Points in a box, and the same points with one of its conditions drawn anew."""
    points = drawn_points(space, 64, rng)
    for name, values in box.conditions:
        axis = space.axes[space.axis_index(name)]
        allowed = np.array([axis.values.index(value) for value in values])
        points[:, space.axis_index(name)] = rng.choice(allowed, len(points))
    beside = [points]
    for name, _ in box.conditions:
        moved = points.copy()
        i = space.axis_index(name)
        moved[:, i] = rng.integers(0, len(space.axes[i]), len(points))
        beside.append(moved)
    found = np.concatenate(beside)
    return found[space.possible(found)]
