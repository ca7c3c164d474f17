"""Hypothesis strategies and checks for projects that build on lcons; needs the extra `test`.

    from hypothesis import given
    from lcons_core.testing import check_theorem1, networks

    @given(networks(max_K=3))
    def test_my_networks_obey_the_theorem(network):
        check_theorem1(network)

Strategies are named by shape. Weights are sixteenths, so float sums are exact and tests need no
tolerance; degenerate networks (zero rows, equal rows, points exactly on the boundary) are common.

Paper: Sec. 2.3, Theorem 1, is what `check_theorem1` asserts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lcons_core._arithmetic import Floats
from lcons_core._blocks import Block, Requirement, binary, count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._errors import MissingExtra
from lcons_core._instance import Instance
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core.features import ConstraintFeature, Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_core.reason._theorem1 import check_theorem1

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError:
    raise MissingExtra(
        'lcons_core.testing needs hypothesis, which is not installed; run pip install "lcons-core[test]".'
    ) from None

__all__ = [
    "check_theorem1",
    "conjunctions",
    "constraints",
    "features",
    "label_sequences",
    "networks",
    "points",
    "spaces",
    "structures",
    "weights",
]

_LABELS = ("A", "B", "C", "D")


def weights(largest: int = 4) -> SearchStrategy[float]:
    """Multiples of 1/16 between -largest and largest."""
    return st.integers(-16 * largest, 16 * largest).map(lambda sixteenths: sixteenths / 16)


@st.composite
def networks(
    draw: DrawFn, max_K: int = 4, max_d: int = 6, K: int | None = None, d: int | None = None
) -> RectifierNetwork:
    """Networks with K and d up to the bounds, or as given; boundaries at 0/1 points are common."""
    K = draw(st.integers(1, max_K)) if K is None else K
    d = draw(st.integers(1, max_d)) if d is None else d
    rows: list[list[float]] = []
    for _ in range(K):
        shapes = [st.lists(weights(), min_size=d, max_size=d), st.just([0.0] * d)]
        if rows:
            shapes.append(st.sampled_from(rows))
            shapes.append(st.sampled_from(rows).map(lambda row: [-w for w in row]))
        rows.append(draw(st.one_of(shapes)))
    W = np.array(rows)
    b = np.array(draw(st.lists(weights(), min_size=K, max_size=K)))
    if draw(st.booleans()):
        # The activation of one unit becomes exactly 0, 1/2 or 1 at a 0/1 point.
        point = draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=d, max_size=d))
        k = draw(st.integers(0, K - 1))
        b[k] = draw(st.sampled_from([0.0, 0.5, 1.0])) - W[k] @ np.array(point)
    return RectifierNetwork(W, b)


@st.composite
def conjunctions(
    draw: DrawFn, max_parts: int = 3, max_K: int = 3, max_d: int = 5, d: int | None = None
) -> Conjunction:
    """Conjunctions of one to `max_parts` networks."""
    d = draw(st.integers(1, max_d)) if d is None else d
    parts = st.lists(networks(max_K=max_K, d=d), min_size=1, max_size=max_parts)
    return Conjunction(tuple(draw(parts)))


@st.composite
def spaces(
    draw: DrawFn, max_blocks: int = 3, max_values: int = 3, counts: bool = True, requires: bool = True
) -> FeatureSpace:
    """Spaces that mix one-hot blocks (with and without OTHER), binary and count blocks."""
    kinds = ["one-hot", "one-hot", "binary", *(["count"] if counts else [])]
    blocks: list[Block] = []
    for i in range(draw(st.integers(1, max_blocks))):
        values = [f"v{j}" for j in range(draw(st.integers(1, max_values)))]
        kind, name = draw(st.sampled_from(kinds)), f"block {i}"
        if kind == "one-hot":
            blocks.append(one_hot(name, values, other=draw(st.booleans())))
        elif kind == "binary":
            blocks.append(binary(name, values))
        else:
            low = draw(st.integers(0, 1))
            blocks.append(count(name, values[:2], low=low, high=low + draw(st.integers(1, 2))))
    plain = [block for block in blocks if block.kind == "one-hot"]
    rules = []
    if requires and draw(st.booleans()):
        for before, block in pairwise(plain):
            # Never about the first value, so that some point is always left.
            if len(block.values) > 1:
                rules.append(Requirement(block.name, block.values[1], before.name, before.values[:1]))
    return FeatureSpace(blocks, rules)


@st.composite
def points(draw: DrawFn, space: FeatureSpace) -> Floats:
    """psi (d,): points of the domain."""
    indices = st.tuples(*(st.integers(0, len(axis) - 1) for axis in space.axes))
    choice = draw(indices.filter(lambda v: bool(space.possible(np.array([v]))[0])))
    return space.vectors(np.array([choice], dtype=np.int64))[0]


@st.composite
def features(draw: DrawFn, max_labels: int = 3, max_n: int = 3) -> ConstraintFeature:
    """Constraint features of every generic kind."""
    labels = _LABELS[: draw(st.integers(1, max_labels))]
    n, flag = draw(st.integers(1, max_n)), draw(st.booleans())
    padded = max(n, 2) if flag else n
    contexts = ("DT", "NN")[: draw(st.integers(1, 2))]
    kinds: list[ConstraintFeature] = [
        NgramLabels(labels, padded, flag),
        NgramContext(labels, contexts, padded, pad=flag),
        NgramContext(labels, ("punctuation",), padded, "word", "punctuation", flag),
        Existence(labels, n),
        Counts(labels, high=16, spans=flag),
        Tuples(tuple(f"member {i}" for i in range(n)), (labels,) * n),
    ]
    return draw(st.sampled_from(kinds))


def label_sequences(
    labels: Sequence[str] = _LABELS, min_size: int = 0, max_size: int = 8
) -> SearchStrategy[list[str]]:
    """Sequences of labels, empty ones too."""
    return st.lists(st.sampled_from(list(labels)), min_size=min_size, max_size=max_size)


@st.composite
def structures(draw: DrawFn, feature: ConstraintFeature, max_size: int = 8) -> Instance:
    """Structures that the feature can read, with contexts that it knows and that it does not."""
    if isinstance(feature, Tuples):
        members = st.tuples(*(st.sampled_from(values) for values in feature.values))
        return Instance({}, draw(st.lists(members, max_size=max_size)))
    labels: tuple[str, ...] = getattr(feature, "labels")  # noqa: B009 (no such member in the protocol)
    y = draw(label_sequences(labels, max_size=max_size))
    words = st.sampled_from(["DT", "NN", "XX", ",", "?!"])
    column = draw(st.lists(words, min_size=len(y), max_size=len(y)))
    return Instance({feature.column or "word": column}, y)


@st.composite
def constraints(draw: DrawFn, feature: bool | None = None, counts: bool = True) -> LearnedConstraint:
    """Constraints of one network or several, with and without a feature (or as `feature` says)."""
    chosen: ConstraintFeature | None = None
    if draw(st.booleans()) if feature is None else feature:
        chosen = draw(features() if counts else features().filter(lambda f: f.kind != "counts"))
        space = chosen.space
    else:
        space = draw(spaces(counts=counts))
    network: Network = draw(
        st.one_of(networks(max_K=3, d=space.d), conjunctions(max_parts=2, max_K=2, d=space.d))
    )
    seed = draw(st.integers(0, 2**64))
    return LearnedConstraint(network, space, chosen, {"seed": seed, "note": "drawn"})
