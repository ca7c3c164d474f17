"""A constraint in words: its rules, what they cover, and how often they apply.

They are counted in gold labels if there are some, otherwise in the data that the constraint was learned from,
by the evidence in the constraint file:

    provenance["evidence"] = [{"rule": words, "support": int, "expected": float, "seen": int}, ...]

`lcons_core.reason.Coverage` defines the figures. A file may contain anything, so malformed evidence is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lcons_core import LearnedConstraint, explain
from lcons_core._arithmetic import many
from lcons_core._types import Ints
from lcons_core.reason._words import Rule, by_chance

# A larger number cannot be a count of parts.
LARGEST = 10**15
# In the words of a rule that does not name all its conditions and values.
SHORTENED = re.compile(" others of | more are ")

Row = tuple[str, ...]
Count = Annotated[int, Field(ge=0, le=LARGEST)]


class Evidence(BaseModel):
    """The numbers of parts that a rule's premise covers, that it would forbid by chance, and that it
    forbids."""

    model_config = ConfigDict(strict=True, frozen=True)

    rule: str
    support: Count
    expected: Annotated[float, Field(ge=0, le=LARGEST)]
    seen: Count


def evidence_of(provenance: Mapping[str, Any]) -> dict[str, Evidence]:
    """The evidence of each rule, by its words.

    >>> evidence_of({"evidence": [{"rule": "a", "support": 3, "expected": 1.5, "seen": 0}, "b", {"rule": 1}]})
    {'a': Evidence(rule='a', support=3, expected=1.5, seen=0)}
    """
    members, evidence = provenance.get("evidence"), {}
    for member in members if isinstance(members, list) else ():
        with suppress(ValidationError):
            known = Evidence.model_validate(member)
            evidence[known.rule] = known
    return evidence


@dataclass(frozen=True)
class RulesView:
    """The strongest rules of a constraint: (words, conditions with all their values if the words shorten
    them, figures) of each, and a note on what they cover."""

    caption: str
    head: Row
    rows: tuple[tuple[str, tuple[tuple[str, str], ...], Row], ...]
    note: str


def rules_view(constraint: LearnedConstraint, gold: Ints | None, file: str = "", most: int = 20) -> RulesView:
    """The strongest rules of a constraint; `file` is the name of the file of gold labels."""
    explanation = explain(constraint, limit=most)
    rules, coverage = explanation.rules[:most], explanation.coverage
    head, cells, where = _counts(constraint, rules, gold, file)
    note = explanation.summary(len(rules)) if rules else explanation.summary()
    if explanation.types:
        note = f"For all types X and Y: {'; '.join(rule.words for rule in explanation.types)}. {note}"
    rows = tuple(
        (
            rule.words,
            tuple((name, ", ".join(values)) for name, values in rule.box.conditions)
            if SHORTENED.search(rule.words)
            else (),
            (f"{100 * rule.covered / (coverage.total or 1.0):.1f}%", *row),
        )
        for rule, row in zip(rules, cells, strict=True)
    )
    caption = f"Rules in words, strongest first{where}"
    return RulesView(caption, ("rule", f"share of {coverage.basis}", *head), rows, note)


def _counts(
    constraint: LearnedConstraint, rules: Sequence[Rule], gold: Ints | None, file: str
) -> tuple[Row, list[Row], str]:
    """Columns on how often each rule applies and is broken, and the data in which this was counted."""
    if gold is not None:
        boxes = [(rule.antecedent, rule.box) for rule in rules]
        counts = [tuple(f"{box.contains(constraint.space, gold).sum():,}" for box in pair) for pair in boxes]
        where = f"gold labels{f' of {file}' if file else ''}"
        return ("support", "exceptions"), counts, f"; support and exceptions are counts in the {where}"
    known = evidence_of(constraint.provenance)
    if not any(rule.words in known for rule in rules):
        return (), [()] * len(rules), ""
    found = [known.get(rule.words) for rule in rules]
    counted: list[Row] = [
        (many(one.support), by_chance(one.expected), many(one.seen)) if one else ("", "", "") for one in found
    ]
    where = "; support, expected and seen are counts in the data that the constraint was learned from"
    return ("support", "expected by chance", "seen"), counted, where
