"""The content of labelled files: structures, or psi vectors that are valid or not; and splits of them.

Both store their numbers in the file, so that a structure keeps its number when data are split. A `Split`
records which part of which file a constraint was learned from. It is stored in the provenance of the
constraint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import Instance, InvalidInput, Unsupported
from lcons_core._instance import WORD, read_instances
from lcons_core._types import Bools, Floats, Ints
from lcons_core.learn._evidence import fold_bounds

HELD_OUT = 0.2
ROWS, STRUCTURES = "rows", "structures"


@dataclass(frozen=True, eq=False)
class Structures:
    """Valid structures; `tuples`: whether their y are tuples, not labels of a sequence; `rows`: their
    numbers in the file, from 1 on by default."""

    instances: tuple[Instance, ...]
    tuples: bool = False
    rows: Ints | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "instances", tuple(self.instances))
        if not self.instances or not all(isinstance(instance, Instance) for instance in self.instances):
            raise InvalidInput(f"expected labelled structures, as `Instance`: got {self.instances!r:.60}.")

    def __len__(self) -> int:
        return len(self.instances)

    def numbers(self) -> Ints:
        """The number of each structure in its file, from 1."""
        return np.arange(1, len(self) + 1) if self.rows is None else self.rows

    def take(self, chosen: Bools) -> Structures:
        """The chosen structures."""
        instances = tuple(self.instances[i] for i in np.flatnonzero(chosen).tolist())
        return Structures(instances, self.tuples, self.numbers()[chosen])

    @classmethod
    def of(cls, data: Any) -> Structures:
        """Structures, or a list of instances, sentences or (words, labels) pairs, as structures; words may be
        columns by name."""
        if isinstance(data, Structures):
            return data
        if not isinstance(data, Iterable) or isinstance(data, PsiTable):
            raise Unsupported(f"expected label sequences or tuples: got a {type(data).__name__}.")
        instances = read_instances((getattr(example, "instance", example) for example in data), WORD)
        labels = [label for instance in instances for label in instance.y[:2]]
        names = {isinstance(label, str) for label in labels}
        if len(names) > 1 or not all(isinstance(label, str | tuple | list) for label in labels):
            raise InvalidInput(f"labels are names, or tuples of names: got {labels[:2]!r:.60}.")
        return cls(tuple(instances), names == {False})


@dataclass(frozen=True, eq=False)
class PsiTable:
    """psi vectors X (N, d), whether each is valid (N,), and the names of the columns."""

    names: tuple[str, ...]
    X: Floats
    valid: NDArray[np.bool_]
    rows: Ints | None = None

    def __post_init__(self) -> None:
        shapes = (self.X.ndim, self.X.shape[-1:], self.valid.shape)
        if shapes != (2, (len(self.names),), self.X.shape[:1]) or not self.X.size:
            raise InvalidInput(
                f"psi vectors need a name per column and a verdict per row: got {len(self.names)} names,"
                f" vectors of shape {self.X.shape} and verdicts of shape {self.valid.shape}."
            )

    def __len__(self) -> int:
        return len(self.X)

    def numbers(self) -> Ints:
        """The number of each row in its file, from 1."""
        return np.arange(1, len(self) + 1) if self.rows is None else self.rows

    def take(self, chosen: Bools) -> PsiTable:
        """The chosen rows."""
        return PsiTable(self.names, self.X[chosen], self.valid[chosen], self.numbers()[chosen])


Data = Structures | PsiTable


def split(data: Data, share: float = HELD_OUT) -> tuple[Data, Data | None]:
    """(training part, held-out part): the last `share` of the structures is held out, or the last `share` of
    the valid rows and of the invalid rows. The held-out part is None if it would be empty.

    >>> train, held_out = split(Structures.of([(["a"], ["O"])] * 10))
    >>> len(train), held_out.numbers().tolist()
    (8, [9, 10])
    """
    if not 0 < share < 1:
        raise InvalidInput(f"a held-out share is between 0 and 1: got {share}.")
    mask = _mask(data, [side[len(side) - int(len(side) * share) :] for side in _sides(data)])
    return (data.take(~mask), data.take(mask)) if mask.any() else (data, None)


def contiguous_folds(data: Data, folds: int) -> list[tuple[Data, Data]]:
    """(the rest, the fold) for each of `folds` contiguous folds; of a table, contiguous in its valid rows and
    in its invalid rows. Neighbours stay together, because they are alike. No folds of a single structure.

    >>> data = Structures.of([(["a"], ["O"])] * 5)
    >>> [(len(rest), fold.numbers().tolist()) for rest, fold in contiguous_folds(data, 2)]
    [(3, [1, 2]), (2, [3, 4, 5])]
    """
    sides = _sides(data)
    bounds = [fold_bounds(len(side), min([folds, *map(len, sides)])) for side in sides]
    masks = [
        _mask(data, [side[first:stop] for side, (first, stop) in zip(sides, places, strict=True)])
        for places in zip(*bounds, strict=True)
    ]
    return [(data.take(~mask), data.take(mask)) for mask in masks if not mask.all()]


def _sides(data: Data) -> list[Ints]:
    """The indices of all structures, or those of the valid and of the invalid rows."""
    if isinstance(data, Structures):
        return [np.arange(len(data))]
    sides = [np.flatnonzero(data.valid == verdict) for verdict in (False, True)]
    return [side for side in sides if len(side)]


def _mask(data: Data, indices: Sequence[Ints]) -> Bools:
    mask = np.zeros(len(data), dtype=np.bool_)
    mask[np.concatenate(indices)] = True
    return mask


@dataclass(frozen=True)
class Split:
    """The first `count` of the `of` structures or rows (`unit`) of a file, from which a constraint was
    learned; `share` of them was held out at the end. `file` is a name without folders."""

    file: str
    unit: str
    count: int
    of: int
    share: float = 0.0

    def __post_init__(self) -> None:
        if self.unit not in (ROWS, STRUCTURES) or not 0 <= self.count <= self.of or not 0 <= self.share < 1:
            raise InvalidInput(f"expected a part of a file: got {self!r:.200}.")

    @classmethod
    def of_file(cls, data: Data, file: str, share: float = 0.0) -> Split:
        """The data in a file, of which `split` holds out a share."""
        train, held_out = split(data, share) if share else (data, None)
        unit = ROWS if isinstance(data, PsiTable) else STRUCTURES
        return cls(file, unit, len(train), len(data), share if held_out is not None else 0.0)

    @property
    def learned_from(self) -> str:
        """The data that the constraint was learned from, in words.

        >>> Split.of_file(Structures.of([(["a"], ["O"])] * 20), "train.conll", 0.2).learned_from
        'the first 80 % of the structures (16 of 20)'
        """
        if not self.share:
            return f"all {self.of:,} {self.unit}" if self.of != 1 else f"1 {self.unit.removesuffix('s')}"
        return f"the first {100 - 100 * self.share:.0f} % of {self._units} ({self.count:,} of {self.of:,})"

    @property
    def held_out(self) -> str:
        """The data that were held out, in words."""
        return f"the last {100 * self.share:.0f} % of {self._units} of {self.file}, {self.of - self.count:,}"

    @property
    def _units(self) -> str:
        return f"the{' valid and of the invalid' if self.unit == ROWS else ''} {self.unit}"


def recorded_split(provenance: Mapping[str, Any]) -> Split | None:
    """The data that a constraint was learned from; None if that is not known."""
    try:
        return Split(**provenance["split"])
    except (InvalidInput, KeyError, TypeError):
        return None
