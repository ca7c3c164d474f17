"""The entity-relation pairs of the paper (Appendix C) are recovered exactly, for every seed, by default."""

from __future__ import annotations

import numpy as np
import pytest

from lcons_core import ConstraintLearner, FeatureSpace, Rules, compare, one_hot

ENTITIES = ("Person", "Location", "Organization", "Other")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
SOURCE = {
    "Kill": "Person",
    "LiveIn": "Person",
    "WorkFor": "Person",
    "LocatedAt": "Location",
    "OrgBasedIn": "Organization",
}
TARGET = {
    "Kill": "Person",
    "LiveIn": "Location",
    "WorkFor": "Organization",
    "LocatedAt": "Location",
    "OrgBasedIn": "Location",
}


def pairs(left, right, is_valid):
    """All pairs as two one-hot blocks, and which of them are valid."""
    psi = [
        np.concatenate((np.eye(len(left))[i], np.eye(len(right))[j]))
        for i in range(len(left))
        for j in range(len(right))
    ]
    return np.array(psi), np.array([is_valid(a, b) for a in left for b in right])


PAIRS = {
    "source-relation": (2, pairs(ENTITIES, RELATIONS, lambda s, r: SOURCE.get(r, s) == s)),
    "relation-target": (2, pairs(RELATIONS, ENTITIES, lambda r, t: TARGET.get(r, t) == t)),
    "relation-relation": (1, pairs(RELATIONS, RELATIONS, lambda r, q: "NoRel" in (r, q))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_designed_constraints_are_recovered_for_50_of_50_seeds(name):
    K, (psi, valid) = PAIRS[name]
    left, right = (RELATIONS if "relation" in side else ENTITIES for side in name.split("-"))
    space = FeatureSpace([one_hot("left", left), one_hot("right", right)])
    designed = Rules(space, allowed=[space.describe(row) for row in psi[valid]])
    learned = (ConstraintLearner(K, seed=seed).fit(psi, valid).network_ for seed in range(50))
    assert [compare(network, designed, space).equal for network in learned] == [True] * 50
