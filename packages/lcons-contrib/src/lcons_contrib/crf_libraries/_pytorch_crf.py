"""The scores of one sequence under a CRF of pytorch-crf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcons_core import InvalidInput
from lcons_decode import ChainScores


def from_pytorch_crf(crf: Any, emission: Any, labels: Sequence[str]) -> ChainScores:
    """The scores of one sequence (T, L) under a `torchcrf.CRF`; its transitions are [from, to], as here."""
    if not all(hasattr(crf, name) for name in ("transitions", "start_transitions", "end_transitions")):
        raise InvalidInput(f"expected a torchcrf.CRF, found {type(crf).__name__}.")
    return ChainScores(emission, crf.transitions, crf.start_transitions, crf.end_transitions, labels=labels)
