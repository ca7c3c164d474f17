"""The psi rows of data, each with the structure that it is part of.

A structure that a feature knows nothing about (a label or value that training has not, a count far beyond)
has no rows and is counted as outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcons_core.errors import InvalidInput
from lcons_core.features import ConstraintFeature
from lcons_core.psi import Ints, SparsePsi
from lcons_core.space import FeatureSpace
from lcons_tasks.labelled.data import PsiTable, Structures


@dataclass(frozen=True, eq=False)
class Parts:
    """psi (N, d); `owner` (N,) and `position` (N,) of each row, by index; `inside` are the structures that
    were judged, `outside` the others with the reason."""

    psi: SparsePsi
    owner: Ints
    position: Ints
    inside: int
    outside: tuple[tuple[int, str], ...]


def parts_of(feature: ConstraintFeature, data: Structures) -> Parts:
    """The parts of structures."""
    pieces: list[SparsePsi] = [SparsePsi.from_indices([], feature.space.d)]
    owners: list[int] = []
    outside: list[tuple[int, str]] = []
    for i, instance in enumerate(data.instances):
        try:
            psi = feature.psi(instance)
        except InvalidInput as error:
            outside.append((i, str(error).split(";")[0]))
            continue
        pieces.append(psi)
        owners.append(i)
    counts = np.array([len(piece) for piece in pieces[1:]], dtype=np.int64)
    starts = np.cumsum(counts) - counts
    position = np.arange(counts.sum()) - np.repeat(starts, counts)
    owner = np.repeat(np.array(owners, dtype=np.int64), counts)
    return Parts(SparsePsi.stack(pieces), owner, position, len(owners), tuple(outside))


def rows_of(space: FeatureSpace, data: PsiTable, chosen: NDArray[np.bool_]) -> Parts:
    """The chosen rows of a table as structures of one part each."""
    rows = np.flatnonzero(chosen)
    fits = space.contains(data.X[rows]) if len(rows) else np.zeros(0, dtype=np.bool_)
    outside = tuple((int(i), "it is not a vector of the space that training spans") for i in rows[~fits])
    psi = SparsePsi.from_dense(data.X[rows[fits]])
    return Parts(psi, rows[fits], np.zeros(int(fits.sum()), dtype=np.int64), int(fits.sum()), outside)
