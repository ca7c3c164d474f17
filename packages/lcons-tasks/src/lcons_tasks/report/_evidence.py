"""What the rules of a constraint rest on in the data it was learned from, as its file tells.

    provenance["evidence"] = [{"rule": words, "support": int, "expected": float, "seen": int}, ...]

`lcons_core.reason.Coverage` says what the figures are. Whoever wrote the file may have written anything:
what is not as above is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MEMBER = "evidence"
# No data has more parts.
LARGEST = 10**15


@dataclass(frozen=True)
class Evidence:
    """Parts that a rule's premise covers, how many it would forbid by chance, and how many it does."""

    support: int
    expected: float
    seen: int


def evidence_of(provenance: Mapping[str, Any]) -> dict[str, Evidence]:
    """The evidence of each rule, by its words.

    >>> evidence_of({"evidence": [{"rule": "a", "support": 3, "expected": 1.5, "seen": 0}, "b", {"rule": 1}]})
    {'a': Evidence(support=3, expected=1.5, seen=0)}
    """
    given = provenance.get(MEMBER)
    found = {}
    for one in given if isinstance(given, list) else ():
        words = one.get("rule") if isinstance(one, dict) else None
        if not isinstance(words, str):
            continue
        support, expected, seen = (one.get(name) for name in ("support", "expected", "seen"))
        if _is_number(support, int) and _is_number(expected, int | float) and _is_number(seen, int):
            found[words] = Evidence(support, float(expected), seen)
    return found


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= LARGEST


def without_evidence(value: Any) -> Any:
    """Plain data without the evidence in it; joint constraints have the provenance of each inside."""
    if isinstance(value, dict):
        return {key: without_evidence(one) for key, one in value.items() if key != MEMBER}
    return [without_evidence(one) for one in value] if isinstance(value, list) else value
