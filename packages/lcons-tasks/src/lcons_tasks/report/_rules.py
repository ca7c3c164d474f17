"""A constraint in words: its rules, what they cover, and how often they apply.

They are counted in gold labels if there are some, otherwise in the data that the constraint was learned from,
by the evidence in the constraint file:

    provenance["evidence"] = [{"rule": words, "support": int, "expected": float, "seen": int}, ...]

A rule that was judged on held-out data also has a "bound": {"share": float}, at most how much of the valid
parts that its premise covers the constraint rejects (95 %); provenance["bound"] is that of the constraint.

`lcons_core.reason.Coverage` defines the figures. A file may contain anything, so malformed evidence is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import Explanation, FeatureSpace, LearnedConstraint, explain
from lcons_core._arithmetic import many, rounded_up
from lcons_core._blocks import Kind
from lcons_core._types import Ints
from lcons_core.reason._words import Proof, Rule, by_chance, condition

# If a proof has more units than this, their number is given instead of a list.
MOST_UNITS = 6
MEMBER, BOUND = "evidence", "bound"
# A larger number cannot be a count of parts.
LARGEST = 10**15


@dataclass(frozen=True)
class Support:
    """The number of gold parts to which a rule applies, and the number of these that it rejects."""

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


@dataclass(frozen=True)
class Counted:
    """Columns on how often each rule applies, and the data in which this was counted."""

    head: tuple[str, ...]
    cells: Sequence[tuple[str, ...]]
    where: str


def in_gold(constraint: LearnedConstraint, said: Explanation, gold: Ints, file: str, most: int) -> Counted:
    """Support and exceptions in gold parts (N, axes) of a file."""
    found = supports(constraint, said, gold, most)
    cells = [(f"{one.applies:,}", f"{one.exceptions:,}") for one in found]
    where = f"support and exceptions are counts in the gold labels{file and f' of {file}'}"
    return Counted(("support", "exceptions"), cells, where)


def in_its_data(constraint: LearnedConstraint, rules: Sequence[Rule]) -> Counted | None:
    """Support, expected and seen counts from the constraint file; None if it has evidence of no rule."""
    known = evidence_of(constraint.provenance)
    found = [known.get(rule.words) for rule in rules]
    if not any(found):
        return None
    cells: list[tuple[str, ...]] = [
        ("", "", "") if one is None else (many(one.support), by_chance(one.expected), many(one.seen))
        for one in found
    ]
    where = "support, expected and seen are counts in the data that the constraint was learned from"
    head: tuple[str, ...] = ("support", "expected by chance", "seen")
    if any(one is not None and one.bound is not None for one in found):
        head += ("rejects at most",)
        cells = [(*own, _bounded(one)) for own, one in zip(cells, found, strict=True)]
        where += (
            "; rejects at most: the share of the valid parts covered by the premise, by held-out data (95 %"
            " bound)"
        )
    return Counted(head, cells, where)


def _bounded(one: Evidence | None) -> str:
    return "" if one is None or one.bound is None else rounded_up(one.bound)


def bound_note(provenance: Mapping[str, Any]) -> str:
    """A sentence on the share of valid parts that the constraint rejects; "" if it was not judged.

    >>> bound_note({"bound": {"rejected": 0, "parts": 391, "share": 0.007632}})
    'On new data, it rejects at most 0.8% of the valid parts (95 % bound; 0 of 391 held-out parts).'
    """
    given = provenance.get(BOUND)
    if not isinstance(given, dict):
        return ""
    rejected, parts, share = (given.get(name) for name in ("rejected", "parts", "share"))
    if not (_is_number(rejected, int) and _is_number(parts, int) and _is_share(share)):
        return ""
    most = rounded_up(float(share or 0))
    held = f"{rejected:,} of {parts:,} held-out parts"
    return f"On new data, it rejects at most {most} of the valid parts (95 % bound; {held})."


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
class RuleRow:
    """A rule in words, its full conditions if the words do not contain them, and its figures."""

    words: str
    whole: tuple[tuple[str, str], ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class RulesView:
    """The strongest rules of a constraint with their figures, and a note on what they cover."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[RuleRow, ...]
    note: str


def rules_view(constraint: LearnedConstraint, gold: Ints | None, file: str = "", most: int = 20) -> RulesView:
    """The strongest rules of a constraint; `file` is the name of the file of gold labels."""
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
    if said.types:
        note = f"For all types X and Y: {'; '.join(rule.words for rule in said.types)}. {note}"
    note = " ".join(filter(None, [bound_note(constraint.provenance), note]))
    if len(set(proofs)) == 1:
        note += f" Proof: {proofs[0]}."
    elif proofs:
        head += ("proof",)
        cells = [(*own, proof) for own, proof in zip(cells, proofs, strict=True)]
    rows = [
        RuleRow(rule.words, in_full(constraint.space.cells(), rule), own)
        for rule, own in zip(shown, cells, strict=True)
    ]
    return RulesView(caption, head, tuple(rows), note)


@dataclass(frozen=True)
class Evidence:
    """The numbers of parts that a rule's premise covers, that it would forbid by chance, and that it
    forbids; and its bound, if it was judged."""

    support: int
    expected: float
    seen: int
    bound: float | None = None


def evidence_of(provenance: Mapping[str, Any]) -> dict[str, Evidence]:
    """The evidence of each rule, by its words.

    >>> evidence_of({"evidence": [{"rule": "a", "support": 3, "expected": 1.5, "seen": 0}, "b", {"rule": 1}]})
    {'a': Evidence(support=3, expected=1.5, seen=0, bound=None)}
    """
    given = provenance.get(MEMBER)
    found = {}
    for one in given if isinstance(given, list) else ():
        words = one.get("rule") if isinstance(one, dict) else None
        if not isinstance(words, str):
            continue
        support, expected, seen = (one.get(name) for name in ("support", "expected", "seen"))
        if _is_number(support, int) and _is_number(expected, int | float) and _is_number(seen, int):
            bound = one.get("bound")
            share = bound.get("share") if isinstance(bound, dict) else None
            found[words] = Evidence(support, float(expected), seen, share if _is_share(share) else None)
    return found


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _is_share(value: Any) -> bool:
    return _is_number(value, int | float) and value <= 1


def without_evidence(value: Any) -> Any:
    """Plain data without its evidence and bound, also inside joint constraints, which contain several
    provenances."""
    if isinstance(value, dict):
        return {key: without_evidence(one) for key, one in value.items() if key not in (MEMBER, BOUND)}
    return [without_evidence(one) for one in value] if isinstance(value, list) else value
