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
from lcons_tasks.experiments.synthetic._answers import LEARNED, answers
from lcons_tasks.experiments.synthetic._measures import BITS, UNCONSTRAINED
from lcons_tasks.experiments.synthetic._networks import Cell, constraint, instance
from lcons_tasks.report._document import Claim, Constraints, Curve, Document, Figure, Table, TableCell

PAPER = blocks.read_paper(__file__)
LARGE = (50, 200)  # numbers of hidden units beyond the paper's
ROUNDS = 8

# Processor seconds per instance and per cell, and additional seconds per hidden unit and per round.
_AN_INSTANCE, _A_CELL, _A_UNIT, _A_ROUND = 15.0, 10.0, 1.0, 15.0


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run: seeds of instances, numbers of hidden units, numbers of hidden units that are
    also learned in counterexample-guided rounds (`guided`), and the largest number of rounds (0: none)."""

    needed = ("seeds", "hidden")

    seeds: tuple[int, ...] = option((1,), "--seed", "Seed of an instance; repeat for several.", least=0)
    hidden: tuple[int, ...] = option(
        (2, 10), "--hidden", "Hidden units K of the networks; repeat for several.", "-K", least=1
    )
    guided: tuple[int, ...] = (10,)
    rounds: int = option(ROUNDS, "--rounds", "Largest number of rounds; 0: none.", least=0)

    def check(self) -> None:
        self.at_least(seeds=0, rounds=0, hidden=1, guided=1)

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """One instance, the smallest and the largest K of the paper, and rounds; with `full`, the paper's
        whole table, large K, and rounds."""
        return cls((1, 2, 3), (*PAPER["hidden"], *LARGE), (10,)) if full else cls()


class Synthetic(Experiment[Options, Cell]):
    """Learn the hidden constraints of integer programs from their solutions.

    Draws programs that share constraints and solves them, learns constraints from the solutions of some
    programs, and solves the others under these constraints. Finished stages are kept: a stopped run continues
    where it stopped, with the same result.

    \b
    Example:
      lcons run synthetic --seed 1 -K 2 --rounds 0
    """

    name = "synthetic"
    options = Options
    leaves = ("constraints",)

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill: first those of the table, then those with rounds."""
        table = [Cell(seed, hidden) for hidden in options.hidden for seed in options.seeds]
        guided = options.guided if options.rounds else ()
        rounds = [Cell(seed, hidden, options.rounds) for hidden in guided for seed in options.seeds]
        return table + rounds

    def seconds(self, options: Options) -> float:
        cells = self.cells(options)
        each = sum(_A_CELL + _A_UNIT * cell.hidden + _A_ROUND * cell.rounds for cell in cells)
        return _AN_INSTANCE * len(options.seeds) + each

    def shared(self, options: Options, kept: Stages) -> list[tuple[str, Callable[[], object]]]:
        drawn = {cell.seed: cell for cell in self.cells(options)}
        return [(f"instance {seed}", partial(instance, cell, kept)) for seed, cell in drawn.items()]

    def cost(self, cell: Cell) -> float:
        return cell.hidden + 1000 * cell.rounds

    def fill(self, cell: Cell, kept: Stages) -> Record:
        corpus = {"name": "synthetic", "what": "integer programs, drawn by seed"}
        return Record(answers(cell, kept).cells, {"corpus": corpus})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraint of each cell."""
        with replacing_folder(folder / "constraints") as made:
            for cell in self.cells(options):
                target = made / f"{cell.place}.json"
                target.parent.mkdir(exist_ok=True)
                save(constraint(cell, kept)[0], target)

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: test solutions with baselines, and figures of the networks, by number of
        hidden units; the headline has the largest K of the paper that was run, otherwise the largest K."""
        plain = record.where(rounds=0).by("hidden")
        largest = max([K for K in plain if K in PAPER["hidden"]] or plain)
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            networks=networks_of(record),
            largest=plain[largest],
            figures=_figures,
            infeasible=_infeasible,
            curve_over_units=_curve,
            checked=claims,
            rounds=_rounds,
            recovery=_recovery,
            files=_files,
        )


def network_name(hidden: int, rounds: int) -> str:
    """The name of the networks with this number of hidden units, learned in rounds or not."""
    return f"K = {hidden}{' + rounds' if rounds else ''}"


def networks_of(record: Record) -> dict[str, Record]:
    """The cells by the names of their networks."""
    return {network_name(*key): own for key, own in record.by("hidden", "rounds").items()}


def stated(row: str, measure: str, at: Mapping[str, Coordinate]) -> float | None:
    """The paper's figure for a baseline, or for the networks of a cell; None if it has none."""
    if row != LEARNED:
        baseline: dict[str, float] = PAPER.get(row, {})
        return baseline.get(measure)
    if at["rounds"] or measure not in PAPER["figures"] or at["hidden"] not in PAPER["hidden"]:
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
    guided = {
        float(hidden): own.mean(LEARNED, BITS)
        for (hidden, rounds), own in record.by("hidden", "rounds").items()
        if rounds
    }
    paper = dict(zip(map(float, PAPER["hidden"]), PAPER["figures"][BITS], strict=True))
    return blocks.curve(
        "Correct bits of test solutions by number of hidden units",
        "hidden units",
        "correct bits (%)",
        record.where(rounds=0),
        lambda cell: float(cell.at["hidden"] or 0),
        {LEARNED: LEARNED, UNCONSTRAINED: UNCONSTRAINED},
        BITS,
        {**({"with rounds": guided} if guided else {}), "the paper": paper},
    )


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record."""
    plain = record.where(rounds=0).by("hidden")
    of_paper = [own for hidden, own in plain.items() if hidden in PAPER["hidden"]]
    if not of_paper:
        return []
    checked: list[Claim] = []
    first = next(iter(networks_of(record).values()))
    for measure, text in (
        (BITS, "solutions under learned constraints have more right bits than without any"),
        ("satisfied", "and satisfy more of the hidden constraints"),
    ):
        least = min(own.mean(LEARNED, measure) for own in of_paper)
        level = first.mean(UNCONSTRAINED, measure)
        checked.append(Claim(text, least > level, f"at least {least:.1f} against {level:.1f}"))
    gold = min(own.mean(LEARNED, "gold rows") for own in of_paper)
    text = "gold solutions almost always satisfy the learned constraints"
    checked.append(Claim(text, gold >= 95, f"{gold:.1f}"))
    if 10 in plain:
        ours, paper = plain[10].mean(LEARNED, BITS), PAPER["figures"][BITS][-1]
        text = f"(ours) bits with K = 10 reach the paper's {paper}"
        checked.append(Claim(text, ours >= paper, f"{ours:.1f}"))
    guided = {
        hidden: own.mean(LEARNED, BITS)
        for (hidden, rounds), own in record.by("hidden", "rounds").items()
        if rounds
    }
    if guided:
        hidden = max(guided, key=lambda K: guided[K])
        without = plain[hidden].mean(LEARNED, BITS) if hidden in plain else None
        against = "" if without is None else f" against {without:.1f}"
        held = without is None or guided[hidden] > without
        text = "(not in the paper) counterexample-guided rounds help"
        checked.append(Claim(text, held, f"K = {hidden}: {guided[hidden]:.1f}{against}"))
    return checked


def _rounds(record: Record) -> Table | None:
    rows = []
    for cell in (cell for cell in record.cells if cell.at["rounds"]):
        rounds, training = cell.facts["rounds"], cell.facts["programs"]["training"]
        rows.append(
            (
                f"K = {cell.at['hidden']}, instance {cell.at['seed']}",
                ", ".join(str(training - one["unsolved"]) for one in rounds),
                f"{cell.facts['chosen'] + 1} of {len(rounds)}",
                int(rounds[-1]["negatives"]),
                "fixpoint" if cell.facts["fixpoint"] else "budget",
            )
        )
    head = (
        "network",
        "solved training programs in each round",
        "chosen round",
        "negatives in the last round",
        "ended by",
    )
    note = (
        "`fixpoint`: no training program has an allowed solution that is cheaper than its optimum. `budget`:"
        " the rounds ended before that."
    )
    return blocks.table("Rounds of each network", head, rows, note) if rows else None


def _recovery(networks: Mapping[str, Record]) -> Table:
    names = list(next(iter(networks.values())).first.facts["recovery"])
    rows: list[list[TableCell]] = []
    for network, own in networks.items():
        row: list[TableCell] = [network]
        for name in names:
            values = tuple(one[name] for one in own.told("recovery") if name in one)
            row.append(Figure(values, digits=2 if name == "cosine" else 1) if values else None)
        rows.append(row)
    note = (
        "Assignments are drawn near the planted one, with at most about thirty percent of its bits changed."
        " `agree`: the learned and the hidden constraints have the same verdict. `cosine` (from -1 to 1, not"
        " in percent): of the coefficients of each hidden row and of the most similar row of Theorem 1, on"
        " average."
    )
    caption = "Learned constraints compared with hidden ones, in percent"
    return blocks.table(caption, ("hidden units", *names), rows, note)


def _files(seed: int, record: Record) -> Constraints:
    return Constraints(f"instance-{seed}", tuple(f"constraints/{cell.name}.json" for cell in record.cells))


EXPERIMENT = Synthetic()
