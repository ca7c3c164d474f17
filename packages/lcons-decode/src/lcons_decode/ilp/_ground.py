"""Learned constraints grounded in a program: every psi column as an expression over the program's variables.

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

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lcons_core import (
    LARGEST_MAGNITUDE,
    Given,
    Instance,
    InvalidInput,
    LearnedConstraint,
    Network,
    Psi,
    TooLarge,
    Unsupported,
    as_constraint,
    as_network,
)
from lcons_core.features import ConstraintFeature, GroundedRow, Scope, Tuples
from lcons_decode._constraints import NEEDS, Hard, Soft
from lcons_decode._scores import X, columns_of
from lcons_decode.ilp._forms import MAX_TERMS
from lcons_decode.ilp._grounded import Expression, Grounded, PsiRow
from lcons_decode.ilp._program import Name, Program, Row, Sense, Type, Values, Variable, pair_name


@dataclass(frozen=True)
class Hinge:
    """A preference: for every psi row, `-weight * max(0, -margin(psi))` is added to the score."""

    constraint: LearnedConstraint
    weight: float
    name: str = ""

    def __post_init__(self) -> None:
        as_constraint(self.constraint, "Hinge", NEEDS)
        checked_weight(self.weight)


def ground_chain(
    program: Program,
    constraint: LearnedConstraint | Hard | Soft | Hinge,
    x: X = None,
    *,
    name: str = "",
    max_terms: int = MAX_TERMS,
) -> Grounded:
    """A constraint on label sequences in the program of a chain; x: columns of the input."""
    learned, weight, name = read_use(constraint, name)
    feature, T = learned.feature, len(program.decisions)
    columns = columns_of(x)
    rows = None if feature is None else feature.ground(Instance(columns, [""] * T))
    if feature is None or rows is None:
        raise Unsupported(
            f"the constraint {name!r} on {feature.kind if feature else 'no feature'!r} has no grounding in a"
            " chain; use n-gram, existence or count features, or ground_tuples for tuples."
        )
    for position in range(T):
        if position not in program.decisions:
            raise InvalidInput(
                f"expected the decisions 0 .. {T - 1} of a chain, found no {position}; use chain_program."
            )
        if feature.labels:
            _check_labels(name, position, program, set(feature.labels))
    every = [part.W.any(0) for part in learned.network.parts]
    used = set(np.flatnonzero(np.any(every, axis=0)).tolist())
    _check_size(name, rows, used, max_terms)
    encoder = _Encoder(program, name)
    psi_rows = tuple(encoder.psi_row(i, row, used) for i, row in enumerate(rows))

    def psi(values: Values) -> Psi:
        labels = program.labels(values)
        return feature.psi(Instance(columns, [labels[t] for t in range(T)]))

    return Grounded(
        name,
        learned.network,
        psi_rows,
        psi,
        tuple(encoder.variables.values()),
        tuple(encoder.rows),
        weight,
        _positions(feature, len(rows)),
    )


def ground_tuples(
    program: Program,
    constraint: LearnedConstraint | Hard | Soft | Hinge,
    parts: Iterable[Sequence[Hashable]],
    *,
    name: str = "",
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
    feature = learned.feature
    if not isinstance(feature, Tuples):
        raise Unsupported(
            f"expected a constraint on tuples, found {name!r} on"
            f" {feature.kind if feature else 'no feature'!r}; use ground_chain for sequences or"
            " ground_columns for other psi."
        )
    listed = [tuple(part) for part in parts]
    rows = []
    for part in listed:
        if len(part) != len(feature.names):
            raise InvalidInput(
                f"a part of {name!r} must name the decisions of ({', '.join(feature.names)}), found {part!r}."
            )
        columns: dict[int, Expression] = {}
        for member, decision, values in zip(feature.names, part, feature.values, strict=True):
            _check_labels(name, decision, program, set(values))
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
    own: Network = as_network(network, "ground_columns")
    if len(columns) != own.d:
        raise InvalidInput(
            f"{name!r} needs {own.d} columns, found {len(columns)}; pass one entry per column of psi."
        )
    terms: dict[int, Expression] = {
        j: tuple(column) if isinstance(column, list) else ((column, 1.0),) for j, column in enumerate(columns)
    }

    def psi(values: Values) -> Psi:
        row = [sum(c * values.get(v, 0.0) for v, c in expression) for expression in terms.values()]
        return np.array([row], dtype=np.float64)

    checked_weight(weight)
    return Grounded(name, own, (PsiRow({}, terms),), psi, weight=weight, positions=(None,))


def read_use(
    constraint: LearnedConstraint | Hard | Soft | Hinge, name: str
) -> tuple[LearnedConstraint, float | None, str]:
    """The constraint, its hinge weight (None: hard) and its name."""
    if isinstance(constraint, Soft):
        if not constraint.hinge:
            raise Unsupported(
                f"the penalty of Soft, weight * log sigmoid(margin), is not linear; pass"
                f" {constraint.name or 'it'!r} to an integer program as Hinge(constraint, weight), or with"
                " the cost 'hinge' or 'standard'."
            )
        constraint = Hinge(constraint.constraint, constraint.rate, constraint.name)
    if isinstance(constraint, LearnedConstraint):
        constraint = Hard(constraint)
    if not isinstance(constraint, Hard | Hinge):
        raise InvalidInput(
            f"constraints are LearnedConstraint, Hard or Hinge, found {type(constraint).__name__}; pass a"
            " network as LearnedConstraint(network, feature.space, feature)."
        )
    weight = constraint.weight if isinstance(constraint, Hinge) else None
    return constraint.constraint, weight, name or constraint.name or "constraint"


def checked_weight(weight: float | None) -> None:
    """Raises an error if a hinge weight is negative or not finite."""
    if weight is not None and not 0 <= weight <= LARGEST_MAGNITUDE:
        raise InvalidInput(
            f"a hinge weight must be finite and at least 0, and at most 2^200, found {weight}."
        )


def _check_labels(name: str, decision: Hashable, program: Program, known: set[str]) -> None:
    if decision not in program.decisions:
        raise InvalidInput(f"{name!r} reads the decision {decision!r}, which the program does not have.")
    unknown = [label for label in program.decisions[decision] if label not in known]
    if unknown:
        raise InvalidInput(
            f"decision {decision!r} has the label {unknown[0]!r}, but the feature of {name!r} does not; leave"
            " this label out or learn from data that has it."
        )


def _positions(feature: ConstraintFeature, rows: int) -> tuple[int | None, ...]:
    if feature.n is None or feature.scope is Scope.GLOBAL:
        return (None,) * rows
    return tuple(i if feature.pad else i + feature.n - 1 for i in range(rows))


class _Encoder:
    """Collects the auxiliary variables and rows for the existence bits of a constraint."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self.variables: dict[Name, Variable] = {}
        self.rows: list[Row] = []

    def psi_row(self, index: int, row: GroundedRow, used: set[int]) -> PsiRow:
        """The row over the program's variables; labels that are not in the program count as never chosen."""
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


def _check_size(name: str, rows: Sequence[GroundedRow], used: set[int], max_terms: int) -> None:
    """Raises an error with the size if an encoding of OR and AND indicators would be too large."""
    groups = [group for row in rows for j, some in row.any_of.items() if j in used for group in some]
    terms = sum(3 + 3 * len(group) * (len(group) > 1) for group in groups)
    if terms > max_terms:
        raise TooLarge(
            f"{name!r} needs {len(groups):,} occurrences of n-grams, {terms:,} terms, above the limit of"
            f" {max_terms:,}; use a smaller n, fewer labels, or raise max_terms."
        )
