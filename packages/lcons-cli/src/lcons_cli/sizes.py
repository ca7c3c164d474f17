"""What a constraint is in numbers: its units, columns and points, the size of its forms, and its origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lcons_core import LearnedConstraint

# Blocks that are named one by one.
_NAMED = 6


def sizes(constraint: LearnedConstraint) -> Iterator[str]:
    """Lines for people."""
    from lcons_core.counting import many
    from lcons_core.named_rows import Form, estimate

    space, network = constraint.space, constraint.network
    blocks = [f"{block.name} {len(block.values):,}" for block in space.blocks[:_NAMED]]
    more = [f"{len(space.blocks) - _NAMED:,} more"] * (len(space.blocks) > _NAMED)
    yield f"{network.K} hidden units over {space.d:,} columns ({', '.join(blocks + more)})"
    rows, lifted = (estimate(network, form).rows for form in (Form.ROWS, Form.LIFTED))
    yield f"{many(space.size)} points; {many(rows)} rows by Theorem 1; {lifted:,} lifted rows"
    made = constraint.provenance
    examples = made.get("examples")
    counts = examples.items() if isinstance(examples, Mapping) else ()
    source = made.get("learned_from") or ", ".join(f"{number} {kind}" for kind, number in counts)
    if source:
        yield f"learned from {source}, with seed {made.get('seed')}"
