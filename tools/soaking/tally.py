"""Comparisons of what lcons answers with what the oracle says: each is counted, and raises if it is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-9


@dataclass
class Tally:
    """How many cases and comparisons there were."""

    cases: int = 0
    checks: int = 0

    def same(self, what: str, found: Any, wanted: Any) -> None:
        """Both must be equal."""
        self.true(what, found == wanted, (found, wanted))

    def true(self, what: str, condition: Any, detail: Any = "") -> None:
        """A claim must hold."""
        self.checks += 1
        if not condition:
            raise AssertionError(f"{what}: {detail!r:.900}")

    def near(self, what: str, found: float, wanted: float, tolerance: float = TOLERANCE) -> None:
        """Rounded numbers must be close."""
        close = found == wanted or math.isclose(found, wanted, rel_tol=tolerance, abs_tol=tolerance)
        self.true(what, close, (found, wanted))

    def all_near(self, what: str, found: Sequence[float], wanted: Sequence[float]) -> None:
        """Lists of rounded numbers must be close."""
        self.same(f"{what}: how many", len(found), len(wanted))
        for a, b in zip(found, wanted, strict=True):
            self.near(what, a, b)
