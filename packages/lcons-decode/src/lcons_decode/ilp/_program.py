"""A 0/1 program over named parts, the same for every solver.

    maximise    sum_v objective[v] * v
    subject to  sum of the indicators of a decision = 1    for every decision (a token, an entity, a relation)
                linear rows, bounds, and types

A decision has labels, each with an indicator variable. A pairwise factor on decisions i, j has a variable p
for every pair of their labels, with the equations

    sum_m p[l, m] = y_i[l],    sum_l p[l, m] = y_j[m]

They make the relaxation of a chain (or a tree) tight: its vertices are the labellings. A chain is the graph
of its positions with a factor between neighbours; start and stop scores are added to those of the first and
last label. -inf forbids: the variable is fixed to 0.

Paper: Eq. 1 as an integer program, as in Sec. 4.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from lcons_core import LARGEST_MAGNITUDE, InvalidInput

Name = Hashable
Values = Mapping[Name, float]
Factors = Mapping[tuple[Hashable, Hashable], Mapping[tuple[str, str], float]]


class Type(StrEnum):
    """IMPLIED is continuous for the solver, but integral whenever the binary and integer variables are."""

    BINARY = "binary"
    INTEGER = "integer"
    IMPLIED = "implied"
    CONTINUOUS = "continuous"


class Sense(StrEnum):
    """The comparison of a row's terms with its right-hand side."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="


@dataclass(frozen=True)
class Variable:
    """A named variable, its coefficient in the objective, its bounds and its type."""

    name: Name
    objective: float = 0.0
    low: float = 0.0
    high: float = 1.0
    type: Type = Type.BINARY

    def __post_init__(self) -> None:
        finite = abs(self.objective) <= LARGEST_MAGNITUDE and math.isfinite(self.low)
        if not (finite and self.low <= self.high):
            raise InvalidInput(
                f"variable {self.name!r} needs a finite objective, at most 2^200, and finite low <= high,"
                f" found {self.objective}, {self.low} and {self.high}; fix a variable to 0 to forbid it."
            )


@dataclass(frozen=True)
class Row:
    """`sum of coefficient * variable  sense  rhs`; a clash is reported by the `group` of its rows."""

    name: Name
    terms: tuple[tuple[Name, float], ...]
    sense: Sense
    rhs: float
    group: str | None = None


@dataclass(frozen=True)
class Program:
    """Variables by name, decisions (name -> label -> the name of its indicator) and rows.

    >>> program = graph_program({"city": {"Location": 2.0, "Person": 1.0}})
    >>> program.indicator("city", "Person"), program.objective({("city", "Person"): 1})
    (('city', 'Person'), 1.0)
    """

    variables: Mapping[Name, Variable]
    decisions: Mapping[Hashable, Mapping[str, Name]] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        for row in self.all_rows():
            self.check_row(row)

    def check_row(self, row: Row) -> None:
        """Raises an error if a row names an unknown variable, names one twice, or is not finite."""
        if len(dict(row.terms)) < len(row.terms):
            raise InvalidInput(f"row {row.name!r} names a variable twice; add up its coefficients.")
        for name, coefficient in row.terms:
            if name not in self.variables:
                raise InvalidInput(
                    f"row {row.name!r} names the unknown variable {name!r}; add the variable first."
                )
            if not math.isfinite(coefficient):
                raise InvalidInput(
                    f"row {row.name!r} has the coefficient {coefficient} for {name!r}; it must be finite."
                )
        if not math.isfinite(row.rhs):
            raise InvalidInput(f"row {row.name!r} has the right-hand side {row.rhs}; it must be finite.")

    def all_rows(self) -> Iterable[Row]:
        """The equation of every decision, then the rows."""
        for decision, labels in self.decisions.items():
            terms = tuple((name, 1.0) for name in labels.values())
            yield Row(("one of", decision), terms, Sense.EQUAL, 1.0)
        yield from self.rows

    @cached_property
    def free(self) -> tuple[Name, ...]:
        """The binary and integer variables that belong to no decision."""
        owned = {name for labels in self.decisions.values() for name in labels.values()}
        whole = (Type.BINARY, Type.INTEGER)
        return tuple(v.name for v in self.variables.values() if v.type in whole and v.name not in owned)

    def indicator(self, decision: Hashable, label: str) -> Name:
        """The variable that is 1 iff the decision has the label."""
        labels = self.decisions.get(decision)
        if labels is None or label not in labels:
            raise InvalidInput(
                f"the program has no decision {decision!r} with label {label!r};"
                f" {'the labels are ' + ', '.join(labels) if labels else 'add the decision first'}."
            )
        return labels[label]

    def labels(self, values: Values) -> dict[Hashable, str]:
        """The label of every decision in a solution."""
        chosen = {}
        for decision, labels in self.decisions.items():
            chosen[decision] = max(labels, key=lambda label: values.get(labels[label], 0.0))
        return chosen

    def objective(self, values: Values) -> float:
        """The objective of a solution, correctly rounded; variables without a value are 0."""
        return math.fsum(self.variables[name].objective * value for name, value in values.items() if value)

    def extended(self, variables: Iterable[Variable] = (), rows: Iterable[Row] = ()) -> Program:
        """The program with more variables and rows; those that it already has are not added again."""
        known, added = dict(self.variables), {row.name: row for row in self.rows}
        for variable in variables:
            if known.setdefault(variable.name, variable) != variable:
                raise InvalidInput(f"there are two different variables {variable.name!r}; rename one.")
        for row in rows:
            if added.setdefault(row.name, row) != row:
                raise InvalidInput(f"there are two different rows {row.name!r}; rename one.")
        return Program(known, self.decisions, tuple(added.values()))

    def without_objective(self) -> Program:
        """The program with an objective of 0, to find out whether it has a solution."""
        variables = {name: replace(v, objective=0.0) for name, v in self.variables.items()}
        return replace(self, variables=variables)


def graph_program(decisions: Mapping[Any, Mapping[str, float]], factors: Factors | None = None) -> Program:
    """Decisions with one score per label, and scores for pairs of labels of two decisions (default 0).

    The indicator of decision ("entity", 3) and label "Person" is ("entity", 3, "Person"). If a decision is
    not a tuple, such as 3 or "city", the indicator is (3, "Person") or ("city", "Person").
    """
    variables: dict[Name, Variable] = {}
    chosen: dict[Hashable, dict[str, Name]] = {}
    for decision, labels in decisions.items():
        if not labels:
            raise InvalidInput(f"decision {decision!r} has no labels; pass at least one.")
        chosen[decision] = {label: _indicator_name(decision, label) for label in labels}
        for label, score in labels.items():
            _add(variables, chosen[decision][label], score, Type.BINARY)
    rows: list[Row] = []
    for (a, b), scores in (factors or {}).items():
        _check_factor(a, b, scores, chosen)
        if any(scores.values()):
            _add_factor(variables, rows, (a, b), scores, chosen)
    return Program(variables, chosen, tuple(rows))


def holds(sense: Sense, value: float, rhs: float) -> bool:
    """Whether `value sense rhs`."""
    return {Sense.AT_MOST: value <= rhs, Sense.AT_LEAST: value >= rhs, Sense.EQUAL: value == rhs}[sense]


def pair_name(a: Hashable, b: Hashable, label_a: str, label_b: str) -> Name:
    """The variable, if a factor made one, that is 1 iff decisions a and b have these labels."""
    return ("pair", a, b, label_a, label_b)


def _indicator_name(decision: Hashable, label: str) -> Name:
    return (*decision, label) if isinstance(decision, tuple) else (decision, label)


def _add(variables: dict[Name, Variable], name: Name, score: float, type_: Type) -> None:
    if name in variables:
        raise InvalidInput(f"two parts of the program would have the name {name!r}; rename a decision.")
    if math.isnan(score) or score == math.inf:
        raise InvalidInput(f"the score of {name!r} must not be NaN or +inf (-inf forbids), found {score}.")
    forbidden = score == -math.inf
    variables[name] = Variable(
        name, 0.0 if forbidden else float(score), high=float(not forbidden), type=type_
    )


def _check_factor(
    a: Hashable,
    b: Hashable,
    scores: Mapping[tuple[str, str], float],
    chosen: Mapping[Hashable, Mapping[str, Name]],
) -> None:
    if a not in chosen or b not in chosen or a == b:
        raise InvalidInput(
            f"expected a factor on two different decisions, found {a!r} and {b!r}; add the decisions first."
        )
    for label_a, label_b in scores:
        if label_a not in chosen[a] or label_b not in chosen[b]:
            raise InvalidInput(
                f"the factor on {a!r} and {b!r} scores ({label_a!r}, {label_b!r}), which are not labels of"
                " these decisions; drop that score or add the labels."
            )


def _add_factor(
    variables: dict[Name, Variable],
    rows: list[Row],
    factor: tuple[Hashable, Hashable],
    scores: Mapping[tuple[str, str], float],
    chosen: Mapping[Hashable, Mapping[str, Name]],
) -> None:
    """Adds pair variables with both consistency equations; they are integral whenever the indicators are."""
    a, b = factor
    for label_a in chosen[a]:
        for label_b in chosen[b]:
            name = pair_name(a, b, label_a, label_b)
            _add(variables, name, scores.get((label_a, label_b), 0.0), Type.IMPLIED)
    for side, own, others in ((0, a, b), (1, b, a)):
        for label, indicator in chosen[own].items():
            pairs = [(label, other) if side == 0 else (other, label) for other in chosen[others]]
            terms = [(pair_name(a, b, *pair), 1.0) for pair in pairs]
            rows.append(Row(("consistent", a, b, own, label), ((indicator, -1.0), *terms), Sense.EQUAL, 0.0))
