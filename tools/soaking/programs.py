"""Integer programs by CBC and HiGHS against enumeration.

| family | draws | compares |
|---|---|---|
| `ilp` | chains: hard and hinged, local and global constraints, each form | optimum, feasibility, clashes |
| `points` | the points of a space under a constraint, with scores | the best point, also after a file |
| `differences` | two networks on a space | `compare_by_ilp` without enumeration: what it proves is true |

A clash must be infeasible, and feasible without any one of its constraints. Weights differ by at most four
orders of magnitude, because solvers have tolerances.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from lcons_core import LearnedConstraint
from lcons_core.reason import Outcome
from lcons_decode import Status
from lcons_decode.ilp import (
    Program,
    compare_by_ilp,
    constraint_program,
    decode_ilp,
    read_program,
    solve,
    write_program,
)
from soaking import draws, oracle
from soaking.chains import Judged, network_of, use_of
from soaking.sets import draw_compare, space_of
from soaking.tally import Tally

Case = dict[str, Any]

SOLVERS = ("cbc", "highs")


def draw_ilp(rng: Random) -> Case:
    """A short chain."""
    case = draws.draw_chain(
        rng, 0.3, 0.35, 1, most=32, most_L=3, unknown=False, costs=("hinge", "standard"), most_n=3
    )
    for use in case["uses"]:
        if use["feature"]["kind"] == "counts":
            use["feature"]["spans"] = False  # runs have no linear encoding
        if not _short(use["parts"]):
            use["parts"] = draws.draw_parts(rng, draws.width_of(use["feature"]), kind="dyadic")
    return {**case, "form": rng.choice(["auto", "auto", "lifted", "rows", "cuts"])}


def _short(parts: Any) -> bool:
    """Whether no two weights differ by more orders of magnitude than a solver's tolerance allows."""
    sizes = [abs(x) for W, b in parts for row in [*W, b] for x in row if x]
    return not sizes or max(sizes) / min(sizes) < 1e4


def check_ilp(case: Case, tally: Tally) -> None:
    """Family `ilp`."""
    one = Judged(case, case["sequences"][0])
    uses = [use_of(use) for use in case["uses"]]
    fine = [each for each in one.all if not each.violations]
    best = max((each.all[0] for each in fine), default=None)
    hard = {use["name"] for use in case["uses"] if use["weight"] is None}
    for solver in SOLVERS:
        found = decode_ilp(one.scores, uses, one.x, form=case["form"], solver=solver)
        if best is None:
            tally.same(f"{solver} status", found.status, Status.INFEASIBLE)
            clash = found.stats.get("clash")
            tally.true(f"{solver} names a clash", clash is not None and set(clash) <= hard, clash)
            for dropped in [None, *(clash or ())]:
                left = set(clash or ()) - {dropped}
                possible = any(not {name for name, _ in each.violations} & left for each in one.all)
                tally.same(f"{solver} clash without {dropped}", possible, dropped is not None)
            continue
        if tally.same(f"{solver} status", found.status, Status.OPTIMAL):
            own = one.by_y.get(found.y)
            if tally.true(f"{solver} satisfies", own is not None and not own.violations, found.y):
                assert own is not None
                tally.near(f"{solver} stated score", found.score, own.total)
                tally.near(f"{solver} optimum", float(own.all[0]), float(best), 1e-6)


def draw_points(rng: Random) -> Case:
    """A constraint on a space, and scores of its values."""
    # A program alone has rounded rows and tolerances where weights are not dyadic.
    case = draws.draw_set(rng, 60, kind=rng.choice(["dyadic", "whole"]))
    scores = {
        block["name"]: {value: rng.randint(-16, 16) / 16 for value in block["values"]}
        for block in case["space"]["blocks"]
    }
    suffix = rng.choice([".lp", ".mps"])
    forms = ["lifted", "rows", "simplified"]
    return {**case, "scores": scores, "form": rng.choice(forms), "suffix": suffix}


def check_points(case: Case, tally: Tally) -> None:
    """Family `points`."""
    judge, totals = oracle.Networks(case["parts"]), []
    for point in oracle.points_of(case["space"]):
        total = Fraction(0)
        for block in case["space"]["blocks"]:
            given, own = case["scores"][block["name"]], point.names[block["name"]]
            if block["kind"] == "one-hot":
                total += Fraction(given.get(own, 0))
            elif block["kind"] == "binary":
                total += sum(Fraction(given[value]) for value in own)
            else:
                total += sum(Fraction(given[value]) * number for value, number in own.items())
        if judge.accepts(point.psi):
            totals.append(total)
    constraint = LearnedConstraint(network_of(case["parts"]), space_of(case))
    program = constraint_program(constraint, case["form"], case["scores"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program{case['suffix']}"
        write_program(program, path)
        again = read_program(path)
    tally.same("the program after a file", _sorted(again), _sorted(program))
    for solver in SOLVERS:
        found = solve(again, solver=solver)
        tally.same(f"{solver} status", found.status, Status.OPTIMAL if totals else Status.INFEASIBLE)
        if totals and found.status is Status.OPTIMAL:
            tally.near(f"{solver} best point", found.score, float(max(totals)), 1e-6)


def _sorted(program: Program) -> Program:
    """The program with sorted terms: files do not keep their order."""
    rows = tuple(replace(row, terms=tuple(sorted(row.terms, key=repr))) for row in program.rows)
    return replace(program, rows=rows)


def draw_differences(rng: Random) -> Case:
    """Two networks on a space."""
    while True:
        case = draw_compare(rng)
        if case["how"] not in ("rows", "rules") and _short([*case["parts"], *case["other"]]):
            return {**case, "solver": rng.choice(SOLVERS)}


def check_differences(case: Case, tally: Tally) -> None:
    """Family `differences`."""
    space, points = space_of(case), oracle.points_of(case["space"])
    a, b = oracle.Networks(case["parts"]), oracle.Networks(case["other"])
    differ = [[], []]  # type: list[list[Any]]
    for point in points:
        verdicts = a.accepts(point.psi), b.accepts(point.psi)
        if verdicts[0] != verdicts[1]:
            differ[verdicts[1]].append(point.names)
    found = compare_by_ilp(
        network_of(case["parts"]), network_of(case["other"]), space, limit=0, solver=case["solver"]
    )
    if found.outcome is not Outcome.UNDECIDED:
        tally.same("comparison by integer programs", found.equal, not any(differ))
    for side, witnesses in enumerate((found.witnesses_a, found.witnesses_b)):
        tally.true("witnesses", all(one in differ[side] for one in witnesses), witnesses)
