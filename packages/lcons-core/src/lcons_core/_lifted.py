"""The lifted form: the same set with K extra continuous variables and K + 1 rows, for solvers.

    s_k >= a_k,   s_k >= 0,   sum_k s_k <= 1,       a_k = w_k . psi + b_k

Some s satisfies these iff sum_k max(0, a_k) <= 1, so the projection on psi is exactly the rows of Theorem 1:
no binaries, no big-M, linear in K.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcons_core._arithmetic import Floats, frozen
from lcons_core._network import Network


@dataclass(frozen=True, eq=False)
class LiftedInequalities:
    """`A_psi @ psi + A_s @ s >= rhs` with s >= 0, s continuous."""

    A_psi: Floats
    A_s: Floats
    rhs: Floats

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.A_psi.shape[1]

    @property
    def K(self) -> int:
        """The number of auxiliary variables s."""
        return self.A_s.shape[1]


def lift(network: Network) -> LiftedInequalities:
    """The K rows `s_k - w_k . psi >= b_k`, then a row `-sum s_k >= -1` for each part.

    >>> from lcons_core._network import RectifierNetwork
    >>> lifted = lift(RectifierNetwork([[2.0, 3.0]], [-4.0]))
    >>> lifted.A_psi, lifted.A_s, lifted.rhs
    (array([[-2., -3.],
           [ 0.,  0.]]), array([[ 1.],
           [-1.]]), array([-4., -1.]))
    """
    K, parts = network.K, network.parts
    W = np.concatenate([part.W for part in parts])
    b = np.concatenate([part.b for part in parts])
    budgets = np.zeros((len(parts), K))
    first = 0
    for row, part in zip(budgets, parts, strict=True):
        row[first : first + part.K] = -1.0
        first += part.K
    return LiftedInequalities(
        frozen(np.concatenate([-W, np.zeros((len(parts), network.d))]) + 0.0),
        frozen(np.concatenate([np.eye(K), budgets]) + 0.0),
        frozen(np.concatenate([b, np.full(len(parts), -1.0)])),
    )
