"""Sets of points against their definition: comparison, simplification, explanation, verification.

| family | draws | compares |
|---|---|---|
| `compare` | two sets on one space, often equal | outcome, counts, witnesses; by enumeration and by search |
| `simplify` | networks on a space | the set, the reason for each dropped row, minimality |
| `explain` | networks on a space, some with examples | rules, their union, figures, `why` |
| `rules` | boxes by name | rules as a set, network, rows and text |
| `verify` | networks on a space | counts of points, of accepted ones and of the boundary; no witness |

A rule of `explain` may forbid rejected points only, and all rules together must forbid all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from lcons_core import (
    FeatureSpace,
    LabelledExamples,
    LinearInequalities,
    Rules,
    compare,
    explain,
    parse_rules,
    simplify,
    to_inequalities,
    verify,
    why,
)
from lcons_core.reason._compare import Outcome
from lcons_core.reason._rules import Box
from lcons_core.reason._rules_text import rules_text
from soaking import draws, oracle
from soaking.chains import network_of
from soaking.oracle import Networks, Point, value_at
from soaking.tally import Tally

Case = dict[str, Any]


def dense(psi: oracle.Psi, d: int) -> list[float]:
    """psi as a list."""
    return [float(psi.get(j, 0)) for j in range(d)]


def space_of(case: Case) -> FeatureSpace:
    """The space of lcons."""
    return FeatureSpace.from_dict(case["space"])


def rational_row(coefficients: Sequence[float], bias: float) -> list[Fraction]:
    """A row of lcons as rationals."""
    return [*map(Fraction, coefficients), Fraction(bias)]


def rows_of(rows: LinearInequalities) -> list[list[Fraction]]:
    """The rows of lcons as rationals."""
    return [rational_row(c, b) for c, b in zip(rows.coefficients.tolist(), rows.bias.tolist(), strict=True)]


def draw_compare(rng: Random) -> Case:
    """Two sets on one space: other networks, or the same set in another form, sometimes changed a little."""
    case = draws.draw_set(rng)
    how = rng.choice(["other", "shuffled", "shifted", "nudged", "rows", "rules"])
    parts: Any = [[[list(w) for w in W], list(b)] for W, b in case["parts"]]
    if how == "other":
        near = rng.choice(oracle.points_of(case["space"])).psi
        parts = draws.draw_parts(rng, draws.columns_of(case["space"]), [near])
    elif how == "shuffled":
        for W, b in parts:
            order = rng.sample(range(len(b)), len(b))
            W[:], b[:] = [W[k] for k in order], [b[k] for k in order]
            W.append([0.0] * len(W[0]))
            b.append(-1.0)
    elif how == "shifted":
        # A constant moves from a one-hot block into the bias: the same set on the space.
        first = case["space"]["blocks"][0]
        if first["kind"] == "one-hot" and not first.get("other"):
            for W, b in parts:
                for k in range(len(b)):
                    W[k][: len(first["values"])] = [w + 0.5 for w in W[k][: len(first["values"])]]
                    b[k] -= 0.5
    elif how == "nudged":
        part = rng.choice(parts)
        k, j = rng.randrange(len(part[1])), rng.randrange(len(part[0][0]))
        part[0][k][j] += rng.choice([2.0**-20, -(2.0**-20), 0.5, 2.0**-52])
    rules = [draws.draw_box(rng, case["space"]) for _ in range(2)] if how == "rules" else []
    return {
        **case,
        "how": how,
        "other": parts,
        "rules": rules,
        "few": rng.choice([1, 10]),
        "search": draws.chance(rng, 0.2),
    }


def check_compare(case: Case, tally: Tally) -> None:
    """Family `compare`."""
    space, points = space_of(case), oracle.points_of(case["space"])
    a, judge = network_of(case["parts"]), oracle.Networks(case["parts"])
    first = [judge.accepts(point.psi) for point in points]
    b: Any = network_of(case["other"])
    other = oracle.Networks(case["other"])
    second = [other.accepts(point.psi) for point in points]
    if case["how"] == "rows":
        b = to_inequalities(b)
        stored = rows_of(b)
        second = [all(value_at(row, point.psi) >= 0 for row in stored) for point in points]
    elif case["how"] == "rules":
        b = Rules(space, [Box(tuple((k, tuple(v)) for k, v in box.items())) for box in case["rules"]])
        second = [not any(point.inside(box) for box in case["rules"]) for point in points]
    pairs = list(zip(first, second, strict=True))
    only = [[p.names for p, (x, y) in zip(points, pairs, strict=True) if x and not y]]
    only.append([p.names for p, (x, y) in zip(points, pairs, strict=True) if y and not x])
    found = compare(a, b, space, witnesses=case["few"])
    equal = first == second
    tally.same("comparison", found.outcome, Outcome.EQUAL if equal else Outcome.DIFFERENT)
    numbers = (found.points, found.both, found.only_a, found.only_b)
    tally.same("counts", numbers, (len(points), sum(x and y for x, y in pairs), len(only[0]), len(only[1])))
    tally.same("witnesses of a", list(found.witnesses_a), only[0][: case["few"]])
    tally.same("witnesses of b", list(found.witnesses_b), only[1][: case["few"]])
    if not case["search"]:
        return
    searched = compare(a, b, space, limit=0)
    if searched.outcome is not Outcome.UNDECIDED:
        tally.same("comparison without enumeration", searched.equal, equal)
    for side, witnesses in enumerate((searched.witnesses_a, searched.witnesses_b)):
        tally.true("witnesses found by search", all(one in only[side] for one in witnesses), witnesses)


def draw_simplify(rng: Random) -> Case:
    """Networks on a space."""
    return draws.draw_set(rng)


def check_simplify(case: Case, tally: Tally) -> None:
    """Family `simplify`."""
    points = oracle.points_of(case["space"])
    network = network_of(case["parts"])
    stored = [[Fraction(float(x)) for x in row] for _, row in Networks(case["parts"]).rows()]
    values = [[value_at(row, point.psi) for point in points] for row in stored]
    broken = [{i for i, value in enumerate(own) if value < 0} for own in values]
    rejected = set().union(*broken)
    found = simplify(network, space_of(case))
    kept = found.kept.tolist()
    tally.same("kept rows", rows_of(found.rows), [stored[m] for m in kept])
    tally.same(
        "kept and dropped rows", sorted([*kept, *(d.row for d in found.dropped)]), list(range(len(stored)))
    )
    tally.same("the simplified set", set().union(*(broken[m] for m in kept)), rejected)
    psi = np.array([dense(point.psi, network.d) for point in points])
    tally.same("simplified rows", found.holds(psi).tolist(), [i not in rejected for i in range(len(points))])
    tally.true("a small domain is minimal", found.minimal)
    for m in kept:
        rest = set().union(*(broken[other] for other in kept if other != m))
        tally.true("every kept row is needed", rest != rejected, m)
    for dropped in found.dropped:
        if dropped.reason == "never violated":
            tally.same("a row that is never violated", broken[dropped.row], set())
        else:
            tally.true("an implied row", broken[dropped.row] <= rejected, dropped)
    coarse = simplify(network, space_of(case), enumeration_limit=0)
    tally.same(
        "the set without enumeration", set().union(*(broken[m] for m in coarse.kept.tolist())), rejected
    )


def draw_explain(rng: Random) -> Case:
    """Networks on a space, half of them with examples; and a partial assignment."""
    case = draws.draw_set(rng, most=60)
    points = len(oracle.points_of(case["space"]))
    examples = [[rng.randrange(points) for _ in range(rng.randint(1, 6))] for _ in range(2)]
    if not set(examples[1]) - set(examples[0]) or draws.chance(rng, 0.5):
        examples = []
    return {
        **case,
        "examples": examples,
        "at": rng.randrange(points),
        "search": draws.chance(rng, 0.3),
    }


def check_explain(case: Case, tally: Tally) -> None:
    """Family `explain`."""
    space, points = space_of(case), oracle.points_of(case["space"])
    network, judge = network_of(case["parts"]), oracle.Networks(case["parts"])
    psi = np.array([dense(point.psi, network.d) for point in points])
    rejected = {i for i, point in enumerate(points) if not judge.accepts(point.psi)}
    examples = None
    positives: list[int] = []
    negatives: list[int] = []
    if case["examples"]:
        positives, negatives = case["examples"]
        negatives = [i for i in negatives if i not in positives]
        examples = LabelledExamples.of(space, psi[positives], psi[negatives])
    found = explain(network, examples, space=space, limit=100)
    tally.true("the rules of a small domain are complete", found.complete)
    union: set[int] = set()
    for rule in found.rules:
        inside = _inside(points, rule.box)
        union |= inside
        tally.true("a rule forbids only rejected points", inside <= rejected, (rule.words, rule.box))
        tally.true("a rule forbids something", inside, rule.words)
        basis = sum(i in inside for i in negatives) if examples else len(inside)
        tally.same("covered", rule.covered, basis)
        if examples:
            tally.same("exceptions", rule.exceptions, sum(i in inside for i in positives))
            premise = _inside(points, rule.antecedent)
            tally.same("support", rule.support, sum(i in premise for i in positives))
    tally.same("the union of the rules", union, rejected)
    total = sum(i in rejected for i in negatives) if examples else len(rejected)
    tally.same("coverage", (found.coverage.rejected, found.coverage.found), (total, total))
    text = rules_text([rule.box for rule in found.rules], space)
    again = parse_rules(text, space)
    tally.same("rules as text", again.accepts(psi).tolist(), [i not in rejected for i in range(len(points))])
    for rule in explain(network, examples, space=space, enumeration=0).rules if case["search"] else ():
        tally.true("a rule that a row proves", _inside(points, rule.box) <= rejected, (rule.words, rule.box))
    point = points[case["at"]]
    reason = why(network, point.names, space=space)
    tally.same("why", (reason.forbidden, reason.partial), (case["at"] in rejected, False))


def _inside(points: Sequence[Point], box: Box) -> set[int]:
    conditions = dict(box.conditions)
    return {i for i, point in enumerate(points) if point.inside(conditions)}


def draw_rules(rng: Random) -> Case:
    """Rules by name."""
    case = draws.draw_set(rng)
    forbidden = [draws.draw_box(rng, case["space"]) for _ in range(rng.randint(0, 3))]
    allowed = (
        [draws.draw_box(rng, case["space"]) for _ in range(rng.randint(1, 2))]
        if draws.chance(rng, 0.4)
        else None
    )
    return {**case, "forbidden": forbidden, "allowed": allowed}


def check_rules(case: Case, tally: Tally) -> None:
    """Family `rules`."""
    space, points = space_of(case), oracle.points_of(case["space"])
    psi = np.array([dense(point.psi, draws.columns_of(case["space"])) for point in points])
    boxes = [Box(tuple((k, tuple(v)) for k, v in box.items())) for box in case["forbidden"]]
    allowed = (
        None
        if case["allowed"] is None
        else [Box(tuple((k, tuple(v)) for k, v in box.items())) for box in case["allowed"]]
    )
    wanted = [not any(p.inside(box) for box in case["forbidden"]) for p in points]
    tally.same("rules as text", parse_rules(rules_text(boxes, space), space).accepts(psi).tolist(), wanted)
    if case["allowed"] is not None:
        wanted = [
            ok and any(p.inside(box) for box in case["allowed"]) for ok, p in zip(wanted, points, strict=True)
        ]
    rules = Rules(space, boxes, allowed)
    tally.same("rules", rules.accepts(psi).tolist(), wanted)
    if not any(block["kind"] == "count" for block in case["space"]["blocks"]):
        tally.same("rules as a network", rules.network().accepts(psi).tolist(), wanted)
        tally.same("rules as rows", rules.rows().holds(psi).tolist(), wanted)


def draw_verify(rng: Random) -> Case:
    """Networks on a space."""
    return draws.draw_set(rng, most_K=4)


def check_verify(case: Case, tally: Tally) -> None:
    """Family `verify`."""
    points, judge = oracle.points_of(case["space"]), oracle.Networks(case["parts"])
    margins = [judge.margin(point.psi) for point in points]
    found = verify(network_of(case["parts"]), space_of(case))
    tally.true("no witness", found.ok, found.witness)
    accepted, boundary = sum(m >= 0 for m in margins), sum(m == 0 for m in margins)
    counts = (found.points, found.accepted, found.boundary, found.exhausted)
    tally.same("counts", counts, (len(points), accepted, boundary, True))
    wanted = judge.rows()
    stored = [[Fraction(float(x)) for x in row] for _, row in wanted]
    exact = all(row == rational for row, (_, rational) in zip(stored, wanted, strict=True))
    differ = [
        point
        for point, margin in zip(points, margins, strict=True)
        if all(value_at(row, point.psi) >= 0 for row in stored) != (margin >= 0)
    ]
    tally.same("rows", (found.rows, found.total_rows, found.all_rows), (len(wanted), len(wanted), True))
    if exact:
        tally.same("rounding differences of exact rows", found.rounding_differences, 0)
    tally.true("rounding differences are reported", found.rounding_differences >= len(differ), found)
