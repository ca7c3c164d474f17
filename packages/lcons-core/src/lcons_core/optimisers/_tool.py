"""A system of rows, and what a modelling tool must do to take it: make variables, add rows, read values.

A tool is one file with an `Adapter`, imported only where a model of it is given.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from lcons_core._theorem import Form

Terms = Sequence[tuple[float, Any]]


class Bounds(NamedTuple):
    """What a tool knows about one entry of psi; an expression may have any value."""

    lower: float = -math.inf
    upper: float = math.inf
    integral: bool = False


class Row(NamedTuple):
    """`sum of c * column j >= rhs` (`==` if `equal`) over terms (j, c); columns: psi, then auxiliaries."""

    name: str
    terms: tuple[tuple[int, float], ...]
    rhs: Fraction
    equal: bool = False


@dataclass(frozen=True)
class System:
    """`rows` over d columns of psi and named auxiliary variables from 0 to 1: the rows hold for some values
    of these iff psi is accepted."""

    d: int
    form: Form
    rows: tuple[Row, ...]
    auxiliaries: tuple[str, ...] = ()


class Tool(ABC):
    """A model of one tool; entries of psi are its variables and linear expressions, of the classes
    `variables` and `expressions`. `solutions` are the classes of solutions, if the model keeps none."""

    name: ClassVar[str]
    variables: ClassVar[Any]
    expressions: ClassVar[Any]
    solutions: ClassVar[Any] = None

    def __init__(self, model: Any) -> None:
        self.model = model

    def listed(self, psi: Any) -> list[Any]:
        """The entries of a psi that is not a mapping, in column order."""
        return list(psi)

    def knows(self, entry: Any) -> bool:
        """Whether an entry is a variable or expression of this tool."""
        return isinstance(entry, self.variables | self.expressions)

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds a system whose columns of psi are `entries`; returns the model."""
        columns = [*entries, *(self.auxiliary(f"{prefix}_{name}") for name in system.auxiliaries)]
        for row in system.rows:
            terms = [(c, columns[j]) for j, c in row.terms]
            self.row(f"{prefix}_{row.name}", terms, float(row.rhs), row.equal)
        return self.model

    def auxiliary(self, name: str) -> Any:
        """A new continuous variable from 0 to 1."""
        raise NotImplementedError

    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        """Adds `sum of c * entry >= rhs` (`==` if `equal`) to the model; there is at least one term."""
        raise NotImplementedError

    @abstractmethod
    def bounds(self, entry: Any) -> Bounds:
        """What is known about the values of a variable."""

    def names(self) -> set[str]:
        """The names of the model's rows."""
        return set()

    @abstractmethod
    def value(self, entry: Any, solution: Any) -> float:
        """The value of an entry in a solution, or in the model's last solution if that is None."""
