"""Integer programs by CBC and HiGHS against enumeration.

The family `ilp` draws chains with hard and hinged, local and global constraints, in each form. It compares
optimum, feasibility and clashes: a clash must be infeasible, and feasible without any one of its constraints.
Weights differ by at most four orders of magnitude, because solvers have tolerances.
"""

from __future__ import annotations

from random import Random
from typing import Any

from lcons_decode import Status
from lcons_decode.ilp import decode_ilp
from soaking import draws
from soaking.chains import Judged, use_of
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
        tally.same(f"{solver} status", found.status, Status.OPTIMAL)
        own = one.by_y[found.y]
        tally.same(f"{solver} satisfies", own.violations, set())
        tally.near(f"{solver} stated score", found.score, own.total)
        tally.near(f"{solver} optimum", float(own.all[0]), float(best), 1e-6)
