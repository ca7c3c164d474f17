"""What the paper says of its tables, checked on ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lcons_tasks.experiment.tables import table


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it held here, and the figures."""

    text: str
    held: bool
    figures: str


def claims_table(found: Sequence[Claim]) -> str:
    """A line a claim."""
    rows = [[claim.text, "held" if claim.held else "not held", claim.figures] for claim in found]
    return table(["claim", "here", "figures"], rows)
