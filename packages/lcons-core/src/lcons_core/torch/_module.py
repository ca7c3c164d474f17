"""The rectifier network as a torch module, for training and for use in other torch models.

    forward(x) = 1 - sum_k ReLU(W psi(x) + b)_k,     logits(x, tau) = tau * forward(x)

Paper: Sec. 2.3, Eq. 7; Sec. 3, footnote 1: the sigmoid replaces the threshold in training.
sigmoid(tau * margin) >= 1/2 iff margin >= 0 for every tau > 0, so the set is the same.

Not in the paper: tau. The margin is at most 1, so with tau = 1 a valid example's loss never falls below
log(1 + 1/e) = 0.313.

A conjunction is a module with several `parts`, whose margin is the smallest margin of its parts.

`psi` may be any module that maps its input to (..., d). Parameters are float64 by default, so that
`to_network` and `from_network` are exact inverses of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from lcons_core._errors import InvalidInput
from lcons_core._network import Conjunction, Network, RectifierNetwork, as_network
from lcons_core._pointset import Given


def margin(activations: torch.Tensor, *, in_place: bool = False) -> torch.Tensor:
    """(...) margins of activations (..., K); with `in_place` the activations themselves are rectified.

    >>> margin(torch.tensor([[-1.0, 0.5], [1.0, 0.5]])).tolist()
    [0.5, -0.5]
    """
    return 1.0 - (torch.relu_(activations) if in_place else torch.relu(activations)).sum(-1)


class RectifierModule(torch.nn.Module):
    """margin(x) = 1 - sum_k ReLU(W psi(x) + b)_k with parameters W (K, d) and b (K,).

    `parts`, the numbers of units of the networks of a conjunction, add up to K; one network by default.

    >>> module = RectifierModule.from_network(RectifierNetwork([[2.0, 2.0]], [-2.0]))
    >>> module(torch.tensor([[1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)).tolist()
    [1.0, -1.0]
    """

    def __init__(
        self,
        d: int,
        K: int,
        psi: torch.nn.Module | None = None,
        *,
        parts: Sequence[int] | None = None,
        dtype: torch.dtype = torch.float64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if d < 1 or K < 1:
            raise InvalidInput(
                f"d and K must be at least 1, found d = {d} and K = {K}; pass the number of columns of psi"
                " and the number of hidden units."
            )
        self.parts = (K,) if parts is None else tuple(parts)
        if sum(self.parts) != K or min(self.parts) < 1:
            raise InvalidInput(
                f"parts must be numbers of units that add up to K = {K}, found {self.parts}; pass the K of"
                " each network."
            )
        self.psi = psi
        scale = 1.0 / math.sqrt(d)
        uniform = 2.0 * torch.rand(K, d + 1, dtype=dtype, generator=generator) - 1.0
        self.W = torch.nn.Parameter((scale * uniform[:, :d]).contiguous())
        self.b = torch.nn.Parameter((scale * uniform[:, d]).contiguous())

    @property
    def K(self) -> int:
        """The number of hidden units."""
        return self.W.shape[0]

    @property
    def d(self) -> int:
        """The length of psi."""
        return self.W.shape[1]

    def forward(self, x: Any) -> torch.Tensor:
        """The margin: (...) for psi(x) of shape (..., d)."""
        psi = x if self.psi is None else self.psi(x)
        if psi.shape[-1] != self.d:
            raise InvalidInput(
                f"psi must have {self.d} columns, found shape {tuple(psi.shape)};"
                " pass psi of the space that the constraint was learned on."
            )
        activations = torch.nn.functional.linear(psi.to(self.W.dtype), self.W, self.b)
        if len(self.parts) == 1:
            return margin(activations)
        return torch.stack(
            [margin(part) for part in torch.split(activations, list(self.parts), -1)], -1
        ).amin(-1)

    def logits(self, x: Any, temperature: float = 1.0) -> torch.Tensor:
        """temperature * margin, the input of a binary cross-entropy with logits."""
        margins: torch.Tensor = self(x)
        return temperature * margins

    @classmethod
    def from_network(
        cls,
        network: Given,
        psi: torch.nn.Module | None = None,
        *,
        dtype: torch.dtype = torch.float64,
    ) -> RectifierModule:
        """The module with the same weights; raises `InvalidInput` if they are not exact in `dtype`."""
        own: Network = as_network(network, "RectifierModule.from_network")
        module = cls(own.d, own.K, psi, parts=[part.K for part in own.parts], dtype=dtype)
        weights = ((module.W, [part.W for part in own.parts]), (module.b, [part.b for part in own.parts]))
        with torch.no_grad():
            for parameter, arrays in weights:
                source = torch.cat([torch.tensor(array) for array in arrays])
                parameter.copy_(source)
                if not torch.equal(parameter.to(torch.float64), source):
                    raise InvalidInput(
                        f"the weights must be exact in {dtype}, found some that would be rounded;"
                        " use dtype=torch.float64."
                    )
        return module

    def to_network(self) -> Network:
        """The frozen numpy network or conjunction with the same weights (psi is not part of it)."""
        sizes = list(self.parts)
        W, b = (
            [part.numpy() for part in torch.split(parameter.detach().cpu().to(torch.float64), sizes)]
            for parameter in (self.W, self.b)
        )
        parts = tuple(map(RectifierNetwork, W, b))
        return parts[0] if len(parts) == 1 else Conjunction(parts)

    def extra_repr(self) -> str:
        parts = "" if len(self.parts) == 1 else f", parts={self.parts}"
        return f"d={self.d}, K={self.K}{parts}"
