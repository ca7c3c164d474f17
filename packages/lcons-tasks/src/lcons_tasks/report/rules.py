"""A constraint in words: its rules, what they cover, and how often they apply in gold labels."""

from __future__ import annotations

from dataclasses import dataclass

from lcons_core import LearnedConstraint, explain
from lcons_core.explanation import Explanation
from lcons_core.explanation.result import Proof
from lcons_core.psi import Ints
from lcons_tasks.report.html import Html, element, joined
from lcons_tasks.report.tables import data_table

# More units than these are counted, not listed.
MOST_UNITS = 6


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


def rules_view(constraint: LearnedConstraint, gold: Ints | None, most: int = 20) -> Html:
    """The strongest rules as a table, and what they cover."""
    said = explain(constraint, limit=most)
    shown = said.rules[:most]
    if not shown:
        return element("p", said.summary())
    basis = said.coverage.total or 1.0
    found = None if gold is None else supports(constraint, said, gold, most)
    head = ["rule", f"share of {said.coverage.basis}"]
    rows: list[list[object]] = [[rule.words, f"{100 * rule.covered / basis:.1f}%"] for rule in shown]
    if found is not None:
        head += ["support", "exceptions"]
        for row, one in zip(rows, found, strict=True):
            row += [f"{one.applies:,}", f"{one.exceptions:,}"]
    proofs = [proved(rule.proof) for rule in shown]
    note = said.summary(len(shown))
    if len(set(proofs)) == 1:
        note += f" Proof: {proofs[0]}."
    else:
        head.append("proof")
        for row, proof in zip(rows, proofs, strict=True):
            row.append(proof)
    return joined(
        data_table("Rules in words, strongest first", head, rows, class_="rules"),
        element("p", note, class_="note"),
    )
