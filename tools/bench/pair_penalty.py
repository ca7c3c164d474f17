"""The expected penalty of label bigrams by products of matrices, as a ratio measured in one run.

For independent tokens and n = 2 the expectation is sum_t p_t F p_{t+1}, with F (L, L) the penalties of the
bigrams. `expected_penalty` with its gradient is compared with itself where it sums with one (L, L) table of
conditional probabilities per window, as chains need it and independent tokens do not. Values and gradients
are equal to 1e-12. The gain grows with L: what does not depend on it is the grouping of windows and F itself.
The ratio for a CRF, whose windows do need the tables, is printed without a target.

Run: .venv/bin/python tools/bench/pair_penalty.py
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import torch
from timing import report

from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramLabels
from lcons_core.torch import LabelChain, _penalty, expected_penalty

B, T, K = 64, 50, 10
LEAST_SPEED = {10: 1.2, 23: 2.0, 50: 4.0}


def constraint_on(L: int, rng: np.random.Generator) -> LearnedConstraint:
    """A constraint on all bigrams of L labels, about half of them forbidden."""
    feature = NgramLabels(tuple(f"label {i}" for i in range(L)), 2)
    W = np.rint(rng.normal(size=(K, feature.space.d)) * 2**10) / 2**10
    return LearnedConstraint(RectifierNetwork(W, np.zeros(K)), feature.space, feature)


def token_by_index(chain: LabelChain, owner: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    """As `LabelChain.token`, by indices."""
    return chain.unary[owner, t]


def sum_out_by_windows(values: torch.Tensor, group: Any, chain: LabelChain, i: int) -> torch.Tensor:
    """As `_sum_out`, with one (L, L) table per window."""
    L, owner, t = chain.L, group.owner, group.first + i - 1
    if chain.steps is not None:
        step = chain.steps[owner, t]
    else:
        step = chain.unary[owner, t + 1][:, None, :].expand(-1, L, -1)
    return torch.einsum("rab,wab->wra", values.reshape(-1, L, L), step).flatten(1)


def compared(L: int, crf: bool, rng: np.random.Generator) -> float:
    """How many times as fast the penalty and its gradient are."""
    constraint = constraint_on(L, rng)
    assert constraint.feature is not None
    labels = constraint.feature.labels
    scores = torch.from_numpy(rng.normal(size=(B, T, L)))
    given = LabelChain.independent(scores.softmax(-1))
    if crf:
        given = LabelChain.of_scores(scores, torch.from_numpy(rng.normal(size=(L, L))))
    leaves = [part.detach().requires_grad_() for part in (given.unary, given.steps) if part is not None]
    chain = LabelChain(leaves[0], leaves[1] if crf else None, given.lengths)

    def penalty_and_gradient() -> list[torch.Tensor]:
        found = expected_penalty(constraint, chain, labels)
        return [found, *torch.autograd.grad(found.sum(), leaves)]

    def by_windows() -> list[torch.Tensor]:
        with (
            mock.patch.object(_penalty, "_sum_out", sum_out_by_windows),
            mock.patch.object(LabelChain, "token", token_by_index),
        ):
            return penalty_and_gradient()

    for new, old in zip(penalty_and_gradient(), by_windows(), strict=True):
        torch.testing.assert_close(new, old, rtol=1e-12, atol=1e-12)
    new_time, old_time = cpu_seconds(penalty_and_gradient, by_windows)
    name = "CRF" if crf else "independent tokens"
    print(f"{name}, {B} x {T} tokens, L = {L}: {new_time * 1e3:.2f} ms, by windows {old_time * 1e3:.2f} ms")
    return old_time / new_time


def cpu_seconds(*runs: Callable[[], object], repeats: int = 25) -> list[float]:
    """The median CPU time of each run, which a busy machine changes less than wall time; they take turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, taken in zip(runs, times, strict=True):
            start = time.process_time()
            run()
            taken.append(time.process_time() - start)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    met = [
        report(f"penalty of bigrams, L = {L}", compared(L, False, rng), at_least=least)
        for L, least in LEAST_SPEED.items()
    ]
    print(f"CRF, L = 23: {compared(23, True, rng):.2f}x (no target)")
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
