"""Verification of Theorem 1 on one network, point by point, in exact arithmetic.

    accepts(psi)  =  all rows of Theorem 1 hold  =  the lifted rows have a solution s  =  the row of S* holds

Each side is computed from its own data, in integers scaled by a power of two (`_arithmetic.py`): the verdict
of the network from W and b, that of the rows from the coefficients that `to_inequalities` returns, that of
the lifted form from its matrices (the smallest s that the rows `s_k >= ...` allow is inserted into the other
rows), that of the cut from the row that `most_violated` returns. A point where two sides differ is a witness
that the theorem, or its implementation, is wrong.

A small domain is enumerated; of others points are drawn, some near the boundary, and points of real columns.
All 2^K - 1 rows are checked if points times rows stay within a budget of some tens of seconds. If subset sums
of the weights are not exact in float64, the rows are rounded. Then points where the rows or a cut have
another verdict are counted as rounding differences, with an example; they are not witnesses.

Paper: Theorem 1 and Appendix A, which prove it; this checks the code.
Not in the paper: verification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import exact_values, many, plain
from lcons_core._blocks import binary
from lcons_core._errors import LconsError, TooLarge, Unsupported
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._pointset import Fitted, PointSet, as_points, check_width
from lcons_core._space import FeatureSpace
from lcons_core._theorem import LiftedInequalities, estimate_rows, lift, most_violated, to_inequalities
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._points import both_sides, drawn_points, drawn_psi, near_boundary

MOST_EXHAUSTED = 10**5
# Rows and units times points: some tens of seconds.
ROW_POINTS, MOST_VALUES = 4 * 10**9, 2**22
ALL_ROWS = 2**13
CHECKED_CUTS = 4_000
BOUNDARY_POINTS = 1024
CELLS = 2**21
ALL, BITS = "all of the domain", "all 0/1 vectors"


@dataclass(frozen=True)
class Witness:
    """A point where the verdict of `form` differs from that of the network (`accepted`, exact)."""

    form: str
    psi: tuple[float, ...]
    accepted: bool
    point: dict[str, Any] | None = None

    def __str__(self) -> str:
        where = self.point if self.point is not None else list(self.psi)
        verdict = "accepts" if self.accepted else "rejects"
        return f"the network {verdict} {where}, unlike {self.form}"


@dataclass(frozen=True)
class Verification:
    """The numbers of points and rows that were checked, and a witness if some form differs from the network.

    `rows` of Theorem 1 were checked at every point: all `total_rows`, or none if rows times points are too
    many. The row of S*, which alone decides, was checked at `cuts` points. `boundary` points have a margin of
    exactly 0. `scope` says which points were checked.
    """

    points: int
    accepted: int
    boundary: int
    rows: int
    total_rows: int
    all_rows: bool
    cuts: int
    scope: str
    seed: int
    witness: Witness | None
    rounding_differences: int
    rounding_example: Witness | None

    @property
    def exhausted(self) -> bool:
        """Whether every point of the domain was checked."""
        return self.scope == ALL

    @property
    def ok(self) -> bool:
        """Whether every form agreed with the network at every point."""
        return self.witness is None

    @property
    def rejected(self) -> int:
        """The number of points that the network rejects."""
        return self.points - self.accepted

    @property
    def one_sided(self) -> str | None:
        """A sentence if all points are on one side of the boundary, because then little was checked."""
        if self.accepted and self.rejected:
            return None
        missing, there = ("rejected", "accepted") if self.accepted else ("accepted", "rejected")
        if self.scope in (ALL, BITS):
            return f"no {'point of the domain' if self.exhausted else '0/1 vector'} is {missing}"
        return f"no {missing} point was found, so only {there} ones were checked"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = {**vars(self), "total_rows": plain(self.total_rows)}
        for name in ("witness", "rounding_example"):
            data[name] = data[name] and {**vars(data[name]), "psi": list(data[name].psi)}
        return data | {name: getattr(self, name) for name in ("exhausted", "rejected", "one_sided", "ok")}

    def __str__(self) -> str:
        rows = f"{self.rows:,} rows = " if self.all_rows else ""
        text = (
            f"{'verified' if self.ok else 'false'}: network = {rows}lifted = cut at {self.points:,}"
            f" points ({self.scope}); {self.accepted:,} accepted, {self.boundary:,} on the boundary"
        )
        if not self.all_rows:
            text += f"; {many(self.total_rows)} rows are too many to check"
        if self.one_sided is not None:
            text += f"; {self.one_sided}"
        if self.cuts < self.points:
            text += f"; cuts at {self.cuts:,} of them"
        if self.witness is not None:
            text += f"; witness: {self.witness}"
        if self.rounding_differences:
            text += (
                f"; rounding: the rows in float64 differ at {self.rounding_differences:,} points,"
                f" for example {self.rounding_example}"
            )
        return text


def exhausts(network: Network, space: FeatureSpace) -> bool:
    """Whether the whole domain is checked."""
    return space.integral and space.size <= MOST_EXHAUSTED


def verify(
    constraint: PointSet | Fitted,
    space: FeatureSpace | None = None,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> Verification:
    """Checks Theorem 1 on a whole domain of at most 10^5 points, or on `samples` random ones.

    Some points near the boundary are added, because uniform samples may all be on one side. Without a space,
    psi is drawn from all 0/1 vectors. Drawn points of a network of hundreds of units are refused
    (`TooLarge`) above 2^22 values of units.

    >>> from lcons_core import RectifierNetwork
    >>> print(verify(RectifierNetwork([[2.0, 2.0], [1.0, 0.0]], [-2.0, 0.0])))
    verified: network = 3 rows = lifted = cut at 4 points (all 0/1 vectors); 3 accepted, 1 on the boundary
    """
    points = as_points(constraint, "verify")
    parts, space = points.networks(), points.space or space
    if not parts:
        raise Unsupported(f"verify needs a network or a constraint, got {type(constraint).__name__}.")
    network = parts[0] if len(parts) == 1 else Conjunction(parts)
    domain = space or FeatureSpace([binary("psi", [str(j) for j in range(network.d)])])
    check_width(network, domain)
    if exhausts(network, domain):
        psi = np.concatenate([domain.vectors(assignments) for assignments in domain.points()])
        return _Check(network, space, psi).run(ALL if space else BITS, seed)
    if network.K * samples > MOST_VALUES:
        raise TooLarge(f"{network.K:,} units at {samples:,} points are too many values; draw fewer samples.")
    rng, scope = np.random.default_rng(seed), f"drawn with seed {seed}"
    if not domain.integral:
        return _Check(network, space, drawn_psi(domain, samples, rng)).run(scope, seed)
    drawn = drawn_points(domain, samples, rng)
    number = min(samples, BOUNDARY_POINTS)
    near = near_boundary(network, domain, number, rng, both_sides(network, domain, number, rng))
    psi = domain.vectors(np.concatenate([drawn, near]))
    where = "" if space else " from all 0/1 vectors"
    return _Check(network, space, psi).run(f"{scope}{where}, some near the boundary", seed)


class _Check:
    """One verification in progress: the first witness and the rounding differences."""

    def __init__(self, network: Network, space: FeatureSpace | None, psi: Floats) -> None:
        self.network, self.space, self.psi = network, space, psi
        self.witness: Witness | None = None
        self.example: Witness | None = None
        self.rounded = np.zeros(len(psi), dtype=np.bool_)

    def run(self, scope: str, seed: int) -> Verification:
        """Checks every form at every point."""
        total = estimate_rows(self.network).rows
        complete = total <= ALL_ROWS and total * len(self.psi) <= ROW_POINTS
        rows = to_inequalities(self.network) if complete else None
        lifted = lift(self.network)
        accepted = np.zeros(len(self.psi), dtype=np.bool_)
        boundary = 0
        step = max(1, CELLS // max(total if complete else 1, self.network.K, self.network.d))
        for first in range(0, len(self.psi), step):
            at = np.arange(first, min(first + step, len(self.psi)))
            psi = self.psi[at]
            margins = np.min([_exact_margins(part, psi) for part in self.network.parts], axis=0)
            truth = np.asarray(margins >= 0, dtype=np.bool_)
            accepted[at] = truth
            boundary += int((margins == 0).sum())
            self._expect(at, truth, self.network.accepts(psi), "accepts()", exact=True)
            self._expect(at, truth, lifted_feasible(lifted, psi), "the lifted rows", exact=True)
            if rows is not None:
                self._expect(at, truth, rows.accepts(psi), "the rows")
        return Verification(
            points=len(self.psi),
            accepted=int(accepted.sum()),
            boundary=boundary,
            rows=total if complete else 0,
            total_rows=total,
            all_rows=complete,
            cuts=self._check_cuts(accepted),
            scope=scope,
            seed=seed,
            witness=self.witness,
            rounding_differences=int(self.rounded.sum()),
            rounding_example=self.example,
        )

    def _check_cuts(self, accepted: Bools) -> int:
        """Checks the cut at all points or at evenly spaced ones; returns their number."""
        at = np.unique(np.linspace(0, len(accepted) - 1, min(len(accepted), CHECKED_CUTS)).astype(int))
        holds = [bool(most_violated(self.network, psi).accepts(psi)) for psi in self.psi[at]]
        self._expect(at, accepted[at], np.array(holds, dtype=np.bool_), "the cut")
        return len(at)

    def _expect(self, at: Ints, truth: Bools, verdicts: Bools, form: str, exact: bool = False) -> None:
        """Notes the points where a form differs: as rounding if its rows are rounded, else as a witness."""
        differ = np.flatnonzero(truth != verdicts)
        if not differ.size:
            return
        rounding = self.network.rounded and not exact
        name = form.replace("the ", "the rounded ") if rounding else form
        psi = self.psi[at[differ[0]]]
        point = None if self.space is None else self.space.describe(psi)
        witness = Witness(name, tuple(psi.tolist()), bool(truth[differ[0]]), point)
        if rounding:
            self.rounded[at[differ]] = True
            self.example = self.example or witness
        else:
            self.witness = self.witness or witness


def _exact_margins(part: RectifierNetwork, psi: Floats) -> Any:
    """(N,) the margins times a power of two, without rounding."""
    values, q = exact_values(part.W, part.b, psi)
    return 2**q - np.maximum(values, 0).sum(1)


def lifted_feasible(lifted: LiftedInequalities, psi: Floats) -> Bools:
    """(N,) whether some s >= 0 satisfies the lifted rows, computed from their matrices.

    A row with a positive coefficient of one s_k is a lower bound on it; the other rows must not grow with s,
    so the smallest s satisfies them if any does.
    """
    slack, _ = exact_values(lifted.A_psi, -lifted.rhs, psi)
    least = np.zeros((len(psi), lifted.K), dtype=slack.dtype)
    bounds = np.flatnonzero((lifted.A_s > 0).any(1))
    for row in bounds:
        k = int(np.argmax(lifted.A_s[row]))
        if np.count_nonzero(lifted.A_s[row]) > 1 or lifted.A_s[row, k] != 1.0:
            raise LconsError(f"row {row} of the lifted form is neither a bound on one s nor a budget.")
        least[:, k] = np.maximum(least[:, k], -slack[:, row])
    others = np.setdiff1d(np.arange(len(lifted)), bounds)
    A_s = lifted.A_s[others].astype(int)
    holds: Bools = (slack[:, others] + least.dot(A_s.T) >= 0).astype(np.bool_)
    return np.all(holds, axis=1)
