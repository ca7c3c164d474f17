"""The margin of the rectifier network in torch, from activations: for learner, module and penalty.

    margin = 1 - sum_k ReLU(a_k)

Paper: Sec. 2.3, Eq. 7.
"""

from __future__ import annotations

import torch


def margin(activations: torch.Tensor, *, in_place: bool = False) -> torch.Tensor:
    """(...) margins of activations (..., K); with `in_place` the activations themselves are rectified.

    >>> margin(torch.tensor([[-1.0, 0.5], [1.0, 0.5]])).tolist()
    [0.5, -0.5]
    """
    return 1.0 - (torch.relu_(activations) if in_place else torch.relu(activations)).sum(-1)
