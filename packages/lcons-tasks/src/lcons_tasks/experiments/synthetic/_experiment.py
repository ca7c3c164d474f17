"""`lcons run synthetic`: the cells, how they are filled, and the document of a run.

Paper: Appendix B, Table 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lcons_core import InvalidInput, save
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, flag, option
from lcons_tasks.experiments.engine._jobs import Phase, Piece, Tell
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._answers import LEARNED, answers
from lcons_tasks.experiments.synthetic._measures import BITS, UNCONSTRAINED
from lcons_tasks.experiments.synthetic._networks import Cell, constraint, instance
from lcons_tasks.report._document import (
    Block,
    Claim,
    Claims,
    Constraints,
    Curve,
    Document,
    Facts,
    Figure,
    Gains,
    Section,
    Table,
    TableCell,
    Text,
)

LARGE = (50, 200)  # numbers of hidden units beyond the paper's
ROUNDS = 8

# Processor seconds per instance and per cell, and additional seconds per hidden unit and per round.
_AN_INSTANCE, _A_CELL, _A_UNIT, _A_ROUND = 15.0, 10.0, 1.0, 15.0

SOLUTIONS = {"correct bits": BITS, "hidden constraints satisfied": "satisfied", "optima found": "optimal"}
NETWORK = {
    "learned rows that test optima satisfy": "gold rows",
    "test optima accepted": "gold accepted",
    "training examples classified correctly": "network",
    "test examples classified correctly": "held-out",
}
PAPER = {BITS: "bits", "satisfied": "hidden", "gold rows": "gold", "network": "network"}

# Records by number of hidden units and of rounds.
Groups = Mapping[tuple[int, int], Record]


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run: seeds of instances, numbers of hidden units, numbers of hidden units that are
    also learned in counterexample-guided rounds (`guided`), and the largest number of rounds (0: none)."""

    needed = ("seeds", "hidden")

    seeds: tuple[int, ...] = option((1,), flag("--seed", "Seed of an instance; repeat for several.", least=0))
    hidden: tuple[int, ...] = option(
        (2, 10), flag("--hidden", "Hidden units K of the networks; repeat for several.", "-K")
    )
    guided: tuple[int, ...] = option(
        (10,), flag("--guided", "Hidden units K of networks that are learned in rounds; repeat for several.")
    )
    rounds: int = option(ROUNDS, flag("--rounds", "Largest number of rounds; 0: none.", least=0))

    def check(self) -> None:
        if min(self.seeds) < 0 or min((*self.hidden, *self.guided)) < 1 or self.rounds < 0:
            raise InvalidInput(
                "the arguments `seeds` and `rounds` must be at least 0, `hidden` and `guided` at least 1: got"
                f" {self.seeds}, {self.rounds}, {self.hidden} and {self.guided}."
            )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """One instance, the smallest and the largest K of the paper, and rounds; with `full`, the paper's
        whole table, large K, and rounds."""
        return cls((1, 2, 3), (*paper.HIDDEN, *LARGE), (10,)) if full else cls()


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
    phase = "learning and solving"
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

    def before(self, options: Options) -> list[Phase]:
        drawn = {cell.seed: cell for cell in self.cells(options)}
        pieces = [Piece(f"instance {seed}", partial(instance, cell)) for seed, cell in drawn.items()]
        return [Phase("drawing and solving", pieces)]

    def cost(self, cell: Cell) -> float:
        return cell.hidden + 1000 * cell.rounds

    def fill(self, cell: Cell, kept: Stages, tell: Tell) -> Record:
        corpus = {"name": "synthetic", "what": "integer programs, drawn by seed"}
        return Record(answers(cell, kept, tell).cells, {"corpus": corpus})

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
        groups: Groups = record.by("hidden", "rounds")
        plain = [hidden for hidden, rounds in groups if not rounds]
        hidden = max([K for K in plain if K in paper.HIDDEN] or plain)
        told = claims(record)
        return Document(
            "Synthetic integer programs with learned constraints",
            self.name,
            record.facts["corpus"]["name"],
            "Integer programs that share hidden constraints, solved without constraints, compared with the"
            " same programs solved under constraints that were learned only from the solutions of other"
            " programs.",
            blocks.headline(groups[hidden, 0], BITS, f"correct bits, K = {hidden}", LEARNED, UNCONSTRAINED),
            (
                Section("Solutions of test programs", tuple(_solutions(groups))),
                Section("What was learned", (_networks(groups),)),
                Section("Curve over hidden units", tuple(_curve(record))),
                Section("Claims of the paper", (Claims(tuple(told)),) if told else ()),
                Section("Counterexample-guided rounds", tuple(_rounds(groups))),
                Section("Learned and hidden constraints", tuple(_recovery(groups))),
                Section("Constraints", tuple(_constraints(record))),
                Section("How it was done", (_facts(options, record), Text(DRAWN))),
            ),
            "instances of its own",
            "lcons learn points.csv -o points.json -K 10",
        )


DRAWN = (
    "The way instances are drawn was chosen to reach the paper's two baseline figures, to have many different"
    " optima, and to have programs that are solved quickly. The settings of learning were tried on other"
    " seeds."
)


def _name(hidden: int, rounds: int) -> str:
    return f"K = {hidden}{' + rounds' if rounds else ''}"


def _stated(key: tuple[int, int], measure: str) -> float | None:
    hidden, rounds = key
    if rounds or measure not in PAPER or hidden not in paper.HIDDEN:
        return None
    return paper.FIGURES[PAPER[measure]][paper.HIDDEN.index(hidden)]


def _figures(groups: Groups, measures: Mapping[str, str]) -> list[tuple[TableCell, ...]]:
    return [
        (_name(*key), *(own.figure(LEARNED, one, _stated(key, one), digits=1) for one in measures.values()))
        for key, own in groups.items()
    ]


def _solutions(groups: Groups) -> Iterator[Block]:
    # The baselines are those of all instances, whichever a number of units was run on.
    first = max(groups.values(), key=lambda own: len(own.cells))
    without: list[tuple[TableCell, ...]] = []
    for name in first.rows:
        if name != LEARNED:
            stated = paper.BASELINE if name == UNCONSTRAINED else {}
            figures = (
                first.figure(name, one, stated.get(PAPER.get(one, "")), digits=1)
                for one in SOLUTIONS.values()
            )
            without.append((name, *figures))
    counts = {_name(*key): sum(map(int, own.values(LEARNED, "infeasible"))) for key, own in groups.items()}
    some = ", ".join(f"{count} with {name}" for name, count in counts.items() if count) or "none"
    note = (
        "`the bits of most training optima` gives each bit the value that it has in most training optima."
        " `the cheapest training optimum` is the training optimum with the least cost in the test program. `K"
        " = N` solves under constraints learned with N hidden units, `+ rounds` under those of"
        " counterexample-guided rounds. Test programs for which the learned constraints allow no solution, so"
        f" that violations were allowed at a cost: {some}."
    )
    rows = (*without, *_figures(groups, SOLUTIONS))
    yield Table("Solutions of test programs, in percent", ("solved with", *SOLUTIONS), rows, note)
    places = {_name(*key): own for key, own in groups.items()}
    pairs = [(LEARNED, name) for name in first.rows if name != LEARNED]
    note = "with 95% intervals (paired bootstrap over test programs)"
    yield Gains(f"Gains in points of correct bits, {note}", blocks.gains(places, pairs, BITS))


def _networks(groups: Groups) -> Table:
    rows = tuple(_figures(groups, NETWORK))
    note = "With more than 12 hidden units, the learned rows are a random sample of the rows of Theorem 1."
    return Table("Figures of the learned networks, in percent", ("hidden units", *NETWORK), rows, note)


def _curve(record: Record) -> Iterator[Block]:
    plain = record.where(rounds=0)
    caption = "Correct bits of test solutions by number of hidden units"
    across, up = "hidden units", "correct bits (%)"
    rows = {LEARNED: LEARNED, UNCONSTRAINED: UNCONSTRAINED}
    found = blocks.curve(caption, across, up, plain, lambda cell: float(cell.at["hidden"] or 0), rows, BITS)
    if found is not None:
        guided = {
            float(hidden): own.mean(LEARNED, BITS)
            for (hidden, rounds), own in record.by("hidden", "rounds").items()
            if rounds
        }
        stated = dict(zip(map(float, paper.HIDDEN), paper.FIGURES["bits"], strict=True))
        more = {"with rounds": guided, "the paper": stated} if guided else {"the paper": stated}
        yield Curve(caption, across, up, {**found.lines, **more})


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record."""
    groups: Groups = record.by("hidden", "rounds")
    plain = [own for (hidden, rounds), own in groups.items() if not rounds and hidden in paper.HIDDEN]
    if not plain:
        return []
    told: list[Claim] = []
    first = next(iter(groups.values()))
    for measure, text in (
        (BITS, "solutions under learned constraints have more right bits than without any"),
        ("satisfied", "and satisfy more of the hidden constraints"),
    ):
        least = min(own.mean(LEARNED, measure) for own in plain)
        level = first.mean(UNCONSTRAINED, measure)
        told.append(Claim(text, least > level, f"at least {least:.1f} against {level:.1f}"))
    gold = min(own.mean(LEARNED, "gold rows") for own in plain)
    told.append(
        Claim("gold solutions almost always satisfy the learned constraints", gold >= 95, f"{gold:.1f}")
    )
    if (10, 0) in groups:
        ours, stated = groups[10, 0].mean(LEARNED, BITS), paper.FIGURES["bits"][-1]
        told.append(
            Claim(f"(ours) bits with K = 10 reach the paper's {stated}", ours >= stated, f"{ours:.1f}")
        )
    guided = {hidden: own.mean(LEARNED, BITS) for (hidden, rounds), own in groups.items() if rounds}
    if guided:
        hidden = max(guided, key=lambda K: guided[K])
        without = groups[hidden, 0].mean(LEARNED, BITS) if (hidden, 0) in groups else None
        figures = f"K = {hidden}: {guided[hidden]:.1f}" + (
            "" if without is None else f" against {without:.1f}"
        )
        held = without is None or guided[hidden] > without
        told.append(Claim("(not in the paper) counterexample-guided rounds help", held, figures))
    return told


def _rounds(groups: Groups) -> Iterator[Block]:
    rows = []
    for (hidden, guided), own in groups.items():
        for cell in own.cells if guided else ():
            told = cell.facts["rounds"]
            training = cell.facts["programs"]["training"]
            rows.append(
                (
                    f"K = {hidden}, instance {cell.at['seed']}",
                    ", ".join(str(training - one["unsolved"]) for one in told),
                    f"{cell.facts['chosen'] + 1} of {len(told)}",
                    int(told[-1]["negatives"]),
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
    if rows:
        yield Table("Rounds of each network", head, tuple(rows), note)


def _recovery(groups: Groups) -> Iterator[Block]:
    names = list(next(iter(groups.values())).first.facts["recovery"])
    rows = []
    for key, own in groups.items():
        row: list[TableCell] = [_name(*key)]
        for name in names:
            values = tuple(one[name] for one in own.told("recovery") if name in one)
            row.append(Figure(values, digits=2 if name == "cosine" else 1) if values else None)
        rows.append(tuple(row))
    note = (
        "Assignments are drawn near the planted one, with at most about thirty percent of its bits changed."
        " `agree`: the learned and the hidden constraints have the same verdict. `cosine` (from -1 to 1, not"
        " in percent): of the coefficients of each hidden row and of the most similar row of Theorem 1, on"
        " average."
    )
    yield Table(
        "Learned constraints compared with hidden ones, in percent",
        ("hidden units", *names),
        tuple(rows),
        note,
    )


def _constraints(record: Record) -> Iterator[Block]:
    for seed, own in record.by("seed").items():
        yield Constraints(f"instance-{seed}", tuple(f"constraints/{cell.name}.json" for cell in own.cells))


def _facts(options: Options, record: Record) -> Facts:
    first = next(iter(record.by("hidden", "rounds").values()))
    sizes = first.first.facts["programs"]
    return Facts(
        "The run",
        (
            ("instances", f"seeds {', '.join(map(str, options.seeds))}"),
            (
                "programs",
                f"{sizes['training']} training and {sizes['test']} test programs per instance, of"
                f" {sizes['variables']} variables each",
            ),
            ("hidden constraints", ", ".join(map(str, first.told("constraints")))),
            ("distinct training optima", ", ".join(map(str, first.told("distinct optima")))),
            ("figures", "percentages, mean ± standard deviation over instances"),
        ),
    )


EXPERIMENT = Synthetic()
