"""`lcons run er`: which cells there are, and filling them on several cores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lcons_core._errors import InvalidInput
from lcons_decode import RelationScores, decode_relations
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.engine._jobs import Progress, Tell, run_phase
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.entity_relation._cell import C, Cell, Filled, fill, shared
from lcons_tasks.experiments.entity_relation._corpus import split
from lcons_tasks.models._relation_svm import MISS, PASSES

GRID = (2.0**-6, 2.0**-5, 2.0**-4)
CURVE = (0.05, 0.1, 0.25)


# Processor seconds that a sentence takes in a cell, and more for each C that is tried.
_A_SENTENCE, _A_TRIAL = 0.02, 0.02


@dataclass(frozen=True)
class Options:
    """What to run; the defaults are those of a quick look. `shares` are parts of the training data of a
    learning curve, beside all of it, on seeded splits and with the default C."""

    corpus: str = "bundled"
    splits: tuple[str, ...] = ("1", "2", "3")
    shares: tuple[float, ...] = ()
    grid: tuple[float, ...] = GRID
    miss: float = MISS
    passes: int = PASSES

    def __post_init__(self) -> None:
        for name in ("splits", "shares", "grid"):
            # The same cell twice would only make the spread look small.
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        if not self.splits or not self.grid:
            raise InvalidInput("at least one split and one C are needed, found none; name one.")
        if not all(0 < share <= 1 for share in self.shares):
            raise InvalidInput(f"shares of the training data are above 0 and at most 1, found {self.shares}.")
        if not all(value > 0 for value in (*self.grid, self.miss)) or self.passes < 1:
            raise InvalidInput(
                f"C and the cost of a miss are above 0 and passes at least 1, found {self.grid}, {self.miss}"
                f" and {self.passes}."
            )

    @classmethod
    def default(cls, corpus: str) -> Options:
        """A look of a minute or two."""
        return cls(corpus)

    @classmethod
    def full(cls, corpus: str) -> Options:
        """Five splits, the published ones, and little training data."""
        published = tuple(shared(corpus).published)
        return cls(corpus, ("1", "2", "3", "4", "5", *published), CURVE)


def cells_of(options: Options) -> list[Cell]:
    """The cells to fill: the tables first, then the learning curve."""
    whole = [
        Cell(options.corpus, name, 1.0, options.grid, options.miss, options.passes) for name in options.splits
    ]
    default = (C,) if C in options.grid or len(options.grid) > 1 else options.grid
    return whole + [
        Cell(options.corpus, cell.split, share, default, options.miss, options.passes)
        for share in options.shares
        if share < 1
        for cell in whole
        if cell.seeded
    ]


def seconds(options: Options) -> float:
    """Processor seconds of a run that finds nothing kept from earlier ones; a rough guess."""
    sentences = len(shared(options.corpus).passages)
    each = [_A_SENTENCE + _A_TRIAL * len(cell.grid) for cell in cells_of(options)]
    return sentences * sum(own * cell.share for own, cell in zip(each, cells_of(options), strict=True))


def run(
    options: Options, stages: Stages, jobs: int | None = None, progress: Progress | None = None
) -> list[Filled]:
    """The filled cells, in the order of `cells_of`; `progress` hears the phase, its pieces and an event."""
    corpus = shared(options.corpus)
    for name in options.splits:
        split(corpus, name)
    cells = cells_of(options)
    run_phase("compiling", _compile, [None], ["the decoder"], 1, progress)
    names = [cell_name(cell) for cell in cells]
    return run_phase("training and decoding", partial(_fill, stages=stages), cells, names, jobs, progress)


def cell_name(cell: Cell) -> str:
    """What a cell is, for people."""
    part = "" if cell.share == 1 else f", {100 * cell.share:g}%"
    return f"split {cell.split}{part}"


def _compile(nothing: None, tell: Tell) -> None:
    """Decodes a tiny graph, so that the kernels are compiled and kept before several processes need them."""
    tell(0.0, "the decoder")
    scores = RelationScores(
        [[0.0] * len(ENTITIES)] * 2,
        [[[0.0] * len(RELATIONS)] * 2] * 2,
        entity_labels=ENTITIES,
        relation_labels=RELATIONS,
    )
    decode_relations(scores)


def _fill(cell: Cell, tell: Tell, stages: Stages) -> Filled:
    return fill(cell, stages, tell)
