"""Beam search over structures of any shape.

Paper: graph search with learned constraints filtering the actions (Sec. 1 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from lcons_core.errors import InvalidInput

State = TypeVar("State")


@dataclass(frozen=True)
class Found(Generic[State]):
    """The last beam, best first, each state with its score; `fallbacks`: steps at which nothing was
    accepted."""

    beam: tuple[tuple[State, float], ...]
    steps: int
    fallbacks: int


def search(
    start: State,
    expand: Callable[[State], Iterable[tuple[State, float]]],
    accept: Callable[[State], bool],
    width: int = 10,
    max_steps: int = 100_000,
) -> Found[State]:
    """Expands the beam until no state has successors.

    `expand(state)` gives (successor, what the step adds to the score); a state without successors is
    complete and stays. `accept(state)` is asked of every new state; where none is accepted, the unfiltered
    top goes on. Ties go to the state that was expanded first.

    >>> grow = lambda s: [(s + c, v) for c, v in (("a", 1.0), ("b", 2.0))] if len(s) < 2 else []
    >>> search("", grow, lambda s: "bb" not in s, width=2).beam
    (('ba', 3.0), ('ab', 3.0))
    """
    if width < 1:
        raise InvalidInput(f"the beam width must be at least 1, found {width}.")
    beam: list[tuple[State, float]] = [(start, 0.0)]
    fallbacks = steps = 0
    while steps < max_steps:
        complete: list[tuple[State, float]] = []
        fresh: list[tuple[State, float]] = []
        for state, score in beam:
            successors = [(after, score + gain) for after, gain in expand(state)]
            fresh += successors
            if not successors:
                complete.append((state, score))
        if not fresh:
            break
        steps += 1
        accepted = [pair for pair in fresh if accept(pair[0])]
        fallbacks += not accepted
        candidates = complete + (accepted or fresh)
        beam = sorted(candidates, key=lambda pair: -pair[1])[:width]
    return Found(tuple(beam), steps, fallbacks)
