"""Verification of Theorem 1 on one network, point by point, in rational arithmetic.

    accepts(psi)  =  all rows of Theorem 1 hold  =  the lifted rows have a solution s  =  the row of S* holds

Each side is computed from its own data: the verdict of the network from W and b, that of the rows from the
coefficients that `to_inequalities` returns, that of the lifted form from its matrices (the smallest s that
the rows `s_k >= ...` allow is inserted into the other rows), that of the cut from the row that
`most_violated` returns. A point where two sides differ is a witness that the theorem, or its implementation,
is wrong.

If subset sums of the weights are not exact in float64, the rows are rounded. Then the theorem is checked with
rational subset sums, and points where the rounded rows have another verdict are counted as rounding
differences, with an example. They are not witnesses, but they are always reported.

On a space with real blocks, points are sampled.

`exhausts` and `seconds` estimate the time of a verification: a point costs a multiple of rows times columns
and of units, more if the weights are too long for one float64 product. The factors were measured and are only
approximate.

Paper: Theorem 1 and Appendix A, which prove it; this checks the code.
Not in the paper: verification.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import ScaledForms, exponent, whole_points
from lcons_core._blocks import binary
from lcons_core._errors import InvalidInput, TooLarge, Unsupported
from lcons_core._network import Conjunction, LinearInequalities, Network
from lcons_core._pointset import Fitted, PointSet, as_points, check_width
from lcons_core._psi import SparsePsi, as_psi
from lcons_core._space import FeatureSpace
from lcons_core._theorem import estimate_rows, lift, most_violated, violated_subset
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._domain import drawn_points
from lcons_core.reason._points import drawn_around, near_boundary
from lcons_core.reason._real_points import drawn_psi, psi_near_boundary
from lcons_core.reason._sides import (
    ALL,
    BITS,
    DRAWN_ROWS,
    CheckedRows,
    Verification,
    Witness,
    all_rows_checked,
    lifted_feasible,
    network_margins,
)

ALWAYS_EXHAUSTED = 10**5
MOST_EXHAUSTED = 2**22
PATIENCE = 5.0
# Units times points: about ten seconds. The search for the boundary moves at most 2^18 (axis, value) pairs,
# ten of which take as long as a point.
MOST_VALUES = 2**22
MOST_MOVES, MOVES_A_POINT = 2**18, 10


def exhausts(network: Network, space: FeatureSpace) -> bool:
    """Whether the whole domain is checked: it is small, or takes at most about five seconds."""
    if not space.integral:
        return False
    if space.size <= ALWAYS_EXHAUSTED:
        return True
    return space.size <= MOST_EXHAUSTED and seconds(network, space, space.size) <= PATIENCE


def seconds(network: Network, space: FeatureSpace, points: int) -> float:
    """The approximate time for this number of points, without the search for the boundary."""
    digits = _digits(network)
    every = all_rows_checked(network, points)
    rows = estimate_rows(network).rows if every else DRAWN_ROWS
    one = digits == 1
    row = 5e-9 if one else 4e-8 * digits if every else 4e-7 * digits
    product = 1e-10 if one else 3e-10 * digits
    unit = 6e-8 if one else 1e-6 * digits
    a_point = 2e-7 + 7e-8 * space.d + unit * network.K
    a_point += rows * (row + product * space.d)
    return points * a_point


def _digits(network: Network) -> int:
    """The number of exact float64 products per value, by the digits of `_arithmetic.py`."""
    bits = max(part.exponent + math.log2(part.magnitude(1.0) + 1.0) for part in network.parts)
    return max(1, math.ceil(bits / 45))


CHECKED_CUTS = 4_000
BOUNDARY_POINTS = 256
NEAR = ", some near the boundary"
LONG = 400  # a value of a point that needs Python integers costs about as much as this many others
_CELLS = 2**21


def verify(
    constraint: PointSet | Fitted,
    space: FeatureSpace | None = None,
    *,
    points: Any = None,
    samples: int = 10_000,
    seed: int = 0,
) -> Verification:
    """Checks Theorem 1 on a whole small domain, or on `samples` random points and some near the boundary.

    A domain is small if checking all of it takes about five seconds. A quarter of the samples are drawn
    around accepted points near the boundary, because uniform samples may all be on one side. Without a space,
    psi is drawn from all 0/1 vectors. If `points` (N, d) are given, these are checked instead. Drawn
    points of a network of hundreds of units are refused (`TooLarge`) above 2^22 values of units: about ten
    seconds.

    >>> from lcons_core import RectifierNetwork
    >>> print(verify(RectifierNetwork([[2.0, 2.0], [1.0, 0.0]], [-2.0, 0.0])))
    verified: network = 3 rows = lifted = cut at 4 points (all 0/1 vectors); 3 accepted, 1 on the boundary
    """
    given = as_points(constraint, "verify")
    parts = given.networks()
    if not parts:
        raise Unsupported(
            f"verify needs a network or a constraint with one, found {type(constraint).__name__}."
        )
    network = parts[0] if len(parts) == 1 else Conjunction(parts)
    space = given.space or space
    domain = space or FeatureSpace([binary("psi", [str(j) for j in range(network.d)])])
    check_width(network, domain)
    if points is not None:
        psi = _given_points(points, network, space)
        made = _Points(len(psi), psi.__getitem__, exponent(psi))
        return _Check(network, space, made, seed).run("as given", None)
    _check_values(network, domain, samples)
    if not domain.integral:
        psi = _real_points(network, domain, samples, seed)
        made = _Points(len(psi), psi.__getitem__, exponent(psi))
        return _Check(network, space, made, seed).run(f"drawn with seed {seed}{NEAR}", seed)
    assignments, exhausted = _domain_points(network, domain, samples, seed)
    made = _Points(len(assignments), lambda at: domain.vectors(assignments[at]))
    drawn = f"drawn with seed {seed}{'' if space else ' from all 0/1 vectors'}{NEAR}"
    scope = (ALL if space else BITS) if exhausted else drawn
    return _Check(network, space, made, seed).run(scope, seed)


def _check_values(network: Network, space: FeatureSpace, samples: int) -> None:
    """Raises `TooLarge` if too many units are computed at too many points."""
    if exhausts(network, space):
        return
    moves = len(space.axes) * sum(len(axis) for axis in space.axes) if space.integral else 0
    values = network.K * (samples + min(moves, MOST_MOVES) // MOVES_A_POINT)
    if values > MOST_VALUES:
        raise TooLarge(
            f"verifying {network.K:,} units at {samples:,} drawn points and near the boundary takes about"
            f" {values:,} values of units, above the limit of {MOST_VALUES:,}; draw fewer samples."
        )


@dataclass(frozen=True, eq=False)
class _Points:
    """`number` points, whose psi (n, d) are computed on demand; psi times 2^shift are integers."""

    number: int
    at: Callable[[slice | Ints], Floats]
    shift: int = 0

    def __len__(self) -> int:
        return self.number


class _Check:
    """One verification in progress: counts, the first witness and the first rounding difference."""

    def __init__(self, network: Network, space: FeatureSpace | None, points: _Points, seed: int) -> None:
        self.network, self.space, self.points, self.seed = network, space, points, seed
        self.witness: Witness | None = None
        self.example: Witness | None = None
        self.rounded = np.zeros(len(points), dtype=np.bool_)
        self.shift = points.shift

    def run(self, scope: str, seed: int | None) -> Verification:
        """Checks every form at every point."""
        long = whole_points(self.points.at(slice(0, 2**10)), self.shift).dtype == object
        rows = CheckedRows.of(self.network, len(self.points) * (LONG if long else 1), self.seed)
        lifted = lift(self.network)
        accepted = np.zeros(len(self.points), dtype=np.bool_)
        boundary = 0
        step = max(1, _CELLS // max(len(rows), self.network.K, self.network.d))
        for first in range(0, len(self.points), step):
            at = slice(first, first + step)
            psi = self.points.at(at)
            whole = whole_points(psi, self.shift)
            margins = network_margins(self.network, whole, self.shift)
            truth: Bools = np.all(margins >= 0, axis=1)
            accepted[at] = truth
            boundary += int((margins.min(1) == 0).sum())
            self._expect(at, truth, self.network.accepts(psi), "accepts()")
            self._expect(at, truth, rows.hold(whole, self.shift, margins), "the rows")
            stored = rows.floats_hold(whole, self.shift, truth)
            self._note_rounding(at, truth, stored, "the rounded rows")
            self._expect(at, truth, lifted_feasible(lifted, whole, self.shift), "the lifted rows")
        cuts = self._check_cuts(accepted, rows.exact)
        return Verification(
            points=len(self.points),
            accepted=int(accepted.sum()),
            boundary=boundary,
            rows=len(rows),
            total_rows=estimate_rows(self.network).rows,
            all_rows=rows.complete,
            cuts=cuts,
            scope=scope,
            seed=seed,
            witness=self.witness,
            rounding_differences=int(self.rounded.sum()),
            rounding_example=self.example,
        )

    def _check_cuts(self, accepted: Bools, exact: bool) -> int:
        chosen = _spread(accepted, CHECKED_CUTS)
        chosen_psi = self.points.at(chosen)
        # Many points have the same S*, and so the same cut; its verdicts on them are computed together.
        cuts: dict[tuple[int, bytes], LinearInequalities] = {}
        points_of: dict[bytes, tuple[LinearInequalities, list[int]]] = {}
        for i, psi in enumerate(chosen_psi):
            part, subset = violated_subset(self.network, psi)
            own = (part, subset.tobytes())
            if own not in cuts:
                cuts[own] = most_violated(self.network, psi)
            cut = cuts[own]
            key = cut.coefficients.tobytes() + cut.bias.tobytes()
            points_of.setdefault(key, (cut, []))[1].append(i)
        for cut, points in points_of.values():
            form = ScaledForms.of(cut.coefficients, cut.bias).times(self.shift)
            at = chosen[points]
            holds = form.signs(whole_points(chosen_psi[points], self.shift))[:, 0] >= 0
            if exact:
                self._expect(at, accepted[at], holds, "the cut")
            else:
                self._note_rounding(at, accepted[at], holds, "the rounded cut")
        return len(chosen)

    def _expect(self, at: slice | Ints, truth: Bools, found: Bools, form: str) -> None:
        if self.witness is None:
            self.witness = self._first_difference(at, truth, found, form)

    def _note_rounding(self, at: slice | Ints, truth: Bools, found: Bools, form: str) -> None:
        self.rounded[at] |= truth != found
        if self.example is None:
            self.example = self._first_difference(at, truth, found, form)

    def _first_difference(self, at: slice | Ints, truth: Bools, found: Bools, form: str) -> Witness | None:
        if np.array_equal(truth, found):
            return None
        i = int(np.flatnonzero(truth != found)[0])
        psi = self.points.at(at)[i]
        named = None if self.space is None else self.space.describe(psi)
        return Witness(form, tuple(psi.tolist()), bool(truth[i]), named)


def _spread(accepted: Bools, most: int) -> Ints:
    """At most `most` indices, evenly spread over both sides, half of each side if there are enough."""
    sides = [np.flatnonzero(accepted), np.flatnonzero(~accepted)]
    few = min(len(side) for side in sides)
    first = min(few, most // 2)
    wanted = [first if len(side) == few else min(len(side), most - first) for side in sides]
    spread = [
        side[np.linspace(0, len(side) - 1, number).astype(np.int64)]
        for side, number in zip(sides, wanted, strict=True)
        if number
    ]
    return np.unique(np.concatenate(spread))


def _domain_points(network: Network, space: FeatureSpace, samples: int, seed: int) -> tuple[Ints, bool]:
    """Value indices (N, axes) of the whole domain and True, or of random points and False."""
    short = np.min_scalar_type(max(len(axis) for axis in space.axes))
    if exhausts(network, space):
        return np.concatenate([points.astype(short) for points in space.points()]), True
    rng = np.random.default_rng(seed)
    near = near_boundary(network, space, min(samples, BOUNDARY_POINTS), rng)
    accepted = near[network.margins(space, near) >= 0]
    around = near[:0]
    if len(near):
        around = drawn_around(space, accepted if len(accepted) else near, samples // 4, rng)
    drawn = drawn_points(space, samples - len(around), rng)
    return np.concatenate([drawn, around, near]).astype(short), False


def _real_points(network: Network, space: FeatureSpace, samples: int, seed: int) -> Floats:
    """(N, d) random points, and some near the boundary."""
    rng = np.random.default_rng(seed)
    drawn = drawn_psi(space, samples, rng)
    near = psi_near_boundary(network, space, drawn, min(samples, BOUNDARY_POINTS), rng)
    return np.concatenate([drawn, near])


def _given_points(points: Any, network: Network, space: FeatureSpace | None) -> Floats:
    checked = as_psi(points, network.d)
    psi = checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
    if space is not None:
        space.check(psi)
    if not len(psi):
        raise InvalidInput("expected at least one point to verify, found none.")
    return psi
