"""The expected penalty is the mean over all labellings, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    Instance,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    Unsupported,
    iob2,
)
from lcons_core.features import Existence, NgramContext, NgramLabels
from lcons_core.torch import LabelChain, expected_penalty
from lcons_core.torch import _penalty as module
from lcons_core.torch._penalty import PENALTIES

LABELS = ("A", "B", "C")
POS = ("DT", "NN")


@dataclass
class Drawn:
    """A constraint, labels in the order of a model that knows some of them, and random scores of a batch."""

    constraint: LearnedConstraint
    labels: tuple[str, ...]
    emission: torch.Tensor
    ends: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    lengths: list[int]
    x: list[dict[str, list[str]]]

    def chain(self, linked: bool) -> LabelChain:
        if linked:
            return LabelChain.of_scores(self.emission, *self.ends, lengths=self.lengths)
        return LabelChain.independent(self.emission.softmax(-1), self.lengths)

    def score(self, i: int, y: tuple[int, ...], linked: bool) -> float:
        total = sum(float(self.emission[i, t, c]) for t, c in enumerate(y))
        if linked and y:
            transition, start, stop = self.ends
            total += float(start[y[0]] + stop[y[-1]])
            total += sum(float(transition[a, b]) for a, b in pairwise(y))
        return total

    def mean(self, i: int, linked: bool, penalty: str) -> float:
        """The penalty of every labelling of sequence i, weighed by its probability."""
        length = self.lengths[i]
        found = list(product(range(len(self.labels)), repeat=length))
        weights = torch.tensor([self.score(i, y, linked) for y in found], dtype=torch.float64).softmax(0)
        costs = [self.cost(i, y, penalty) for y in found]
        return float(weights @ torch.tensor(costs, dtype=torch.float64))

    def cost(self, i: int, y: tuple[int, ...], penalty: str) -> float:
        x = {name: column[: len(y)] for name, column in self.x[i].items()}
        psi = self.constraint.feature.psi(Instance(x, [self.labels[c] for c in y]))
        margins = np.atleast_1d(self.constraint.margin(psi)) if len(psi) else np.zeros(0)
        return float(PENALTIES[penalty](torch.from_numpy(margins)).sum())


@st.composite
def drawn(draw, max_T: int = 4):
    n = draw(st.integers(1, 3))
    pad = n > 1 and draw(st.booleans())
    feature = NgramLabels(LABELS, n, pad)
    if draw(st.booleans()):
        feature = NgramContext(LABELS, POS, n, pad=pad)  # type: ignore[assignment]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = [
        RectifierNetwork(rng.normal(0, 2, (K, feature.space.d)), rng.normal(0, 1, K))
        for K in draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    ]
    network = parts[0] if len(parts) == 1 else parts[0] & parts[1]
    labels = tuple(draw(st.permutations(LABELS))[: draw(st.integers(1, 3))])
    lengths = draw(st.lists(st.integers(0, max_T), min_size=1, max_size=3))
    T, L = max(lengths), len(labels)
    emission, *ends = (
        torch.from_numpy(rng.normal(0, 2, shape)) for shape in ((len(lengths), T, L), (L, L), (L,), (L,))
    )
    x = [{"pos": rng.choice(["DT", "NN", "XX"], length).tolist()} for length in lengths]
    return Drawn(
        LearnedConstraint(network, feature.space, feature), labels, emission, tuple(ends), lengths, x
    )


@settings(deadline=None, max_examples=60)
@given(drawn(), st.booleans(), st.sampled_from(list(PENALTIES)))
def test_the_expectation_is_the_mean_over_all_labellings(case, linked, penalty):
    found = expected_penalty(case.constraint, case.chain(linked), case.labels, case.x, penalty=penalty)
    wanted = [case.mean(i, linked, penalty) for i in range(len(case.lengths))]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=15)
@given(drawn(max_T=3), st.booleans())
def test_gradients_are_those_of_finite_differences(case, linked):
    def total(emission, transition, start, stop):
        chain = Drawn(case.constraint, case.labels, emission, (transition, start, stop), case.lengths, case.x)
        arguments = (chain.chain(linked), case.labels, case.x)
        return expected_penalty(case.constraint, *arguments, penalty="log_sigmoid")

    inputs = [tensor.clone().requires_grad_() for tensor in (case.emission, *case.ends)]
    value = total(*inputs).sum()
    if not value.requires_grad:
        return
    gradients = torch.autograd.grad(value, inputs, allow_unused=True, materialize_grads=True)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        aside = [1e-6 * torch.randn(t.shape, dtype=t.dtype, generator=generator) for t in inputs]
        ahead = total(*(t + step for t, step in zip(inputs, aside, strict=True))).sum()
        behind = total(*(t - step for t, step in zip(inputs, aside, strict=True))).sum()
    slope = sum(float((g * step).sum()) for g, step in zip(gradients, aside, strict=True))
    assert float(ahead - behind) / 2e-6 == pytest.approx(slope / 1e-6, rel=1e-4, abs=1e-5)


def test_float32_models_keep_their_type_and_exact_zeros():
    feature = NgramLabels(("A", "B"), 1)
    network = RectifierNetwork([[0.1, 0.3]], [0.7])  # 0.3 + 0.7 is 1, on the boundary
    constraint = LearnedConstraint(network, feature.space, feature)
    found = expected_penalty(constraint, torch.tensor([[0.25, 0.75]]), ["A", "B"])
    assert found.dtype == torch.float32
    assert found == 0.0


def test_other_features_are_refused():
    feature = Existence(LABELS)
    constraint = LearnedConstraint(RectifierNetwork(np.ones((1, 3)), [0.0]), feature.space, feature)
    with pytest.raises(Unsupported):
        expected_penalty(constraint, torch.full((2, 3), 1 / 3), LABELS)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ["B-NP", "O"]},
        {"labels": ["B-NP", "I-NP", "I-NP"]},
        {"marginals": torch.tensor([[3.0, -1.0, 0.0]])},
        {"marginals": torch.zeros(1, 1, 1, 3)},
        {"marginals": torch.ones(1, 3, dtype=torch.int64)},
        {"marginals": np.ones((1, 3))},
        {"x": [{}, {}]},
        {"penalty": "square"},
    ],
)
def test_what_does_not_fit_is_refused(change):
    labels = ["B-NP", "I-NP", "O"]
    given = {"marginals": torch.tensor([[0.5, 0.5, 0.0]]), "labels": labels, **change}
    with pytest.raises(InvalidInput):
        expected_penalty(iob2(labels), **given)


def test_too_many_windows_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(module, "MAX_CELLS", 20)
    with pytest.raises(TooLarge):
        expected_penalty(iob2(["B-NP", "I-NP", "O"]), torch.full((9, 3), 1 / 3), ["B-NP", "I-NP", "O"])
