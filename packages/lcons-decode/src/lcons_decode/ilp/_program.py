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
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from lcons_core import InvalidInput
from lcons_core._arithmetic import LARGEST_MAGNITUDE

Name = Hashable
Values = Mapping[Name, float]
Factors = Mapping[tuple[Hashable, Hashable], Mapping[tuple[str, str], float]]


class Type(StrEnum):
    """IMPLIED is continuous for the solver, but 0 or 1 whenever the binary variables are."""

    BINARY = "binary"
    IMPLIED = "implied"
    CONTINUOUS = "continuous"


class Sense(StrEnum):
    """The comparison of a row's terms with its right-hand side."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EQUAL = "="

    def holds(self, value: float, tolerance: float = 0.0) -> bool:
        """Whether `value` compares with 0 as stated, within a tolerance."""
        low = self is Sense.AT_MOST or value >= -tolerance
        return low and (self is Sense.AT_LEAST or value <= tolerance)


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
    >>> program.decisions["city"]["Person"], program.objective({("city", "Person"): 1})
    (('city', 'Person'), 1.0)
    """

    variables: Mapping[Name, Variable]
    decisions: Mapping[Hashable, Mapping[str, Name]] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        for row in self.all_rows():
            coefficients = dict(row.terms)
            known = len(coefficients) == len(row.terms) and coefficients.keys() <= self.variables.keys()
            if not known or not all(map(math.isfinite, (row.rhs, *coefficients.values()))):
                raise InvalidInput(
                    f"the row {row.name!r} needs finite coefficients of distinct variables of the program."
                )

    def all_rows(self) -> Iterable[Row]:
        """The equation of every decision, then the rows."""
        for decision, labels in self.decisions.items():
            terms = tuple((name, 1.0) for name in labels.values())
            yield Row(("one of", decision), terms, Sense.EQUAL, 1.0)
        yield from self.rows

    @cached_property
    def decision_of(self) -> dict[Name, Hashable]:
        """The decision of each indicator."""
        return {name: decision for decision, labels in self.decisions.items() for name in labels.values()}

    @property
    def free(self) -> list[Name]:
        """The binary variables that belong to no decision."""
        binaries = (v.name for v in self.variables.values() if v.type is Type.BINARY)
        return [name for name in binaries if name not in self.decision_of]

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
        all_variables: dict[Name, Any] = dict(self.variables)
        all_rows: dict[Name, Any] = {row.name: row for row in self.rows}
        for known, added in ((all_variables, variables), (all_rows, rows)):
            for item in added:
                if known.setdefault(item.name, item) != item:
                    raise InvalidInput(f"the program has another part named {item.name!r}; rename one.")
        return Program(all_variables, self.decisions, tuple(all_rows.values()))


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
        prefix = decision if isinstance(decision, tuple) else (decision,)
        chosen[decision] = {label: (*prefix, label) for label in labels}
        for label, score in labels.items():
            _add(variables, chosen[decision][label], score, Type.BINARY)
    rows: list[Row] = []
    for (a, b), scores in (factors or {}).items():
        known = a != b and a in chosen and b in chosen
        if not known or any(x not in chosen[a] or y not in chosen[b] for x, y in scores):
            raise InvalidInput(f"the factor on {a!r} and {b!r} needs labels of two different decisions.")
        if not any(scores.values()):
            continue
        pairs = {(x, y): pair_name(a, b, x, y) for x in chosen[a] for y in chosen[b]}
        for pair, name in pairs.items():
            _add(variables, name, scores.get(pair, 0.0), Type.IMPLIED)
        for side, decision in enumerate((a, b)):
            for label, indicator in chosen[decision].items():
                members = ((name, 1.0) for pair, name in pairs.items() if pair[side] == label)
                consistent = ("consistent", a, b, decision, label)
                rows.append(Row(consistent, ((indicator, -1.0), *members), Sense.EQUAL, 0.0))
    return Program(variables, chosen, tuple(rows))


def pair_name(a: Hashable, b: Hashable, label_a: str, label_b: str) -> Name:
    """The variable, if a factor made one, that is 1 iff decisions a and b have these labels."""
    return ("pair", a, b, label_a, label_b)


def _add(variables: dict[Name, Variable], name: Name, score: float, type_: Type) -> None:
    if name in variables or math.isnan(score) or score == math.inf:
        raise InvalidInput(f"{name!r} needs a name of its own and a score below +inf, found {score}.")
    forbidden = score == -math.inf
    variables[name] = Variable(
        name, 0.0 if forbidden else float(score), high=float(not forbidden), type=type_
    )
