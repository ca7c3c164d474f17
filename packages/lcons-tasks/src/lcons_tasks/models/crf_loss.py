"""The negative log-likelihood of a linear-chain CRF, and its gradient, without a graph of T steps.

    loss = log Z - score(y),   d log Z / d emission[t, c] = p(y_t = c),
    d log Z / d transition[b, c] = sum_t p(y_t = b, y_{t+1} = c)

Scaled forward-backward sums give log Z and all marginals at once, so that autograd keeps nothing of the
recursion. The score is that of `lcons_decode`: start, emissions, transitions [from, to] and stop, the same in
training, Viterbi and beam.

Differs from the paper: its beam adds log-softmaxed scores and no stop score, which is not what it trains.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

HEADROOM = 350.0


def crf_loss(emission: Tensor, transition: Tensor, start: Tensor, stop: Tensor, y: Tensor) -> Tensor:
    """The loss summed over a batch of equally long sequences: emission (B, T, L), y (B, T)."""
    loss: Tensor = _CrfLoss.apply(emission, transition, start, stop, y)  # type: ignore[no-untyped-call]
    return loss


class _CrfLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, emission: Tensor, transition: Tensor, start: Tensor, stop: Tensor, y: Tensor
    ) -> Tensor:
        scores = emission.double().transpose(0, 1)
        arcs, first, last = transition.double(), start.double(), stop.double()
        log_partition, unary, pairwise = _sums(scores, arcs, first, last)
        gold = scores.gather(2, y.t().unsqueeze(2)).sum() + first[y[:, 0]].sum() + last[y[:, -1]].sum()
        gold = gold + arcs[y[:, :-1], y[:, 1:]].sum()
        ones = torch.ones(y.shape, dtype=torch.float64)
        unary = unary.transpose(0, 1).scatter_add(2, y.unsqueeze(2), -ones.unsqueeze(2))
        pairwise.index_put_((y[:, :-1], y[:, 1:]), -ones[:, 1:], accumulate=True)
        kind = emission.dtype
        ends = unary[:, 0].sum(0).to(kind), unary[:, -1].sum(0).to(kind)
        context.save_for_backward(unary.to(kind), pairwise.to(kind), *ends)
        return (log_partition.sum() - gold).to(kind)

    @staticmethod
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return (*(upstream * gradient for gradient in context.saved_tensors), None)


def _sums(scores: Tensor, arcs: Tensor, start: Tensor, stop: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """log Z (B,), label marginals (T, B, L) and summed pair marginals (L, L); scores are (T, B, L)."""
    T = len(scores)
    # Everything is exponentiated relative to the largest score of its step, so nothing overflows; and less a
    # headroom, so that what is small before it is divided by its scale does not vanish. Emissions may be of
    # any size; transitions, starts and stops may each span 500.
    tops = scores.amax(2, keepdim=True) - HEADROOM
    top, first_top, last_top = arcs.max(), start.max(), stop.max()
    gains, A = (scores - tops).exp(), (arcs - top).exp()
    first, last = (start - first_top).exp(), (stop - last_top).exp()
    forward, scale = torch.empty_like(gains), torch.empty_like(tops)
    # Tensors are indexed once, by unbind: indexing them at every step would cost as much as the sums.
    f, g, z = forward.unbind(), gains.unbind(), scale.unbind()
    current = first * g[0]
    for t in range(T):
        if t:
            current = torch.mm(f[t - 1], A).mul_(g[t])
        torch.sum(current, 1, keepdim=True, out=z[t])
        torch.div(current, z[t], out=f[t])
    ending = (forward[-1] * last).sum(1, keepdim=True)
    backward, arriving = torch.empty_like(gains), torch.empty_like(gains)
    backward[-1] = last / ending
    a, b, g, onward = arriving.unbind(), backward.unbind(), (gains / scale).unbind(), A.t().contiguous()
    for t in range(T - 1, 0, -1):
        torch.mul(g[t], b[t], out=a[t])
        torch.mm(a[t], onward, out=b[t - 1])
    L = scores.shape[2]
    pairwise = A * (forward[:-1].reshape(-1, L).t() @ arriving[1:].reshape(-1, L))
    log_partition = (tops + scale.log()).sum((0, 2)) + ending.squeeze(1).log()
    return log_partition + (T - 1) * top + first_top + last_top, forward * backward, pairwise
