"""A constraint in words: its rules, what they cover, and how often they apply: in gold labels, or else in the
data that the constraint was learned from, as its file tells.

    provenance["evidence"] = [{"rule": words, "support": int, "expected": float, "seen": int}, ...]

`lcons_core.reason.Coverage` says what the figures are. Whoever wrote the file may have written anything:
what is not as above is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import FeatureSpace, Ints, Kind, LearnedConstraint, explain, many
from lcons_core.reason import Explanation, Proof, Rule, by_chance, condition

# More units than these are counted, not listed.
MOST_UNITS = 6
MEMBER = "evidence"
# No data has more parts.
LARGEST = 10**15


@dataclass(frozen=True)
class Support:
    """To how many gold parts a rule applies, and how many of these it rejects."""

    applies: int
    exceptions: int


def supports(constraint: LearnedConstraint, said: Explanation, gold: Ints, most: int) -> list[Support]:
    """The support of the first rules in gold parts (N, axes)."""
    space = constraint.space
    return [
        Support(
            int(rule.antecedent.contains(space, gold).sum()),
            int(rule.box.contains(space, gold).sum()),
        )
        for rule in said.rules[:most]
    ]


def proved(proof: Proof) -> str:
    """A proof in words; units are counted from 1, as in the tables of coefficients.

    >>> proved(Proof("row", (0, 2), bound=-0.5))
    'the inequality of units 1, 3 is at most -0.5 there'
    """
    if proof.method == "enumeration" or proof.row is not None:
        return str(proof)
    units = ", ".join(str(k + 1) for k in proof.units)
    named = f"units {units}" if len(proof.units) <= MOST_UNITS else f"{len(proof.units)} units"
    part = f" of part {proof.part + 1}" if proof.part else ""
    return f"the inequality of {named}{part} is at most {proof.bound:.3g} there"


@dataclass(frozen=True)
class Counted:
    """Columns on how often each rule applies, and what they were counted in."""

    head: tuple[str, ...]
    cells: Sequence[tuple[str, ...]]
    where: str


def in_gold(constraint: LearnedConstraint, said: Explanation, gold: Ints, file: str, most: int) -> Counted:
    """Support and exceptions in gold parts (N, axes) of a file."""
    found = supports(constraint, said, gold, most)
    cells = [(f"{one.applies:,}", f"{one.exceptions:,}") for one in found]
    where = f"support and exceptions in the gold labels{file and f' of {file}'}"
    return Counted(("support", "exceptions"), cells, where)


def in_its_data(constraint: LearnedConstraint, rules: Sequence[Rule]) -> Counted | None:
    """Support, chance and what was seen, as the constraint's file tells; None where it tells of no rule."""
    known = evidence_of(constraint.provenance)
    found = [known.get(rule.words) for rule in rules]
    if not any(found):
        return None
    cells = [
        ("", "", "") if one is None else (many(one.support), by_chance(one.expected), many(one.seen))
        for one in found
    ]
    where = "support, expected and seen in the data it learned from"
    return Counted(("support", "expected by chance", "seen"), cells, where)


def in_full(space: FeatureSpace, rule: Rule) -> tuple[tuple[str, str], ...]:
    """(name, what) of every condition of a rule with all its values; nothing where its words have them."""
    if all(_is_said(space, rule, name, values) for name, values in rule.box.conditions):
        return ()
    return tuple(_whole(space, name, values) for name, values in rule.box.conditions)


def _whole(space: FeatureSpace, name: str, values: Sequence[str]) -> tuple[str, str]:
    """A condition with all its values."""
    axis = space.axes[space.axis_index(name)]
    if space.block(axis.block).kind is not Kind.ONE_HOT:
        return "", condition(space, axis, np.isin(axis.values, values))
    return name, f" is {', '.join(map(_quoted, values))}"


def _quoted(value: str) -> str:
    """A value, in quotes where it would read as punctuation."""
    return value if any(map(str.isalnum, value)) else f'"{value}"'


def _is_said(space: FeatureSpace, rule: Rule, name: str, values: Sequence[str]) -> bool:
    """Whether the words name a condition whole: all its values, or all others."""
    axis = space.axes[space.axis_index(name)]
    if space.block(axis.block).kind is not Kind.ONE_HOT:
        # Numbers are written as ranges.
        return _has(rule.words, axis.name.removeprefix(f"{axis.block} "))
    others = [value for value in axis.values if value not in values]
    return any(own and all(_has(rule.words, value) for value in own) for own in (values, others))


def _has(words: str, value: str) -> bool:
    """Whether a value stands in words by itself: I-NP does not hold NP."""
    return re.search(rf"(?<![^\s(/\"]){re.escape(value)}(?![^\s),;/\"])", words) is not None


@dataclass(frozen=True)
class RuleRow:
    """A rule in words, its conditions in full where the words have them not, and figures on it."""

    words: str
    whole: tuple[tuple[str, str], ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class RulesView:
    """The strongest rules of a constraint, and what they cover."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[RuleRow, ...]
    note: str


def rules_view(constraint: LearnedConstraint, gold: Ints | None, file: str = "", most: int = 20) -> RulesView:
    """The strongest rules, and what they cover; `file` has the gold labels."""
    said = explain(constraint, limit=most)
    shown = said.rules[:most]
    basis = said.coverage.total or 1.0
    head: tuple[str, ...] = ("rule", f"share of {said.coverage.basis}")
    cells: list[tuple[str, ...]] = [(f"{100 * rule.covered / basis:.1f}%",) for rule in shown]
    counted = in_its_data(constraint, shown) if gold is None else in_gold(constraint, said, gold, file, most)
    caption = "Rules in words, strongest first"
    if counted is not None:
        head += counted.head
        caption += f"; {counted.where}"
        cells = [(*own, *more) for own, more in zip(cells, counted.cells, strict=True)]
    proofs = [proved(rule.proof) for rule in shown]
    note = said.summary(len(shown)) if shown else said.summary()
    if len(set(proofs)) == 1:
        note += f" Proof: {proofs[0]}."
    elif proofs:
        head += ("proof",)
        cells = [(*own, proof) for own, proof in zip(cells, proofs, strict=True)]
    rows = [
        RuleRow(rule.words, in_full(constraint.space, rule), own)
        for rule, own in zip(shown, cells, strict=True)
    ]
    return RulesView(caption, head, tuple(rows), note)


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
