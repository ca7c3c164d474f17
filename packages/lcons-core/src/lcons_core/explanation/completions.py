"""Is there an allowed point among those that an assignment by name leaves?

A combination is forbidden iff every completion of it is rejected, by whichever rows. Up to `limit`
completions all are looked at, so the answer is a proof; of more, drawn ones and ones climbed to the largest
margin, so that an allowed one is a proof and finding none is not.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core.boundary import climb, margins
from lcons_core.constraint import LearnedConstraint
from lcons_core.counting import plain
from lcons_core.domain import PointSet, verdicts
from lcons_core.errors import InvalidInput
from lcons_core.exact import Floats
from lcons_core.explanation.explaining import read_constraint
from lcons_core.explanation.regions import Region, size_of
from lcons_core.explanation.why import region_of
from lcons_core.psi import Ints
from lcons_core.space import FeatureSpace

LIMIT = 10**6
DRAWN = 2**13
MOST_NUMBERS = 2**22
CLIMBED = 2**7
MOST_CLIMBED = 2**9  # values of all axes: each of them is a step of climbing
_CHUNK = 2**14


@dataclass(frozen=True)
class Completions:
    """`looked` of `total` completions, `allowed` of them accepted, the first of these by name.

    `forbidden` is True or False where that is proved, None where it is open. `total` counts completions of
    the product of axes; `looked` only those that the space has.
    """

    total: int
    looked: int
    allowed: int
    example: dict[str, Any] | None
    forbidden: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "total": plain(self.total)}


def completions(
    constraint: LearnedConstraint | PointSet,
    assignment: Mapping[str, Any],
    *,
    space: FeatureSpace | None = None,
    limit: int = LIMIT,
    seed: int = 0,
) -> Completions:
    """What the constraint says about the points that have these values; see `why` for the assignment.

    >>> from lcons_core.rectifier import RectifierNetwork
    >>> from lcons_core.space import one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> network = RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0])
    >>> completions(network, {"source": "Location"}, space=FeatureSpace(blocks)).example
    {'source': 'Location', 'relation': 'NoRel'}
    """
    points, space = read_constraint(constraint, space)
    region = region_of(space, assignment)
    total = size_of(space, region)
    every = total <= limit
    looked = allowed = 0
    example = None
    chunks: Iterable[Ints] = _all(space, region, total)
    for chunk in chunks if every else [_some(points, space, region, seed)]:
        accepted = verdicts(points, space, chunk)
        looked += len(chunk)
        allowed += int(accepted.sum())
        if example is None and accepted.any():
            example = space.describe(space.vectors(chunk[accepted][:1])[0])
    if every and not looked:
        raise InvalidInput(
            "no point of the space has these values together, whatever the constraint says; ask about values"
            " that can occur."
        )
    forbidden = False if allowed else (True if every else None)
    return Completions(total, looked, allowed, example, forbidden)


def _all(space: FeatureSpace, region: Region, total: int) -> Iterator[Ints]:
    """Every completion, some at a time."""
    choices = [
        np.flatnonzero(region[i]) if i in region else np.arange(len(axis))
        for i, axis in enumerate(space.axes)
    ]
    shape = tuple(len(choice) for choice in choices)
    for first in range(0, total, _CHUNK):
        flat = np.unravel_index(np.arange(first, min(first + _CHUNK, total)), shape)
        chunk = np.stack([choice[f] for choice, f in zip(choices, flat, strict=True)], axis=1).astype(
            np.int64
        )
        yield chunk[space.possible(chunk)]


def _some(points: PointSet, space: FeatureSpace, region: Region, seed: int) -> Ints:
    """Drawn completions, and some climbed to where the margin is largest."""
    rng = np.random.default_rng(seed)
    number = max(1, min(DRAWN, MOST_NUMBERS // len(space.axes)))
    drawn = np.stack([rng.integers(0, len(axis), number) for axis in space.axes], axis=1)
    for i, mask in region.items():
        drawn[:, i] = rng.choice(np.flatnonzero(mask), number)
    drawn = drawn[space.possible(drawn)]
    if sum(len(axis) for axis in space.axes) > MOST_CLIMBED:
        return drawn

    def within(assignments: Ints) -> Floats:
        outside = np.zeros(len(assignments), dtype=np.bool_)
        for i, mask in region.items():
            outside |= ~mask[assignments[:, i]]
        return np.where(outside, -np.inf, margins(points, space, assignments))

    return np.concatenate([drawn, climb(space, drawn[:CLIMBED], within)])
