"""The rule behind a change: what constraints forbid in the answer before it.

In a sequence it is found where the change mended most: the window whose margin rose most from the
unconstrained answer to the constrained one; and of its labels and tags only those that its rejection needs.
In pairs of candidates it is the first combination that is forbidden.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lcons_core import Floats, Instance, LconsError, LearnedConstraint, why
from lcons_core.features import SequenceFeature
from lcons_tasks.report._predictions import Structure, readable

NO_WINDOW = "no single window: the change follows from others, or from a global constraint"

Constraints = Mapping[str, LearnedConstraint]
Reason = tuple[str, str]


def reason(before: Structure, after: Structure, constraints: Constraints) -> Reason:
    """(the rule in words, the sum that forbids what was there)."""
    if isinstance(before, Instance) and isinstance(after, Instance):
        return of_windows(before, after, constraints)
    return of_pairs(before, constraints)


def of_windows(before: Instance, after: Instance, constraints: Constraints) -> Reason:
    """The smallest forbidden part of the window that was mended most."""
    most, chosen = 0.0, None
    for constraint in constraints.values():
        feature = constraint.feature
        if not isinstance(feature, SequenceFeature) or len(before.y) < feature.n:
            continue
        try:
            old, new = feature.psi(before), feature.psi(after)
        except LconsError:
            # Labels or columns that this constraint does not know.
            continue
        margin, mended = (constraint.margin(psi) for psi in (old, new))
        # What counts of a margin is how far it is below what is allowed.
        rise = np.minimum(mended, 0.0) - np.minimum(margin, 0.0) + 0.01 * (mended - margin)
        if rise.max(initial=0.0) > most:
            worst = int(rise.argmax())
            most, chosen = rise[worst], (constraint, old.dense()[worst], float(margin[worst]))
    return (NO_WINDOW, "") if chosen is None else _of_window(*chosen)


def _of_window(constraint: LearnedConstraint, point: Floats, least: float) -> Reason:
    named = constraint.space.describe(point)
    if least >= 0:
        return f"disliked (margin {least:.2f}, 1 at best): {_listed(named)}", str(why(constraint, named))
    for name in list(named):
        rest = {other: value for other, value in named.items() if other != name}
        if rest and why(constraint, rest).forbidden:
            named = rest
    return f"forbidden: {_listed(named)}", str(why(constraint, named))


def of_pairs(before: Structure, constraints: Constraints) -> Reason:
    """The first combination that a constraint forbids, pairs with a relation first."""
    pairs = [pair for pair in before if isinstance(pair, dict)] if isinstance(before, list) else []
    for pair in pairs:
        for name, constraint in constraints.items():
            tuples = readable(constraint.feature, [pair]) if constraint.feature is not None else None
            if tuples is not None and not constraint.satisfied(tuples):
                named = dict(zip(constraint.feature.names, tuples[0], strict=True))  # type: ignore[union-attr]
                return f"forbidden: {_listed(named)} ({name})", str(why(constraint, named))
    return "no single pair: the change follows from others", ""


def _listed(named: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in named.items())
