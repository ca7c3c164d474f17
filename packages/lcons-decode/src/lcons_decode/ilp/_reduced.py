"""The units and rows of a network that matter within the bounds of a program.

The bounds of the variables bound every activation a_k, and then

    a_k <= 0 everywhere     unit k is never active: it can be left out
    a_k >= 0 everywhere     unit k is always active: only subsets S that contain it matter
    otherwise               unit k is open

so 2^(open units) rows of Theorem 1 are left. Of these, a row that is never violated and a row r that another
row q dominates, min (r - q) >= 0, are left out too. All minima are in closed form, and exact for dyadic
weights (`Bounds`); for others r - q is rounded once, and the check outside the solver (`_check.py`) decides.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcons_core import Bools, RectifierNetwork, to_inequalities
from lcons_decode.ilp._grounded import Affine, Bounds, PsiRow, affine

MOST_COMPARED = 128


@dataclass(frozen=True, eq=False)
class Reduced:
    """A network without some units that are never active; `always` marks the units that always are."""

    network: RectifierNetwork
    always: Bools | None = None


def reduce_part(network: RectifierNetwork, row: PsiRow, bounds: Bounds) -> Reduced | None:
    """The network without the units that are never active at a psi row; None if no unit is left."""
    activation = affine(row, network.W, network.b)
    kept = ~bounds.at_most_zero(activation)
    if not kept.any():
        return None
    always = bounds.at_most_zero(activation, -1.0)[kept]
    return Reduced(network if kept.all() else RectifierNetwork(network.W[kept], network.b[kept]), always)


def open_units(part: Reduced) -> int:
    """The number of units that can be active or not."""
    return part.network.K - (0 if part.always is None else int(part.always.sum()))


def rows_that_matter(part: Reduced, row: PsiRow, bounds: Bounds) -> Affine:
    """The rows of Theorem 1 that matter, `values >= 0`, over the program's variables."""
    rows = to_inequalities(part.network)
    assert rows.subsets is not None
    if part.always is not None:
        rows = rows.take(np.flatnonzero(rows.subsets[:, part.always].all(1)))
    values = affine(row, rows.coefficients, rows.bias)
    kept = np.flatnonzero(~bounds.at_most_zero(values, -1.0))
    if 1 < len(kept) <= MOST_COMPARED:
        kept = _undominated(values, kept, bounds)
    return Affine(values.names, values.coefficients[kept], values.constant[kept])


def _undominated(values: Affine, rows: np.ndarray, bounds: Bounds) -> np.ndarray:
    """The rows that no other row dominates; of equal rows, the first."""
    kept = rows
    for m in rows.tolist():
        others = kept[kept != m]
        differences = Affine(
            values.names,
            values.coefficients[m] - values.coefficients[others],
            values.constant[m] - values.constant[others],
        )
        if bounds.at_most_zero(differences, -1.0).any():
            kept = others
    return kept
