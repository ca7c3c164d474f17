"""What a decoder answers: a labelling, its score, and how far both can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """OPTIMAL: no labelling that satisfies the constraints is better. HEURISTIC: satisfies, may not be best.
    RELAXED: the constraints could not all be satisfied; `violations` says which. OUT_OF_BUDGET: as many
    labellings were tried as the budget allows, and `violations` says what the answer breaks. TIME_LIMIT: the
    same of a solver's time. INFEASIBLE: there is no labelling of finite score.

    They are declared from what promises most to what promises least."""

    OPTIMAL = "optimal"
    HEURISTIC = "heuristic"
    RELAXED = "relaxed"
    OUT_OF_BUDGET = "out of budget"
    TIME_LIMIT = "time limit"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True)
class Violation:
    """A constraint that the answer breaks: its name, and where: the position whose label completes the
    part (the length of the sequence where that is STOP), or None for a global constraint."""

    constraint: str
    position: int | None


@dataclass(frozen=True)
class Decoding:
    """y by name, the model's score (with soft penalties), status, stats, and the violations that remain."""

    y: tuple[str, ...]
    score: float
    status: Status
    stats: Mapping[str, Any] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True)
class RelationDecoding:
    """Labels of the candidates; relations that are not the first label, by (source, target); the score;
    how many constraints are broken (0 unless RELAXED); stats."""

    entities: tuple[str, ...]
    relations: dict[tuple[int, int], str]
    score: float
    status: Status
    broken: int
    stats: dict[str, Any]
