"""What `add_to` needs of a modelling tool: to make variables, to add rows, and to read values.

A tool is one file, imported only where a model of it is given. It never changes a model before all entries of
psi have been checked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from lcons_core._errors import InvalidInput
from lcons_core.optimisers._system import Bounds, System

Terms = Sequence[tuple[float, Any]]


class Tool(ABC):
    """A model of one tool; entries are its variables and linear expressions."""

    name: ClassVar[str]
    entry: ClassVar[str] = "variables or linear expressions of the model"

    separator: ClassVar[str] = "_"

    def __init__(self, model: Any) -> None:
        self.model = model

    def joined(self, prefix: str, name: str) -> str:
        """The name of a variable or row of `prefix`."""
        return f"{prefix}{self.separator}{name}"

    def listed(self, psi: Any) -> Sequence[Any]:
        """The entries of a psi that is not a mapping, in column order; `TypeError` if it is no sequence."""
        return list(psi)

    @abstractmethod
    def knows(self, entry: Any) -> bool:
        """Whether an entry is a variable or expression of this tool."""

    @abstractmethod
    def bounds(self, entry: Any) -> Bounds:
        """What is known about the values of an entry."""

    @abstractmethod
    def names(self) -> set[str]:
        """The names of the model's rows, or of the blocks that hold them."""

    @abstractmethod
    def value(self, entry: Any, solution: Any) -> float:
        """The value of an entry in a solution, or in the model's last solution if that is None."""

    @abstractmethod
    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds a system whose columns of psi are `entries`; returns the model."""


class RowByRow(Tool):
    """A tool whose variables and rows are added one at a time, each with a name."""

    @abstractmethod
    def variable(self, name: str, bounds: Bounds) -> Any:
        """A new variable of the model."""

    @abstractmethod
    def row(self, name: str, terms: Terms, rhs: float, equal: bool) -> None:
        """Adds `sum of c * entry >= rhs` (`==` if `equal`) to the model; there is at least one term."""

    def add(self, system: System, entries: Sequence[Any], prefix: str) -> Any:
        """Adds the variables, then the rows."""
        added = [self.variable(self.joined(prefix, a.name), a.bounds) for a in system.auxiliaries]
        columns = [*entries, *added]
        for row in system.rows:
            terms = [(c, columns[j]) for j, c in row.terms]
            self.row(self.joined(prefix, row.name), terms, float(row.rhs), row.equal)
        return self.model


def needed(solution: Any, kind: type | tuple[type, ...], what: str) -> Any:
    """`solution`, checked to be of that kind; for tools whose models keep no solution."""
    if not isinstance(solution, kind):
        raise InvalidInput(
            f"the model keeps no solution: expected {what}, found {type(solution).__name__}; pass it to check"
            " or psi."
        )
    return solution
