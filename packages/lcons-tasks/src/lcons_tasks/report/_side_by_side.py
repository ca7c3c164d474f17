"""Documents side by side: their headlines, the first tables and curves of the same task, and which
constraints agree.

Two constraints of different runs are compared if their spaces have the same blocks and values.
`lcons_core.compare` proves the verdict: on every point of a small domain, or in a large domain by a closed
form or a witness; otherwise they are undecided. Files with the same content are equal and need no comparison.

The work is limited: pairs with the same name come first. Pairs that would take too long are left out, and the
page states their number.

Not in the paper.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from textwrap import shorten
from typing import Any

from lcons_core import Comparison, LearnedConstraint, compare, load
from lcons_core.reason import ENUMERATION_LIMIT, Outcome, in_words
from lcons_tasks.report._chart import COLOURS
from lcons_tasks.report._document import Curve, Document, Figure, Headline, Table, TableCell
from lcons_tasks.report._run import Run

PAPER = "the paper"
MOST_PAIRS = 24
# Estimated seconds: the most for all pairs, and those of one pair with a domain too large to enumerate.
LONGEST, SEARCHED = 20.0, 4.0
# Points times hidden units that are enumerated per second.
SPEED = 2e8
WITNESSES, WITNESS_LENGTH = 3, 160

VERDICTS = {Outcome.EQUAL: "y", Outcome.DIFFERENT: "x", Outcome.UNDECIDED: "d"}


def overview(runs: Sequence[Run]) -> Table:
    """The table of headlines, one row per run, without columns that are empty for all runs."""
    rows = [_overview_row(run) for run in runs]
    measured = any(run.document.headline is not None for run in runs)
    names = ["run", "task", "corpus", "measure" if measured else "in short", "without constraints"]
    names += ["with constraints", "gain [95% interval]", "paper"]
    kept = [k for k in range(len(names)) if not k or any(row[k] not in ("", None) for row in rows)]
    return Table(
        "The runs of this page",
        tuple(names[k] for k in kept),
        tuple(tuple(row[k] for k in kept) for row in rows),
    )


def _overview_row(run: Run) -> tuple[TableCell, ...]:
    found, head = run.document, run.document.headline
    if head is None:
        return run.name, found.title, found.corpus, found.compared.rstrip("."), None, None, None, None
    figures = (Figure(head.without.values), Figure(head.within.values))
    return run.name, found.title, found.corpus, head.measure, *figures, head.gain, stated(head)


def stated(head: Headline) -> str:
    """The paper's two figures; if it has only one, with the word `without` or `with`.

    >>> stated(Headline("F1", Figure((1.0,)), Figure((2.0,), 38.2), None))
    'with 38.2'
    """
    without, within = head.without.paper, head.within.paper
    if without is not None and within is not None:
        return f"{without:.1f} → {within:.1f}"
    sides = {"without": without, "with": within}
    return "".join(f"{side} {value:.1f}" for side, value in sides.items() if value is not None)


def beside_each_other(runs: Sequence[Run]) -> list[Table | Curve]:
    """Joint tables and curves of the runs of each task."""
    by_task: dict[str, dict[str, Document]] = {}
    for run in runs:
        by_task.setdefault(run.task, {})[run.name] = run.document
    found: list[Table | Curve | None] = []
    for own in by_task.values():
        found += [_joint_table(own), _joint_curve(own)]
    return [one for one in found if one is not None]


def _joint_table(documents: Mapping[str, Document]) -> Table | None:
    """The first tables with figures of all documents as one table; None if a document has none."""
    firsts = {name: table for name, one in documents.items() if (table := _first_table(one)) is not None}
    if len(firsts) < 2 or len(firsts) < len(documents):
        return None
    columns = list(dict.fromkeys(column for table in firsts.values() for column in table.columns[1:]))
    rows = list(dict.fromkeys(row[0] for table in firsts.values() for row in table.rows))
    pairs = [(column, name) for column in columns for name, t in firsts.items() if column in t.columns]
    cells = {
        (name, row[0], column): Figure(cell.values) if isinstance(cell, Figure) else cell
        for name, table in firsts.items()
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
    }
    body = [(row, *(cells.get((name, row, column)) for column, name in pairs)) for row in rows]
    title = next(iter(documents.values())).title
    said = "; ".join(f"{name}: {table.caption}" for name, table in firsts.items())
    head = ("row", *(f"{column}, {name}" for column, name in pairs))
    return Table(f"{title}, runs side by side", head, tuple(body), f"{said}.")


def _first_table(document: Document) -> Table | None:
    tables = [one for part in document.sections for one in part.blocks if isinstance(one, Table)]
    return next((t for t in tables if any(isinstance(cell, Figure) for row in t.rows for cell in row)), None)


def _joint_curve(documents: Mapping[str, Document]) -> Curve | None:
    """The first and the last line of each run (without the paper's) in one chart; None if fewer than two runs
    have a curve."""
    curves = {
        name: next((b for s in one.sections for b in s.blocks if isinstance(b, Curve)), None)
        for name, one in documents.items()
    }
    known = {name: curve for name, curve in curves.items() if curve is not None}
    if len(known) < 2:
        return None
    lines: dict[str, Mapping[float, float]] = {}
    for name, curve in known.items():
        own = [line for line in curve.lines if not line.startswith(PAPER)] or list(curve.lines)
        for line in dict.fromkeys((own[0], own[-1])):
            lines[f"{name}: {line}"] = curve.lines[line]
    first = next(iter(known.values()))
    shown = dict(list(lines.items())[: len(COLOURS)])
    return Curve(f"{first.up}, runs side by side", first.across, first.up, shown)


@dataclass(frozen=True, eq=False)
class Member:
    """A constraint of a run; `copies` is the number of equal files in other sets of the run."""

    run: str
    stem: str
    name: str
    constraint: LearnedConstraint
    digest: str
    copies: int = 0

    @property
    def shown(self) -> tuple[str, str]:
        """Its run and its name there; the name of a single file is that of its run."""
        name = "" if self.name == f"{self.stem}/{self.stem}" else self.name
        copies = f" (and {self.copies:,} with the same content)" if self.copies else ""
        return self.run, f"{name}{copies}"


@dataclass(frozen=True)
class Only:
    """The points that only one of two constraints allows: a sentence, and some of the points."""

    said: str
    points: tuple[str, ...]


@dataclass(frozen=True)
class PairRow:
    """Two constraints and the verdict on them; `state` is its CSS class."""

    members: tuple[tuple[str, str], tuple[str, str]]
    verdict: str
    state: str
    only: tuple[Only, ...]
    how: str


@dataclass(frozen=True)
class AgreementView:
    """One row per pair, and a note on pairs that are left out."""

    rows: tuple[PairRow, ...]
    note: str


Pair = tuple[Member, Member]


@dataclass(frozen=True)
class Plan:
    """The pairs to compare, the number of pairs that are left out, the estimated seconds, and the number of
    constraints whose space no other run has."""

    pairs: tuple[Pair, ...] = ()
    left_out: int = 0
    seconds: float = 0.0
    alone: int = 0

    def __str__(self) -> str:
        left = f", {self.left_out:,} left out, because they would take too long" if self.left_out else ""
        alone = f"; constraints over a space that no other run has: {self.alone:,}" if self.alone else ""
        return f"pairs of constraints of different runs compared: {len(self.pairs):,}{left}{alone}"


def plan(shown: Mapping[str, Sequence[tuple[str, Path]]]) -> Plan:
    """The pairs of constraints to compare; `shown` has the (set, file) pairs of each run."""
    runs = [found for name, files in shown.items() if (found := members(name, files))]
    if len(runs) < 2:
        return Plan()
    pairs = [
        (a, b)
        for one, other in combinations(runs, 2)
        for a in one
        for b in other
        if a.constraint.space == b.constraint.space
    ]
    # Pairs with the same set and name come first, then pairs with the same name.
    pairs.sort(key=lambda pair: (pair[0].name != pair[1].name, pair[0].stem != pair[1].stem))
    kept: list[Pair] = []
    total = 0.0
    for pair in pairs:
        seconds = seconds_of(*pair)
        if len(kept) < MOST_PAIRS and total + seconds <= LONGEST:
            kept.append(pair)
            total += seconds
    there = {id(member) for pair in pairs for member in pair}
    alone = sum(id(member) not in there for run in runs for member in run)
    return Plan(tuple(kept), len(pairs) - len(kept), total, alone)


def members(run: str, files: Sequence[tuple[str, Path]]) -> list[Member]:
    """The constraints of a run, each content once."""
    found: dict[str, list[tuple[str, Path]]] = {}
    for name, path in files:
        found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), []).append((name, path))
    return [
        Member(run, path.stem, f"{name}/{path.stem}", load(path), digest, len(same) - 1)
        for digest, same in found.items()
        for name, path in same[:1]
    ]


def seconds_of(a: Member, b: Member) -> float:
    """The estimated seconds of a comparison."""
    if a.digest == b.digest:
        return 0.0
    space = a.constraint.space
    if not space.integral or space.size > ENUMERATION_LIMIT:
        return SEARCHED
    size = space.size
    return size * (a.constraint.network.K + b.constraint.network.K) / SPEED


def agreement_view(planned: Plan, tell: Callable[[str], None]) -> AgreementView:
    """The verdict on each pair; `tell` is called with the runs of each pair before its comparison."""
    rows = []
    for a, b in planned.pairs:
        tell(f"{a.run} and {b.run}")
        rows.append(_row(a, b))
    return AgreementView(tuple(rows), _note(planned))


def _row(a: Member, b: Member) -> PairRow:
    names = a.shown, b.shown
    if a.digest == b.digest:
        return PairRow(
            names, str(Outcome.EQUAL), VERDICTS[Outcome.EQUAL], (), "the files have the same content"
        )
    found = compare(a.constraint, b.constraint, witnesses=WITNESSES)
    sides = ((a, found.only_a, found.witnesses_a), (b, found.only_b, found.witnesses_b))
    only = [_only(one.run, number, own, found.complete) for one, number, own in sides if number]
    return PairRow(names, str(found.outcome), VERDICTS[found.outcome], tuple(only), how(found))


def _only(run: str, number: int, witnesses: Sequence[dict[str, Any]], complete: bool) -> Only:
    least = "" if complete else "at least "
    shown = [shorten(in_words(one), WITNESS_LENGTH, placeholder=" …") for one in witnesses]
    shown += [f"and {number - len(shown):,} more"] * (number > len(shown))
    return Only(f"only {run} allows {least}{number:,} point{'s'[: number > 1]}:", tuple(shown))


def how(found: Comparison) -> str:
    """The basis of a verdict, in words."""
    if found.complete:
        return f"all {found.points:,} points were checked"
    if found.outcome is Outcome.UNDECIDED:
        return (
            f"no difference at {found.points:,} points near both boundaries, but no proof that there is none"
        )
    if found.outcome is Outcome.EQUAL:
        return found.how
    return f"{found.points:,} points near both boundaries were checked"


def _note(planned: Plan) -> str:
    said = []
    if planned.left_out:
        said.append(
            f"{planned.left_out:,} more pairs were not compared, because that would take too long; pairs with"
            " the same name came first."
        )
    if planned.alone:
        said.append(
            f"{planned.alone:,} constraints were not compared, because no other run has one over the same"
            " blocks and values."
        )
    if planned.pairs:
        said.append("Only constraints on this page are compared.")
    return " ".join(said)
