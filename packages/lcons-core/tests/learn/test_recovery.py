"""The entity-relation pairs of the paper (Appendix C) are recovered exactly, for every seed, by default."""

import numpy as np
import pytest
from paper_tables import SPACES, designed

from lcons_core import ConstraintLearner, compare


@pytest.mark.parametrize(
    ("table", "K"), [("source-relation", 2), ("relation-target", 2), ("relation-relation", 1)]
)
def test_designed_constraints_are_recovered_for_50_of_50_seeds(table, K):
    space, rules = SPACES[table], designed(table)
    psi = space.vectors(np.concatenate(list(space.points())))
    learned = (ConstraintLearner(K, seed=seed).fit(psi, rules.accepts(psi)).network_ for seed in range(50))
    assert [compare(network, rules, space).equal for network in learned] == [True] * 50
