"""The torch module and the numpy network are the same function, and turn into each other without loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lcons_core._errors import InvalidInput
from lcons_core._network import RectifierNetwork
from lcons_core._psi import SparsePsi
from lcons_core.learn._population import Member, Population, make_batches
from lcons_core.torch import RectifierModule

WEIGHTS = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def any_networks(draw):
    K, d = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    W, b = (draw(hnp.arrays(float, shape, elements=WEIGHTS)) for shape in ((K, d), K))
    return RectifierNetwork(W, b)


@given(any_networks())
def test_a_network_survives_the_module_bit_for_bit(network):
    assert RectifierModule.from_network(network).to_network() == network


def test_a_float32_module_survives_the_network_bit_for_bit():
    module = RectifierModule(7, 3, dtype=torch.float32, generator=torch.Generator().manual_seed(0))
    back = RectifierModule.from_network(module.to_network(), dtype=torch.float32)
    assert torch.equal(back.W, module.W)
    assert torch.equal(back.b, module.b)


def test_weights_that_float32_cannot_hold_are_refused():
    with pytest.raises(InvalidInput, match="float64"):
        RectifierModule.from_network(RectifierNetwork([[0.1]], [0.0]), dtype=torch.float32)


@given(any_networks(), st.integers(0, 2**32 - 1))
def test_forward_is_the_margin(network, seed):
    psi = np.random.default_rng(seed).integers(0, 3, (2, 6, network.d)).astype(float)
    margin = RectifierModule.from_network(network)(torch.from_numpy(psi))
    expected = network.margin(psi.reshape(-1, network.d)).reshape(2, 6)
    np.testing.assert_allclose(margin.detach().numpy(), expected, rtol=1e-12, atol=1e-6)


def test_logits_keep_the_set_and_scale_the_margin():
    module = RectifierModule.from_network(RectifierNetwork([[2.0, 2.0]], [-2.0]))
    psi = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    assert module.logits(psi, 4.0).tolist() == [4.0, -4.0]


def test_the_learner_and_the_module_have_the_same_margins():
    psi = np.random.default_rng(0).integers(0, 2, (30, 5)).astype(float)
    valid = np.arange(30) % 2
    (batch,) = make_batches(SparsePsi.from_dense(psi), np.stack([1 - valid, valid], 1)[:, :, None], 30)
    population = Population([Member(3, 0.1, 0.0)], 5, 1.0, torch.Generator().manual_seed(0))
    module = RectifierModule(5, 3, dtype=torch.float32)
    with torch.no_grad():
        module.W.copy_(population.theta[:-1].T)
        module.b.copy_(population.theta[-1])
    signed = torch.from_numpy(2 * valid - 1) * module(torch.from_numpy(psi).float())
    assert population.evaluate([batch]).clearance[0] == pytest.approx(signed.min().item(), abs=1e-5)


def test_gradients_are_those_of_the_formula():
    module = RectifierModule(4, 3, generator=torch.Generator().manual_seed(1))
    psi = torch.rand(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    assert torch.autograd.gradcheck(
        lambda W, b, x: torch.func.functional_call(module, {"W": W, "b": b}, (x,)),
        (module.W, module.b, psi.requires_grad_()),
    )


def test_any_module_can_make_psi_and_receives_gradients():
    psi = torch.nn.Embedding(6, 4, dtype=torch.float64)
    module = RectifierModule(4, 3, psi=psi)
    module(torch.tensor([[0, 1], [2, 3]])).sum().backward()
    assert module(torch.tensor([[0, 1], [2, 3]])).shape == (2, 2)
    assert psi.weight.grad is not None
    assert {"W", "b", "psi.weight"} == {name for name, _ in module.named_parameters()}


def test_the_global_seed_is_used_only_where_no_generator_is_given():
    before = torch.random.get_rng_state()
    first, second = (RectifierModule(4, 3, generator=torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(first.W, second.W)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(("d", "K"), [(0, 1), (1, 0), (-1, 2)])
def test_empty_sizes_are_refused(d, K):
    with pytest.raises(InvalidInput):
        RectifierModule(d, K)


def test_a_psi_of_another_width_is_refused():
    with pytest.raises(InvalidInput):
        RectifierModule(4, 1)(torch.zeros(2, 3))
