"""`lcons run citation`: which cells there are, and how they are filled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lcons_core import Recipe
from lcons_core._errors import InvalidInput
from lcons_tasks.experiments.citation._cell import Cell, Filled, base_model, constraint, fill, shared
from lcons_tasks.experiments.citation._constraints import DECODERS, POS_CLUES_ROW, WINDOWS_ROW, rows_of
from lcons_tasks.experiments.citation._corpus import split
from lcons_tasks.experiments.citation._model import base
from lcons_tasks.experiments.engine._cells import Steps, fill_cells
from lcons_tasks.experiments.engine._jobs import Progress
from lcons_tasks.experiments.engine._kept import Stages

CURVE = (5, 10, 20, 50, 100)
CURVE_ROWS = ("exact", WINDOWS_ROW, POS_CLUES_ROW)


# Processor seconds that a cell takes, and one of a learning curve.
_A_CELL, _OF_CURVE = 25.0, 6.0


@dataclass(frozen=True)
class Options:
    """What to run; the defaults are those of a quick look. `sizes` are numbers of training references of a
    learning curve, beside all of them; on it only the rows of `CURVE_ROWS` are filled."""

    corpus: str = "bundled"
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    bases: tuple[str, ...] = ("words", "reference")
    decoders: tuple[str, ...] = ("exact", "search", "constrained-search", "soft")
    hidden: tuple[int, ...] = (10,)
    sizes: tuple[int, ...] = ()
    beam: int = 50

    def __post_init__(self) -> None:
        for name in ("seeds", "bases", "decoders", "hidden"):
            if not getattr(self, name):
                raise InvalidInput(f"at least one of {name} is needed, found none; name one.")
        for name in ("seeds", "bases", "decoders", "hidden", "sizes"):
            # The same cell twice would only make the spread look small.
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        for name in self.bases:
            base(name)
        rows_of(self.decoders)
        if min(self.seeds) < 0 or min(self.sizes, default=1) < 1:
            raise InvalidInput(
                f"seeds are at least 0 and sizes at least 1, found {min(self.seeds)} and"
                f" {min(self.sizes, default=1)}."
            )
        if self.beam < 1 or min(self.hidden) < 1:
            raise InvalidInput(f"beam and K are at least 1, found {self.beam} and {min(self.hidden)}.")

    @classmethod
    def default(cls, corpus: str) -> Options:
        """A look of a minute or two."""
        if corpus == "cora":
            return cls(corpus, bases=("words", "words-brief", "reference"))
        return cls(corpus)

    @classmethod
    def full(cls, corpus: str) -> Options:
        """The whole table of the paper, and what goes beyond it."""
        bases = ("words", "words-brief", "words+pos", "reference")
        return cls(corpus, bases=bases, decoders=DECODERS, hidden=(10, 5, 8), sizes=CURVE)


def cells_of(options: Options) -> list[Cell]:
    """The cells to fill: the tables first, then the learning curves. Other K are for the first base only."""
    curve = tuple(row for row in rows_of(("exact", "soft")) if row.name in CURVE_ROWS)
    cells = []
    for i, name in enumerate(options.bases):
        rows = tuple(rows_of(options.decoders, options.hidden if i == 0 else ()))
        cells += [Cell(options.corpus, seed, None, base(name), rows, options.beam) for seed in options.seeds]
    return cells + [
        Cell(options.corpus, seed, size, base(name), curve, options.beam)
        for name in options.bases
        for size in options.sizes
        for seed in options.seeds
    ]


def _sample(cell: Cell) -> tuple[int, int | None]:
    return cell.seed, cell.size


def _name(cell: Cell) -> str:
    return f"split {cell.seed}" + ("" if cell.size is None else f", {cell.size} references")


def _cost(cell: Cell, recipe: Recipe | None) -> float:
    return 1.0


STEPS = Steps(_sample, _name, _cost, base_model, constraint, fill)


def seconds(options: Options) -> float:
    """Processor seconds of a run that finds nothing kept from earlier ones; a rough guess."""
    return sum(_A_CELL if cell.size is None else _OF_CURVE for cell in cells_of(options))


def run(
    options: Options,
    stages: Stages,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Filled]:
    """The filled cells, in the order of `cells_of`; `progress` hears the phase, its pieces and an event."""
    corpus = shared(options.corpus, stages)
    whole = len(split(corpus, 0).train)
    # A corpus may have fewer training references than the usual curve.
    kept = tuple(size for size in options.sizes if size < whole or size not in CURVE)
    cells = cells_of(replace(options, sizes=kept))
    return fill_cells(cells, STEPS, stages, jobs, progress)
