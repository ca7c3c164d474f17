"""The report of a synthetic run as text: Markdown that reads as it is."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._summary import Group, claims
from lcons_tasks.experiments.synthetic._task import Options
from lcons_tasks.report._plot import line_chart
from lcons_tasks.report._text_tables import claims_table, mean_spread, table

ROWS = {
    "network": "examples of training programs told right",
    "held-out": "examples of test programs told right",
    "bitwise": "bits of test solutions right",
    "satisfied": "(test solution, hidden constraint) pairs satisfied",
    "gold rows": "(test optimum, learned row) pairs satisfied",
    "gold accepted": "test optima that the network accepts",
    "optimal": "test programs with their optimum",
}
PAPER = {"network": "network", "bitwise": "bits", "satisfied": "hidden", "gold rows": "gold"}


def render(options: Options, found: Sequence[Group]) -> str:
    """The report as text."""
    first = found[0].cells
    sizes = [cell.figures["constraints"] for cell in first]
    distinct = [cell.figures["distinct optima"] for cell in first]
    parts = [
        "# Synthetic integer programs with learned constraints",
        f"Instances: seeds {', '.join(map(str, options.seeds))}, each with 50 variables, 70 training and 30"
        f" test programs, and {', '.join(map(str, sizes))} hidden constraints"
        f" ({', '.join(map(str, distinct))} distinct training optima). Figures are percentages, mean ±"
        " standard deviation over instances. How instances are drawn was chosen for the two baseline figures"
        " of the paper, for many different optima and for programs that are solved quickly; settings of"
        " learning were tried on other seeds.",
        "## Without learned constraints",
        _baselines(found[0]),
        "## With learned constraints, by the number of hidden units",
        _table(found),
        "Past 12 hidden units learned rows are sampled. Soft: test programs for which the learned"
        f" constraints allow nothing, solved at a price: {_soft(found)}.",
    ]
    told = claims(found)
    if told:
        parts += ["Claims of the paper:", claims_table(told)]
    guided = [group for group in found if group.rounds]
    if guided:
        parts += ["## Counterexample-guided rounds", _rounds(guided)]
    parts += ["## Learned and hidden constraints", _recovery(found)]
    return "\n\n".join(parts) + "\n"


def curve(found: Sequence[Group]) -> str | None:
    """Right bits by hidden units as an SVG; None where only one K was run."""
    plain = [group for group in found if not group.rounds]
    if len(plain) < 2:
        return None
    lines: dict[str, dict[float, float]] = {
        "learned constraints": {group.hidden: group.mean("bitwise") for group in plain},
        "the paper": dict(zip(map(float, paper.HIDDEN), paper.FIGURES["bits"], strict=True)),
    }
    guided: dict[float, float] = {group.hidden: group.mean("bitwise") for group in found if group.rounds}
    if guided:
        lines["with rounds"] = guided
    return line_chart("Right bits of test solutions by hidden units", "hidden units", "right bits (%)", lines)


def _baselines(group: Group) -> str:
    names = list(group.cells[0].figures["baselines"])
    rows = []
    for name in names:
        own = [cell.figures["baselines"][name] for cell in group.cells]
        rows.append(
            [
                name,
                *(mean_spread([one[key] for one in own], 1) for key in ("bitwise", "satisfied", "optimal")),
            ]
        )
    rows.append(["no constraints, the paper", f"{paper.BASELINE['bits']}", f"{paper.BASELINE['hidden']}", ""])
    return table(["test solutions by", "bits right", "hidden constraints satisfied", "optima found"], rows)


def _table(found: Sequence[Group]) -> str:
    rows = []
    for figure, text in ROWS.items():
        values = [mean_spread(g.values(figure), 1) if g.values(figure) else "" for g in found]
        rows.append([text, *values])
        if figure in PAPER:
            stated = dict(zip(paper.HIDDEN, paper.FIGURES[PAPER[figure]], strict=True))
            told = [f"{stated[g.hidden]}" if g.hidden in stated and not g.rounds else "" for g in found]
            rows.append(["  the paper", *told])
    return table(["K", *(group.name for group in found)], rows)


def _soft(found: Sequence[Group]) -> str:
    counts = {group.name: sum(int(cell.figures["infeasible"]) for cell in group.cells) for group in found}
    some = [f"{count} with K = {name}" for name, count in counts.items() if count]
    return ", ".join(some) or "none"


def _rounds(guided: Sequence[Group]) -> str:
    rows = []
    for group in guided:
        for cell in group.cells:
            told = cell.figures["rounds"]
            solved = ", ".join(str(cell.cell.recipe.training - one["unsolved"]) for one in told)
            end = "fixpoint" if cell.figures["fixpoint"] else "budget"
            rows.append(
                [f"K = {group.hidden}, instance {cell.cell.seed}", solved, str(told[-1]["negatives"]), end]
            )
    head = ["", "training programs solved, round by round", "negatives in the end", "ended by"]
    return table(head, rows)


def _recovery(found: Sequence[Group]) -> str:
    names = list(found[0].cells[0].figures["recovery"])
    rows = []
    for group in found:
        row = [group.name]
        for name in names:
            own = [c.figures["recovery"][name] for c in group.cells if name in c.figures["recovery"]]
            row.append(f"{mean(own):.2f}" if name == "cosine" and own else mean_spread(own, 1) if own else "")
        rows.append(row)
    note = (
        "Assignments are drawn near the planted one, at most some thirty percent of its bits changed. Cosine:"
        " of each hidden row's coefficients and the most similar Theorem-1 row's, on average."
    )
    return table(["K", *names], rows) + "\n\n" + note
