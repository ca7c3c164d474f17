"""`lcons run synthetic`: the cells, how they are filled, and the document of a run.

Paper: Appendix B, Table 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lcons_core import save
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, option
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record
from lcons_tasks.experiments.engine._template import render
from lcons_tasks.experiments.synthetic._answers import LEARNED, Cell, as_constraint
from lcons_tasks.experiments.synthetic._measures import BITS, UNCONSTRAINED
from lcons_tasks.report._document import Claim, Constraints, Curve, Document, Table

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
        corpus = {"name": "synthetic", "what": "integer programs, drawn by seed"}
        return Record(cell.answers(kept).cells, {"corpus": corpus})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraint of each cell."""
        with replacing_folder(folder / "constraints") as made:
            for cell in self.cells(options):
                target = made / f"{cell.place}.json"
                target.parent.mkdir(exist_ok=True)
                save(as_constraint(cell.learned(kept).network), target)

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: test solutions with baselines, and figures of the networks, by number of
        hidden units; the headline has the largest K of the paper that was run, otherwise the largest K."""
        networks = record.by("hidden")
        largest = max([K for K in networks if K in PAPER["hidden"]] or networks)
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            networks={f"K = {hidden}": own for hidden, own in networks.items()},
            largest=networks[largest],
            figures=_figures,
            infeasible=_infeasible,
            curve_over_units=_curve,
            checked=claims,
            files=_files,
        )


def stated(row: str, measure: str, at: Mapping[str, Coordinate]) -> float | None:
    """The paper's figure for a baseline, or for the networks of a cell; None if it has none."""
    if row != LEARNED:
        baseline: dict[str, float] = PAPER.get(row, {})
        return baseline.get(measure)
    if measure not in PAPER["figures"] or at["hidden"] not in PAPER["hidden"]:
        return None
    figure: float = PAPER["figures"][measure][PAPER["hidden"].index(at["hidden"])]
    return figure


def _figures(
    caption: str,
    head: str,
    networks: Mapping[str, Record],
    measures: Mapping[str, str],
    baselines: Sequence[str],
    note: str,
) -> Table:
    """The measures of baselines, and of learned constraints by network."""
    # The baselines are those of all instances, whichever a number of units was run on.
    every = max(networks.values(), key=lambda own: len(own.cells))
    lines = [(name, every, name) for name in baselines]
    lines += [(name, own, LEARNED) for name, own in networks.items()]
    rows = [
        [name, *(own.figure(row, one, stated(row, one, own.first.at), digits=1) for one in measures.values())]
        for name, own, row in lines
    ]
    return blocks.table(caption, (head, *measures), rows, note)


def _infeasible(networks: Mapping[str, Record]) -> str:
    """How many programs were infeasible under the constraints of each network."""
    counts = {name: sum(map(int, own.values(LEARNED, "infeasible"))) for name, own in networks.items()}
    return ", ".join(f"{count} with {name}" for name, count in counts.items() if count) or "none"


def _curve(record: Record) -> Curve | None:
    paper = dict(zip(map(float, PAPER["hidden"]), PAPER["figures"][BITS], strict=True))
    return blocks.curve(
        "Correct bits of test solutions by number of hidden units",
        "hidden units",
        "correct bits (%)",
        record,
        lambda cell: float(cell.at["hidden"] or 0),
        {LEARNED: LEARNED, UNCONSTRAINED: UNCONSTRAINED},
        BITS,
        {"the paper": paper},
    )


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record."""
    networks = record.by("hidden")
    of_paper = [own for hidden, own in networks.items() if hidden in PAPER["hidden"]]
    if not of_paper:
        return []
    checked: list[Claim] = []
    for measure, text in (
        (BITS, "solutions under learned constraints have more right bits than without any"),
        ("satisfied", "and satisfy more of the hidden constraints"),
    ):
        least = min(own.mean(LEARNED, measure) for own in of_paper)
        level = next(iter(networks.values())).mean(UNCONSTRAINED, measure)
        checked.append(Claim(text, least > level, f"at least {least:.1f} against {level:.1f}"))
    gold = min(own.mean(LEARNED, "gold rows") for own in of_paper)
    text = "gold solutions almost always satisfy the learned constraints"
    checked.append(Claim(text, gold >= 95, f"{gold:.1f}"))
    if 10 in networks:
        ours, paper = networks[10].mean(LEARNED, BITS), PAPER["figures"][BITS][-1]
        text = f"(ours) bits with K = 10 reach the paper's {paper}"
        checked.append(Claim(text, ours >= paper, f"{ours:.1f}"))
    return checked


def _files(seed: int, record: Record) -> Constraints:
    return Constraints(f"instance-{seed}", tuple(f"constraints/{cell.name}.json" for cell in record.cells))


EXPERIMENT = Synthetic()
