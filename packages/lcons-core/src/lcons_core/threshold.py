"""The threshold network: a conjunction of linear threshold units, the same set as a system of inequalities.

    z = sgn(1 - K + sum_k sgn(w_k . psi + b_k))

Paper: Sec. 2.2, Eq. 6. z = 1 iff every unit is 1. Its gradient is zero almost everywhere, which is why a
`RectifierNetwork` is learned instead; `LinearInequalities.to_threshold_network` gives one back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lcons_core.exact import Floats

if TYPE_CHECKING:
    from lcons_core.theorem1 import LinearInequalities


@dataclass(frozen=True, eq=False)
class ThresholdNetwork:
    """z = sgn(1 - K + sum_k sgn(W psi + b)_k) with W (K, d) and b (K,), both read-only.

    >>> ThresholdNetwork([[1.0, 0.0], [0.0, -1.0]], [-1.0, 0.0]).accepts([[1, 0], [1, 1]])
    array([ True, False])
    """

    inequalities: LinearInequalities

    def __init__(self, W: ArrayLike, b: ArrayLike) -> None:
        from lcons_core.theorem1 import LinearInequalities

        object.__setattr__(self, "inequalities", LinearInequalities(W, b))

    @property
    def W(self) -> Floats:
        """(K, d) weights of the hidden threshold units."""
        return self.inequalities.coefficients

    @property
    def b(self) -> Floats:
        """(K,) biases of the hidden threshold units."""
        return self.inequalities.bias

    @property
    def K(self) -> int:
        """The number of hidden units."""
        return self.W.shape[0]

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.W.shape[1]

    def margin(self, psi: Any) -> Any:
        """1 - K + sum_k sgn(w_k . psi + b_k): 1 where accepted, else negative and odd or even with K."""
        signs = np.where(self.inequalities.satisfied(psi), 1, -1)
        return 1 - self.K + signs.sum(-1)

    def accepts(self, psi: Any) -> Any:
        """Whether z = 1: a bool for one psi, (N,) for many."""
        verdict = self.margin(psi) >= 0
        return bool(verdict) if np.ndim(verdict) == 0 else verdict
