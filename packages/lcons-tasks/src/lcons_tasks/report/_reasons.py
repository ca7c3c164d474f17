"""The rule behind a change: what constraints forbid in the answer before the change.

The rule comes from the window whose margin increased most from the unconstrained answer to the constrained
one; of its labels and tags, the rule names only those that are needed for the rejection.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lcons_core import Instance, LconsError, LearnedConstraint, why
from lcons_core.features import SequenceFeature
from lcons_tasks.own_data._judgement import smallest_forbidden

NO_WINDOW = "no single window explains it: the change follows from others, or from a global constraint"

Reason = tuple[str, str]


def reason(before: Instance, after: Instance, constraints: Mapping[str, LearnedConstraint]) -> Reason:
    """(the rule in words, the sum that forbids the answer before the change): the smallest forbidden part of
    the window whose margin increased most."""
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
    if chosen is None:
        return NO_WINDOW, ""
    constraint, point, least = chosen
    named = constraint.space.describe(point)
    if least < 0:
        named = smallest_forbidden(constraint, named)
    verdict = "forbidden" if least < 0 else f"penalised (margin {least:.2f}, at most 1)"
    parts = ", ".join(f"{name} {value}" for name, value in named.items())
    return f"{verdict}: {parts}", why(constraint, named).arithmetic
