"""`lcons run synthetic`: which cells there are, how they are filled, and what a run has to say.

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

# Numbers of hidden units beyond the paper's: on the first instance only, as CBC takes seconds a program.
LARGE, LARGE_INSTANCES = (50, 200), 1
ROUNDS = 8

# Processor seconds that an instance takes, a cell of it, and more for each hidden unit and each round.
_AN_INSTANCE, _A_CELL, _A_UNIT, _A_ROUND = 15.0, 10.0, 1.0, 15.0

SOLUTIONS = {"bits right": BITS, "hidden constraints satisfied": "satisfied", "optima found": "optimal"}
NETWORK = {
    "learned rows that test optima satisfy": "gold rows",
    "test optima accepted": "gold accepted",
    "training examples told right": "network",
    "test examples told right": "held-out",
}
PAPER = {BITS: "bits", "satisfied": "hidden", "gold rows": "gold", "network": "network"}

# By hidden units and rounds.
Groups = Mapping[tuple[int, int], Record]


@dataclass(frozen=True)
class Options(RunOptions):
    """What to run: instances by seed, numbers of hidden units, and with how many hidden units and at most how
    many counterexample-guided rounds (0: none)."""

    needed = ("seeds", "hidden")

    seeds: tuple[int, ...] = option((1,), flag("--seed", "Which instance; several.", least=0))
    hidden: tuple[int, ...] = option((2, 10), flag("--hidden", "K of the networks; several.", "-K"))
    guided: tuple[int, ...] = option((10,), flag("--guided", "K of networks learned in rounds; several."))
    rounds: int = option(ROUNDS, flag("--rounds", "At most so many rounds; 0: none.", least=0))

    def check(self) -> None:
        if min(self.seeds) < 0 or min((*self.hidden, *self.guided)) < 1 or self.rounds < 0:
            raise InvalidInput(
                f"seeds and rounds are at least 0 and K at least 1, found {self.seeds}, {self.rounds} and"
                f" {(*self.hidden, *self.guided)}."
            )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """One instance, the smallest and the largest K of the paper, and rounds; or the whole table of the
        paper, large K, and rounds."""
        return cls((1, 2, 3), (*paper.HIDDEN, *LARGE), (10,)) if full else cls()


class Synthetic(Experiment[Options, Cell]):
    """Learn the hidden constraints of integer programs from their solutions.

    Draws programs that share constraints, solves them, learns constraints from the solutions of some and
    solves the others under these. Stages are kept: a run that is stopped goes on where it was, and gives the
    same result.

    \b
    Example:
      lcons run synthetic --seed 1 -K 2 --rounds 0
    """

    name = "synthetic"
    options = Options
    phase = "learning and solving"
    leaves = ("constraints",)

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill: the table first, then the rounds."""
        few = options.seeds[:LARGE_INSTANCES]
        table = [
            Cell(seed, hidden)
            for hidden in options.hidden
            for seed in (options.seeds if hidden < min(LARGE) else few)
        ]
        guided = options.guided if options.rounds else ()
        return table + [Cell(seed, hidden, options.rounds) for hidden in guided for seed in options.seeds]

    def seconds(self, options: Options) -> float:
        cells = self.cells(options)
        each = sum(_A_CELL + _A_UNIT * cell.hidden + _A_ROUND * cell.rounds for cell in cells)
        return _AN_INSTANCE * len(options.seeds) + each

    def before(self, options: Options) -> list[Phase]:
        drawn = {cell.seed: cell for cell in reversed(self.cells(options))}
        pieces = [Piece(f"instance {seed}", partial(instance, drawn[seed])) for seed in options.seeds]
        return [Phase("drawing and solving", pieces)]

    def cost(self, cell: Cell) -> float:
        return cell.hidden + 1000 * cell.rounds

    def fill(self, cell: Cell, kept: Stages, tell: Tell) -> Record:
        corpus = {"name": "synthetic", "what": "integer programs, drawn by seed"}
        return Record(answers(cell, kept, tell).cells, {"corpus": corpus})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """The constraint of each cell."""
        with replacing_folder(folder / "constraints") as made:
            for cell in self.cells(options):
                target = made / f"{cell.place}.json"
                target.parent.mkdir(exist_ok=True)
                save(constraint(cell, kept)[0], target)

    def document(self, options: Options, record: Record) -> Document:
        """Test solutions beside baselines, and what was learned, by the number of hidden units; the headline
        is at the paper's largest K that was run, else at the largest."""
        groups: Groups = record.by("hidden", "rounds")
        plain = [hidden for hidden, rounds in groups if not rounds]
        hidden = max([K for K in plain if K in paper.HIDDEN] or plain)
        told = claims(record)
        return Document(
            "Synthetic integer programs with learned constraints",
            self.name,
            record.facts["corpus"]["name"],
            "Integer programs that share hidden constraints, solved without any, against the same programs"
            " solved under constraints that were learned from the solutions of other programs alone.",
            blocks.headline(groups[hidden, 0], BITS, f"bits right, K = {hidden}", LEARNED, UNCONSTRAINED),
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
    "How instances are drawn was chosen for the two baseline figures of the paper, for many different optima"
    " and for programs that are solved quickly; settings of learning were tried on other seeds."
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
    # Large K are run on the first instances only; the baselines are those of all.
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
    note = f"Soft: test programs for which the learned constraints allow nothing, solved at a price: {some}."
    rows = (*without, *_figures(groups, SOLUTIONS))
    yield Table("Solutions of test programs, in percent", ("solved with", *SOLUTIONS), rows, note)
    places = {_name(*key): own for key, own in groups.items()}
    pairs = [(LEARNED, name) for name in first.rows if name != LEARNED]
    note = "with 95% intervals (paired bootstrap over test programs)"
    yield Gains(f"Gains in points of bits right, {note}", blocks.gains(places, pairs, BITS))


def _networks(groups: Groups) -> Table:
    rows = tuple(_figures(groups, NETWORK))
    note = "Past 12 hidden units learned rows are sampled."
    return Table("What was learned, in percent", ("hidden units", *NETWORK), rows, note)


def _curve(record: Record) -> Iterator[Block]:
    plain = record.where(rounds=0)
    caption, across, up = "Right bits of test solutions by hidden units", "hidden units", "right bits (%)"
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
    """What the paper says of its table, checked on ours."""
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
    head = ("", "training programs solved, round by round", "chosen", "negatives in the end", "ended by")
    if rows:
        yield Table("Counterexample-guided rounds", head, tuple(rows))


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
        "Assignments are drawn near the planted one, at most some thirty percent of its bits changed. Cosine:"
        " of each hidden row's coefficients and the most similar Theorem-1 row's, on average."
    )
    yield Table("Learned beside hidden constraints, in percent", ("hidden units", *names), tuple(rows), note)


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
