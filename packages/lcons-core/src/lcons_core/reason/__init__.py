"""Reasoning about constraints: rules by name, explanation, comparison, simplification, verification.

Every verdict is exact. A name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcons_core.reason._compare import Comparison, Outcome, compare, in_words
    from lcons_core.reason._explanation import (
        Completions,
        Coverage,
        Explanation,
        Proof,
        Rule,
        Why,
        completions,
        explain,
        read_assignment,
        why,
    )
    from lcons_core.reason._rules import Rules
    from lcons_core.reason._rules_text import box_text, load_rules, parse_rules, rules_text
    from lcons_core.reason._sides import Verification
    from lcons_core.reason._simplify import SimplifiedRows, simplify
    from lcons_core.reason._verify import verify

_HOMES = {
    "Comparison": "_compare",
    "Completions": "_explanation",
    "Coverage": "_explanation",
    "Explanation": "_explanation",
    "Outcome": "_compare",
    "Proof": "_explanation",
    "Rule": "_explanation",
    "Rules": "_rules",
    "SimplifiedRows": "_simplify",
    "Verification": "_sides",
    "Why": "_explanation",
    "box_text": "_rules_text",
    "compare": "_compare",
    "completions": "_explanation",
    "explain": "_explanation",
    "in_words": "_compare",
    "load_rules": "_rules_text",
    "parse_rules": "_rules_text",
    "read_assignment": "_explanation",
    "rules_text": "_rules_text",
    "simplify": "_simplify",
    "verify": "_verify",
    "why": "_explanation",
}

__all__ = [
    "Comparison",
    "Completions",
    "Coverage",
    "Explanation",
    "Outcome",
    "Proof",
    "Rule",
    "Rules",
    "SimplifiedRows",
    "Verification",
    "Why",
    "box_text",
    "compare",
    "completions",
    "explain",
    "in_words",
    "load_rules",
    "parse_rules",
    "read_assignment",
    "rules_text",
    "simplify",
    "verify",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
