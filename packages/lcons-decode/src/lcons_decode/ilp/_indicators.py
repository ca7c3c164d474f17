"""psi rows over the variables of a program, with exact indicators for what is not linear.

An existence bit is an OR of ANDs, which is linear through auxiliary variables that are exact at every
integral point:

    AND a of x_1 .. x_m:   a <= x_i,   a >= sum_i x_i - (m - 1)
    OR  e of g_1 .. g_m:   e >= g_i,   e <= sum_i g_i

Where the program has pair variables, an AND of neighbours is one of them.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lcons_core._errors import TooLarge
from lcons_core.features import GroundedRow
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Variable, pair_name

MAX_TERMS = 2_000_000

Expression = tuple[tuple[Name, float], ...]


@dataclass(frozen=True)
class PsiRow:
    """One psi row: column j is `constant[j]` (0 where absent) plus the terms of `columns[j]`."""

    constant: Mapping[int, float]
    columns: Mapping[int, Expression]


class Encoder:
    """Collects the auxiliary variables and rows of a constraint's existence bits."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self.variables: dict[Name, Variable] = {}
        self.rows: list[Row] = []

    def psi_row(self, index: int, row: GroundedRow, used: set[int]) -> PsiRow:
        """The row over the program's variables; labels that the program does not have are never chosen."""
        columns: dict[int, Expression] = {}
        for j, indicators in row.linear.items():
            if j in used:
                names = [self._indicator(*indicator) for indicator in indicators]
                columns[j] = tuple((name, 1.0) for name in names if name is not None)
        for j, groups in row.any_of.items():
            if j in used:
                columns[j] = self._any_of(("exists", self.name, index, j), groups)
        return PsiRow({j: float(value) for j, value in row.constant.items()}, columns)

    def _indicator(self, position: int, label: str) -> Name | None:
        return self.program.decisions[position].get(label)

    def _any_of(self, e: Name, groups: Iterable[tuple[tuple[int, str], ...]]) -> Expression:
        members = [name for group in groups if (name := self._all_of(group)) is not None]
        if len(members) < 2:
            return tuple((name, 1.0) for name in members)
        self.variables[e] = Variable(e, type=Type.IMPLIED)
        for i, member in enumerate(members):
            self.rows.append(Row((e, "or", i), ((e, 1.0), (member, -1.0)), Sense.AT_LEAST, 0.0))
        terms = ((e, 1.0), *((member, -1.0) for member in members))
        self.rows.append(Row((e, "only if"), terms, Sense.AT_MOST, 0.0))
        return ((e, 1.0),)

    def _all_of(self, group: tuple[tuple[int, str], ...]) -> Name | None:
        names = [self._indicator(*indicator) for indicator in group]
        members = [name for name in names if name is not None]
        if len(members) < len(names):
            return None
        pairs = [pair_name(a[0], b[0], a[1], b[1]) for a, b in pairwise(group)]
        if pairs and all(pair in self.program.variables for pair in pairs):
            members = pairs
        if len(members) == 1:
            return members[0]
        a: Name = ("and", *members)
        if a not in self.variables:
            self.variables[a] = Variable(a, type=Type.IMPLIED)
            for i, member in enumerate(members):
                self.rows.append(Row((a, "if", i), ((a, 1.0), (member, -1.0)), Sense.AT_MOST, 0.0))
            terms = ((a, 1.0), *((member, -1.0) for member in members))
            self.rows.append(Row((a, "and"), terms, Sense.AT_LEAST, 1.0 - len(members)))
        return a


def check_size(name: str, rows: Sequence[GroundedRow], used: set[int], max_terms: int) -> None:
    """Refuses an encoding of OR and AND indicators that would be too large, stating its size."""
    groups = [group for row in rows for j, some in row.any_of.items() if j in used for group in some]
    terms = sum(3 + 3 * len(group) * (len(group) > 1) for group in groups)
    if terms > max_terms:
        raise TooLarge(
            f"{name!r} needs {len(groups):,} occurrences of n-grams, {terms:,} terms, above the limit of"
            f" {max_terms:,}; use a smaller n, fewer labels, or raise max_terms."
        )
