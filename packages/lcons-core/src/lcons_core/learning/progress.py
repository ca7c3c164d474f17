"""What a learner tells its `progress` callback; needs no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The best member so far (loss and accuracy on the weighted examples) and how many still train."""

    epoch: int
    epochs: int
    loss: float
    accuracy: float
    members: int
