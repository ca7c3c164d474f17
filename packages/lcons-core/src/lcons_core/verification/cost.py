"""About how long a verification takes: which domains are checked whole, and what is said before.

A point costs a multiple of rows times columns and of units, more where the weights are too long for one
float64 product. The factors were measured; they need to be right within a small factor only.

Not in the paper.
"""

from __future__ import annotations

import math

from lcons_core.rectifier import Network
from lcons_core.space import FeatureSpace
from lcons_core.theorem1 import estimate_rows
from lcons_core.verification.sides import DRAWN_ROWS, all_rows_checked

ALWAYS_EXHAUSTED = 10**5
MOST_EXHAUSTED = 2**22
PATIENCE = 5.0


def exhausts(network: Network, space: FeatureSpace) -> bool:
    """Whether all of the domain is checked: it is small, or takes about five seconds at most."""
    if space.size <= ALWAYS_EXHAUSTED:
        return True
    return space.size <= MOST_EXHAUSTED and seconds(network, space, space.size) <= PATIENCE


def seconds(network: Network, space: FeatureSpace, points: int) -> float:
    """About how long so many points take; that of looking for the boundary not included."""
    digits = _digits(network)
    every = all_rows_checked(network, points)
    rows = estimate_rows(network).rows if every else DRAWN_ROWS
    one = digits == 1
    row = 5e-9 if one else 4e-8 * digits if every else 4e-7 * digits
    product = 1e-10 if one else 3e-10 * digits
    unit = 6e-8 if one else 1e-6 * digits
    a_point = 2e-7 + 4e-8 * len(space.axes) + 3e-8 * space.d + unit * network.K
    a_point += rows * (row + product * space.d)
    return points * a_point


def _digits(network: Network) -> int:
    """How many exact float64 products a value needs, as `scaled.py` cuts it."""
    bits = max(part.exponent + math.log2(part.magnitude(1.0) + 1.0) for part in network.parts)
    return max(1, math.ceil(bits / 45))
