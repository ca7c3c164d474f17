"""The constraints of a run on the page: rules in words, matrix, heat map and inequalities of each.

The number of shown constraints is limited, because explaining them is most of the work for a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lcons_core import LearnedConstraint, load
from lcons_core._types import Ints
from lcons_core.reason._search import ENUMERATION_LIMIT
from lcons_tasks.report._coefficients import HeatMap, InequalitiesView, heat_maps, inequalities_view
from lcons_tasks.report._document import Constraints
from lcons_tasks.report._matrix import MatrixView, listed, matrix_views
from lcons_tasks.report._predictions import Answered, gold_parts, read_predictions
from lcons_tasks.report._rules import RulesView, rules_view
from lcons_tasks.report._run import Run, digest

# Measured seconds to explain a constraint: with a domain too large to enumerate, with many points, with few.
LARGE, MANY_POINTS, SMALL = 2.5, 1.5, 0.1
MANY = 2000
# At most this many names are listed.
LISTED = 6

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Limits:
    """Limits of what a page shows per run: `sets` of constraints and as many files of predictions,
    `sentences` per file, and the estimated `seconds` to explain its constraints."""

    sets: int = 2
    sentences: int = 200
    seconds: float = math.inf


@dataclass(frozen=True)
class ConstraintBody:
    """The four parts of a constraint (None if one takes too long), and the share of gold that it rejects."""

    rejects: str
    rejects_any: bool
    rules: RulesView | None
    matrices: tuple[MatrixView, ...]
    matrix_note: str
    heat: tuple[HeatMap, ...]
    heat_note: str
    inequalities: InequalitiesView | None


@dataclass(frozen=True)
class ConstraintItem:
    """A constraint; `set` is the number of its set."""

    name: str
    described: str
    set: int
    body: ConstraintBody


@dataclass(frozen=True)
class ConstraintsView:
    """The constraints of the shown sets, and a note on sets that are left out."""

    id: str
    names: tuple[str, ...]
    items: tuple[ConstraintItem, ...]
    note: str


@dataclass
class Bodies:
    """Cache of the parts of constraint files, by content, because splits often have equal files. Files that
    are not in `explained` have no rules in words and no inequalities."""

    explained: frozenset[Path]
    made: dict[tuple[str, Path | None], ConstraintBody] = field(default_factory=dict)
    golds: dict[Path, list[Answered]] = field(default_factory=dict)

    def of(self, path: Path, constraint: LearnedConstraint, gold: Path | None) -> ConstraintBody:
        """The parts of the constraint in a file."""
        key = digest(path), gold
        if key not in self.made:
            if gold is not None and gold not in self.golds:
                self.golds[gold] = read_predictions(gold) or []
            found = None if gold is None else gold_parts(constraint, self.golds[gold])
            whole = path in self.explained
            self.made[key] = constraint_body(constraint, found, gold.name if gold else "", whole)
        return self.made[key]


def constraint_body(
    constraint: LearnedConstraint, gold: Ints | None, file: str = "", whole: bool = True
) -> ConstraintBody:
    """Rules in words, matrix, heat map and inequalities; `file` is the name of the file of gold labels."""
    rejects, any_rejected = _rejects(constraint, gold)
    matrices, matrix_note = matrix_views(constraint)
    maps, notes = heat_maps(constraint)
    return ConstraintBody(
        rejects,
        any_rejected,
        rules_view(constraint, gold, file) if whole else None,
        tuple(matrices),
        matrix_note,
        tuple(maps),
        " ".join(notes),
        inequalities_view(constraint) if whole else None,
    )


def _rejects(constraint: LearnedConstraint, gold: Ints | None) -> tuple[str, bool]:
    """A sentence on the gold labels that the constraint rejects, and whether it rejects any."""
    if gold is None or not len(gold):
        return "", False
    rejected = int((~constraint.verdicts(constraint.space, gold)).sum())
    share = 100 * rejected / len(gold)
    said = f"Rejects {rejected:,} of {len(gold):,} parts of the gold labels ({share:.1f}%)."
    return said, rejected > 0


def described(constraint: LearnedConstraint) -> str:
    """One line on the size of a constraint."""
    network, space = constraint.network, constraint.space
    kind = "" if constraint.feature is None else f"{constraint.scope} {constraint.feature.kind}, "
    return f"{kind}K = {network.K}, {space.d:,} columns, {space.extent}"


def constraints_view(
    run: Run, blocks: Sequence[Constraints], id: str, bodies: Bodies, tell: Tell
) -> ConstraintsView | None:
    """The constraints of blocks; None if there are none. `tell` is called with the name of each
    constraint."""
    items = []
    for number, block in enumerate(blocks):
        for file in block.files:
            path = run.folder / file
            tell(f"{block.name}/{path.stem}")
            constraint = load(path)
            body = bodies.of(path, constraint, gold_file(run, block))
            items.append(ConstraintItem(path.stem, f"{block.name}; {described(constraint)}", number, body))
    left_out = len(run.sets) - len(blocks)
    note = f"This page shows {len(blocks)} of {len(run.sets)} sets of constraints." if left_out else ""
    return ConstraintsView(id, tuple(one.name for one in blocks), tuple(items), note) if items else None


def gold_file(run: Run, block: Constraints) -> Path | None:
    """The file with the gold labels of a set, if there is one."""
    return run.folder / block.predictions if block.predictions else next(iter(run.gold), None)


def shown_sets(run: Run, limits: Limits) -> list[Constraints]:
    """The sets of constraints that a page shows of a run."""
    return run.sets[: limits.sets]


def shown_files(run: Run, limits: Limits) -> list[Path]:
    """The constraint files that a page shows of a run."""
    return [run.folder / file for one in shown_sets(run, limits) for file in one.files]


def parts_in_words(run: Run, limits: Limits) -> list[str]:
    """Lines on the sets of constraints and files of predictions that a page shows and leaves out."""
    lines = []
    for what, blocks in (("sets of constraints", run.sets), ("files of predictions", run.predictions)):
        shown, rest = ([one.name for one in own] for own in (blocks[: limits.sets], blocks[limits.sets :]))
        if blocks:
            lines.append(
                f"{len(shown):,} of {len(blocks):,} {what} shown"
                + (f": {listed(shown, LISTED)}" if shown else "")
                + (f"; left out: {listed(rest, LISTED)}" if rest else "")
            )
    return lines or ["no constraints and no predictions"]


def explained(run: Run, limits: Limits) -> dict[Path, float]:
    """The constraint files that a page explains, with the estimated seconds of each: the quickest first,
    until the time is used up. Raises `DamagedFile` if a file cannot be read."""
    found: dict[Path, float] = {}
    seconds = {path: seconds_of(load(path)) for path in shown_files(run, limits)}
    for path in sorted(seconds, key=seconds.__getitem__):
        if sum(found.values()) + seconds[path] <= limits.seconds:
            found[path] = seconds[path]
    return found


def seconds_of(constraint: LearnedConstraint) -> float:
    """The estimated seconds to explain a constraint."""
    if not constraint.space.integral:
        return LARGE
    size = constraint.space.size
    return LARGE if size > ENUMERATION_LIMIT else MANY_POINTS if size >= MANY else SMALL
