"""What `verify` returns: how much was checked, on which sides, and a witness if some form differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lcons_core.counting import many, plain
from lcons_core.verification.sides import ALL_ROWS


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

    `rows` of Theorem 1 were checked at every point: all `total_rows`, or those of subsets drawn with the seed
    where rows times points are too many; S*, which decides alone, was checked at `cuts` points. `boundary`
    points have a margin of exactly 0. `seed` is None where the points were given.
    """

    points: int
    accepted: int
    boundary: int
    rows: int
    total_rows: int
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

    @property
    def rejected(self) -> int:
        """How many of the points the network rejects."""
        return self.points - self.accepted

    @property
    def one_sided(self) -> str | None:
        """A sentence where all points are on one side of the boundary, so that little was checked."""
        if self.accepted and self.rejected:
            return None
        missing, there = ("rejected", "accepted") if self.accepted else ("accepted", "rejected")
        if self.exhausted:
            return f"no point of the domain is {missing}"
        return f"no {missing} point was found, so only {there} ones were checked"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        data["total_rows"] = plain(self.total_rows)
        for name in ("witness", "rounding_example"):
            found = data[name]
            data[name] = None if found is None else {**vars(found), "psi": list(found.psi)}
        return {**data, "rejected": self.rejected, "one_sided": self.one_sided, "ok": self.ok}

    def __str__(self) -> str:
        scope = "as given" if self.seed is None else f"drawn with seed {self.seed}, some near the boundary"
        scope = "all of the domain" if self.exhausted else scope
        rows = f"{self.rows:,} rows"
        if not self.all_rows:
            where = f" at {self.points:,} points" if self.total_rows <= ALL_ROWS else ""
            rows = f"{self.rows:,} of {many(self.total_rows)} rows (drawn, all are too many{where})"
        text = (
            f"{'verified' if self.ok else 'false'}: network = {rows} = lifted = cut at {self.points:,}"
            f" points ({scope}); {self.accepted:,} accepted, {self.boundary:,} on the boundary"
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
