"""The constraints of a run: words, matrix, heat map and inequalities of each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lcons_core import LearnedConstraint, load
from lcons_core._arithmetic import many
from lcons_core._psi import Ints
from lcons_core.reason._points import verdicts
from lcons_tasks.report._heatmap import heat_map
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._inequalities import inequalities_view
from lcons_tasks.report._matrix import LEGEND, matrix_view
from lcons_tasks.report._predictions import Sentence, gold_parts
from lcons_tasks.report._rules import rules_view
from lcons_tasks.report._run import ConstraintSet

READING = element(
    "details",
    element("summary", "How to read this"),
    element(
        "p",
        element("b", "In words: "),
        "a rule forbids combinations; where there are gold labels, support is how many of their parts it"
        " applies to, and exceptions are those of them that it rejects. Where there are none, a constraint"
        " file may tell of the data it was learned from: support is how many parts the rule's premise covers,"
        " expected how many the rule would forbid if its conditions were independent, seen how many it"
        " forbids. Where either of the first is small, the rule rests on little.",
    ),
    element("p", element("b", "Allowed and forbidden: "), LEGEND),
    element(
        "p",
        element("b", "Coefficients: "),
        "a column is the inequality of one hidden unit; all other inequalities are sums of these. Red, below"
        " zero, pushes towards forbidden; blue towards allowed.",
    ),
    element(
        "p",
        element("b", "Inequalities: "),
        "one for every set S of hidden units (Theorem 1); simplification leaves out those that no point of"
        " the domain needs.",
    ),
    class_="note",
)


@dataclass(frozen=True)
class Gold:
    """Sentences with gold labels, and the file that has them."""

    path: Path | None = None
    sentences: Sequence[Sentence] = ()


@dataclass
class Bodies:
    """What was made of constraint files already, by content: splits often agree to the byte."""

    made: dict[tuple[str, Path | None], Html] = field(default_factory=dict)

    def of(self, path: Path, constraint: LearnedConstraint, gold: Gold) -> Html:
        """The four parts of a constraint."""
        key = hashlib.sha256(path.read_bytes()).hexdigest(), gold.path
        if key not in self.made:
            found = gold_parts(constraint, gold.sentences)
            self.made[key] = constraint_body(constraint, found, gold.path.name if gold.path else "")
        return self.made[key]


def constraint_body(constraint: LearnedConstraint, gold: Ints | None, file: str = "") -> Html:
    """Words, matrix, heat map and inequalities, each to open and close; `file` has the gold labels."""
    return joined(
        _gold_line(constraint, gold),
        _part("In words", rules_view(constraint, gold, file), opened=True),
        _part("Allowed and forbidden", matrix_view(constraint), opened=True),
        _part("Coefficients", heat_map(constraint)),
        _part("Inequalities", inequalities_view(constraint)),
    )


def _part(name: str, content: Html, opened: bool = False) -> Html:
    return element("details", element("summary", name), content, open=opened)


def _gold_line(constraint: LearnedConstraint, gold: Ints | None) -> Html | None:
    """What the constraint rejects of the gold labels."""
    if gold is None or not len(gold):
        return None
    rejected = int((~verdicts(constraint.network, constraint.space, gold)).sum())
    share = 100 * rejected / len(gold)
    return element(
        "p",
        f"Rejects {rejected:,} of {len(gold):,} parts of the gold labels ({share:.1f}%).",
        class_="loud" if rejected else None,
    )


def described(constraint: LearnedConstraint) -> str:
    """One line on the size of a constraint."""
    network, space = constraint.network, constraint.space
    kind = "" if constraint.feature is None else f"{constraint.scope} {constraint.feature.kind}, "
    return f"{kind}K = {network.K}, {space.d:,} columns, {many(space.size)} points"


def set_view(
    one: ConstraintSet, number: int, gold: Gold, bodies: Bodies, tell: Callable[[str], None]
) -> Html:
    """The constraints of a set, each in an article."""
    articles = []
    for path in one.files:
        tell(f"{one.name}/{path.stem}")
        constraint = load(path)
        articles.append(
            element(
                "article",
                element("h4", path.stem),
                element("p", f"{one.name}; {described(constraint)}", class_="note"),
                bodies.of(path, constraint, gold),
                data_set=number,
            )
        )
    return joined(*articles)
