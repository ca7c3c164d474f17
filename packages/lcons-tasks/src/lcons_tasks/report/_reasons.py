"""The rule behind a change: what constraints forbid in the answer before the change.

In a sequence, the rule comes from the window whose margin increased most from the unconstrained answer to the
constrained one; of its labels and tags, the rule names only those that are needed for the rejection. In pairs
of candidates, the rule is the first forbidden combination.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lcons_core import Instance, LconsError, LearnedConstraint, why
from lcons_core._types import Floats
from lcons_core.features import SequenceFeature
from lcons_tasks.report._predictions import Structure, readable

NO_WINDOW = "no single window explains it: the change follows from others, or from a global constraint"

Constraints = Mapping[str, LearnedConstraint]
Reason = tuple[str, str]


def reason(before: Structure, after: Structure, constraints: Constraints) -> Reason:
    """(the rule in words, the sum that forbids the answer before the change)."""
    if isinstance(before, Instance) and isinstance(after, Instance):
        return of_windows(before, after, constraints)
    return of_pairs(before, constraints)


def of_windows(before: Instance, after: Instance, constraints: Constraints) -> Reason:
    """The smallest forbidden part of the window whose margin increased most."""
    most, chosen = 0.0, None
    for constraint in constraints.values():
        feature = constraint.feature
        if not isinstance(feature, SequenceFeature) or len(before.y) < feature.n:
            continue
        try:
            old, new = feature.psi(before), feature.psi(after)
        except LconsError:
            # The constraint does not know some label or column.
            continue
        margin, mended = (constraint.margin(psi) for psi in (old, new))
        # The main part of the increase is below 0, where a margin means forbidden.
        rise = np.minimum(mended, 0.0) - np.minimum(margin, 0.0) + 0.01 * (mended - margin)
        if rise.max(initial=0.0) > most:
            worst = int(rise.argmax())
            most, chosen = rise[worst], (constraint, old.dense()[worst], float(margin[worst]))
    return (NO_WINDOW, "") if chosen is None else _of_window(*chosen)


def _of_window(constraint: LearnedConstraint, point: Floats, least: float) -> Reason:
    named = constraint.space.describe(point)
    if least >= 0:
        return f"penalised (margin {least:.2f}, at most 1): {_listed(named)}", str(why(constraint, named))
    for name in list(named):
        rest = {other: value for other, value in named.items() if other != name}
        if rest and why(constraint, rest).forbidden:
            named = rest
    return f"forbidden: {_listed(named)}", str(why(constraint, named))


def of_pairs(before: Structure, constraints: Constraints) -> Reason:
    """The first combination of a pair that a constraint forbids."""
    pairs = [pair for pair in before if isinstance(pair, dict)] if isinstance(before, list) else []
    for pair in pairs:
        for name, constraint in constraints.items():
            tuples = readable(constraint.feature, [pair]) if constraint.feature is not None else None
            if tuples is not None and not constraint.satisfied(tuples):
                named = dict(zip(constraint.feature.names, tuples[0], strict=True))  # type: ignore[union-attr]
                return f"forbidden: {_listed(named)} ({name})", str(why(constraint, named))
    return "no single pair explains it: the change follows from others", ""


def _listed(named: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in named.items())
