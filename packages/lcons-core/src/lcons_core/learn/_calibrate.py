"""Calibration of what was learned: another threshold, and its guarantee in the provenance.

The guarantee (`lcons_core._calibration`) holds for new structures that are exchangeable with those of the
calibration. Structures of training are not: a constraint rejects fewer of them than of new ones.

Not in the paper.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import numpy as np

from lcons_core._calibration import MEMBER, Calibration, calibrate_network, calibrate_rows
from lcons_core._coercion import as_network
from lcons_core._constraint import LearnedConstraint
from lcons_core._instance import read_instances
from lcons_core._network import Network
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core.features._protocol import ConstraintFeature
from lcons_core.learn._recipe import learned_from

G = TypeVar("G", bound=Network | LearnedConstraint)


def calibrate(
    given: G, positives: Any, alpha: float = 0.05, *, tighten: bool = False
) -> tuple[G, Calibration]:
    """(the network or constraint with another threshold, what is known of it): valid structures are rejected
    at most alpha of the time.

    `positives` are valid structures that training did not use. For a constraint with a feature they are read
    as in training; otherwise they are psi: (N, d), one row per structure, or `PsiRows`, in which the rows of
    one structure have the same owner. The threshold is only lowered, unless `tighten`: then it is also raised
    if fewer are rejected than alpha allows. The provenance of a constraint records the guarantee, and
    `explain` prints it. Warns if a constraint was learned from exactly these structures.

    >>> from lcons_core import RectifierNetwork
    >>> network = RectifierNetwork([[1.0, 1.0, 1.0]], [0.0])            # at most one of three
    >>> valid = [[1, 0, 0]] * 30 + [[1, 1, 0]] * 8 + [[1, 1, 1]]
    >>> looser, known = calibrate(network, valid, alpha=0.1)
    >>> looser.accepts([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).tolist(), known.rejected, known.threshold
    ([True, True, False], 1, -1.0)
    """
    if not isinstance(given, LearnedConstraint):
        found: Any = calibrate_network(as_network(given, "calibrate"), positives, alpha, tighten=tighten)
        return found
    if given.feature is None or isinstance(positives, PsiRows | SparsePsi | np.ndarray):
        network, known = calibrate_network(given.network, positives, alpha, tighten=tighten)
    else:
        structures = read_instances(positives, given.feature.column)
        if learned_from(given, structures):
            warnings.warn(
                "the constraint was learned from these structures, so it rejects fewer of them than of"
                " new ones, and the guarantee does not hold; calibrate on others.",
                stacklevel=2,
            )
        rows = _rows(given.feature, structures)
        network, known = calibrate_rows(given.network, rows, len(structures), alpha, tighten=tighten)
    recorded = {**given.provenance, MEMBER: known.to_dict()}
    for judged in ("bound", "evidence") if known.factor > 1 else ():
        # What was judged before is no bound on what a stricter constraint rejects.
        recorded.pop(judged, None)
    made: Any = LearnedConstraint(network, given.space, given.feature, recorded)
    return made, known


def _rows(feature: ConstraintFeature, structures: list[Any]) -> PsiRows:
    pieces = [feature.psi(structure) for structure in structures]
    owner = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    return PsiRows.of(SparsePsi.stack(pieces), owner)
