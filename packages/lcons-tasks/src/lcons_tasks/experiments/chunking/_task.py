"""`lcons run chunking`: which cells there are, and how they are filled; and why constraints help or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lcons_core import Recipe
from lcons_core._errors import InvalidInput
from lcons_tasks.experiments.chunking._cell import Cell, Filled, base_model, constraint, fill, shared
from lcons_tasks.experiments.chunking._constraints import DECODERS, rows_of
from lcons_tasks.experiments.chunking._corpus import SUBSETS, check_ratio
from lcons_tasks.experiments.chunking._diagnoses import Diagnosed, diagnosis, hard_recipes
from lcons_tasks.experiments.chunking._model import BASES, tuned
from lcons_tasks.experiments.engine._cells import Steps, fill_cells
from lcons_tasks.experiments.engine._jobs import Progress, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._recipes import recipe

WORDS, WITH_POS = "bilstm", "bilstm+pos"


# Processor seconds that a cell takes, and more for each training sentence.
_A_CELL, _A_SENTENCE = 20.0, 0.05


@dataclass(frozen=True)
class Options:
    """What to run; the defaults are those of a quick look. `lean`: base models after the first are on the
    first kind of subset only."""

    corpus: str = "bundled"
    ratios: tuple[float, ...] = (1.0,)
    subsets: tuple[str, ...] = ("first",)
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    bases: tuple[str, ...] = (WORDS,)
    constraints: tuple[str, ...] = ("pos:3",)
    hidden: int = 10
    beam: int = 10
    decoders: tuple[str, ...] = DECODERS
    diagnose: bool = False
    lean: bool = False

    def __post_init__(self) -> None:
        for name in ("ratios", "subsets", "seeds", "bases", "constraints", "decoders"):
            if not getattr(self, name):
                raise InvalidInput(f"at least one of {name} is needed, found none; name one.")
        for name in ("ratios", "subsets", "seeds", "bases", "constraints"):
            # The same cell twice would only make the spread look small.
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        for ratio in self.ratios:
            check_ratio(ratio)
        for base in self.bases:
            if base not in BASES:
                raise InvalidInput(f"unknown base model {base!r}; it is one of {', '.join(BASES)}.")
        for kind in self.subsets:
            if kind not in SUBSETS:
                raise InvalidInput(f"unknown subset {kind!r}; it is one of {', '.join(SUBSETS)}.")
        if self.beam < 1 or self.hidden < 1:
            raise InvalidInput(f"beam and K are at least 1, found {self.beam} and {self.hidden}.")

    @classmethod
    def default(cls, corpus: str) -> Options:
        """A look of about a minute: the whole mini corpus, or little of a large one."""
        if corpus == "bundled":
            return cls()
        return cls(corpus, (0.01, 0.05), seeds=(1, 2))

    @classmethod
    def full(cls, corpus: str) -> Options:
        """The whole table of the paper, and what goes beyond it."""
        ratios = (0.25, 0.5, 1.0) if corpus == "bundled" else (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
        seeds = (1, 2, 3, 4, 5) if corpus == "bundled" else (1, 2)
        constraints = ("existence:2", "existence:3", "pos:3", "pos:4")
        return cls(corpus, ratios, SUBSETS, seeds, (WORDS, WITH_POS), constraints, diagnose=True, lean=True)


def cells_of(options: Options) -> list[Cell]:
    """The cells to fill. All of the training data is the same sample under every kind of subset."""
    rows = tuple(rows_of([recipe(text, options.hidden) for text in options.constraints], options.decoders))
    return [
        Cell(options.corpus, kind, ratio, seed, tuned(base, options.corpus, ratio), rows, options.beam)
        for kind in options.subsets
        for base in options.bases
        for ratio in options.ratios
        for seed in options.seeds
        if kind == options.subsets[0] or (ratio < 1 and not (options.lean and base != options.bases[0]))
    ]


def _sample(cell: Cell) -> tuple[str, float, int]:
    return cell.subset, cell.ratio, cell.seed


def _name(cell: Cell) -> str:
    part = "" if cell.subset == "first" else f", {cell.subset}"
    return f"{100 * cell.ratio:g}%, seed {cell.seed}{part}"


def _cost(cell: Cell, recipe: Recipe | None) -> float:
    return cell.ratio * (10.0 if recipe is None else (recipe.n or 1))


STEPS = Steps(_sample, _name, _cost, base_model, constraint, fill)


def seconds(options: Options) -> float:
    """Processor seconds of a run that finds nothing kept from earlier ones; a rough guess."""
    train = len(shared(options.corpus)[0].train)
    return sum(_A_CELL + _A_SENTENCE * train * cell.ratio for cell in cells_of(options))


def run(
    options: Options,
    stages: Stages,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Filled]:
    """The filled cells, in the order of `cells_of`; `progress` hears the phase, its pieces and an event."""
    cells = cells_of(options)
    shared(options.corpus, any(cell.base.reads_vectors for cell in cells))
    return fill_cells(cells, STEPS, stages, jobs, progress)


def diagnoses(
    options: Options,
    stages: Stages,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Diagnosed]:
    """Why each hard constraint helps or does not, with the least data and the first seed, if asked for."""
    if not options.diagnose:
        return {}
    cell = min(cells_of(options), key=lambda one: one.ratio)
    names = [one.name for one in hard_recipes(cell)]
    diagnose = partial(_diagnose, cell=cell, stages=stages)
    found = run_phase("diagnosing", diagnose, hard_recipes(cell), names, jobs, progress)
    return dict(zip(names, found, strict=True))


def _diagnose(one: Recipe, tell: Tell, cell: Cell, stages: Stages) -> Diagnosed:
    return diagnosis(cell, one, stages, tell)
