"""What `explain` returns: rules with their proofs, figures on the examples, and ways to show them.

Support of a rule = weight of the positives that its premise (the antecedent) covers, all of them where it has
none; exceptions = weight of the positives that it forbids; expected = the exceptions that there would be if
its conditions were independent (`regions.py`); covered = weight of the negatives in its box (of rejected
points, where there are no examples). What a rule rests on is the expectation alone: a rule on a label that
was seen once has the support of its premise and an expectation near 0, and one whose premise never holds has
no support and, where each of its conditions is frequent, a large expectation.

An explanation as one self-contained HTML table, every name escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from lcons_core._arithmetic import plain
from lcons_core.reason._domain import Box

LEGEND = (
    "support: valid parts that the rule's premise covers (all of them where it has none); expected: how many"
    " the rule\nwould forbid if its conditions were independent; seen: how many it forbids. Where expected is"
    " small, the rule\nrests on little, whatever its support."
)
# The figures of fewer valid parts, as of an example to read, need no legend.
FEWEST_FOR_LEGEND = 30


@dataclass(frozen=True)
class Proof:
    """Why every completion of a rule is rejected.

    `method` is "enumeration" or "row". A row is named by its hidden units (of `part`, in a conjunction;
    by its position where rows were given), and `bound` is its maximum over the box, which is below zero.
    """

    method: str
    units: tuple[int, ...] = ()
    part: int = 0
    bound: float | None = None
    row: int | None = None

    def __str__(self) -> str:
        if self.method == "enumeration":
            return "every completion enumerated"
        name = f"row {self.row}" if self.row is not None else f"the row of units {_joined(self.units)}"
        part = f" of part {self.part}" if self.part else ""
        return f"{name}{part} is at most {self.bound:.3g} there"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        if self.method == "enumeration":
            return {"method": self.method}
        data: dict[str, Any] = {"method": self.method, "bound": self.bound}
        return data | (
            {"part": self.part, "units": list(self.units)} if self.row is None else {"row": self.row}
        )


@dataclass(frozen=True)
class Rule:
    """A forbidden box: every point inside is rejected.

    `antecedent` is the part of the box that comes before "needs", "cannot" or "must"; `size` counts the
    points of the box. Figures on examples are None where there were none.
    """

    words: str
    box: Box
    antecedent: Box
    size: int
    covered: float
    proof: Proof
    support: float | None = None
    exceptions: float | None = None
    expected: float | None = None

    def __str__(self) -> str:
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with all values of every condition."""
        return {
            "words": self.words,
            "forbidden": self.box.to_dict(),
            "antecedent": self.antecedent.to_dict(),
            "size": plain(self.size),
            "covered": _counted(self.covered),
            "support": _counted(self.support),
            "exceptions": _counted(self.exceptions),
            "expected": None if self.expected is None else round(self.expected, 3),
            "proof": self.proof.to_dict(),
        }


@dataclass(frozen=True)
class Coverage:
    """How much of `basis` (such as "negatives") there is, is rejected, and lies in the rules, by weight."""

    basis: str
    total: float
    rejected: float
    found: float
    shown: float

    def __str__(self) -> str:
        if not self.total:
            return f"no {self.basis}"
        text = f"{_share(self.shown, self.total)} of the {self.basis}"
        if self.found > self.shown:
            text += f", all that were found {_share(self.found, self.total)}"
        if self.rejected < self.total:
            text += f" (the constraint rejects {_share(self.rejected, self.total)})"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "basis": self.basis,
            "total": _counted(self.total),
            "rejected": _counted(self.rejected),
            "found": _counted(self.found),
            "shown": _counted(self.shown),
        }


@dataclass(frozen=True)
class Explanation:
    """Rules, strongest first; `complete` where together they are exactly the rejected set.

    `limit` is how many rules are shown unless a call says otherwise; `rules` has all of them. `positives` is
    the weight of the valid parts that the figures are of, None where there were none.
    """

    rules: tuple[Rule, ...]
    complete: bool
    coverage: Coverage
    limit: int
    positives: float | None = None

    def __len__(self) -> int:
        return len(self.rules)

    def text(self, limit: int | None = None) -> str:
        """A line a rule, one on what they cover, and what the figures are where they are of many parts."""
        shown = self.rules[: self.limit if limit is None else limit]
        lines = [f"- {rule.words}{_figures(rule)}" for rule in shown]
        legend = [LEGEND] * bool(shown and self.positives and self.positives >= FEWEST_FOR_LEGEND)
        return "\n".join([*lines, self.summary(len(shown)), *legend])

    def __str__(self) -> str:
        return self.text()

    def summary(self, shown: int | None = None) -> str:
        """One sentence on how many rules there are and what they cover."""
        if not self.rules:
            everything = "nothing is forbidden" if self.complete else "no rule was found"
            return f"{everything}."
        shown = min(self.limit, len(self.rules)) if shown is None else shown
        rules = f"{len(self.rules):,} rule{'s'[: len(self.rules) > 1]}"
        counted = rules if shown == len(self.rules) else f"{shown:,} of {rules}"
        kind = "complete" if self.complete else "strongest first, each proved, not complete"
        they = "it covers" if shown == 1 else "these cover"
        covers = f"; {they} {self.coverage}" if shown == min(self.limit, len(self.rules)) else ""
        return f"{counted} ({kind}){covers}."

    def table(self, limit: int | None = None) -> list[dict[str, Any]]:
        """A dict a rule: `rule`, `support`, `exceptions`, `expected`, `covered`, `proof`."""
        return [
            {
                "rule": rule.words,
                "support": rule.support,
                "exceptions": rule.exceptions,
                "expected": rule.expected,
                "covered": rule.covered,
                "proof": str(rule.proof),
            }
            for rule in self.rules[: len(self.rules) if limit is None else limit]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: every rule with all its values."""
        return {
            "complete": self.complete,
            "coverage": self.coverage.to_dict(),
            "rules": [rule.to_dict() for rule in self.rules],
        }

    def _repr_html_(self) -> str:

        return page(self)


def number(value: float) -> str:
    """A weight: whole numbers without a point."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def by_chance(value: float) -> str:
    """An expectation: small ones with a decimal.

    >>> by_chance(0.0), by_chance(0.004), by_chance(3.21), by_chance(1234.5)
    ('0', 'under 0.1', '3.2', '1,234')
    """
    if value < 0.05:
        return "under 0.1" if value else "0"
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def _counted(value: float | None) -> float | None:
    """A weight for files: a whole number where it is one."""
    return value if value is None or value != int(value) else int(value)


def _figures(rule: Rule) -> str:
    if rule.support is None or rule.exceptions is None or rule.expected is None:
        return ""
    expected, seen = by_chance(rule.expected), number(rule.exceptions)
    return f"  [support {number(rule.support)}; expected {expected} by chance, seen {seen}]"


def _share(part: float, total: float) -> str:
    share = f"{100 * part / total:.1f}%"
    return "100%" if part == total else min(share, "99.9%") if share == "100.0%" else share


def _joined(units: tuple[int, ...]) -> str:
    return ", ".join(str(unit) for unit in units)


_CELL = ' style="text-align:right"'


def page(explanation: Explanation) -> str:
    """A `<table>` of the shown rules with a caption."""
    shown = explanation.rules[: explanation.limit]
    examples = any(rule.support is not None for rule in shown)
    figures = ["support", "exceptions", "expected"] if examples else []
    heads = "".join(f"<th>{head}</th>" for head in ["rule", *figures, "covered", "proof"])
    rows = "\n".join(_row(rule, examples) for rule in shown)
    caption = escape(explanation.summary())
    return (
        f"<table>\n<caption>{caption}</caption>\n<thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _row(rule: Rule, examples: bool) -> str:
    cells = f'<td style="text-align:left">{escape(rule.words)}</td>'
    shown = (
        [(number, rule.support), (number, rule.exceptions), (by_chance, rule.expected)] if examples else []
    )
    for text, value in (*shown, (number, rule.covered)):
        cells += f"<td{_CELL}>{'' if value is None else text(value)}</td>"
    return f"<tr>{cells}<td>{escape(str(rule.proof))}</td></tr>"
