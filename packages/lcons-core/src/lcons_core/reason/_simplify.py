"""Simplification: the rows that matter on a domain, and the reasons for dropping the others.

On the finite domain of a space a row r = c . psi + b can be dropped if it is

    never violated:      min r >= 0
    dominated by q:      min (r - q) >= 0,  so q >= 0 implies r >= 0
    jointly implied:     every point that violates r violates a row that is kept

The first two have closed forms. The third needs enumeration (`_dominance.py`), so it is used only on small
domains; on others, and on real blocks, the result is sound, but not minimal.

All decisions are exact. The minima are over the product of axes; `requires` only makes the domain smaller, so
rows that are redundant on the product are redundant on the domain.

Not in the paper: dropping rows; the paper lists all 2^K - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, overload

import numpy as np

from lcons_core._arithmetic import frozen
from lcons_core._errors import InvalidInput
from lcons_core._network import LinearInequalities
from lcons_core._pointset import Fitted, PointSet, Wrapped, as_points, check_width
from lcons_core._psi import ManyPsi, OnePsi
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Ints, OnProgress
from lcons_core.reason._domain import DomainEquations, domain_equations
from lcons_core.reason._dominance import RowTables, irredundant_rows, undominated
from lcons_core.reason._points import ENUMERATION_LIMIT


class Reason(StrEnum):
    """The reason for which a row was dropped."""

    NEVER_VIOLATED = "never violated"
    DOMINATED = "dominated"
    IMPLIED = "jointly implied"


@dataclass(frozen=True)
class DroppedRow:
    """Row `row` of the input was dropped for `reason`; if DOMINATED, by row `by`."""

    row: int
    reason: Reason
    by: int | None = None


@dataclass(frozen=True, eq=False)
class SimplifiedRows(Wrapped):
    """`rows` accept the same points of `space` as the rows of the input; outside the space they may differ.

    `kept` are their indices in the input. `minimal`: dropping any of them changes the set. `rounded`: the
    input was a network whose rows are not exact in float64, so this is the set of its rounded rows.
    """

    space: FeatureSpace
    rows: LinearInequalities
    kept: Ints
    dropped: tuple[DroppedRow, ...]
    minimal: bool
    rounded: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def points(self) -> LinearInequalities:
        """The rows, as a set of all psi."""
        return self.rows

    @overload
    def holds(self, psi: ManyPsi) -> Bools: ...
    @overload
    def holds(self, psi: OnePsi) -> bool: ...
    def holds(self, psi: Any) -> Any:
        """Whether every row holds, the same as `accepts`: a bool for one psi, (N,) for many."""
        return self.accepts(psi)

    @overload
    def accepts(self, psi: ManyPsi) -> Bools: ...
    @overload
    def accepts(self, psi: OnePsi) -> bool: ...
    def accepts(self, psi: Any) -> Any:
        """Whether every row holds: a bool for one psi, (N,) for many; raises outside the space."""
        try:
            self.space.check(psi)
        except InvalidInput as error:
            raise InvalidInput(
                f"simplified rows are not valid for psi outside their space: {error} If psi need not satisfy"
                " the equations of the space (see .equations()), use to_inequalities or lift instead."
            ) from None
        return self.rows.accepts(psi)

    def equations(self) -> DomainEquations:
        """The equations of the space, which a solver needs in addition to the rows."""
        return domain_equations(self.space)

    def counts(self) -> dict[Reason, int]:
        """The number of rows dropped for each reason."""
        return {reason: sum(d.reason is reason for d in self.dropped) for reason in Reason}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        subsets = self.rows.subsets
        return {
            "space": self.space.to_dict(),
            "coefficients": self.rows.coefficients.tolist(),
            "bias": self.rows.bias.tolist(),
            "subsets": None if subsets is None else [np.flatnonzero(s).tolist() for s in subsets],
            "kept": self.kept.tolist(),
            "dropped": [[d.row, str(d.reason), d.by] for d in self.dropped],
            "minimal": self.minimal,
            "rounded": self.rounded,
        }

    def __str__(self) -> str:
        total = len(self.kept) + len(self.dropped)
        why = ", ".join(f"{n:,} {reason}" for reason, n in self.counts().items() if n)
        status = "minimal" if self.minimal else "sound, not minimal"
        lines = [
            f"{len(self.kept):,} of {total:,} rows ({status}; dropped: {why or 'none'});"
            f" on the {self.space.extent} of"
            f" {', '.join(block.name for block in self.space.blocks)}"
        ]
        if self.rounded:
            lines.append("the rows are rounded to float64: `verify` counts the points where this matters")
        for row, bias in zip(self.rows.coefficients, self.rows.bias, strict=True):
            terms = [
                f"{row[j]:+g} [{block} {value}]"
                for j, (block, value) in enumerate(self.space.columns)
                if row[j]
            ]
            lines.append(f"  {' '.join(terms)} {bias:+g} >= 0")
        return "\n".join(lines)


def simplify(
    constraint: PointSet | Fitted,
    space: FeatureSpace | None = None,
    *,
    enumeration_limit: int = ENUMERATION_LIMIT,
    progress: OnProgress | None = None,
) -> SimplifiedRows:
    """The rows that matter on the domain; minimal if it has at most `enumeration_limit` points.

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> source, relation = one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])
    >>> space = FeatureSpace([source, relation])
    >>> network = RectifierNetwork([[0.0, 2.0, 0.0, 2.0], [-1.0, 1.0, -1.0, 0.0]], [-2.0, 0.0])
    >>> print(simplify(network, space))
    1 of 3 rows (minimal; dropped: 1 never violated, 1 jointly implied); on the 4 points of source, relation
      -2 [source Place] -2 [relation Kill] +3 >= 0
    """
    given = as_points(constraint, "simplify")
    space = common_space(space, given)
    check_width(given, space)
    rows, rounded = rows_of(given), given.rounded
    reasons: dict[int, DroppedRow] = {}
    # The minimum of a linear function over a box of reals is at a corner.
    finite = space if space.integral else space.corners()
    never = RowTables.of(rows, finite).never_violated()
    for m in np.flatnonzero(never).tolist():
        reasons[m] = DroppedRow(m, Reason.NEVER_VIOLATED)
    left = np.flatnonzero(~never)
    kept, dominated = undominated(rows.take(left), finite)
    for m, by in dominated:
        reasons[int(left[m])] = DroppedRow(int(left[m]), Reason.DOMINATED, int(left[by]))
    kept = left[kept]
    minimal = space.integral and space.size <= enumeration_limit
    if minimal:
        some = rows.take(kept)
        # A network that decides the same points is faster than its rows.
        reference = given if given.networks() and not rounded else some
        needed = kept[irredundant_rows(some, space, reference, progress)]
        for m in np.setdiff1d(kept, needed).tolist():
            reasons[m] = DroppedRow(m, Reason.IMPLIED)
        kept = needed
    dropped = tuple(reasons[m] for m in sorted(reasons))
    return SimplifiedRows(space, rows.take(kept), frozen(kept), dropped, minimal, rounded)


def common_space(space: FeatureSpace | None, *constraints: PointSet) -> FeatureSpace:
    """The common space of the constraints, or `space` if none has one; raises if spaces differ."""
    spaces = [space, *(constraint.space for constraint in constraints)]
    found = [candidate for candidate in spaces if candidate is not None]
    if not found:
        raise InvalidInput(
            "networks and rows have no names of columns; pass the space that they were learned on."
        )
    for other in found[1:]:
        if other != found[0]:
            raise InvalidInput(
                f"expected constraints on the same blocks and values, found {_difference(found[0], other)};"
                " learn both from the same labels, with the same feature, n and padding."
            )
    return found[0]


def _difference(a: FeatureSpace, b: FeatureSpace) -> str:
    for left, right in zip(a.blocks, b.blocks, strict=False):
        if left != right:
            sizes = f"({len(left.values)} and {len(right.values)} values)"
            both = f"block {left.name!r} in both" if left.name == right.name else ""
            found = f"{both or f'block {left.name!r} against block {right.name!r}'} {sizes}"
            only = [sorted({*x.values} - {*y.values}) for x, y in ((left, right), (right, left))]
            named = [
                f"{which} alone has {v[0]!r}"
                for which, v in zip(("the first", "the second"), only, strict=True)
                if v
            ]
            return found + (f", of which {' and '.join(named)}" if left.name == right.name and named else "")
    if len(a.blocks) != len(b.blocks):
        return f"{len(a.blocks)} blocks against {len(b.blocks)}"
    return "the same blocks with different `requires`"
