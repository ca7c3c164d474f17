"""Verify: Theorem 1 on one network, point by point, in rational arithmetic.

    accepts(psi)  =  all rows of Theorem 1 hold  =  the lifted rows have a solution s  =  the row of S* holds

Each side is computed from its own data: the network's verdict from W and b, the rows' from the coefficients
that `to_inequalities` returns, the lifted form's from its matrices (the least s that the rows `s_k >= ...`
leave is put into the other rows), the cut's from the row that `most_violated` returns. A point where two
sides differ is a witness: the theorem, or its implementation, would be wrong.

For weights whose subset sums are not exact in float64 the rows are rounded. There the theorem is checked on
subset sums formed as rationals, and points where the rounded rows say otherwise are counted as rounding
differences, with an example. They are no witnesses, and they are never hidden.

Paper: Theorem 1 and Appendix A, which prove it; this checks the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core.boundary import drawn_points, near_boundary
from lcons_core.constraint import LearnedConstraint
from lcons_core.cuts import most_violated
from lcons_core.domain import Bools, check_width
from lcons_core.errors import InvalidInput
from lcons_core.exact import Floats, exponent
from lcons_core.lifted import lift
from lcons_core.psi import Ints, SparsePsi, as_psi
from lcons_core.rectifier import Network
from lcons_core.space import FeatureSpace, binary
from lcons_core.theorem1 import LinearInequalities
from lcons_core.verification.scaled import ScaledForms
from lcons_core.verification.sides import CheckedRows, lifted_feasible, network_margins

EXHAUSTED_POINTS = 10**5
CHECKED_CUTS = 4_000
BOUNDARY_POINTS = 256
_CELLS = 2**21


@dataclass(frozen=True)
class Witness:
    """A point where `form` does not say what the network says (`accepted`, exactly)."""

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
    """What was checked, and a witness if some form differs from the network.

    `rows` of Theorem 1 were checked at every point: all of them, or drawn ones where there are too many;
    S*, which decides alone, was checked at `cuts` points. `boundary` points have a margin of exactly 0.
    `seed` is None where the points were given.
    """

    points: int
    accepted: int
    boundary: int
    rows: int
    all_rows: bool
    cuts: int
    exhausted: bool
    seed: int | None
    witness: Witness | None
    rounding_differences: int
    rounding_example: Witness | None

    @property
    def ok(self) -> bool:
        """Whether every form agreed with the network at every point."""
        return self.witness is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("witness", "rounding_example"):
            found = data[name]
            data[name] = None if found is None else {**vars(found), "psi": list(found.psi)}
        return {**data, "ok": self.ok}

    def __str__(self) -> str:
        scope = "as given" if self.seed is None else f"drawn with seed {self.seed}, some near the boundary"
        scope = "all of the domain" if self.exhausted else scope
        rows = f"{self.rows:,} rows" if self.all_rows else f"{self.rows:,} drawn rows (not all)"
        text = (
            f"{'verified' if self.ok else 'false'}: network = {rows} = lifted = cut at {self.points:,}"
            f" points ({scope}); {self.accepted:,} accepted, {self.boundary:,} on the boundary"
        )
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


def verify(
    constraint: Network | LearnedConstraint,
    space: FeatureSpace | None = None,
    *,
    points: Any = None,
    samples: int = 10_000,
    seed: int = 0,
) -> Verification:
    """Checks Theorem 1 on a whole small domain, or on `samples` drawn points and some near the boundary.

    Without a space psi is drawn from all 0/1 vectors; `points` (N, d) are checked instead, if given.

    >>> from lcons_core.rectifier import RectifierNetwork
    >>> print(verify(RectifierNetwork([[2.0, 2.0], [1.0, 0.0]], [-2.0, 0.0])))
    verified: network = 3 rows = lifted = cut at 4 points (all of the domain); 3 accepted, 1 on the boundary
    """
    network = constraint.network if isinstance(constraint, LearnedConstraint) else constraint
    if isinstance(constraint, LearnedConstraint):
        space = constraint.space
    domain = space or FeatureSpace([binary("psi", [str(j) for j in range(network.d)])])
    check_width(network, domain)
    if points is None:
        psi, exhausted = _domain_points(network, domain, samples, seed)
    else:
        psi, exhausted = _given_points(points, network, space), False
    return _Check(network, space, psi, seed).run(exhausted, None if points is not None else seed)


class _Check:
    """One verification in progress: counts, the first witness and the first rounding difference."""

    def __init__(self, network: Network, space: FeatureSpace | None, psi: Floats, seed: int) -> None:
        self.network, self.space, self.psi, self.seed = network, space, psi, seed
        self.witness: Witness | None = None
        self.example: Witness | None = None
        self.rounded = np.zeros(len(psi), dtype=np.bool_)
        self.shift = exponent(psi)

    def run(self, exhausted: bool, seed: int | None) -> Verification:
        """Checks every form at every point."""
        rows = CheckedRows.of(self.network, len(self.psi), self.seed)
        lifted = lift(self.network)
        accepted = np.zeros(len(self.psi), dtype=np.bool_)
        boundary = 0
        step = max(1, _CELLS // max(len(rows), self.network.K))
        for first in range(0, len(self.psi), step):
            at = slice(first, first + step)
            whole = np.ldexp(self.psi[at], self.shift)
            margins = network_margins(self.network, whole, self.shift)
            truth: Bools = np.all(margins >= 0, axis=1)
            accepted[at] = truth
            boundary += int((margins.min(1) == 0).sum())
            self._expect(at, truth, self.network.accepts(self.psi[at]), "accepts()")
            self._expect(at, truth, rows.hold(whole, self.shift, margins), "the rows")
            stored = rows.floats_hold(whole, self.shift, truth)
            self._note_rounding(at, truth, stored, "the rounded rows")
            self._expect(at, truth, lifted_feasible(lifted, whole, self.shift), "the lifted rows")
        cuts = self._check_cuts(accepted, rows.exact)
        return Verification(
            points=len(self.psi),
            accepted=int(accepted.sum()),
            boundary=boundary,
            rows=len(rows),
            all_rows=rows.complete,
            cuts=cuts,
            exhausted=exhausted,
            seed=seed,
            witness=self.witness,
            rounding_differences=int(self.rounded.sum()),
            rounding_example=self.example,
        )

    def _check_cuts(self, accepted: Bools, exact: bool) -> int:
        chosen = np.unique(
            np.linspace(0, len(accepted) - 1, min(CHECKED_CUTS, len(accepted))).astype(np.int64)
        )
        # Many points share a cut, and its verdicts on them are decided together.
        points_of: dict[bytes, tuple[LinearInequalities, list[int]]] = {}
        for i in chosen.tolist():
            cut = most_violated(self.network, self.psi[i])
            key = cut.coefficients.tobytes() + cut.bias.tobytes()
            points_of.setdefault(key, (cut, []))[1].append(i)
        for cut, points in points_of.values():
            form = ScaledForms.of(cut.coefficients, cut.bias).times(self.shift)
            at = np.array(points)
            holds = form.signs(np.ldexp(self.psi[at], self.shift))[:, 0] >= 0
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
        psi = self.psi[at][i]
        named = None if self.space is None else self.space.describe(psi)
        return Witness(form, tuple(psi.tolist()), bool(truth[i]), named)


def _domain_points(network: Network, space: FeatureSpace, samples: int, seed: int) -> tuple[Floats, bool]:
    if space.size <= EXHAUSTED_POINTS:
        return space.vectors(np.concatenate(list(space.points()))), True
    rng = np.random.default_rng(seed)
    drawn = drawn_points(space, samples, rng)
    near = near_boundary(network, space, min(samples, BOUNDARY_POINTS), rng)
    return space.vectors(np.concatenate([drawn, near])), False


def _given_points(points: Any, network: Network, space: FeatureSpace | None) -> Floats:
    checked = as_psi(points, network.d)
    psi = checked.dense() if isinstance(checked, SparsePsi) else np.atleast_2d(checked)
    if space is not None:
        space.check(psi)
    if not len(psi):
        raise InvalidInput("at least one point is needed to verify anything, found none.")
    return psi
