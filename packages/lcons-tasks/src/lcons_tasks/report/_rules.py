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
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lcons_core import FeatureSpace, LearnedConstraint, explain
from lcons_core._arithmetic import many
from lcons_core._blocks import Kind
from lcons_core._types import Ints
from lcons_core.reason._words import Proof, Rule, by_chance, condition

# If a proof has more units than this, their number is given instead of a list.
MOST_UNITS = 6
# A larger number cannot be a count of parts.
LARGEST = 10**15

Row = tuple[str, ...]
Count = Annotated[int, Field(ge=0, le=LARGEST)]


def proved(proof: Proof) -> str:
    """A proof in words; units are numbered from 1, as in the tables of coefficients.

    >>> proved(Proof("row", (0, 2), bound=-0.5))
    'the inequality of units 1, 3 is at most -0.5 there'
    """
    if proof.method == "enumeration" or proof.row is not None:
        return str(proof)
    units = ", ".join(str(k + 1) for k in proof.units)
    named = f"units {units}" if len(proof.units) <= MOST_UNITS else f"{len(proof.units)} units"
    part = f" of part {proof.part + 1}" if proof.part else ""
    return f"the inequality of {named}{part} is at most {proof.bound:.3g} there"


class Evidence(BaseModel):
    """The numbers of parts that a rule's premise covers, that it would forbid by chance, and that it
    forbids."""

    model_config = ConfigDict(strict=True, frozen=True)

    rule: str
    support: Count
    expected: Annotated[float, Field(ge=0, le=LARGEST)]
    seen: Count

    @property
    def cells(self) -> Row:
        """The numbers as text."""
        return many(self.support), by_chance(self.expected), many(self.seen)


def evidence_of(provenance: Mapping[str, Any]) -> dict[str, Evidence]:
    """The evidence of each rule, by its words.

    >>> evidence_of({"evidence": [{"rule": "a", "support": 3, "expected": 1.5, "seen": 0}, "b", {"rule": 1}]})
    {'a': Evidence(rule='a', support=3, expected=1.5, seen=0)}
    """
    members = provenance.get("evidence")
    evidence = {}
    for member in members if isinstance(members, list) else ():
        try:
            known = Evidence.model_validate(member)
        except ValidationError:
            continue
        evidence[known.rule] = known
    return evidence


def without_evidence(value: Any) -> Any:
    """Plain data without its evidence and bound, also inside joint constraints, which contain several
    provenances."""
    if isinstance(value, dict):
        return {key: without_evidence(one) for key, one in value.items() if key not in ("evidence", "bound")}
    return [without_evidence(one) for one in value] if isinstance(value, list) else value


def in_full(space: FeatureSpace, rule: Rule) -> tuple[tuple[str, str], ...]:
    """(name, what) of every condition of a rule with all its values; empty if its words contain them."""
    if all(_is_said(space, rule, name, values) for name, values in rule.box.conditions):
        return ()
    return tuple(_whole(space, name, values) for name, values in rule.box.conditions)


def _whole(space: FeatureSpace, name: str, values: Sequence[str]) -> tuple[str, str]:
    """(name, what) of a condition with all its values."""
    axis = space.axes[space.axis_index(name)]
    if space.block(axis.block).kind is not Kind.ONE_HOT:
        return "", condition(space, axis, np.isin(axis.values, values))
    return name, f" is {', '.join(map(_quoted, values))}"


def _quoted(value: str) -> str:
    """A value, in quotes if it has no letters or digits."""
    return value if any(map(str.isalnum, value)) else f'"{value}"'


def _is_said(space: FeatureSpace, rule: Rule, name: str, values: Sequence[str]) -> bool:
    """Whether the words of a rule contain a whole condition: all its values, or all other values."""
    axis = space.axes[space.axis_index(name)]
    if space.block(axis.block).kind is not Kind.ONE_HOT:
        # Numbers are ranges in words.
        return _has(rule.words, axis.name.removeprefix(f"{axis.block} "))
    others = [value for value in axis.values if value not in values]
    return any(own and all(_has(rule.words, value) for value in own) for own in (values, others))


def _has(words: str, value: str) -> bool:
    """Whether a value occurs in words as a whole word: NP does not occur in I-NP."""
    return re.search(rf"(?<![^\s(/\"]){re.escape(value)}(?![^\s),;/\"])", words) is not None


@dataclass(frozen=True)
class RulesView:
    """The strongest rules of a constraint: (words, full conditions if the words do not contain them, figures)
    of each, and a note on what they cover."""

    caption: str
    head: Row
    rows: tuple[tuple[str, tuple[tuple[str, str], ...], Row], ...]
    note: str


def rules_view(constraint: LearnedConstraint, gold: Ints | None, file: str = "", most: int = 20) -> RulesView:
    """The strongest rules of a constraint; `file` is the name of the file of gold labels."""
    explanation = explain(constraint, limit=most)
    rules = explanation.rules[:most]
    coverage = explanation.coverage
    head, cells, where = _counts(constraint, rules, gold, file)
    note = explanation.summary(len(rules)) if rules else explanation.summary()
    if explanation.types:
        note = f"For all types X and Y: {'; '.join(rule.words for rule in explanation.types)}. {note}"
    proofs = [proved(rule.proof) for rule in rules]
    if len(set(proofs)) == 1:
        note += f" Proof: {proofs[0]}."
    elif proofs:
        head += ("proof",)
        cells = [(*row, proof) for row, proof in zip(cells, proofs, strict=True)]
    shares = [f"{100 * rule.covered / (coverage.total or 1.0):.1f}%" for rule in rules]
    rows = tuple(
        (rule.words, in_full(constraint.space.cells(), rule), (share, *row))
        for rule, share, row in zip(rules, shares, cells, strict=True)
    )
    caption = f"Rules in words, strongest first{where}"
    return RulesView(caption, ("rule", f"share of {coverage.basis}", *head), rows, note)


def _counts(
    constraint: LearnedConstraint, rules: Sequence[Rule], gold: Ints | None, file: str
) -> tuple[Row, list[Row], str]:
    """Columns on how often each rule applies and is broken, and the data in which this was counted."""
    if gold is not None:
        space = constraint.space
        cells = [
            (f"{rule.antecedent.contains(space, gold).sum():,}", f"{rule.box.contains(space, gold).sum():,}")
            for rule in rules
        ]
        of_file = f" of {file}" if file else ""
        where = f"; support and exceptions are counts in the gold labels{of_file}"
        return ("support", "exceptions"), list(cells), where
    known = evidence_of(constraint.provenance)
    if not any(rule.words in known for rule in rules):
        return (), [()] * len(rules), ""
    where = "; support, expected and seen are counts in the data that the constraint was learned from"
    counted = [known[rule.words].cells if rule.words in known else ("", "", "") for rule in rules]
    return ("support", "expected by chance", "seen"), counted, where
