"""The content of labelled files: structures, or psi vectors that are valid or not; and splits of them.

Both store their position in the file, so that a structure keeps its number when data are split. A `Split`
records which parts of which files a constraint was learned from, and which parts were held out. It is stored
in the provenance of the constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import Instance, InvalidInput
from lcons_core._types import Floats, Ints
from lcons_core.learn._evidence import fold_bounds

HELD_OUT = 0.2
ALL, FIRST, LAST = "all", "first", "last"
ROWS, STRUCTURES = "rows", "structures"


@dataclass(frozen=True)
class Structures:
    """Valid structures; `tuples`: whether their y are tuples, not labels of a sequence."""

    instances: tuple[Instance, ...]
    tuples: bool = False
    first: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "instances", tuple(self.instances))
        if not self.instances:
            raise InvalidInput("expected labelled structures, found none; pass at least one.")

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
    """psi vectors X (N, d), whether each is valid (N,), and the names of the columns."""

    names: tuple[str, ...]
    X: Floats
    valid: NDArray[np.bool_]
    rows: Ints | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        found = (self.X.ndim, self.X.shape[-1:], self.valid.shape)
        if found != (2, (len(self.names),), self.X.shape[:1]):
            raise InvalidInput(
                f"expected vectors with {len(self.names)} named columns and one verdict each, found vectors"
                f" of shape {self.X.shape} and verdicts of shape {self.valid.shape}; pass one name per column"
                " and one verdict per row."
            )
        if not len(self.X) or not self.names:
            raise InvalidInput("expected psi vectors, found none; pass at least one row and one column.")

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
    """(training part, held-out part): the last `share` of the structures is held out, or the last `share` of
    the valid rows and of the invalid rows. The held-out part is None if it would be empty.

    >>> train, held_out = split(Structures.of([(["a"], ["O"])] * 10))
    >>> len(train), len(held_out), held_out.first
    (8, 2, 9)
    """
    if not 0 < share < 1:
        raise InvalidInput(f"expected a held-out share between 0 and 1, found {share}; 0.2 is usual.")
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


def contiguous_folds(data: Data, folds: int) -> list[tuple[Data, Data]]:
    """(the rest, the fold) for each of `folds` contiguous folds; of a table, contiguous in its valid rows and
    in its invalid rows. Neighbours stay together, because they are alike. No folds of a single structure.

    >>> [(len(rest), fold.first) for rest, fold in contiguous_folds(Structures.of([(["a"], ["O"])] * 5), 2)]
    [(3, 1), (2, 3)]
    """
    if isinstance(data, Structures):
        bounds = fold_bounds(len(data), folds)
        return [
            (
                replace(data, instances=data.instances[:first] + data.instances[stop:]),
                replace(data, instances=data.instances[first:stop], first=data.first + first),
            )
            for first, stop in (bounds if len(bounds) > 1 else ())
        ]
    sides = [np.flatnonzero(data.valid == verdict) for verdict in (False, True)]
    sides = [rows for rows in sides if len(rows)]
    found: list[tuple[Data, Data]] = []
    for fold in range(min(folds, *map(len, sides))):
        held_out = np.zeros(len(data), dtype=np.bool_)
        for rows in sides:
            first, stop = fold_bounds(len(rows), min(folds, *map(len, sides)))[fold]
            held_out[rows[first:stop]] = True
        if not held_out.all():
            found.append((data.take(~held_out), data.take(held_out)))
    return found


def joined(data: Data, other: Data) -> Data:
    """Both as one, `other` after `data`; they must be of the same kind."""
    if isinstance(data, Structures) and isinstance(other, Structures) and data.tuples == other.tuples:
        return Structures((*data.instances, *other.instances), data.tuples)
    if isinstance(data, PsiTable) and isinstance(other, PsiTable) and data.names == other.names:
        return PsiTable(data.names, np.concatenate([data.X, other.X]), np.append(data.valid, other.valid))
    raise InvalidInput("expected data of one kind with the same columns, found two kinds; pass one kind.")


@dataclass(frozen=True)
class Part:
    """`count` of the `of` structures or rows (`unit`) of a file: all of them, or the first or last ones if
    `split` holds out `share`. `file` is a name without folders."""

    file: str
    unit: str
    count: int
    of: int
    which: str = ALL
    share: float = 0.0

    def __post_init__(self) -> None:
        known = self.unit in (ROWS, STRUCTURES) and self.which in (ALL, FIRST, LAST)
        counts = all(isinstance(one, int) and one >= 0 for one in (self.count, self.of))
        share = isinstance(self.share, int | float) and 0 <= self.share < 1
        if not (
            isinstance(self.file, str) and known and counts and share and (self.which == ALL or self.share)
        ):
            raise InvalidInput(f"expected a part of a file, found {self!r:.200}; pass counts and a share.")

    @classmethod
    def all_of(cls, data: Data, file: str) -> Part:
        """All of the data in a file."""
        return cls(file, ROWS if isinstance(data, PsiTable) else STRUCTURES, len(data), len(data))

    def __str__(self) -> str:
        """In words, without the file."""
        if self.which == ALL:
            return f"{self.count:,} {self.unit.removesuffix('s') if self.count == 1 else self.unit}"
        both = " valid and of the invalid" if self.unit == ROWS else ""
        percent = 100 * (self.share if self.which == LAST else 1 - self.share)
        return f"the {self.which} {percent:.0f} % of the{both} {self.unit}"


@dataclass(frozen=True)
class Split:
    """The parts of files that a constraint was learned from, and those that were held out, if any; `folds`:
    the number of folds of the former that judged it, if any."""

    learned_from: tuple[Part, ...]
    held_out: tuple[Part, ...] = ()
    folds: int = 0

    @classmethod
    def by_position(cls, data: Data, file: str, share: float = HELD_OUT) -> Split:
        """The split of the data in a file that `split` makes."""
        train, held_out = split(data, share)
        whole = Part.all_of(data, file)
        if held_out is None:
            return cls((whole,))
        first, last = (
            Part(file, whole.unit, len(part), len(data), which, share)
            for part, which in ((train, FIRST), (held_out, LAST))
        )
        return cls((first,), (last,))

    @property
    def learned_from_words(self) -> str:
        """The data that the constraint was learned from, in words.

        >>> data = Structures.of([(["a"], ["O"])] * 20)
        >>> Split.by_position(data, "train.conll").learned_from_words
        'the first 80 % of the structures (16 of 20)'
        """
        first, *others = self.learned_from
        if others:
            total = sum(part.count for part in self.learned_from)
            return f"all {Part('', first.unit, total, total)}, held-out ones too"
        if first.which == ALL:
            return str(first) if first.count == 1 else f"all {first}"
        return f"{first} ({first.count:,} of {first.of:,})"

    @property
    def held_out_words(self) -> str:
        """The data that were held out, in words."""
        if not self.held_out:
            return f"{self.folds} contiguous folds of {self.learned_from[0].file}, each held out once"
        (part,) = self.held_out
        return f"{part} of {part.file}" + ("" if part.which == ALL else f", {part.count:,}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "learned_from": [asdict(part) for part in self.learned_from],
            "held_out": [asdict(part) for part in self.held_out],
            **({"folds": self.folds} if self.folds else {}),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Split:
        """The split with the plain data of `to_dict`."""
        try:
            sides = [tuple(Part(**part) for part in data[side]) for side in ("learned_from", "held_out")]
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"expected a split of files, found {data!r:.200} ({error}).") from None
        folds = data.get("folds", 0)
        if not sides[0]:
            raise InvalidInput("expected a split of files, found one without a part to learn from.")
        return cls(sides[0], sides[1], folds if isinstance(folds, int) else 0)


SPLIT = "split"


def recorded_split(provenance: Mapping[str, Any]) -> tuple[str, Split | None]:
    """The data that a constraint was learned from, in words, and as a split if it is known; ("", None) if
    nothing is recorded."""
    try:
        recorded = Split.from_dict(provenance[SPLIT])
    except (KeyError, InvalidInput):
        return "", None
    return recorded.learned_from_words, recorded
