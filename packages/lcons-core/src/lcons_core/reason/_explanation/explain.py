"""`explain`: rules by enumeration on a small domain, by search and proofs with rows on a large one.

A real column is divided into intervals. A rule on intervals is proved for all numbers in them, because a row
has its maximum over an interval at one of its ends. Such rules are never complete: the boundary may cross any
interval.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._pointset import Fitted, PointSet, as_points
from lcons_core._psi import PsiRows, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools
from lcons_core.reason._domain import Box
from lcons_core.reason._explanation.bounds import Candidate, greedy_cover
from lcons_core.reason._explanation.large_domains import draw_rejected, strongest_rules
from lcons_core.reason._explanation.regions import Chance, Region, WeightedPoints, box_of, size_of, within
from lcons_core.reason._explanation.result import Coverage, Explanation, Proof, Rule
from lcons_core.reason._explanation.small_domains import Lattice, lattice_size
from lcons_core.reason._explanation.types import TypeRule, is_label_pairs, type_rules
from lcons_core.reason._explanation.words import RuleSentence, sentence
from lcons_core.reason._points import ENUMERATION_LIMIT, space_of
from lcons_core.reason._real_points import drawn_psi

MOST_AXES = 24
SAMPLE = 5_000
STRONGEST = 300
# Weights of a set on a domain that cannot be enumerated: less than a minute.
MOST_WEIGHTS = 2**18


class Examples(Protocol):
    """The members of labelled examples that `explain` reads."""

    @property
    def positives(self) -> PsiRows: ...
    @property
    def negatives(self) -> PsiRows: ...


def explain(
    constraint: PointSet | Fitted,
    examples: Examples | None = None,
    *,
    space: FeatureSpace | None = None,
    limit: int = 20,
    enumeration: int = ENUMERATION_LIMIT,
    seed: int = 0,
) -> Explanation:
    """The constraint as rules in words, strongest first, each proved.

    `space` names the columns if `constraint` is only a network or rows. `limit` rules are shown; the result
    has all rules that were found. A domain is enumerated if the product of n_axis + 1 is at most
    `enumeration`; on other domains, networks of more than 2^18 weights are refused (`TooLarge`).

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> print(explain(RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0]), space=FeatureSpace(blocks)))
    - source Location needs relation NoRel
    1 rule (complete); it covers 100% of the rejected points.
    """
    points = as_points(constraint, "explain")
    space = space_of(points, space).cells()
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, found {limit}; pass 1 or more rules.")
    positives = negatives = None
    if examples is not None:
        positives, negatives = _weighted(space, examples.positives), _weighted(space, examples.negatives)
    small = space.integral and len(space.axes) <= MOST_AXES and lattice_size(space) <= enumeration
    if not small:
        _check_weights(points)
    return (_enumerated if small else _bounded)(points, space, positives, negatives, limit, seed)


def _check_weights(points: PointSet) -> None:
    weights = sum(part.W.size for part in points.networks())
    if weights > MOST_WEIGHTS:
        raise TooLarge(
            f"explaining {weights:,} weights of a network on a domain this large is above the limit of"
            f" {MOST_WEIGHTS:,}; learn fewer hidden units, or ask `why` of single points."
        )


def explain_rejected(
    constraint: PointSet | Fitted,
    gold: PsiRows,
    *,
    space: FeatureSpace | None = None,
    limit: int = 20,
    enumeration: int = ENUMERATION_LIMIT,
    seed: int = 0,
) -> Explanation:
    """The rules that reject some of the valid parts `gold` (`lcons_core.learn.positives_of` makes them).

    >>> from lcons_core import LabelledExamples, RectifierNetwork, binary
    >>> bits = FeatureSpace([binary("bit", "abc")])
    >>> gold = LabelledExamples.of(bits, [[1, 1, 0], [0, 0, 1]], [[1, 1, 1]]).positives
    >>> print(explain_rejected(RectifierNetwork([[1.0, 1.0, 1.0]], [0.0]), gold, space=bits))
    - where bit a holds, bit b must not hold  [support 1; expected 0.5 by chance, seen 1]
    1 rule (strongest first, each proved, not complete); it covers 100% of the rejected gold parts.
    """
    points = as_points(constraint, "explain_rejected")
    space = space_of(points, space).cells()
    weighted = _weighted(space, gold)
    rejected = weighted.take(_rejected(points, weighted))
    found = explain(
        points, _Given(gold, rejected.rows), space=space, limit=limit, enumeration=enumeration, seed=seed
    )
    # The rule of each type says more on what is rejected than a rule over all types.
    rules = tuple(replace(rule, implied=False) for rule in found.rules if rule.exceptions)
    assignments = rejected.assignments()
    inside = np.zeros((len(rules), len(rejected)), dtype=np.bool_)
    for i, rule in enumerate(rules):
        inside[i] = rule.box.contains(space, assignments)
    every, shown = (float(rejected.weights[some.any(0)].sum()) for some in (inside, inside[:limit]))
    total = rejected.total
    coverage = Coverage("rejected gold parts", total, total, every, shown)
    return replace(found, rules=rules, complete=not total, coverage=coverage, types=())


@dataclass(frozen=True)
class _Given:
    """Valid parts, and those of them that are rejected, as `explain` reads examples."""

    positives: PsiRows
    negatives: PsiRows


def _enumerated(
    points: PointSet,
    space: FeatureSpace,
    positives: WeightedPoints | None,
    negatives: WeightedPoints | None,
    limit: int,
    seed: int,
) -> Explanation:
    lattice = Lattice.of(points, space)
    covered = lattice.rejected if negatives is None else lattice.weights(negatives)
    evidence = None
    if positives is not None:
        evidence = _Evidence(partial(lattice.sum, lattice.weights(positives)), Chance(positives))
    found = list(lattice.minimal_rules())
    if any(block.whole for block in space.blocks):
        found = _without_contained(found)
    common = None if evidence is None else evidence.chance.share
    said = [sentence(space, region, lattice.grown, common) for region in found]
    rules = []
    for entry in said:
        weight = lattice.sum(covered, entry.region)
        rules.append(_rule(space, entry, weight, Proof("enumeration"), evidence))
    strength = [
        (-rule.covered, -lattice.sum(lattice.rejected, entry.region), entry.names)
        for rule, entry in zip(rules, said, strict=True)
    ]
    order = sorted(range(len(rules)), key=lambda i: strength[i])
    if len(rules) > 1:
        order = _shown_first(lattice, negatives, said, order, limit, seed)
    types: tuple[TypeRule, ...] = ()
    covered_pairs = np.zeros([len(axis) for axis in space.axes], dtype=np.bool_)
    if is_label_pairs(space):
        inner = (slice(0, -1),) * 2
        counts = None if positives is None else lattice.weights(positives)[inner]
        tables = lattice.rejected[inner] > 0, ~lattice.vacuous[inner]
        types, covered_pairs = type_rules(space, *tables, counts)
        rules = [
            replace(rule, implied=bool(types) and _is_within(entry.region, covered_pairs))
            for rule, entry in zip(rules, said, strict=True)
        ]
        order = sorted(order, key=lambda i: rules[i].implied)
    shown = [said[i].region for i in order[:limit]]
    if negatives is None:
        total = float(lattice.rejected[(-1,) * lattice.rejected.ndim])
        part = _union(lattice, shown, covered_pairs)
        coverage = Coverage("rejected points", total, total, total, part)
    else:
        rejected = _weight_rejected(points, negatives)
        part = _weight_covered(negatives, shown, covered_pairs if types else None)
        coverage = Coverage("negatives", negatives.total, rejected, rejected, part)
    valid = None if positives is None else positives.total
    return Explanation(tuple(rules[i] for i in order), True, coverage, limit, valid, types)


def _is_within(region: Region, covered: Bools) -> bool:
    """Whether all pairs of a region are covered."""
    rows, columns = (region.get(i, np.ones(n, dtype=np.bool_)) for i, n in enumerate(covered.shape))
    return bool(covered[np.ix_(np.flatnonzero(rows), np.flatnonzero(columns))].all())


def _shown_first(
    lattice: Lattice,
    negatives: WeightedPoints | None,
    said: list[RuleSentence],
    order: list[int],
    limit: int,
    seed: int,
) -> list[int]:
    """The order of the rules; of the strongest few hundred, those that together cover the most are first."""
    points = lattice.rejected_points(SAMPLE, seed)
    if negatives is not None:
        points = negatives.sample(SAMPLE, np.random.default_rng(seed))
    strongest = order[: max(STRONGEST, limit)]
    candidates = [Candidate.of(points, said[i].region) for i in strongest]
    chosen, _ = greedy_cover(points, candidates, limit)
    first = [strongest[j] for j in chosen]
    return [*first, *(i for i in order if i not in set(first))]


def _bounded(
    points: PointSet,
    space: FeatureSpace,
    positives: WeightedPoints | None,
    negatives: WeightedPoints | None,
    limit: int,
    seed: int,
) -> Explanation:
    if negatives is None:
        basis, rejected = "drawn rejected points", _draw_rejected(points, space, seed)
        total = rejected.total
    else:
        basis, total = "negatives", negatives.total
        rejected = negatives.take(_rejected(points, negatives))
    searched = rejected if len(rejected) else _draw_rejected(points, space, seed)
    gold = None if positives is None else positives.take(_rejected(points, positives))
    found = strongest_rules(points, space, searched, seed, gold)
    evidence = None if positives is None else _Evidence(positives.weight, Chance(positives))
    rules = []
    inside = np.zeros((len(found), len(rejected)), dtype=np.bool_)
    for i, (region, bounds, row) in enumerate(found):
        share = None if evidence is None else evidence.chance.share
        said = sentence(space, region, partial(bounds.grown, row), share)
        proof = replace(bounds.names[row], bound=bounds.bound(row, said.region))
        inside[i] = rejected.inside(said.region)
        rules.append(_rule(space, said, float(rejected.weights[inside[i]].sum()), proof, evidence))
    every, shown = (float(rejected.weights[some.any(0)].sum()) for some in (inside, inside[:limit]))
    coverage = Coverage(basis, total, rejected.total, every, shown)
    return Explanation(tuple(rules), False, coverage, limit, None if positives is None else positives.total)


def _draw_rejected(points: PointSet, space: FeatureSpace, seed: int) -> WeightedPoints:
    """Random rejected points."""
    if space.integral:
        return draw_rejected(points, space, seed)
    psi = drawn_psi(space, SAMPLE, np.random.default_rng(seed))
    return WeightedPoints(space, PsiRows.of(SparsePsi.from_dense(psi[~points.accepts(psi)])))


@dataclass(frozen=True)
class _Evidence:
    """The evidence of positives on rules: their weight in a region, and the weight expected by chance."""

    weight: Callable[[Region], float]
    chance: Chance

    def figures(self, said: RuleSentence) -> tuple[float, float, float]:
        """(support, exceptions, expected)."""
        return self.weight(said.antecedent), self.weight(said.region), self.chance.expected(said.region)


def _rule(
    space: FeatureSpace, said: RuleSentence, covered: float, proof: Proof, evidence: _Evidence | None
) -> Rule:
    box = box_of(space, said.region)
    consequent = None if said.consequent is None else space.axes[said.consequent].name
    rule = Rule(
        said.words,
        box,
        Box(tuple(held for held in box.conditions if held[0] != consequent)),
        size_of(space, said.region),
        covered,
        proof,
    )
    if evidence is None:
        return rule
    support, exceptions, expected = evidence.figures(said)
    return replace(rule, support=support, exceptions=exceptions, expected=expected)


def _weighted(space: FeatureSpace, rows: PsiRows) -> WeightedPoints:
    if rows.psi.d != space.d:
        raise InvalidInput(
            f"the examples must have {space.d} columns, found {rows.psi.d}; pass examples on the space of the"
            " constraint."
        )
    return WeightedPoints(space, rows)


def _rejected(points: PointSet, examples: WeightedPoints) -> Bools:
    """Which examples the set rejects; computed in small pieces, because rows may need dense vectors."""
    step = max(1, (1 << 22) // examples.psi.d)
    verdict = np.empty(len(examples), dtype=np.bool_)
    for first in range(0, len(examples), step):
        rows = np.arange(first, min(first + step, len(examples)))
        psi = examples.psi.take(rows)
        verdict[rows] = ~points.accepts(psi)
    return verdict


def _weight_rejected(points: PointSet, examples: WeightedPoints) -> float:
    return float(examples.weights[_rejected(points, examples)].sum())


def _weight_covered(examples: WeightedPoints, regions: list[Region], pairs: Bools | None = None) -> float:
    """The weight of the examples in some region, or among the `pairs` of values of the two axes."""
    covered = np.zeros(len(examples), dtype=np.bool_)
    if pairs is not None:
        covered = pairs[examples.values(0), examples.values(1)]
    for region in regions:
        covered |= examples.inside(region)
    return float(examples.weights[covered].sum())


def _union(lattice: Lattice, regions: list[Region], covered: Bools) -> float:
    """The number of rejected points that are covered already, or in some region."""
    inner = lattice.rejected[(slice(0, -1),) * lattice.rejected.ndim]
    covered = covered.copy()
    for region in regions:
        picked = [
            np.flatnonzero(region[i]) if i in region else np.arange(n) for i, n in enumerate(inner.shape)
        ]
        covered[np.ix_(*picked)] = True
    return float(inner[covered].sum())


def _without_contained(regions: list[Region]) -> list[Region]:
    """The regions that are not inside another one; of equal regions, the first."""
    kept: list[Region] = []
    for region in sorted(regions, key=lambda r: -sum(int(mask.sum()) for mask in r.values())):
        if not any(within(region, other) for other in kept):
            kept.append(region)
    return kept
