"""What one part costs a soft constraint of weight 1, given its margin m.

    sigmoid   log sigmoid(m)     also orders the parts that are allowed: m = 1 costs 0.31, m = 0 costs 0.69
    hinge     min(0, m)          0 for all that is allowed

Both are at most 0 and do not decrease in m: a bound on the margin is a bound on the penalty, and exact search
may leave out what is already too low without them. The compiled version is `_compiled.soft.cost`.

Not in the paper: soft constraints, which are those of Chang, Ratinov and Roth (2007, 2012); Anzaroot et al.
(2014) learn their penalties.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def costs(margins: Any, hinge: bool) -> Any:
    """The penalties of parts with these margins, all at most 0.

    >>> costs(np.array([-2.0, 0.5]), True).tolist()
    [-2.0, 0.0]
    """
    return np.minimum(margins, 0.0) if hinge else -np.logaddexp(0.0, -margins)
