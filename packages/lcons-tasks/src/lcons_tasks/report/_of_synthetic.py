"""A synthetic run's results as figures: test solutions by the number of hidden units, beside baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcons_tasks.experiments.synthetic import _paper as paper
from lcons_tasks.experiments.synthetic._measures import UNCONSTRAINED
from lcons_tasks.report._figures import Curve, Figure, Headline, ResultTable, TextTable, View
from lcons_tasks.report._results_json import claims

BITS = "bits right"
SOLUTIONS = {BITS: "bitwise", "hidden constraints satisfied": "satisfied", "optima found": "optimal"}
NETWORK = {
    "learned rows that test optima satisfy": "gold rows",
    "test optima accepted": "gold accepted",
    "training examples told right": "network",
    "test examples told right": "held-out",
}
PAPER = {"bitwise": "bits", "satisfied": "hidden", "gold rows": "gold", "network": "network"}

Cells = list[dict[str, Any]]
# By hidden units, without rounds and with them.
Groups = dict[tuple[int, bool], Cells]


def view(results: Mapping[str, Any]) -> View:
    """Test solutions beside baselines, and what was learned, by the number of hidden units; the headline is
    at the paper's largest."""
    groups: Groups = {}
    for cell in results["cells"]:
        groups.setdefault((cell["hidden"], bool(cell["rounds at most"])), []).append(cell)
    seeds = [str(seed) for seed in results["options"]["seeds"]]
    return View(
        "Synthetic integer programs",
        _headline(groups),
        (_solutions(groups, len(seeds)), _networks(groups, len(seeds))),
        (),
        _curve(groups),
        claims(results["claims"]),
        tuple(f"instance-{seed}" for seed in seeds),
        said="Instances are drawn by seed; the paper's figures are on instances of its own",
        texts=_rounds(groups),
        curve_is="Curve over hidden units",
    )


def _name(hidden: int, rounds: bool) -> str:
    return f"K = {hidden}{' + rounds' if rounds else ''}"


def _figure(cells: Cells, measure: str) -> Figure:
    hidden = cells[0]["hidden"]
    stated = None
    if measure in PAPER and hidden in paper.HIDDEN and not cells[0]["rounds at most"]:
        stated = paper.FIGURES[PAPER[measure]][paper.HIDDEN.index(hidden)]
    return Figure(tuple(cell[measure] for cell in cells), stated)


def _baseline(cells: Cells, name: str, measure: str) -> Figure:
    stated = paper.BASELINE.get(PAPER.get(measure, "")) if name == UNCONSTRAINED else None
    return Figure(tuple(cell["baselines"][name][measure] for cell in cells), stated)


def _headline(groups: Groups) -> Headline:
    """At the paper's largest K that was run, else at the largest."""
    plain = [hidden for hidden, rounds in groups if not rounds]
    hidden = max([K for K in plain if K in paper.HIDDEN] or plain)
    cells = groups[hidden, False]
    return Headline(
        f"{BITS}, K = {hidden}", _baseline(cells, UNCONSTRAINED, "bitwise"), _figure(cells, "bitwise"), None
    )


def _solutions(groups: Groups, instances: int) -> ResultTable:
    # Large K are run on the first instances only; the baselines are those of all.
    first = max(groups.values(), key=len)
    cells = {
        (name, column): _baseline(first, name, measure)
        for name in first[0]["baselines"]
        for column, measure in SOLUTIONS.items()
    }
    rows = (*first[0]["baselines"], *(_name(*key) for key in groups))
    return ResultTable(
        f"Solutions of test programs, {_spread(instances)}",
        "%",
        rows,
        tuple(SOLUTIONS),
        cells | _cells(groups, SOLUTIONS),
        "solved with",
    )


def _networks(groups: Groups, instances: int) -> ResultTable:
    rows = tuple(_name(*key) for key in groups)
    title = f"What was learned, {_spread(instances)}"
    return ResultTable(title, "%", rows, tuple(NETWORK), _cells(groups, NETWORK), "hidden units")


def _cells(groups: Groups, columns: Mapping[str, str]) -> dict[tuple[str, str], Figure]:
    return {
        (_name(*key), column): _figure(own, measure)
        for key, own in groups.items()
        for column, measure in columns.items()
    }


def _spread(instances: int) -> str:
    return "one instance" if instances == 1 else f"mean and spread over {instances} instances"


def _curve(groups: Groups) -> Curve | None:
    plain = {float(hidden): own for (hidden, rounds), own in groups.items() if not rounds}
    if len(plain) < 2:
        return None
    guided = {float(hidden): own for (hidden, rounds), own in groups.items() if rounds}
    lines = {"learned constraints": {K: _figure(own, "bitwise").mean for K, own in plain.items()}}
    if guided:
        lines["with rounds"] = {K: _figure(own, "bitwise").mean for K, own in guided.items()}
    lines[UNCONSTRAINED] = {K: _baseline(own, UNCONSTRAINED, "bitwise").mean for K, own in plain.items()}
    lines["the paper"] = dict(zip(map(float, paper.HIDDEN), paper.FIGURES["bits"], strict=True))
    return Curve("Right bits of test solutions by hidden units", "hidden units", "right bits (%)", lines)


def _rounds(groups: Groups) -> tuple[TextTable, ...]:
    """What counterexample-guided rounds left unsolved, one after another."""
    rows = []
    for (hidden, guided), cells in groups.items():
        for cell in cells if guided else ():
            told = cell["rounds"]
            rows.append(
                (
                    f"K = {hidden}, instance {cell['seed']}",
                    ", ".join(str(one["unsolved"]) for one in told),
                    f"{cell['chosen'] + 1} of {len(told)}",
                    f"{told[-1]['negatives']:,}",
                    "fixpoint" if cell["fixpoint"] else "budget",
                )
            )
    head = ("", "training programs unsolved, round by round", "chosen", "negatives in the end", "ended by")
    return (TextTable("Counterexample-guided rounds", head, tuple(rows)),) if rows else ()
