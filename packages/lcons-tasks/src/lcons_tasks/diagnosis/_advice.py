"""One sentence of advice from a diagnosis: use the constraint hard, soft with a weight, or not at all.

With v and g the shares of parts of predictions and of gold that the constraint rejects, a hard constraint
costs every gold part that it rejects. So it is advised only if even the upper bound of g is below the lower
bound of v / `HARD`; the upper bound is at least 3 / N for N held-out gold parts (the rule of three).

Otherwise the weight w of a soft constraint is the one that would bring v down to g if parts were independent
and scores were log-probabilities, with the mean cost a that a violating part pays more than others:

    v exp(-w a) / (v exp(-w a) + 1 - v) = g        w = log(v (1 - g) / (g (1 - v))) / a

| verdict | advice |
|---|---|
| no such constraint; already obeyed; not obeyed, but no help | leave it out |
| not found by the learner | learn it again, or label more data |
| should help | hard or soft, as above |
| found by the learner, without predictions | try it hard or soft, by g alone |
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lcons_core import LearnedConstraint
from lcons_core._psi import PsiRows
from lcons_tasks.diagnosis._coverage import WORTH_A_WARNING
from lcons_tasks.diagnosis._diagnosis import Diagnosis
from lcons_tasks.diagnosis._obedience import Obedience

# How many times as often as gold predictions must violate a hard constraint.
HARD = 10.0
# With fewer held-out units than this, the intervals are not reliable.
FEW = 10
# The largest share of held-out gold, in percent, that a constraint to try hard may reject.
TRIED_HARD = 0.5


def with_advice(
    found: Diagnosis, constraint: LearnedConstraint, predicted: PsiRows | None, gold_parts: int
) -> Diagnosis:
    """The diagnosis with its advice; `gold_parts` is the number of held-out gold parts."""
    weight = None
    judged = found.obedience
    if judged is not None and predicted is not None and "should help" in found:
        least = 100 / gold_parts
        if max(judged.gold_violations.high, 3 * least) * HARD > judged.violations.low:
            g = max(judged.gold_violations.value, least / 2) / 100
            weight = _weight(judged.violations.value / 100, g, constraint, predicted)
    return replace(found, weight=weight, advice=_advice(found, judged, weight))


def _weight(v: float, g: float, constraint: LearnedConstraint, predicted: PsiRows) -> float | None:
    margins = np.asarray(constraint.network.margin(predicted.psi))
    rejected = ~constraint.network.accepts(predicted.psi)
    costs = np.logaddexp(0.0, -margins)  # as `lcons_decode.Soft` adds them up
    if rejected.all() or not g < v:
        return None
    more = float(costs[rejected].mean() - costs[~rejected].mean())
    return float(f"{math.log(v * (1 - g) / (g * (1 - v))) / more:.2g}") if more > 0 else None


def _advice(found: Diagnosis, judged: Obedience | None, weight: float | None) -> str:
    covered = found.coverage
    rejects = f"it rejects {covered.rejected:.1f}% of held-out gold"
    labels = ""
    if covered.unseen_psi > WORTH_A_WARNING:
        labels = f"; label more data, because {covered.unseen_psi:.0f}% of held-out gold is unlike training"
    elif found.held_out_size < FEW:
        labels = f"; label more data, because only {found.held_out_size} {found.units} are held out"
    if "no such constraint" in found:
        return f"leave it out, because held-out data show no such constraint{labels}"
    if "not found by the learner" in found:
        more = labels or "; with more hidden units (-K) or more labelled data"
        return f"do not use it as it is, but learn it again{more.replace('; with', ' with')}"
    if "already obeyed" in found:
        return "leave it out, because the predictions already obey it"
    if "not obeyed, but no help" in found:
        return "leave it out, because labels are not wrong more often where it is violated"
    if judged is not None and "should help" in found:
        often = f"predictions violate it in {judged.violations.value:.1f}% of parts, gold in"
        gold = f"{often} {judged.gold_violations.value:.1f}%"
        if weight is None:
            return f"use it as a hard constraint, because {gold}{labels}"
        return f"use it as a soft constraint, with a weight of about {weight:g}, because {gold}{labels}"
    if covered.rejected <= TRIED_HARD:
        return f"try it as a hard constraint, because {rejects}; pass predictions to know whether it helps"
    return (
        f"try it as a soft constraint, with a weight chosen on dev data, because {rejects}; pass predictions"
        f" to know whether it helps{labels}"
    )
