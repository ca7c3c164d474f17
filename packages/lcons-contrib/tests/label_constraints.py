"""Constraints on label sequences, drawn by hypothesis, and the sequences to try them on."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core._network import Conjunction
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels

LABELS = ("A", "B", "AB")


@st.composite
def networks_of(draw, d: int):
    """A network or a conjunction of two, with weights that are multiples of 1/4 or of 1/10."""
    divisor = draw(st.sampled_from([4.0, 4.0, 10.0]))
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 2)) * (d + 1)
        weights = draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size))
        unit = np.array(weights).reshape(-1, d + 1) / divisor
        parts.append(RectifierNetwork(unit[:, :-1], unit[:, -1]))
    return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))


def constrained(feature, W, b) -> LearnedConstraint:
    return LearnedConstraint(RectifierNetwork(W, b), feature.space, feature)


@st.composite
def of_feature(draw, feature):
    return LearnedConstraint(draw(networks_of(feature.space.d)), feature.space, feature)


@st.composite
def label_constraints(draw):
    """A constraint on label n-grams, existence or counts, with its labels in any order."""
    labels = tuple(draw(st.permutations(LABELS)))
    feature = draw(
        st.one_of(
            st.integers(1, 3).map(lambda n: NgramLabels(labels, n=n)),
            st.integers(2, 3).map(lambda n: NgramLabels(labels, n=n, pad=True)),
            st.integers(1, 2).map(lambda n: Existence(labels, n=n)),
            st.builds(Counts, st.just(labels), st.integers(1, 2), st.booleans()),
        )
    )
    return draw(of_feature(feature))


@st.composite
def local_constraints(draw):
    """A constraint on label n-grams, with and without contexts of the input."""
    n, pad = draw(st.integers(1, 3)), draw(st.booleans())
    n = max(n, 2) if pad else n
    feature = draw(
        st.sampled_from([NgramLabels(LABELS, n, pad), NgramContext(LABELS, ("x", "y"), n, pad=pad)])
    )
    return draw(of_feature(feature))


def satisfied(constraint: LearnedConstraint, y) -> bool:
    """Whether a constraint is satisfied; a sequence outside its domain is not in its set."""
    try:
        return constraint.satisfied(list(y))
    except InvalidInput:
        return False


def sequences(labels=LABELS, longest: int = 4):
    """All label sequences up to a length."""
    return [y for length in range(longest + 1) for y in product(labels, repeat=length)]
