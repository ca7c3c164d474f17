"""Distributions over labellings from a torch model, with gradients: independent tokens or a CRF.

    p(y) = p(y_1) prod_t p(y_{t+1} | y_t)

A linear-chain CRF is such a chain, p(y_{t+1} = c | y_t = b) proportional to

    exp(transition[b, c] + emission[t + 1, c] + beta[t + 1, c])

where beta is the log-sum over all continuations; for independent tokens p(y_{t+1} | y_t) is p(y_{t+1}). So
the probability of a window of labels of any length is a product, without a division by a number that may be
close to 0.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from lcons_core._errors import InvalidInput

TOLERANCE = 1e-3

Lengths = Sequence[int] | Tensor | None


@dataclass(frozen=True, eq=False)
class LabelChain:
    """`unary` (B, T, L) is p(y_t); `steps` (B, T - 1, L, L) is p(y_{t+1} | y_t), or None for independent
    tokens. Of sequence i only the first lengths[i] tokens count. `single`: the input was one sequence,
    without the dimension B."""

    unary: Tensor
    steps: Tensor | None
    lengths: Tensor
    single: bool = False

    @classmethod
    def independent(cls, probability: Tensor, lengths: Lengths = None) -> Self:
        """Independent tokens with probability (B, T, L) or (T, L), as softmax returns it.

        >>> LabelChain.independent(torch.tensor([[0.5, 0.5], [1.0, 0.0]])).step([0], [0]).tolist()
        [[[1.0, 0.0], [1.0, 0.0]]]
        """
        unary, sizes, single = _batched(probability, lengths, "probability")
        with torch.no_grad():
            inside = unary[torch.arange(unary.shape[1], device=unary.device) < sizes[:, None]]
            if bool((inside < 0).any()) or bool(((inside.sum(-1) - 1).abs() > TOLERANCE).any()):
                raise InvalidInput("label probabilities must sum to 1 per token; pass logits.softmax(-1).")
        return cls(unary, None, sizes, single)

    @classmethod
    def of_scores(
        cls,
        emission: Tensor,
        transition: Tensor,
        start: Tensor | None = None,
        stop: Tensor | None = None,
        lengths: Lengths = None,
    ) -> Self:
        """The CRF with emission (B, T, L) or (T, L), transition (L, L) as [from, to], start and stop (L,);
        all finite.

        >>> flat = LabelChain.of_scores(torch.zeros(3, 2), torch.tensor([[0.0, -1e4], [0.0, 0.0]]))
        >>> [[round(p, 2) for p in token] for token in flat.unary[0].tolist()]
        [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]
        """
        scores, sizes, single = _batched(emission, lengths, "emission")
        _, T, L = scores.shape
        ends = [scores.new_zeros(L) if part is None else part for part in (start, stop)]
        named = {"transition": (transition, (L, L)), "start": (ends[0], (L,)), "stop": (ends[1], (L,))}
        for name, (part, shape) in named.items():
            if tuple(part.shape) != shape:
                raise InvalidInput(f"{name} must have shape {shape}, found {tuple(part.shape)}.")
        if not T:
            return cls(scores, None, sizes, single)
        beta = ends[1].expand_as(scores[:, 0])
        steps: list[Tensor] = []
        for t in range(T - 2, -1, -1):
            onward = transition + (scores[:, t + 1] + beta)[:, None, :]
            steps.append(onward.softmax(-1))
            beta = torch.where((sizes == t + 1)[:, None], ends[1], onward.logsumexp(-1))
        unary = [(ends[0] + scores[:, 0] + beta).softmax(-1)]
        for step in reversed(steps):
            unary.append(torch.einsum("wa,wab->wb", unary[-1], step))
        arcs = torch.stack(steps[::-1], 1) if steps else scores.new_zeros(len(scores), 0, L, L)
        return cls(torch.stack(unary, 1), arcs, sizes, single)

    @property
    def L(self) -> int:
        """The number of labels."""
        return self.unary.shape[2]

    def token(self, owner: Sequence[int] | Tensor, t: Sequence[int] | Tensor) -> Tensor:
        """(W, L): p(y_t) in sequence `owner`, for W pairs of owner and t."""
        return _rows(self.unary, owner, t)

    def step(self, owner: Sequence[int] | Tensor, t: Sequence[int] | Tensor) -> Tensor:
        """(W, L, L): p(y_{t+1} | y_t) in sequence `owner`, for W pairs of owner and t."""
        if self.steps is not None:
            return _rows(self.steps, owner, t)
        return self.token(owner, torch.as_tensor(t) + 1)[:, None, :].expand(-1, self.L, -1)


def _rows(values: Tensor, owner: Sequence[int] | Tensor, t: Sequence[int] | Tensor) -> Tensor:
    """(W, ...) values[owner, t]; a selection of rows, whose gradient is much quicker than that of indices."""
    rows = torch.as_tensor(owner) * values.shape[1] + torch.as_tensor(t)
    return values.flatten(0, 1).index_select(0, rows.to(values.device))


def _batched(values: Tensor, lengths: Lengths, name: str) -> tuple[Tensor, Tensor, bool]:
    """`values` as (B, T, L), the length of each sequence, and whether B was added."""
    if not isinstance(values, Tensor) or values.ndim not in (2, 3) or not values.is_floating_point():
        actual = getattr(values, "shape", type(values).__name__)
        raise InvalidInput(f"{name} must be a float tensor (B, T, L) or (T, L), found {actual}.")
    single = values.ndim == 2
    batch = values[None] if single else values
    B, T, _ = batch.shape
    sizes = torch.full((B,), T) if lengths is None else torch.as_tensor(lengths).reshape(-1).cpu()
    if sizes.shape != (B,) or sizes.is_floating_point() or bool(((sizes < 0) | (sizes > T)).any()):
        raise InvalidInput(f"lengths must be {B} integers in 0..{T}, found {sizes.tolist()!r:.80}.")
    return batch, sizes.to(batch.device), single
