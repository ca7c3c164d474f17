"""The forms of one set against its definition.

The family `forms` draws networks and conjunctions of all kinds of weights, and points; or an n-gram
feature, whose windows are the points. It compares verdicts, margins, the rows of Theorem 1, the lifted rows,
cuts, the threshold network and masks.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np

from lcons_core import (
    LearnedConstraint,
    SparsePsi,
    compile_masks,
    lift,
    most_violated,
    to_inequalities,
)
from soaking import draws, oracle
from soaking.chains import feature_of, network_of
from soaking.oracle import Networks, value_at
from soaking.sets import dense, rows_of
from soaking.tally import Tally

Case = dict[str, Any]


def draw_forms(rng: Random) -> Case:
    """Networks, and points that are often on their boundary; sometimes on the windows of a feature."""
    if draws.chance(rng, 0.3):
        feature = draws.draw_ngrams(rng, draws.LABELS[: rng.randint(1, 3)], most_n=3)
        every = oracle.points_of(oracle.ngram_space(feature))
        near = [rng.choice(every).psi for _ in range(3)]
        parts = draws.draw_parts(rng, draws.width_of(feature), near)
        return {
            "feature": feature,
            "parts": parts,
            "points": [dense(psi, draws.width_of(feature)) for psi in near],
        }
    d = rng.randint(1, 6)
    kinds = [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0, 2.0, 3.0), (0.0, 0.5, -1.25, 0.1)]
    values = rng.choice(kinds)
    points = [[rng.choice(values) for _ in range(d)] for _ in range(12)]
    around: list[oracle.Psi] = [{j: v for j, v in enumerate(point) if v} for point in points]
    return {"feature": None, "parts": draws.draw_parts(rng, d, around, most_K=4), "points": points}


def check_forms(case: Case, tally: Tally) -> None:
    """Family `forms`."""
    networks, network = oracle.Networks(case["parts"]), network_of(case["parts"])
    psis = [{j: Fraction(v) for j, v in enumerate(point) if v} for point in case["points"]]
    points = np.array(case["points"])
    margins = [networks.margin(psi) for psi in psis]
    verdicts = [margin >= 0 for margin in margins]
    tally.same("accepts", network.accepts(points).tolist(), verdicts)
    tally.same("accepts sparse psi", network.accepts(SparsePsi.from_dense(points)).tolist(), verdicts)
    tally.same("accepts one psi", network.accepts(points[0]), verdicts[0])
    size = (
        max(sum(abs(x) for x in unit) for unit in networks.units)
        / networks.scale
        * (1 + np.abs(points).max())
    )
    tally.true(
        "margin",
        all(
            abs(Fraction(m) - n) <= 1e-12 * (1 + size)
            for m, n in zip(network.margin(points).tolist(), margins, strict=True)
        ),
        (network.margin(points), margins),
    )
    _check_rows(case, tally, psis, verdicts)
    _check_lifted(tally, network, psis, verdicts)
    if case["feature"] is not None:
        _check_masks(case, tally, networks)


def _check_rows(case: Case, tally: Tally, psis: list[Any], verdicts: list[bool]) -> None:
    networks, network, points = Networks(case["parts"]), network_of(case["parts"]), np.array(case["points"])
    wanted, rows = networks.rows(), to_inequalities(network)
    rounded = [[float(x) for x in row] for _, row in wanted]
    exact = all(
        Fraction(a) == b for r, (_, w) in zip(rounded, wanted, strict=True) for a, b in zip(r, w, strict=True)
    )
    found = [[*c, b] for c, b in zip(rows.coefficients.tolist(), rows.bias.tolist(), strict=True)]
    tally.same("rows", found, rounded)
    assert rows.subsets is not None
    subsets = [tuple(np.flatnonzero(subset).tolist()) for subset in rows.subsets]
    tally.same("subsets of the rows", subsets, [S for S, _ in wanted])
    stored = [[Fraction(x) for x in row] for row in rounded]
    satisfied = [[value_at(row, psi) >= 0 for row in stored] for psi in psis]
    tally.same("which rows hold", rows.satisfied(points).tolist(), satisfied)
    hold = [all(each) for each in satisfied]
    tally.same("rows", rows.holds(points).tolist(), hold)
    tally.same("threshold network", rows.to_threshold_network().accepts(points).tolist(), hold)
    if exact:
        tally.same("Theorem 1", hold, verdicts)
    # S* is found with float activations; these are exact if weights and psi are short dyadic numbers.
    largest = max(abs(x) for unit in networks.units for x in unit) * len(networks.units[0])
    short = largest <= 2**45 and all(v.denominator <= 4 for psi in psis for v in psi.values())
    for point, psi, verdict in zip(points, psis, verdicts, strict=True):
        [row] = rows_of(most_violated(network, point))
        tally.true("a cut is one of the rows", row in stored, row)
        least = min(value_at(own, psi) for own in stored)
        if short and least < 1:
            tally.same("the cut is the least row", value_at(row, psi), least)
            tally.same("the cut holds", value_at(row, psi) >= 0, verdict)


def _check_lifted(tally: Tally, network: Any, psis: list[Any], verdicts: list[bool]) -> None:
    """Some s >= 0 satisfies the lifted rows: rows with one positive s bound it from below, others need it
    small."""
    lifted = lift(network)
    rows = list(zip(lifted.A_psi.tolist(), lifted.A_s.tolist(), lifted.rhs.tolist(), strict=True))
    tally.same("lifted rows", len(rows), network.K + len(network.parts))
    feasible = []
    for psi in psis:
        least = [Fraction(0)] * lifted.K
        budgets = []
        for a_psi, a_s, rhs in rows:
            needed = Fraction(rhs) - sum(Fraction(a_psi[j]) * v for j, v in psi.items())
            own = [k for k, a in enumerate(a_s) if a]
            if len(own) == 1 and a_s[own[0]] > 0:
                least[own[0]] = max(least[own[0]], needed / Fraction(a_s[own[0]]))
            else:
                budgets.append((a_s, needed))
        feasible.append(
            all(
                sum(Fraction(a) * s for a, s in zip(a_s, least, strict=True)) >= needed
                for a_s, needed in budgets
            )
        )
    tally.same("lifted", feasible, verdicts)


def _check_masks(case: Case, tally: Tally, networks: Networks) -> None:
    feature = feature_of(case["feature"])
    space = oracle.ngram_space(case["feature"])
    table = compile_masks(LearnedConstraint(network_of(case["parts"]), feature.space, feature))
    n, with_contexts = case["feature"]["n"], case["feature"]["kind"] == "context"
    known = {tuple(point.axes.values()): networks.accepts(point.psi) for point in oracle.points_of(space)}
    axes = [[value for value, _ in choices] for _, _, choices in oracle.axes_of(space)]
    contexts = list(product(*(range(len(axis)) for axis in axes[:n]))) if with_contexts else [()]
    masks = table.masks(np.array(contexts)) if with_contexts else table.masks()
    found = masks.reshape(len(contexts), -1).tolist()
    wanted = [
        [
            known.get((*(axes[i][c] for i, c in enumerate(context)), *labels), False)
            for labels in product(*axes[-n:])
        ]
        for context in contexts
    ]
    tally.same("masks", found, wanted)
