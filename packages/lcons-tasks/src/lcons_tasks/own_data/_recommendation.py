"""How to use a constraint: one function decides, from all that is known, and every command quotes it.

| what is known | decides on | who asks |
|---|---|---|
| which rules it has | not at all, if it forbids nothing | all |
| gold labels: x of n parts are rejected | hard or soft: the bound on their share (`_bound`) | all |
| answers of a tagger | not at all, if they obey it or are not wrong where they break it | `diagnose` |
| scores of a tagger, by folds | whether it gains, and the weight | `choose`, `diagnose` with scores |

A later row decides where it is known. Where `choose` finds hard and soft to be about equally good, gold
labels decide between them (`by_gold`), so that with the same gold labels no two commands say hard and soft.
"""

from __future__ import annotations

from dataclasses import dataclass

from lcons_tasks.own_data._bound import Bound
from lcons_tasks.stats import Interval

HARD, SOFT, NOTHING, UNKNOWN = "hard", "soft", "nothing", "unknown"
# Up to this share of the valid parts, by the 95 % bound, a constraint is used as a hard one; up to the second
# if none of them was rejected.
SURE, LIKELY = 0.01, 0.05


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
    if not forbids:
        words = (
            "do not use it, because it forbids nothing; label more data, or lower the argument `evidence`."
        )
        return Recommendation(NOTHING, None, words)
    if gain is not None:
        if gain.use == NOTHING:
            return Recommendation(
                NOTHING, None, f"leave it out, because by folds it gains no {gain.measure}."
            )
        weight = "" if gain.weight is None else f" with the weight {gain.weight:g}"
        by_folds = f"by folds it gains {gain.gain} points of {gain.measure}"
        return Recommendation(
            gain.use, gain.weight, f"use it as a {gain.use} constraint{weight}: {by_folds}."
        )
    if against:
        return Recommendation(NOTHING, None, f"leave it out, because {against}.")
    if gold is None or not gold.parts:
        words = "judge it on held-out data before you use it (`held_out=` or more data)."
        return Recommendation(UNKNOWN, None, words)
    use = by_gold(gold)
    if use == HARD:
        return Recommendation(
            use, None, "use it as a hard constraint: it forbids (almost) nothing that is valid."
        )
    most = f"on new data it may forbid {gold.percent} of the valid parts"
    if gold.share <= LIKELY:
        return Recommendation(use, None, f"use it as a soft constraint, because {most}.")
    more = f"with {gold.parts:,} parts, {most}"
    return Recommendation(use, None, f"use it as a soft constraint, and label more data: {more}.")
