"""How to use a constraint: one function decides, from all that is known, and every command quotes it.

| what is known | decides on | who asks |
|---|---|---|
| which rules it has | not at all, if it forbids nothing | all |
| gold labels: x of n parts are rejected | hard or soft: the bound on their share | all |
| answers of a tagger | not at all, if they obey it or are not wrong where they break it | `diagnose` |
| scores of a tagger, by folds | whether it gains, and the weight | `choose`, `diagnose` with scores |

A later row decides where it is known. Where `choose` finds hard and soft to be about equally good, gold
labels decide between them (`by_gold`), so that with the same gold labels no two commands say hard and soft.

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
from lcons_tasks.stats import Interval

HARD, SOFT, NOTHING, UNKNOWN = "hard", "soft", "nothing", "unknown"
# Up to this share of the valid parts, by the 95 % bound, a constraint is used as a hard one; up to the second
# if none of them was rejected.
SURE, LIKELY = 0.01, 0.05
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


@dataclass(frozen=True)
class Recommendation:
    """`use` is "hard", "soft", "nothing" or "unknown"; `weight` that of a soft one, if scores decided on it;
    `words` are one sentence with the reason."""

    use: str
    weight: float | None
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Gain:
    """What folds of scored sequences decided: the use, its weight (None if not soft), and what it gains."""

    use: str
    weight: float | None
    gain: Interval
    measure: str


def by_gold(gold: Bound) -> str:
    """Hard or soft, by the gold parts that a constraint rejects.

    >>> by_gold(Bound(0, 100)), by_gold(Bound(3, 1000)), by_gold(Bound(3, 300)), by_gold(Bound(0, 20))
    ('hard', 'hard', 'soft', 'soft')
    """
    return HARD if gold.share <= (SURE if gold.rejected else LIKELY) else SOFT


def recommend(
    gold: Bound | None, *, forbids: bool = True, against: str = "", gain: Gain | None = None
) -> Recommendation:
    """The recommendation; `against` is the reason of a tagger's answers to leave the constraint out.

    >>> recommend(Bound(0, 100)).words
    'use it as a hard constraint: it forbids (almost) nothing that is valid.'
    >>> recommend(Bound(0, 100), against="the predictions already obey it").words
    'leave it out, because the predictions already obey it.'
    >>> recommend(Bound(9, 100), gain=Gain("soft", 2.0, Interval(1.2, 0.3, 2.0), "span F1")).words
    'use it as a soft constraint with the weight 2: by folds it gains +1.20 [+0.30, +2.00] points of span F1.'
    """
    use, weight = NOTHING, None
    if not forbids:
        words = (
            "do not use it, because it forbids nothing; label more data, or lower the argument `evidence`."
        )
    elif gain is not None and gain.use == NOTHING:
        words = f"leave it out, because by folds it gains no {gain.measure}."
    elif gain is not None:
        use, weight = gain.use, gain.weight
        how = "" if weight is None else f" with the weight {weight:g}"
        words = f"use it as a {use} constraint{how}: by folds it gains {gain.gain} points of {gain.measure}."
    elif against:
        words = f"leave it out, because {against}."
    elif gold is None or not gold.parts:
        use, words = UNKNOWN, "judge it on held-out data before you use it (`held_out=` or more data)."
    elif by_gold(gold) == HARD:
        use, words = HARD, "use it as a hard constraint: it forbids (almost) nothing that is valid."
    else:
        most = f"on new data it may forbid {gold.percent} of the valid parts"
        more = f", and label more data: with {gold.parts:,} parts, {most}."
        use, words = (
            SOFT,
            f"use it as a soft constraint{f', because {most}.' if gold.share <= LIKELY else more}",
        )
    return Recommendation(use, weight, words)
