"""The result of a decoder: a labelling, its score, and a status that states what is guaranteed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """OPTIMAL: no labelling that satisfies the constraints is better. HEURISTIC: the answer satisfies the
    constraints, but may not be the best. RELAXED: not all constraints could be satisfied; `violations` lists
    the broken ones. OUT_OF_BUDGET: the budget of labellings was used up; `violations` lists what the answer
    breaks. TIME_LIMIT: the same for a solver's time. INFEASIBLE: no labelling has a finite score.

    They are declared from the strongest guarantee to the weakest."""

    OPTIMAL = "optimal"
    HEURISTIC = "heuristic"
    RELAXED = "relaxed"
    OUT_OF_BUDGET = "out of budget"
    TIME_LIMIT = "time limit"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True)
class Violation:
    """A constraint that the answer breaks: its name, and the position whose label completes the broken part
    (the length of the sequence if STOP completes it), or None for a global constraint."""

    constraint: str
    position: int | None


@dataclass(frozen=True)
class Decoding:
    """The labels y by name, the model's score with soft penalties, status, stats and remaining violations."""

    y: tuple[str, ...]
    score: float
    status: Status
    stats: Mapping[str, Any] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True)
class RelationDecoding:
    """Labels of the candidates; relations other than the first label, by (source, target); the score; the
    number of broken constraints (0 unless RELAXED); stats."""

    entities: tuple[str, ...]
    relations: dict[tuple[int, int], str]
    score: float
    status: Status
    broken: int
    stats: dict[str, Any]
