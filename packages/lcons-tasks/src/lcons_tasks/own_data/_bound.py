"""How many valid parts a constraint rejects, at most: an exact bound from held-out data.

If x of n independent held-out parts are rejected, then with a confidence of 95 % the share p of all valid
parts that are rejected is at most the Clopper-Pearson bound, the largest p with

    P(X <= x) = sum_{k <= x} C(n, k) p^k (1 - p)^(n - k) >= 0.05.

It holds for every n: for x = 0 it is 1 - 0.05^(1 / n), about 3 / n. Parts of one structure depend on each
other, so the bound is a little too small where errors come in clusters; the number of structures is stated
next to it. With folds, the networks of the folds are judged: they learn from fewer data than the constraint
that is saved, so that they usually reject a little more.

Not in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lcons_core._arithmetic import rounded_up

CONFIDENCE = 0.95


def upper_bound(rejected: int, parts: int, confidence: float = CONFIDENCE) -> float:
    """The Clopper-Pearson upper bound on a share; 1 without parts.

    >>> round(upper_bound(0, 300), 4), round(upper_bound(3, 300), 4), upper_bound(2, 2)
    (0.0099, 0.0256, 1.0)
    """
    if rejected >= parts:
        return 1.0
    from scipy.stats import beta

    return float(beta.ppf(confidence, rejected + 1, parts - rejected))


@dataclass(frozen=True)
class Bound:
    """`rejected` of `parts` held-out valid parts were rejected; at most `share` of all are (95 %)."""

    rejected: int
    parts: int

    @property
    def share(self) -> float:
        """The upper bound on the share of valid parts that are rejected."""
        return upper_bound(self.rejected, self.parts)

    @property
    def percent(self) -> str:
        """The bound in percent, rounded up.

        >>> Bound(1, 202_757).percent, Bound(0, 44).percent
        ('0.1%', '6.6%')
        """
        return rounded_up(self.share)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"rejected": self.rejected, "parts": self.parts, "share": round(self.share, 6)}
