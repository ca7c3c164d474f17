"""What one case found: the number of comparisons, and a sentence for each that is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

TOLERANCE = 1e-9


@dataclass
class Tally:
    """Comparisons of what lcons answers with what the oracle says."""

    checks: int = 0
    wrong: list[str] = field(default_factory=list)

    def same(self, what: str, found: Any, wanted: Any) -> bool:
        """Counts a comparison; both must be equal."""
        self.checks += 1
        if found != wanted:
            self.wrong.append(f"{what}: found {found!r:.300}, expected {wanted!r:.300}")
        return bool(found == wanted)

    def true(self, what: str, condition: Any, detail: Any = "") -> bool:
        """Counts a claim; it must hold."""
        self.checks += 1
        if not condition:
            self.wrong.append(f"{what}{f': {detail!r:.300}' if detail != '' else ''}")
        return bool(condition)

    def near(self, what: str, found: float, wanted: float, tolerance: float = TOLERANCE) -> bool:
        """Counts a comparison of rounded numbers."""
        close = found == wanted or math.isclose(found, wanted, rel_tol=tolerance, abs_tol=tolerance)
        return self.true(what, close, (found, wanted))

    def all_near(self, what: str, found: Sequence[float], wanted: Sequence[float]) -> bool:
        """Counts one comparison of two lists of rounded numbers."""
        close = len(found) == len(wanted) and all(
            a == b or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            for a, b in zip(found, wanted, strict=True)
        )
        return self.true(what, close, (list(found), list(wanted)))
