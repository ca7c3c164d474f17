"""Constraints for the tests of grammars, drawn by hypothesis, and the texts to try them on."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from lcons_core import Conjunction, InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core.features import Counts, Existence, NgramLabels

LABELS = ("A", "B", "AB")


@st.composite
def networks_of(draw, d: int):
    """A network, a conjunction or a union of weights that are multiples of 1/4 or of 1/10."""
    divisor = draw(st.sampled_from([4.0, 4.0, 10.0]))
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 2)) * (d + 1)
        weights = draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size))
        unit = np.array(weights).reshape(-1, d + 1) / divisor
        parts.append(RectifierNetwork(unit[:, :-1], unit[:, -1]))
    if len(parts) == 1:
        return parts[0]
    return Conjunction(tuple(parts))


@st.composite
def label_constraints(draw, labels=LABELS):
    """A constraint on label n-grams, existence or counts, with its labels in any order."""
    own = tuple(draw(st.permutations(labels)))
    feature = draw(
        st.one_of(
            st.integers(1, 3).map(lambda n: NgramLabels(own, n=n)),
            st.integers(2, 3).map(lambda n: NgramLabels(own, n=n, pad=True)),
            st.integers(1, 2).map(lambda n: Existence(own, n=n)),
            st.builds(Counts, st.just(own), st.integers(1, 2), st.booleans()),
        )
    )
    return LearnedConstraint(draw(networks_of(feature.space.d)), feature.space, feature)


def satisfied(constraint: LearnedConstraint, y) -> bool:
    """Whether a constraint is satisfied; a sequence outside its domain is not in its set."""
    try:
        return constraint.satisfied(list(y))
    except InvalidInput:
        return False


def sequences(labels=LABELS, longest: int = 4):
    """All label sequences up to a length."""
    return [y for length in range(longest + 1) for y in product(labels, repeat=length)]
