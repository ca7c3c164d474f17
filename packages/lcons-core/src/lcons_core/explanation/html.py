"""An explanation as one self-contained HTML table, every name escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from lcons_core.explanation.result import by_chance, number

if TYPE_CHECKING:
    from lcons_core.explanation.result import Explanation, Rule

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
