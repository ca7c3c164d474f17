"""Cuts: the most violated row of Theorem 1 in closed form, one row a round.

    argmin_S  1 - sum_{k in S} a_k  =  S* = {k : a_k > 0},   attained value = margin(psi)

A solver that starts without rows and adds the row of S* at each rejected solution ends at the constrained
optimum, having seen only the rows that matter.

Not in the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lcons_core._errors import InvalidInput
from lcons_core._inequalities import LinearInequalities, row_of_subset
from lcons_core._network import Network


def most_violated(network: Network, psi: Any) -> LinearInequalities:
    """The row with the least value at `psi` (d,), that of S* = {k : a_k > 0}: it holds iff psi is accepted.

    For weights that float64 cannot add up exactly that is so up to the rounding of the row, which `verify`
    counts. Where no unit is active every row holds, and the row of the largest activation is given.

    >>> from lcons_core._network import RectifierNetwork
    >>> cut = most_violated(RectifierNetwork([[2.0, 2.0], [0.0, -1.0]], [-2.0, 0.0]), [1, 1])
    >>> cut.coefficients, cut.bias, cut.subsets
    (array([[-2., -2.]]), array([3.]), array([[ True, False]]))
    """
    if np.ndim(psi) != 1:
        raise InvalidInput(
            f"a cut is made for one psi of shape ({network.d},), found {np.ndim(psi)} dimensions;"
            " call most_violated once a point."
        )
    activations = [part.activations(psi) for part in network.parts]
    sums = [np.maximum(a, 0.0).sum() for a in activations]
    worst = int(np.argmax(sums))
    active = activations[worst] > 0
    if not active.any():
        active[int(np.argmax(activations[worst]))] = True
    row = row_of_subset(network.parts[worst], active)
    subset = [np.zeros(part.K, dtype=np.bool_) for part in network.parts]
    subset[worst] = active
    return LinearInequalities(row.coefficients, row.bias, np.concatenate(subset)[None])
