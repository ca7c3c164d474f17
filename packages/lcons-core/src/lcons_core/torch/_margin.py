"""The margin of the rectifier network in torch, for whoever has activations: learner, module and penalty.

    margin = 1 - sum_k ReLU(a_k)

Paper: Sec. 2.3, Eq. 7.
"""

from __future__ import annotations

import torch


def margin(activations: torch.Tensor, *, in_place: bool = False) -> torch.Tensor:
    """(...) for activations (..., K), which are rectified themselves where `in_place`.

    >>> margin(torch.tensor([[-1.0, 0.5], [1.0, 0.5]])).tolist()
    [0.5, -0.5]
    """
    return 1.0 - (torch.relu_(activations) if in_place else torch.relu(activations)).sum(-1)
