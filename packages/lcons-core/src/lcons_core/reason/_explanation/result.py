"""The result of `explain`: rules with proofs and figures on the examples, as text, plain data and HTML.

    support     weight of the positives that the premise (antecedent) covers; all positives without a premise
    exceptions  weight of the positives that the rule forbids
    expected    weight of the exceptions that is expected if its conditions were independent (`regions.py`)
    covered     weight of the negatives in its box; without examples, of the rejected points in it
    bound       if it was judged on held-out data: an upper bound (95 %) on the share of rejected parts among
                the valid parts that the premise covers

Only `expected` measures the evidence for a rule. A rule on a label that occurs once has the support of its
premise, but an expectation near 0. A rule whose premise never holds has no support, but a large expectation
if each of its conditions is frequent.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from lcons_core._arithmetic import plain, rounded_up
from lcons_core.reason._domain import Box
from lcons_core.reason._explanation.types import TypeRule, whole

LEGEND = (
    "support: valid parts that the rule's premise covers (all of them where it has none); expected: how many"
    " the rule\nwould forbid if its conditions were independent; seen: how many it forbids. Where expected is"
    " small, the rule\nrests on little, whatever its support."
)
BOUND_LEGEND = (
    "rejects under: on new data, the share of the valid parts covered by the premise that the constraint"
    " rejects (95 % bound,\nfrom held-out data)."
)
# With fewer valid parts, as in short examples, the figures need no legend.
FEWEST_FOR_LEGEND = 30


@dataclass(frozen=True)
class Proof:
    """The proof that every completion of a rule is rejected.

    `method` is "enumeration" or "row". A row is named by its hidden units (in a conjunction, those of
    `part`), or by its position if rows were given; `bound` is its maximum over the box, which is below zero.
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
        row = {"part": self.part, "units": list(self.units)} if self.row is None else {"row": self.row}
        return {"method": self.method, "bound": self.bound, **row}


@dataclass(frozen=True)
class Rule:
    """A forbidden box: every point inside is rejected.

    `antecedent` is the part of the box before "needs", "cannot" or "must"; `size` is the number of points of
    the box. Figures on examples are None without examples; `implied`: a rule over types says the same.
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
    bound: float | None = None
    implied: bool = False

    def __str__(self) -> str:
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with all values of every condition."""
        return {
            "words": self.words,
            "forbidden": self.box.to_dict(),
            "antecedent": self.antecedent.to_dict(),
            "size": plain(self.size),
            "covered": whole(self.covered),
            "support": whole(self.support),
            "exceptions": whole(self.exceptions),
            "expected": None if self.expected is None else round(self.expected, 3),
            **({} if self.bound is None else {"bound": round(self.bound, 6)}),
            "proof": self.proof.to_dict(),
        }


@dataclass(frozen=True)
class Coverage:
    """Weights of `basis` (such as "negatives"): in total, rejected, and in the rules found and shown."""

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
            "total": whole(self.total),
            "rejected": whole(self.rejected),
            "found": whole(self.found),
            "shown": whole(self.shown),
        }


@dataclass(frozen=True)
class Explanation:
    """Rules, strongest first; `complete` if their union is exactly the rejected set.

    `limit` is the default number of rules to show; `rules` has all of them. `positives` is the total weight
    of the valid parts in the figures, None without examples. `types` are rules over label types, which the
    text shows first, without the rules that they imply.
    """

    rules: tuple[Rule, ...]
    complete: bool
    coverage: Coverage
    limit: int
    positives: float | None = None
    types: tuple[TypeRule, ...] = ()

    def __len__(self) -> int:
        return len(self.rules)

    def text(self, limit: int | None = None) -> str:
        """One line per rule, one line on their coverage, and a legend if there are many valid parts."""
        shown = self.rules[: self.limit if limit is None else limit]
        beyond = [rule for rule in shown if not rule.implied]
        said: tuple[Rule | TypeRule, ...] = (*self.types, *beyond)
        lines = [f"- {rule.words}{_figures(rule)}" for rule in said]
        if len(beyond) < len(shown):
            implied = len(shown) - len(beyond)
            named = any("-Y" in rule.words for rule in self.types)
            types = "X and Y are different types" if named else "X is any type"
            single = "1 rule on a single type" if implied == 1 else f"{implied:,} rules on single types"
            lines.append(f"  ({types}: such lines stand for {single})")
        legend = [LEGEND] * bool(shown and self.positives and self.positives >= FEWEST_FOR_LEGEND)
        legend += [BOUND_LEGEND] * bool(legend and any(rule.bound is not None for rule in said))
        return "\n".join([*lines, self.summary(len(shown)), *legend])

    def __str__(self) -> str:
        return self.text()

    def summary(self, shown: int | None = None) -> str:
        """One sentence on the number of rules and their coverage."""
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
        """One dict per rule: `rule`, `support`, `exceptions`, `expected`, `covered`, `proof`."""
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
            **({"types": [rule.to_dict() for rule in self.types]} if self.types else {}),
            "rules": [rule.to_dict() for rule in self.rules],
        }

    def _repr_html_(self) -> str:
        return page(self)


def number(value: float) -> str:
    """A weight as text; a whole number without a decimal point."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def by_chance(value: float) -> str:
    """An expectation as text; a small one with one decimal.

    >>> by_chance(0.0), by_chance(0.004), by_chance(3.21), by_chance(1234.5)
    ('0', 'under 0.1', '3.2', '1,234')
    """
    if value < 0.05:
        return "under 0.1" if value else "0"
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def _figures(rule: Rule | TypeRule) -> str:
    if rule.support is None or rule.exceptions is None or rule.expected is None:
        return ""
    expected, seen = by_chance(rule.expected), number(rule.exceptions)
    # Without a held-out part to judge the rule by, the bound is 1.
    rejects = "" if rule.bound is None or rule.bound >= 1 else f"; rejects under {rounded_up(rule.bound)}"
    return f"  [support {number(rule.support)}; expected {expected} by chance, seen {seen}{rejects}]"


def _share(part: float, total: float) -> str:
    share = f"{100 * part / total:.1f}%"
    return "100%" if part == total else min(share, "99.9%") if share == "100.0%" else share


def _joined(units: tuple[int, ...]) -> str:
    return ", ".join(str(unit) for unit in units)


_CELL = ' style="text-align:right"'


def page(explanation: Explanation) -> str:
    """A self-contained HTML `<table>` of the shown rules with a caption; all names are escaped."""
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
