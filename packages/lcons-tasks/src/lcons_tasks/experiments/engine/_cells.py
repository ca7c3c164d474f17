"""The decoders' kernels compile at their first use; better once, before several processes need them.

Filling the cells of a task on several cores: what their answers need first, once each, then the answers.

Every base model and every constraint is a piece of work of its own, the longest first. What is kept from an
earlier run is not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from lcons_core import Recipe
from lcons_tasks.experiments.engine._jobs import Progress, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._rows import Row, recipes_of


def compile_kernels() -> None:
    """Runs each decoder once on a tiny chain, so that its kernels are compiled and kept on disk."""
    from lcons_core import iob2
    from lcons_decode import ChainScores, Soft, beam_search, constrained_viterbi, viterbi

    scores: Any = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=["B-X", "I-X", "O"])
    rule = iob2(scores.labels)
    viterbi(scores)
    constrained_viterbi(scores, [rule])
    constrained_viterbi(scores, [Soft(rule, 1.0)])
    beam_search(scores, [rule])


class Cell(Protocol):
    """A cell has a base model and rows to fill."""

    @property
    def base(self) -> Any:
        """The base model, which has a name."""
        ...

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of its table."""
        ...


C = TypeVar("C", bound=Cell)
F = TypeVar("F")


@dataclass(frozen=True)
class Steps(Generic[C, F]):
    """How a task fills a cell: what its training data is (equal for equal data), what that is called, how
    long work on it takes, roughly, and the functions that make a model, a constraint and the answers."""

    sample: Callable[[C], Hashable]
    name: Callable[[C], str]
    cost: Callable[[C, Recipe | None], float]
    model: Callable[[C, Stages, Tell], Any]
    constraint: Callable[[C, Recipe, Stages], Any]
    fill: Callable[[C, Stages, Tell], F]


@dataclass(frozen=True)
class Work(Generic[C]):
    """A base model or a constraint of a cell to make; neither: the decoders' kernels, which compile once."""

    cell: C | None = None
    recipe: Recipe | None = None


def plan(cells: Sequence[C], steps: Steps[C, F]) -> list[Work[C]]:
    """Everything that the cells' answers need, once each, the longest first."""
    models = {(steps.sample(cell), cell.base): Work(cell) for cell in cells}
    constraints = {
        (steps.sample(cell), recipe): Work(cell, recipe) for cell in cells for recipe in recipes_of(cell.rows)
    }
    made = [*models.values(), *constraints.values()]
    made.sort(key=lambda work: -steps.cost(work.cell, work.recipe) if work.cell is not None else 0.0)
    return [Work(), *made]


def fill_cells(
    cells: Sequence[C],
    steps: Steps[C, F],
    stages: Stages,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[F]:
    """The filled cells, in order; `progress` hears the phase, its pieces and an event."""
    work = plan(cells, steps)
    names = [work_name(piece, steps) for piece in work]
    make = partial(_make, steps=steps, stages=stages)
    run_phase("training and learning", make, work, names, jobs, progress)
    names = [work_name(Work(cell), steps) for cell in cells]
    return run_phase("decoding", partial(_fill, steps=steps, stages=stages), cells, names, jobs, progress)


def work_name(work: Work[C], steps: Steps[C, Any]) -> str:
    """What a piece of work is, for people."""
    if work.cell is None:
        return "compiling decoders"
    return f"{work.recipe.name if work.recipe else work.cell.base.name} ({steps.name(work.cell)})"


def _make(work: Work[C], tell: Tell, steps: Steps[C, F], stages: Stages) -> None:
    tell(0.0, work_name(work, steps))
    if work.cell is None:
        compile_kernels()
    elif work.recipe is None:
        steps.model(work.cell, stages, tell)
    else:
        steps.constraint(work.cell, work.recipe, stages)


def _fill(cell: C, tell: Tell, steps: Steps[C, F], stages: Stages) -> F:
    return steps.fill(cell, stages, tell)
