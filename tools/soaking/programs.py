"""Integer programs by CBC and HiGHS against enumeration.

| family | draws | compares |
|---|---|---|
| `ilp` | chains: hard and hinged, local and global constraints, each form | optimum, feasibility, clashes |
| `points` | the points of a space under a constraint, with scores | the best point of an LP or MPS file |

A clash must be infeasible, and feasible without any one of its constraints. Weights differ by at most four
orders of magnitude, because solvers have tolerances.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import highspy

from lcons_core import LearnedConstraint
from lcons_core._theorem import Form
from lcons_decode import Status
from lcons_decode.ilp import decode_ilp
from lcons_decode.ilp._files import constraint_model
from soaking import draws, oracle
from soaking.chains import Judged, network_of, use_of
from soaking.sets import space_of
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
    target = case["suffix"].removeprefix(".")
    lines, _, _ = constraint_model(constraint, target, Form(case["form"]), case["scores"])
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    model.silent()
    model.setOptionValue("mip_feasibility_tolerance", 1e-9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{case['suffix']}"
        path.write_text("\n".join([*lines, ""]))
        tally.same("the file is read", model.readModel(str(path)), highspy.HighsStatus.kOk)
    model.run()
    outcomes = highspy.HighsModelStatus
    tally.same("status", model.getModelStatus(), outcomes.kOptimal if totals else outcomes.kInfeasible)
    if totals and model.getModelStatus() == outcomes.kOptimal:
        sign = 1 if target == "lp" else -1
        tally.near("best point", sign * model.getObjectiveValue(), float(max(totals)), 1e-6)
