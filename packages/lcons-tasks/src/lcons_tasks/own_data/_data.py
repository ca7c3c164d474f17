"""What labelled files hold: structures, or psi vectors that are valid or not.

Both know where they begin in their file, so that a structure keeps its number when data are split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import Floats
from lcons_core._errors import InvalidInput
from lcons_core._instance import Instance
from lcons_core._psi import Ints

HELD_OUT = 0.2


@dataclass(frozen=True)
class Structures:
    """Valid structures; `tuples` where their y are tuples, not labels of a sequence."""

    instances: tuple[Instance, ...]
    tuples: bool = False
    first: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "instances", tuple(self.instances))
        if not self.instances:
            raise InvalidInput("expected labelled structures, found none; give at least one.")

    def __len__(self) -> int:
        return len(self.instances)

    def numbers(self) -> Ints:
        """The number of each structure in its file, from 1."""
        return np.arange(self.first, self.first + len(self))

    @classmethod
    def of(cls, structures: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Structures:
        """(words, labels) pairs as structures."""
        return cls(tuple(Instance({"word": tuple(words)}, tuple(labels)) for words, labels in structures))


@dataclass(frozen=True, eq=False)
class PsiTable:
    """psi vectors X (N, d), whether each is valid (N,), and what the columns are called."""

    names: tuple[str, ...]
    X: Floats
    valid: NDArray[np.bool_]
    rows: Ints | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        found = (self.X.ndim, self.X.shape[-1:], self.valid.shape)
        if found != (2, (len(self.names),), self.X.shape[:1]):
            raise InvalidInput(
                f"expected vectors with {len(self.names)} named columns and a verdict each, found vectors of"
                f" shape {self.X.shape} and verdicts of shape {self.valid.shape}; give one name a column and"
                " one verdict a row."
            )
        if not len(self.X) or not self.names:
            raise InvalidInput("expected psi vectors, found none; give at least one row and one column.")

    def __len__(self) -> int:
        return len(self.X)

    def numbers(self) -> Ints:
        """The number of each row in its file, from 1."""
        return np.arange(1, len(self) + 1) if self.rows is None else self.rows

    def take(self, chosen: NDArray[np.bool_]) -> PsiTable:
        """The chosen rows."""
        return PsiTable(self.names, self.X[chosen], self.valid[chosen], self.numbers()[chosen])


Data = Structures | PsiTable


def split(data: Data, share: float = HELD_OUT) -> tuple[Data, Data | None]:
    """(training part, held-out part): the last `share` of the structures is held out, or of the valid and of
    the invalid rows; None where that would be less than one structure.

    >>> train, held_out = split(Structures.of([(["a"], ["O"])] * 10))
    >>> len(train), len(held_out), held_out.first
    (8, 2, 9)
    """
    if not 0 < share < 1:
        raise InvalidInput(f"expected a share between 0 and 1 to hold out, found {share}; 0.2 is usual.")
    if isinstance(data, Structures):
        kept = len(data) - int(len(data) * share)
        if kept == len(data):
            return data, None
        train = Structures(data.instances[:kept], data.tuples, data.first)
        return train, Structures(data.instances[kept:], data.tuples, data.first + kept)
    held_out = np.zeros(len(data), dtype=np.bool_)
    for verdict in (False, True):
        rows = np.flatnonzero(data.valid == verdict)
        held_out[rows[len(rows) - int(len(rows) * share) :]] = True
    return (data.take(~held_out), data.take(held_out)) if held_out.any() else (data, None)


def joined(data: Data, other: Data) -> Data:
    """Both as one, `other` behind `data`; they must be of one kind."""
    if isinstance(data, Structures) and isinstance(other, Structures) and data.tuples == other.tuples:
        return Structures((*data.instances, *other.instances), data.tuples)
    if isinstance(data, PsiTable) and isinstance(other, PsiTable) and data.names == other.names:
        return PsiTable(data.names, np.concatenate([data.X, other.X]), np.append(data.valid, other.valid))
    raise InvalidInput("expected data of one kind with the same columns, found two kinds; give one.")
