"""A linear model under short names, as files hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lcons_decode.ilp._program import Sense


@dataclass(frozen=True)
class Column:
    """A variable: its part of the objective, which is maximised, its bounds, and whether it is integral."""

    objective: float
    low: float
    high: float
    integral: bool


@dataclass(frozen=True)
class Model:
    """Columns and rows (terms, sense, right-hand side) by short name; rows have at least one term."""

    columns: Mapping[str, Column]
    rows: Mapping[str, tuple[Mapping[str, float], Sense, float]]


def number(value: float) -> str:
    """The shortest text that reads back as the same float; whole numbers without a point."""
    return repr(float(value) + 0.0).removesuffix(".0")
