"""What a diagnosis is made from, of whatever kind: psi rows and whose they are, and how more are drawn.

    kind of data      a unit is        shuffled are
    label sequences   a sentence       labels, over all tokens            `structures.py`
    tuples            a structure      each member, over all tuples       `structures.py`
    psi vectors       a row            the column `valid`                 `tables.py`

Shuffling leaves frequencies, lengths and inputs as they are and obeys no constraint, so accuracy is compared
with what the same steps reach on shuffled data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lcons_core.examples import LabelledExamples
from lcons_core.features import Scope
from lcons_core.psi import Ints, SparsePsi

Bools = NDArray[np.bool_]

# For the references more than the paper's one negative a positive: they are to see what there is to see.
TRAINING_CORRUPTIONS = 4


@dataclass(frozen=True, eq=False)
class Parts:
    """psi rows and the unit (sentence, structure or row) that each belongs to."""

    psi: SparsePsi
    owners: Ints

    def __len__(self) -> int:
        return len(self.psi)

    def take(self, rows: Bools) -> Parts:
        """The chosen rows."""
        return Parts(self.psi.take(rows), self.owners[rows])


@dataclass(frozen=True, eq=False)
class Sample:
    """Training examples, and held-out parts of gold and corrupted units."""

    examples: LabelledExamples
    gold: Parts
    corrupted: Parts


class Material(Protocol):
    """Training and held-out data of one kind that a constraint can read."""

    @property
    def units(self) -> str:
        """What its units are called."""
        ...

    @property
    def shuffling(self) -> str:
        """What `shuffled` leaves, in words."""
        ...

    @property
    def scope(self) -> Scope:
        """LOCAL where `seen in training` looks psi up, GLOBAL where it looks at the range of each column."""
        ...

    @property
    def ranged(self) -> bool:
        """Whether psi leaves what training saw by the range of a column, not by being new."""
        ...

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of training and of held-out units."""
        ...

    @property
    def learned(self) -> Parts:
        """The parts of valid training data."""
        ...

    @property
    def gold(self) -> Parts:
        """The parts of valid held-out data."""
        ...

    def sample(self, seed: int) -> Sample | None:
        """What references learn from and are measured on; None where all that could be a negative is gold.
        An `LconsError` says why there can be none."""
        ...

    def shuffled(self, rng: np.random.Generator) -> Self:
        """The same without a constraint."""
        ...
