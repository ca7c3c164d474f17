"""`lcons run synthetic`: the cells, how they are filled, and the document of a run.

Paper: Appendix B, Table 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lcons_core import FeatureSpace, LearnedConstraint, binary, save
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import render
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record
from lcons_tasks.experiments.engine._run import Experiment, RunOptions, option
from lcons_tasks.experiments.synthetic._answers import BITS, LEARNED, Cell
from lcons_tasks.report._document import Claim, Constraints, Document, Figure

PAPER = blocks.read_paper(__file__)
LARGE = (50, 200)  # numbers of hidden units beyond the paper's

# Processor seconds per cell, and additional seconds per hidden unit.
_A_CELL, _A_UNIT = 40.0, 1.0


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run: seeds of instances and numbers of hidden units."""

    seeds: tuple[int, ...] = option((1,), "--seed", "Seed of an instance; repeat for several.", least=0)
    hidden: tuple[int, ...] = option(
        (2, 10), "--hidden", "Hidden units K of the networks; repeat for several.", "-K", least=1
    )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """One instance, the smallest and the largest K of the paper; with `full`, the paper's whole table and
        large K."""
        return cls((1, 2, 3), (*PAPER["hidden"], *LARGE)) if full else cls()


class Synthetic(Experiment[Options, Cell]):
    """Learn the hidden constraints of integer programs from their solutions.

    Draws programs that share constraints and solves them, learns constraints from the solutions of some
    programs, and solves the others under these constraints. Finished stages are kept: a stopped run continues
    where it stopped, with the same result.

    \b
    Example:
      lcons run synthetic --seed 1 -K 2
    """

    name = "synthetic"
    options = Options
    leaves = ("constraints",)

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill."""
        return [Cell(seed, hidden) for hidden in options.hidden for seed in options.seeds]

    def shared(self, options: Options, kept: Stages) -> list[tuple[str, Callable[[], object]]]:
        drawn = {cell.seed: cell for cell in self.cells(options)}
        return [(f"instance {seed}", partial(cell.instance, kept)) for seed, cell in drawn.items()]

    def cost(self, cell: Cell) -> float:
        return _A_CELL + _A_UNIT * cell.hidden

    def fill(self, cell: Cell, kept: Stages) -> Record:
        return cell.answers(kept)

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraint of each cell."""
        with replacing_folder(folder / "constraints") as constraints:
            for cell in self.cells(options):
                network, target = cell.learned(kept).network, constraints / f"{cell.place}.json"
                space = FeatureSpace([binary("z", [f"z{j + 1}" for j in range(network.d)])])
                target.parent.mkdir(exist_ok=True)
                save(LearnedConstraint(network, space), target)

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: test solutions with baselines, and figures of the networks, by number of
        hidden units; the headline has the largest K of the paper that was run, otherwise the largest K."""
        networks = record.by("hidden")
        of_paper = {hidden: group for hidden, group in networks.items() if hidden in PAPER["hidden"]}
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            paper=PAPER,
            networks={f"K = {hidden}": group for hidden, group in networks.items()},
            of_paper=of_paper,
            largest=networks[max(of_paper or networks)],
            rows_of=_rows,
            least={
                measure: min(group.mean(LEARNED, measure) for group in of_paper.values())
                for measure in (BITS, "satisfied", "gold rows")
                if of_paper
            },
            paper_bits=dict(zip(map(float, PAPER["hidden"]), PAPER["figures"][BITS], strict=True)),
            claim=Claim,
            files=[
                Constraints(
                    f"instance-{seed}", tuple(f"constraints/{cell.name}.json" for cell in drawn.cells)
                )
                for seed, drawn in record.by("seed").items()
            ],
        )


def _stated(row: str, measure: str, at: Mapping[str, Coordinate]) -> float | None:
    """The paper's figure for a baseline, or for the networks of a cell; None if it has none."""
    if row != LEARNED:
        baseline: dict[str, float] = PAPER.get(row, {})
        return baseline.get(measure)
    return dict(zip(PAPER["hidden"], PAPER["figures"].get(measure, ()), strict=False)).get(at["hidden"])


def _rows(
    networks: Mapping[str, Record], baselines: Sequence[str], measures: Sequence[str]
) -> list[list[str | Figure | None]]:
    """The measures of baselines, and of learned constraints by network."""
    # The baselines are those of all instances, whichever a number of units was run on.
    every = max(networks.values(), key=lambda group: len(group.cells))
    lines = [(name, every, name) for name in baselines]
    lines += [(name, group, LEARNED) for name, group in networks.items()]
    rows: list[list[str | Figure | None]] = []
    for name, group, row in lines:
        stated = [_stated(row, measure, group.first.at) for measure in measures]
        figures = (group.figure(row, *pair, digits=1) for pair in zip(measures, stated, strict=True))
        rows.append([name, *figures])
    return rows


EXPERIMENT = Synthetic()
