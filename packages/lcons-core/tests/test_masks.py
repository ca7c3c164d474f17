"""The table form allows exactly the windows that the network accepts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    Instance,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    Unsupported,
    compile_masks,
)
from lcons_core._masks import MAX_CELLS
from lcons_core._network import Conjunction
from lcons_core.features import Existence, NgramContext, NgramLabels

LABELS = ("A", "B", "C")


@st.composite
def constraints(draw):
    n, pad = draw(st.integers(1, 3)), draw(st.booleans())
    feature = (
        NgramContext(LABELS, ("x", "y"), n=n, pad=pad and n > 1)
        if draw(st.booleans())
        else NgramLabels(LABELS, n=n, pad=pad and n > 1)
    )
    divisor = draw(st.sampled_from([16.0, 10.0]))
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 3)) * (feature.space.d + 1)
        weights = draw(st.lists(st.integers(-32, 32), min_size=size, max_size=size))
        unit = np.array(weights).reshape(-1, feature.space.d + 1) / divisor
        parts.append(RectifierNetwork(unit[:, :-1], unit[:, -1]))
    network = parts[0] if len(parts) == 1 else Conjunction(tuple(parts))
    return LearnedConstraint(network, feature.space, feature)


@given(constraints())
def test_a_mask_holds_exactly_where_the_network_accepts(constraint):
    table = compile_masks(constraint)
    space = constraint.space
    sizes = [len(axis) for axis in space.axes]
    split = table.context_axes
    contexts = np.array(list(product(*map(range, sizes[:split]))), dtype=np.int64)
    masks = table.masks(contexts)
    assert masks.shape == (len(contexts), *sizes[split:])
    for context, mask in zip(contexts, masks, strict=True):
        for labels in product(*map(range, sizes[split:])):
            point = np.array([[*context, *labels]])
            possible = bool(space.possible(point)[0])
            accepted = constraint.accepts(space.vectors(point)[0])
            assert mask[labels] == (possible and accepted)


@given(constraints(), st.lists(st.sampled_from(LABELS), max_size=5), st.data())
def test_masks_look_up_what_satisfied_computes(constraint, labels, data):
    feature = constraint.feature
    size = len(labels)
    tags = data.draw(st.lists(st.sampled_from("xyz"), min_size=size, max_size=size))
    windows = feature.values(Instance({"pos": tags}, labels))
    table = compile_masks(constraint)
    masks = table.masks(windows[:, : table.context_axes]) if len(windows) else []
    looked_up = all(
        mask[tuple(window[table.context_axes :])] for mask, window in zip(masks, windows, strict=True)
    )
    assert looked_up == constraint.satisfied(({"pos": tags}, labels))


def test_masks_refuse_what_they_cannot_hold():
    feature = Existence(LABELS)
    network = RectifierNetwork(np.zeros((1, 3)), [0.0])
    with pytest.raises(Unsupported):
        compile_masks(LearnedConstraint(network, feature.space, feature))
    windows = NgramContext(LABELS, ("x",), n=3)
    table = compile_masks(
        LearnedConstraint(RectifierNetwork(np.zeros((1, 12)), [0.0]), windows.space, windows)
    )
    with pytest.raises(InvalidInput):
        table.masks()
    with pytest.raises(TooLarge):
        table.masks(np.zeros((MAX_CELLS // 27 + 1, 3), dtype=np.int64))
