"""The sides of Theorem 1 in exact integers (network, rows, lifted rows), and the result of `verify`.

Each side is computed from its own data. psi is given as integers `whole` = psi 2^shift, and all values are
scaled integers (`_arithmetic.py`), so every sign is exact.

All 2^K - 1 rows are checked if points times rows stay within a budget of some tens of seconds; otherwise the
rows of random subsets S, whose values must be at least the margin, which is the closed form of the minimum.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lcons_core._arithmetic import ScaledForms, exponent, many, plain, scaled
from lcons_core._errors import LconsError
from lcons_core._network import LinearInequalities, Network
from lcons_core._theorem import LiftedInequalities, estimate_rows, row_of_subset, to_inequalities
from lcons_core._types import Bools, Floats, Ints, Objects

ROW_POINTS = 4 * 10**9
ALL_ROWS = 2**13
DRAWN_ROWS = 2**6
LONGEST = 60
ALL, BITS = "all of the domain", "all 0/1 vectors"


def all_rows_checked(network: Network, points: int) -> bool:
    """Whether all rows, not only random ones, are checked at this number of points."""
    rows = estimate_rows(network).rows
    return rows <= ALL_ROWS and rows * points <= ROW_POINTS


def network_margins(network: Network, whole: Floats, shift: int) -> Objects:
    """(N, parts) margins times 2^(q + shift), where q is the exponent of all weights."""
    margins, q = [], _exponent(network)
    for part in network.parts:
        forms = ScaledForms.of(part.W, part.b, q).times(shift)
        positive = np.maximum(forms.values(whole), 0).sum(1)
        # Sums of int64 below 2^52 are exact; 2^q itself may be larger.
        margins.append((1 << forms.q) - (positive if forms.q < LONGEST else positive.astype(object)))
    return np.stack(margins, axis=1)


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """The rows to check: as returned (`stored`) and, if these are rounded, as rationals (`rational`)."""

    stored: ScaledForms
    rational: ScaledForms
    owner: Ints
    q: int
    complete: bool
    exact: bool

    @classmethod
    def of(cls, network: Network, points: int, seed: int) -> CheckedRows:
        """All rows, or random ones if all would be too many for this number of points."""
        complete = all_rows_checked(network, points)
        if complete:
            rows = to_inequalities(network)
            subsets = rows.subsets
        else:
            subsets = _drawn_subsets(network, np.random.default_rng(seed))
            pieces = [_stored_row(network, subset) for subset in subsets]
            rows = LinearInequalities._built(
                np.concatenate([piece.coefficients for piece in pieces]),
                np.concatenate([piece.bias for piece in pieces]),
                None,
            )
        if subsets is None:
            raise LconsError("to_inequalities returned rows without their subsets.")
        exact = not network.rounded
        q = max(_exponent(network), exponent(rows.coefficients, rows.bias))
        stored = ScaledForms.of(rows.coefficients, rows.bias, q)
        rational = stored if exact else rational_rows(network, subsets, q)
        units = np.repeat(np.arange(len(network.parts)), [part.K for part in network.parts])
        owner = units[np.argmax(subsets, axis=1)]
        return cls(stored, rational, owner, _exponent(network), complete, exact)

    def __len__(self) -> int:
        return len(self.stored)

    def hold(self, whole: Floats, shift: int, margins: Objects) -> Bools:
        """(N,) verdicts of the rows; for random rows that of the margin, unless a row is below the margin."""
        forms = self.rational.times(shift)
        if self.complete:
            return forms.all_hold(whole)
        longer = self.rational.q - self.q
        least = (margins.astype(object) * (1 << longer) if longer else margins)[:, self.owner]
        truth: Bools = np.all(margins >= 0, axis=1)
        above: Bools = np.all(forms.values(whole) >= least, axis=1)
        return truth ^ ~above

    def floats_hold(self, whole: Floats, shift: int, truth: Bools) -> Bools:
        """(N,) verdicts of the stored rows; if only random rows are stored, they can only reject."""
        if self.exact:
            return truth
        holds: Bools = self.stored.times(shift).all_hold(whole)
        return holds if self.complete else holds & truth


def lifted_feasible(lifted: LiftedInequalities, whole: Floats, shift: int) -> Bools:
    """(N,) whether some s >= 0 satisfies the lifted rows, computed from their matrices.

    A row with a positive coefficient of one s_k is a lower bound on it; the other rows must not grow with s,
    so the smallest s satisfies them if any does.
    """
    q = exponent(lifted.A_psi, lifted.A_s, lifted.rhs)
    forms = ScaledForms.of(lifted.A_psi, -lifted.rhs, q).times(shift)
    slack, A_s = forms.values(whole), scaled(lifted.A_s, q)
    unit = 1 << q
    if all(entry in (0, unit, -unit) for entry in A_s.flat):
        # Integers, as `lift` returns them: no multiplication by 2^q is needed.
        unit, A_s = 1, (A_s // unit).astype(np.int64)
    else:
        slack = slack.astype(object)
    least = np.zeros((len(whole), lifted.K), dtype=slack.dtype)
    bounds: list[int] = []
    others: list[int] = []
    for row, entries in enumerate(A_s):
        positive = np.flatnonzero(entries > 0)
        if positive.size and (positive.size > 1 or (entries < 0).any()):
            raise LconsError(f"row {row} of the lifted form is neither a bound on one s nor a budget.")
        (bounds if positive.size else others).append(row)
    for row in bounds:
        k = int(np.flatnonzero(A_s[row])[0])
        bound = -slack[:, row]
        if A_s[row, k] != unit:
            bound = bound * Fraction(unit, int(A_s[row, k]))
        least[:, k] = np.maximum(least[:, k], bound)
    values = slack[:, np.array(others, np.int64)] * unit + least.dot(A_s[np.array(others, np.int64)].T)
    return np.all(values >= 0, axis=1)


def _exponent(network: Network) -> int:
    return max(part.exponent for part in network.parts)


def rational_rows(network: Network, subsets: Bools, q: int) -> ScaledForms:
    """The rows of the subsets, with sums computed without rounding."""
    W = np.concatenate([scaled(part.W, q) for part in network.parts])
    b = np.concatenate([scaled(part.b, q) for part in network.parts])
    members = subsets.astype(np.int64).astype(object)
    return ScaledForms(-members.dot(W), (1 << q) - members.dot(b), q)


def _drawn_subsets(network: Network, rng: np.random.Generator) -> Bools:
    """(DRAWN_ROWS, K) random non-empty subsets of all sizes, each of the units of one part."""
    subsets = np.zeros((DRAWN_ROWS, network.K), dtype=np.bool_)
    starts = np.cumsum([0, *(part.K for part in network.parts)])
    for subset in subsets:
        part = int(rng.integers(len(network.parts)))
        size = int(rng.integers(1, network.parts[part].K + 1))
        subset[starts[part] + rng.permutation(network.parts[part].K)[:size]] = True
    return subsets


def _stored_row(network: Network, subset: Bools) -> LinearInequalities:
    """The row that the library returns for one subset of the units of one part."""
    first = 0
    for part in network.parts:
        mine = subset[first : first + part.K]
        if mine.any():
            return row_of_subset(part, mine)
        first += part.K
    raise LconsError("the empty subset has no row.")


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

    `rows` of Theorem 1 were checked at every point: all `total_rows`, or those of random subsets if rows
    times points are too many. The row of S*, which alone decides, was checked at `cuts` points. `boundary`
    points have a margin of exactly 0. `scope` says which points were checked; `seed` is None if they were
    given.
    """

    points: int
    accepted: int
    boundary: int
    rows: int
    total_rows: int
    all_rows: bool
    cuts: int
    scope: str
    seed: int | None
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
        if self.exhausted:
            return f"no point of the domain is {missing}"
        if self.scope == BITS:
            return f"no 0/1 vector is {missing}"
        return f"no {missing} point was found, so only {there} ones were checked"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        data["total_rows"] = plain(self.total_rows)
        for name in ("witness", "rounding_example"):
            found = data[name]
            data[name] = None if found is None else {**vars(found), "psi": list(found.psi)}
        derived = {name: getattr(self, name) for name in ("exhausted", "rejected", "one_sided", "ok")}
        return {**data, **derived}

    def __str__(self) -> str:
        rows = f"{self.rows:,} rows"
        if not self.all_rows:
            where = f" at {self.points:,} points" if self.total_rows <= ALL_ROWS else ""
            rows = f"{self.rows:,} of {many(self.total_rows)} rows (drawn, all are too many{where})"
        text = (
            f"{'verified' if self.ok else 'false'}: network = {rows} = lifted = cut at {self.points:,}"
            f" points ({self.scope}); {self.accepted:,} accepted, {self.boundary:,} on the boundary"
        )
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
