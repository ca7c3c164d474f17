"""Learned constraints grounded in a program: every psi column as an expression over the program's variables.

    psi_j = constant_j + sum of coefficient * variable

For n-grams, counts and tuples, psi is linear in the indicators. An existence bit is an OR of ANDs, which
becomes linear with auxiliary variables that are exact at every integral point:

    AND a of x_1 .. x_m:   a <= x_i,   a >= sum_i x_i - (m - 1)
    OR  e of g_1 .. g_m:   e >= g_i,   e <= sum_i g_i

If the program has pair variables, an AND of neighbours is one of them. Columns that no unit reads are left
out. A feature without a grounding raises an error; it is never approximated.

Paper: Sec. 2.1 and Appendix C. Not in the paper: the exact encoding of existence; the paper grounds only
linear psi.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lcons_core import Instance, InvalidInput, LearnedConstraint, TooLarge, Unsupported
from lcons_core._arithmetic import LARGEST_MAGNITUDE
from lcons_core._network import Network, as_network
from lcons_core._pointset import Given
from lcons_core._psi import Psi
from lcons_core.features import Counts, Scope, Tuples
from lcons_core.features._feature import GroundedRow
from lcons_decode._constraints import Constraint, Hard, Soft
from lcons_decode._scores import X, columns_of
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Values, Variable, pair_name

MAX_TERMS = 2_000_000

Expression = tuple[tuple[Name, float], ...]


@dataclass(frozen=True)
class PsiRow:
    """One psi row: column j is `constant[j]` (0 if absent) plus the terms of `columns[j]`."""

    constant: Mapping[int, float]
    columns: Mapping[int, Expression]


@dataclass(frozen=True, eq=False)
class Grounded:
    """A constraint in a program: its psi rows, the auxiliary variables and rows they need, and psi.

    `weight` is None for a hard constraint, otherwise the cost of one unit of negative margin. `psi` reads the
    decoded structure itself, not the auxiliary variables, so that a verdict on it does not depend on the
    encoding. `positions[i]` is the position at which row i ends in a sequence, None outside sequences.
    """

    name: str
    network: Network
    psi_rows: tuple[PsiRow, ...]
    psi: Callable[[Values], Psi]
    variables: tuple[Variable, ...] = ()
    rows: tuple[Row, ...] = ()
    weight: float | None = None
    positions: tuple[int | None, ...] = ()


def ground_chain(program: Program, constraint: Constraint, x: X = None, *, name: str = "") -> Grounded:
    """A constraint on label sequences in the program of a chain; x: columns of the input."""
    learned, weight, name = read_use(constraint, name)
    feature, T, columns = learned.feature, len(program.decisions), columns_of(x)
    rows = None if feature is None else feature.ground(Instance(columns, [""] * T))
    if feature is None or rows is None:
        raise Unsupported(
            f"the constraint {name!r} on {feature.kind if feature else 'no feature'!r} has no grounding in a"
            " chain; use n-gram, existence or count features, or ground_tuples for tuples."
        )
    if isinstance(feature, Counts) and feature.high < T:
        raise Unsupported(f"{name!r} knows counts up to {feature.high}, got {T} tokens; use decode_global.")
    for position in range(T):
        if position not in program.decisions or feature.labels:
            _check_labels(name, position, program, feature.labels)
    used = np.any([part.W.any(0) for part in learned.network.parts], axis=0)
    encoder = _Encoder(program, name)
    psi_rows = tuple(encoder.psi_row(i, row, used) for i, row in enumerate(rows))

    def psi(values: Values) -> Psi:
        labels = program.labels(values)
        return feature.psi(Instance(columns, [labels[t] for t in range(T)]))

    n = None if feature.scope is Scope.GLOBAL else feature.n
    positions = [None if n is None else i if feature.pad else i + n - 1 for i in range(len(rows))]
    variables, extra = tuple(encoder.variables.values()), tuple(encoder.rows)
    return Grounded(name, learned.network, psi_rows, psi, variables, extra, weight, tuple(positions))


def ground_tuples(
    program: Program, constraint: Constraint, parts: Iterable[Sequence[Hashable]], *, name: str = ""
) -> Grounded:
    """A constraint on tuples: `parts` names the decisions of each tuple, in the feature's order.

    >>> from lcons_core._network import RectifierNetwork
    >>> from lcons_decode.ilp._program import graph_program
    >>> pairs = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
    >>> no_location_kills = LearnedConstraint(RectifierNetwork([[0, 2, 0, 2]], [-2.0]), pairs.space, pairs)
    >>> program = graph_program({"e": {"Person": 0, "Location": 1}, "r": {"NoRel": 0, "Kill": 2}})
    >>> ground_tuples(program, no_location_kills, [("e", "r")]).psi_rows[0].columns[3]
    ((('r', 'Kill'), 1.0),)
    """
    learned, weight, name = read_use(constraint, name)
    feature, listed = learned.feature, [tuple(part) for part in parts]
    if not isinstance(feature, Tuples) or any(len(part) != len(feature.names) for part in listed):
        raise Unsupported(f"{name!r} must be a constraint on tuples, with one decision per member.")
    rows = []
    for part in listed:
        columns: dict[int, Expression] = {}
        for member, decision, values in zip(feature.names, part, feature.values, strict=True):
            _check_labels(name, decision, program, values)
            for label, variable in program.decisions[decision].items():
                columns[learned.space.column(member, label)] = ((variable, 1.0),)
        rows.append(PsiRow({}, columns))

    def psi(solution: Values) -> Psi:
        labels = program.labels(solution)
        return feature.psi(Instance({}, [tuple(labels[decision] for decision in part) for part in listed]))

    return Grounded(name, learned.network, tuple(rows), psi, weight=weight, positions=(None,) * len(rows))


def ground_columns(
    network: Given,
    columns: Sequence[Expression | Name],
    *,
    name: str = "network",
    weight: float | None = None,
) -> Grounded:
    """One psi row whose column j is `columns[j]`: a variable's name, or a list of (name, coefficient).

    For psi that is the assignment itself, as in the paper's synthetic programs (Appendix B).
    """
    accepting: Network = as_network(network, "ground_columns")
    if len(columns) != accepting.d or not 0 <= (weight or 0.0) <= LARGEST_MAGNITUDE:
        raise InvalidInput(
            f"{name!r} needs {accepting.d} columns and a weight that is None or from 0 to 2^200, found"
            f" {len(columns)} columns and the weight {weight}."
        )
    terms: dict[int, Expression] = {
        j: tuple(column) if isinstance(column, list) else ((column, 1.0),) for j, column in enumerate(columns)
    }

    def psi(values: Values) -> Psi:
        row = [sum(c * values.get(v, 0.0) for v, c in expression) for expression in terms.values()]
        return np.array([row], dtype=np.float64)

    return Grounded(name, accepting, (PsiRow({}, terms),), psi, weight=weight, positions=(None,))


def read_use(constraint: Constraint, name: str) -> tuple[LearnedConstraint, float | None, str]:
    """The constraint, the weight of its hinge (None: hard) and its name."""
    if isinstance(constraint, Soft) and not constraint.hinge:
        raise Unsupported(
            f"the penalty of Soft, weight * log sigmoid(margin), is not linear; pass"
            f" {constraint.name or 'it'!r} to an integer program with the cost 'hinge' or 'standard'."
        )
    use = Hard(constraint) if isinstance(constraint, LearnedConstraint) else constraint
    if not isinstance(use, Hard | Soft):
        raise InvalidInput(
            f"constraints are LearnedConstraint, Hard or Soft, found {type(constraint).__name__}; pass a"
            " network as LearnedConstraint(network, feature.space, feature)."
        )
    weight = use.rate if isinstance(use, Soft) else None
    return use.constraint, weight, name or use.name or "constraint"


def _check_labels(name: str, decision: Hashable, program: Program, known: Sequence[str]) -> None:
    labels = program.decisions.get(decision)
    if labels is None or not labels.keys() <= {*known}:
        raise InvalidInput(
            f"{name!r} needs a decision {decision!r} with labels among {', '.join(known)}, found"
            f" {'none' if labels is None else ', '.join(labels)}; learn from data that has all labels."
        )


class _Encoder:
    """Collects the auxiliary variables and rows for the existence bits of a constraint."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self.variables: dict[Name, Variable] = {}
        self.rows: list[Row] = []

    def psi_row(self, index: int, row: GroundedRow, used: Any) -> PsiRow:
        """The row over the program's variables; labels that are not in the program count as never chosen."""
        columns: dict[int, Expression] = {}
        for j, indicators in row.linear.items():
            if used[j]:
                names = [self._indicator(*indicator) for indicator in indicators]
                columns[j] = tuple((name, 1.0) for name in names if name is not None)
        for j, groups in row.any_of.items():
            if used[j]:
                columns[j] = self._any_of(("exists", self.name, index, j), groups)
        return PsiRow({j: float(value) for j, value in row.constant.items()}, columns)

    def _indicator(self, position: int, label: str) -> Name | None:
        return self.program.decisions[position].get(label)

    def _any_of(self, e: Name, groups: Iterable[tuple[tuple[int, str], ...]]) -> Expression:
        members = [name for group in groups if (name := self._all_of(group)) is not None]
        if len(members) < 2:
            return tuple((name, 1.0) for name in members)
        self._define(e, members, Sense.AT_LEAST, Sense.AT_MOST, 0.0)
        return ((e, 1.0),)

    def _all_of(self, group: tuple[tuple[int, str], ...]) -> Name | None:
        names = [self._indicator(*indicator) for indicator in group]
        members: list[Name] = [name for name in names if name is not None]
        if len(members) < len(names):
            return None
        pairs = [pair_name(a[0], b[0], a[1], b[1]) for a, b in pairwise(group)]
        if pairs and all(pair in self.program.variables for pair in pairs):
            members = pairs
        if len(members) == 1:
            return members[0]
        a: Name = ("and", *members)
        if a not in self.variables:
            self._define(a, members, Sense.AT_MOST, Sense.AT_LEAST, 1.0 - len(members))
        return a

    def _define(self, name: Name, members: Sequence[Name], each: Sense, total: Sense, rhs: float) -> None:
        """Adds a variable that compares with each member, and with their sum plus `rhs`."""
        self.variables[name] = Variable(name, type=Type.IMPLIED)
        for i, member in enumerate(members):
            self.rows.append(Row((name, "each", i), ((name, 1.0), (member, -1.0)), each, 0.0))
        terms = ((name, 1.0), *((member, -1.0) for member in members))
        self.rows.append(Row((name, "total"), terms, total, rhs))
        if 5 * len(self.rows) > MAX_TERMS:
            raise TooLarge(
                f"{self.name!r} needs more than {MAX_TERMS:,} terms for occurrences of n-grams; use a smaller"
                " n or fewer labels."
            )
