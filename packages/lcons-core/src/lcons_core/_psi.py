"""psi: constraint feature vectors, dense or sparse.

`SparsePsi` stores N vectors as index lists (most psi have only a few ones), in the layout of CSR matrices.
`as_psi` converts the input of a user (arrays, lists, scipy.sparse, `SparsePsi`) into a dense float64 array or
a `SparsePsi`, checked once. `PsiRows` are vectors with one owner and one weight each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import checked_array, finite_array, frozen
from lcons_core._errors import InvalidInput
from lcons_core._types import Floats
from lcons_core._types import Ints as Ints

# The most numbers that a product gathers at once.
_GATHERED = 2**22


@dataclass(frozen=True, eq=False)
class SparsePsi:
    """N vectors of length d: row i has `values[p]` at column `indices[p]` for p in indptr[i]:indptr[i+1].

    >>> psi = SparsePsi.from_indices([[0, 2], []], d=3)
    >>> psi.dense()
    array([[1., 0., 1.],
           [0., 0., 0.]])
    """

    indptr: Ints
    indices: Ints
    values: Floats
    d: int

    def __post_init__(self) -> None:
        indptr, indices = _whole(self.indptr, "indptr"), _whole(self.indices, "indices")
        values = finite_array(self.values, "psi values", 1)
        counts = np.diff(indptr)
        if not indptr.size or indptr[0] != 0 or (counts < 0).any():
            raise InvalidInput("indptr must start at 0 and never decrease, as in a CSR matrix.")
        if not indptr[-1] == indices.size == values.size:
            raise InvalidInput(f"indices and values must have indptr[-1] = {indptr[-1]} entries.")
        if indices.size and not (indices.min() >= 0 and indices.max() < self.d):
            raise InvalidInput(f"columns must be in 0..{self.d - 1}, found {indices.min()}..{indices.max()}.")
        indptr, indices, values = _canonical(indptr, indices, values)
        object.__setattr__(self, "indptr", frozen(indptr))
        object.__setattr__(self, "indices", frozen(indices))
        object.__setattr__(self, "values", frozen(values))

    @classmethod
    def from_indices(cls, rows: Iterable[Sequence[int] | Ints], d: int) -> SparsePsi:
        """0/1 vectors from lists of the columns whose value is 1."""
        lists = [_whole(row, "a row of indices") for row in rows]
        indptr = np.cumsum([0, *(row.size for row in lists)])
        indices = np.concatenate(lists) if lists else np.zeros(0, np.int64)
        return cls(indptr, indices, np.ones(indices.size), d)

    @classmethod
    def from_columns(cls, columns: Ints, d: int) -> SparsePsi:
        """0/1 vectors from an (N, m) array of columns; -1 means no column."""
        present = columns >= 0
        indptr = np.concatenate(([0], np.cumsum(present.sum(1))))
        return cls(indptr, columns[present], np.ones(int(indptr[-1])), d)

    @classmethod
    def from_dense(cls, psi: Floats) -> SparsePsi:
        """The same vectors without their zeros."""
        row, column = np.nonzero(psi)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(psi)))))
        return cls(indptr, column, psi[row, column], psi.shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def row_of(self) -> Ints:
        """The row that each stored entry belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def dense(self) -> Floats:
        """(N, d) array."""
        out = np.zeros((len(self), self.d))
        out[self.row_of, self.indices] = self.values
        return out

    def take(self, rows: NDArray[Any]) -> SparsePsi:
        """The chosen rows (indices or a Boolean mask), in that order."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows, dtype=np.int64)
        counts = np.diff(self.indptr)[chosen]
        indptr = np.concatenate(([0], np.cumsum(counts)))
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][chosen] - indptr[:-1], counts)
        return SparsePsi(indptr, self.indices[entries], self.values[entries], self.d)

    def dot(self, columns: Floats) -> Floats:
        """`psi @ columns` for a dense (d, K) array; reads only the rows of `columns` where psi is not 0."""
        out = np.zeros((len(self), columns.shape[1]))
        filled = np.flatnonzero(np.diff(self.indptr))
        most = max(1, _GATHERED // max(1, columns.shape[1]))
        while filled.size:
            first = self.indptr[filled[0]]
            rows = filled[: max(1, int(np.searchsorted(self.indptr[filled + 1], first + most, "right")))]
            entries = slice(first, self.indptr[rows[-1] + 1])
            gathered = columns[self.indices[entries]] * self.values[entries, None]
            out[rows] = np.add.reduceat(gathered, self.indptr[rows] - first, axis=0)
            filled = filled[len(rows) :]
        return out

    def row_keys(self) -> list[bytes]:
        """One hashable key per row; two keys are equal iff their vectors are."""
        columns, values = self.indices.tobytes(), self.values.tobytes()
        return [
            columns[8 * i : 8 * j] + values[8 * i : 8 * j]
            for i, j in zip(self.indptr[:-1], self.indptr[1:], strict=True)
        ]

    def groups(self) -> tuple[Ints, Ints]:
        """(N,) the group of equal rows that each row is in, and the first row of each group; groups are in
        the order of their first rows.

        >>> SparsePsi.from_indices([[1], [0], [1]], d=2).groups()
        (array([0, 1, 0]), array([0, 1]))
        """
        counts = np.diff(self.indptr)
        width = int(counts[0]) if len(counts) else 0
        ones = bool((counts == width).all() and (self.values == 1).all())
        if not ones or float(self.d) ** width >= 2.0**62:
            known: dict[bytes, int] = {}
            group = np.array([known.setdefault(key, len(known)) for key in self.row_keys()], dtype=np.int64)
            return group, np.unique(group, return_index=True)[1]
        # Rows of as many ones each: a row is a number of `width` digits.
        codes = np.zeros(len(self), dtype=np.int64)
        for column in self.indices.reshape(len(self), width).T:
            codes = codes * self.d + column
        _, first, which = np.unique(codes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return rank[which.reshape(-1)], first[order]

    @staticmethod
    def stack(pieces: Sequence[SparsePsi]) -> SparsePsi:
        """All rows of all pieces, which must have the same d."""
        if len({piece.d for piece in pieces}) != 1:
            raise InvalidInput("pieces must have the same d, at least one.")
        counts = np.concatenate([np.diff(piece.indptr) for piece in pieces])
        return SparsePsi(
            np.concatenate(([0], np.cumsum(counts))),
            np.concatenate([piece.indices for piece in pieces]),
            np.concatenate([piece.values for piece in pieces]),
            pieces[0].d,
        )


@dataclass(frozen=True, eq=False)
class PsiRows:
    """N psi rows. `owner` (N,) is the index of the structure or table row that a psi row belongs to; `weight`
    is (N,), or (N, ...) with several weights per row.

    >>> rows = PsiRows.of(SparsePsi.from_indices([[0, 2], []], d=3), weight=[2.0, 1.0])
    >>> len(rows), rows.owner.tolist(), rows.total
    (2, [0, 1], 3.0)
    """

    psi: SparsePsi
    owner: Ints
    weight: Floats

    def __post_init__(self) -> None:
        if not len(self.psi) == len(self.owner) == len(self.weight):
            raise InvalidInput(f"{len(self.psi)} psi rows need one owner and one weight each.")

    @classmethod
    def of(cls, psi: SparsePsi, owner: Any = None, weight: Any = None) -> PsiRows:
        """Rows with these owners and weights; by default row i has owner i and weight 1."""
        owners = np.arange(len(psi)) if owner is None else np.asarray(owner, dtype=np.int64)
        weights = np.ones(len(psi)) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(psi, owners, weights)

    def __len__(self) -> int:
        return len(self.psi)

    @property
    def total(self) -> float:
        """The total weight of all rows."""
        return float(self.weight.sum())

    def take(self, rows: NDArray[Any]) -> PsiRows:
        """The chosen rows (indices or a Boolean mask), in that order."""
        return PsiRows(self.psi.take(rows), self.owner[rows], self.weight[rows])


def _canonical(indptr: Ints, indices: Ints, values: Floats) -> tuple[Ints, Ints, Floats]:
    """The same rows with ascending columns and without zeros; raises if a column occurs twice in a row."""
    owner = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    rising = (np.diff(indices) > 0) | (np.diff(owner) > 0)
    if rising.all() and values.all():
        return indptr, indices, values
    order = np.lexsort((indices, owner))
    owner, indices, values = owner[order], indices[order], values[order]
    if ((owner[1:] == owner[:-1]) & (indices[1:] == indices[:-1])).any():
        raise InvalidInput("a column occurs twice in one row.")
    keep = values != 0
    counts = np.bincount(owner[keep], minlength=indptr.size - 1)
    return np.concatenate(([0], np.cumsum(counts))), indices[keep], values[keep]


def _whole(value: Any, name: str) -> Ints:
    """A copy of `value` as a one-dimensional array of integers; raises for fractions, does not truncate."""
    array = _any_array(value)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidInput(f"{name} must be a list of integers, found {array.dtype} of shape {array.shape}.")
    return array.astype(np.int64)


def _any_array(value: Any) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"psi must be an array, but cannot be converted ({error}).") from None


Psi = Floats | SparsePsi


# The types of one psi (d,) and of many psi (N, d). If mypy does not know the dimensions of an array, it
# counts as many. Sparse matrices of scipy are accepted, too.
OnePsi = np.ndarray[tuple[int], np.dtype[Any]] | Sequence[float]
ManyPsi = np.ndarray[tuple[int, int], np.dtype[Any]] | SparsePsi | Sequence[Sequence[float] | NDArray[Any]]


def as_psi(value: Any, d: int) -> Psi:
    """`value` as a (d,) or (N, d) float64 array or a `SparsePsi`; raises if not finite or not d columns."""
    if hasattr(value, "tocsr"):
        matrix = value.tocsr(copy=True)
        matrix.sum_duplicates()
        value = SparsePsi(matrix.indptr, matrix.indices, matrix.data, int(matrix.shape[-1]))
    if isinstance(value, SparsePsi):
        width: int = value.d
    else:
        value = value if isinstance(value, np.ndarray) else _any_array(value)
        value = checked_array(value, "psi", 1 if value.ndim == 1 else 2)
        width = value.shape[-1]
    if width != d:
        raise InvalidInput(f"psi must have {d} columns, found {width}.")
    result: Psi = value
    return result
