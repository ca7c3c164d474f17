"""`lcons run synthetic`: which cells there are, and filling them on several cores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lcons_core._errors import InvalidInput
from lcons_tasks.experiments.engine._jobs import Progress, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._cell import Cell, Filled, fill, instance

# Numbers of hidden units beyond the paper's: on the first instance only, as CBC takes seconds a program.
LARGE, LARGE_INSTANCES = (50, 200), 1
ROUNDS = 8


# Processor seconds that an instance takes, a cell of it, and more for each hidden unit and each round.
_AN_INSTANCE, _A_CELL, _A_UNIT, _A_ROUND = 15.0, 10.0, 1.0, 15.0


@dataclass(frozen=True)
class Options:
    """What to run: instances by seed, numbers of hidden units, and with how many hidden units and at most how
    many counterexample-guided rounds (0: none)."""

    seeds: tuple[int, ...] = (1,)
    hidden: tuple[int, ...] = (2, 10)
    guided: tuple[int, ...] = (10,)
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        for name in ("seeds", "hidden", "guided"):
            # The same cell twice would only make the spread look small.
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        if not self.seeds or not self.hidden:
            raise InvalidInput("at least one seed and one K are needed, found none; name one.")
        if min(self.seeds) < 0 or min((*self.hidden, *self.guided)) < 1 or self.rounds < 0:
            raise InvalidInput(
                f"seeds and rounds are at least 0 and K at least 1, found {self.seeds}, {self.rounds} and"
                f" {(*self.hidden, *self.guided)}."
            )

    @classmethod
    def default(cls) -> Options:
        """One instance, the smallest and the largest K of the paper, and rounds."""
        return cls()

    @classmethod
    def full(cls) -> Options:
        """The whole table of the paper, large K, and rounds."""
        return cls((1, 2, 3), (*paper.HIDDEN, *LARGE), (10,))


def cells_of(options: Options) -> list[Cell]:
    """The cells to fill: the table first, then the rounds."""
    few = options.seeds[:LARGE_INSTANCES]
    table = [
        Cell(seed, hidden)
        for hidden in options.hidden
        for seed in (options.seeds if hidden < min(LARGE) else few)
    ]
    guided = options.guided if options.rounds else ()
    return table + [Cell(seed, hidden, options.rounds) for hidden in guided for seed in options.seeds]


def seconds(options: Options) -> float:
    """Processor seconds of a run that finds nothing kept from earlier ones; a rough guess."""
    cells = sum(_A_CELL + _A_UNIT * cell.hidden + _A_ROUND * cell.rounds for cell in cells_of(options))
    return _AN_INSTANCE * len(options.seeds) + cells


def run(
    options: Options, stages: Stages, jobs: int | None = None, progress: Progress | None = None
) -> list[Filled]:
    """The filled cells, in the order of `cells_of`; `progress` hears the phase, its pieces and an event."""
    cells = cells_of(options)
    names = [f"instance {seed}" for seed in options.seeds]
    drawn = [Cell(seed, options.hidden[0]) for seed in options.seeds]
    run_phase("drawing and solving", partial(_draw, stages=stages), drawn, names, jobs, progress)
    # The longest first, results in the order of the cells.
    order = sorted(range(len(cells)), key=lambda i: -(cells[i].hidden + 1000 * cells[i].rounds))
    names = [cell_name(cells[i]) for i in order]
    work = partial(_fill, stages=stages)
    found = run_phase("learning and solving", work, [cells[i] for i in order], names, jobs, progress)
    place = dict(zip(order, found, strict=True))
    return [place[i] for i in range(len(cells))]


def cell_name(cell: Cell) -> str:
    """What a cell is, for people."""
    return f"K = {cell.hidden}{', rounds' if cell.rounds else ''} (instance {cell.seed})"


def _draw(cell: Cell, tell: Tell, stages: Stages) -> None:
    instance(cell, stages, tell)


def _fill(cell: Cell, tell: Tell, stages: Stages) -> Filled:
    return fill(cell, stages, tell)
