"""`explain`: a constraint as rules in words, each proved.

A rule is a box whose points are all rejected. On small domains (the product of n_axis + 1 is at most
`enumeration`, by default 10^7) the rules are minimal, merged into boxes and complete: their union is the
rejected set. Let R[v_1, ..., v_m] be true iff the point is rejected, and append to every axis a slot "any"
with the conjunction over the axis. A cell of this lattice is a rule iff R is true there, and it is minimal
iff no axis with a value can be set to "any" such that R stays true. Cells that are equal on all axes except
one are merged into a box.

On larger domains the rules are the strongest that a bounded search finds, each proved by a row of Theorem 1,
r_S(psi) = 1 - sum_{k in S} a_k, whose maximum over a box (`_search.py`) is below zero. For a row and a point
that it rejects, the search starts with the point alone, where the row is below zero by a slack. It raises
thresholds: each axis has the values {v : c[v] <= tau} up to one. Of all steps (an axis and a threshold) that
the slack allows, it takes the one that saves the most of

    price = NAME * names + AXIS * (the axis is not free) - log(share of rejected points with these values)

for the slack that it uses. Rules are shown in the order of a greedy cover: the next one has the largest
`newly covered weight * exp(-READING * price)`.

A real column is divided into intervals. A rule on intervals is proved for all numbers in them, because a row
has its maximum over an interval at one of its ends. Such rules are never complete.

Paper: Sec. 4.1 interprets one learned inequality by hand (Eq. 9: "Location cannot Kill", because
-1.90 - 2.84 + 0.32 < 0); `why` does this for any assignment.

Not in the paper: `explain`. "A general method for interpreting learned constraints is a direction of
future research."
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, permutations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcons_core._arithmetic import exponent, rounding_bound
from lcons_core._blocks import Kind, check_numbers
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._pointset import Fitted, PointSet, affine, as_points, row_reach
from lcons_core._psi import PsiRows
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._search import (
    ENUMERATION_LIMIT,
    Region,
    Values,
    drawn_points,
    drawn_psi,
    scan,
    search,
    space_of,
)
from lcons_core.reason._words import (
    Coverage,
    Explanation,
    Proof,
    Rule,
    RuleSentence,
    TypeRule,
    box_of,
    is_label_pairs,
    sentence,
    type_rules,
)

MOST_AXES = 24
SAMPLE = 5_000
STRONGEST = 300
# Weights of a set on a domain that cannot be enumerated: less than a minute.
MOST_WEIGHTS = 2**18
MERGE_WORK = 4_000_000
NAME, AXIS, MOST_NAMES, READING = 0.15, 0.3, 12, 0.6
MOST_ROWS, ROWS_A_SEED = 1023, 4
MOST_RULES, LEAST_SHARE = 300, 2e-4
MOST_NUMBERS = 2**22
# So many first seeds are searched even if a rule covers them already.
DIVERSE_SEEDS = 100
# Numbers that all searches for rules may look at: a few seconds.
GROWTH_WORK = 2**29


class Examples(Protocol):
    """The members of labelled examples that `explain` reads."""

    @property
    def positives(self) -> PsiRows: ...
    @property
    def negatives(self) -> PsiRows: ...


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """N points as value indices (N, axes), with their weights (N,) and whether they are `rejected` (N,)."""

    space: FeatureSpace
    values: Ints
    weights: Floats
    rejected: Bools

    @classmethod
    def of(cls, points: PointSet, space: FeatureSpace, rows: PsiRows) -> WeightedPoints:
        """The points of examples."""
        step = max(1, MOST_NUMBERS // space.d)
        firsts = range(0, max(len(rows), 1), step)
        chunks = [rows.psi.take(np.arange(first, min(first + step, len(rows)))) for first in firsts]
        narrow = np.min_scalar_type(max(map(len, space.axes)))
        values = np.concatenate([space.assignments(chunk).astype(narrow) for chunk in chunks])
        return cls(space, values, rows.weight, np.concatenate([~points.accepts(chunk) for chunk in chunks]))

    @classmethod
    def rejected_ones(cls, space: FeatureSpace, values: Ints) -> WeightedPoints:
        """Rejected points of weight one."""
        return cls(space, values, np.ones(len(values)), np.ones(len(values), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def total(self) -> float:
        """The total weight of all points."""
        return float(self.weights.sum())

    def take(self, rows: Ints | Bools) -> WeightedPoints:
        """The chosen points."""
        return WeightedPoints(self.space, self.values[rows], self.weights[rows], self.rejected[rows])

    def sample(self, most: int, rng: np.random.Generator) -> WeightedPoints:
        """All points, or `most` random ones."""
        return self if len(self) <= most else self.take(np.sort(rng.permutation(len(self))[:most]))

    def inside(self, region: Region) -> Bools:
        """Which points are in the region."""
        left = np.arange(len(self))
        for axis, mask in region.items():
            left = left[mask[self.values[left, axis]]]
        inside = np.zeros(len(self), dtype=np.bool_)
        inside[left] = True
        return inside

    def table(self) -> Floats:
        """The weight of every point of the space, as a table with one dimension per axis."""
        table = np.zeros([len(axis) for axis in self.space.axes])
        np.add.at(table, tuple(self.values.T), self.weights)
        return table

    def weight(self, region: Region) -> float:
        """The weight of the points in the region."""
        return float(self.weights[self.inside(region)].sum())

    def share(self, axis: int) -> Floats:
        """The share of each value of an axis."""
        counts = np.bincount(self.values[:, axis], self.weights, minlength=len(self.space.axes[axis]))
        return counts / max(self.total, 1e-300)

    def expected(self, region: Region) -> float:
        """The weight in the region if its axes were independent: N times the sum, over the points of the
        region that can occur, of the product of the shares of their values."""
        inside = {axis: np.where(mask, self.share(axis), 0.0) for axis, mask in region.items()}
        operands: list[Any] = []
        for rule in self.space.requires:
            axes = [self.space.axis_index(name) for name in (rule.block, rule.needs_block)]
            if set(axes) <= set(region):
                chosen, needed = (self.space.axes[i].values for i in axes)
                table = np.ones((len(chosen), len(needed)))
                table[chosen.index(rule.value)] = [value in rule.needs_values for value in needed]
                operands += [table, axes]
        tied = sorted({axis for axes in operands[1::2] for axis in axes})
        chance = self.total * math.prod(float(s.sum()) for axis, s in inside.items() if axis not in tied)
        if not tied:
            return chance
        place = {axis: i for i, axis in enumerate(tied)}
        operands = [[place[a] for a in x] if isinstance(x, list) else x for x in operands]
        shares = [x for axis in tied for x in (inside[axis], [place[axis]])]
        return chance * float(np.einsum(*operands, *shares, [], optimize="greedy"))


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
        raise InvalidInput(f"limit must be at least 1, got {limit}.")
    sides = () if examples is None else (examples.positives, examples.negatives)
    positives, negatives = [WeightedPoints.of(points, space, side) for side in sides] or (None, None)
    return _Task(points, space, positives, negatives, limit, seed).explanation(enumeration)


@dataclass(frozen=True, eq=False)
class _Task:
    """A set on a space that is to be explained, the points of examples, if there are any, and how many rules
    are shown."""

    points: PointSet
    space: FeatureSpace
    positives: WeightedPoints | None
    negatives: WeightedPoints | None
    limit: int
    seed: int

    def explanation(self, enumeration: int) -> Explanation:
        """The explanation of a small space, whose lattice has at most so many cells, or of a large one."""
        axes = len(self.space.axes)
        small = self.space.integral and axes <= MOST_AXES and lattice_size(self.space) <= enumeration
        return (_enumerated if small else _bounded)(self)

    @property
    def common(self) -> Callable[[int], Floats] | None:
        """The share of each value of an axis among the valid parts."""
        return None if self.positives is None else self.positives.share

    def rule(self, stated: RuleSentence, covered: float, proof: Proof) -> Rule:
        """The rule of a sentence, with its figures on the examples."""
        box, antecedent = box_of(self.space, stated.region), box_of(self.space, stated.antecedent)
        lengths = enumerate(map(len, self.space.axes))
        size = math.prod(int(stated.region[i].sum()) if i in stated.region else n for i, n in lengths)
        rule = Rule(stated.words, box, antecedent, size, covered, proof)
        if self.positives is None:
            return rule
        support, exceptions = map(self.positives.weight, (stated.antecedent, stated.region))
        expected = self.positives.expected(stated.region)
        return replace(rule, support=support, exceptions=exceptions, expected=expected)


def explain_rejected(
    constraint: PointSet | Fitted,
    gold: PsiRows,
    *,
    space: FeatureSpace | None = None,
    limit: int = 20,
    enumeration: int = ENUMERATION_LIMIT,
    seed: int = 0,
) -> Explanation:
    """The rules that reject some of the valid parts `gold`.

    >>> from lcons_core import LabelledExamples, RectifierNetwork, binary
    >>> bits = FeatureSpace([binary("bit", "abc")])
    >>> gold = LabelledExamples.of(bits, [[1, 1, 0], [0, 0, 1]], [[1, 1, 1]]).positives
    >>> print(explain_rejected(RectifierNetwork([[1.0, 1.0, 1.0]], [0.0]), gold, space=bits))
    - where bit a holds, bit b must not hold  [support 1; expected 0.5 by chance, seen 1]
    1 rule (strongest first, each proved, not complete); it covers 100% of the rejected gold parts.
    """
    points = as_points(constraint, "explain_rejected")
    space = space_of(points, space).cells()
    weighted = WeightedPoints.of(points, space, gold)
    rejected = weighted.take(weighted.rejected)
    every = _Task(points, space, weighted, rejected, limit, seed).explanation(enumeration)
    # The rule of each type says more on what is rejected than a rule over all types.
    rules = tuple(replace(rule, implied=False) for rule in every.rules if rule.exceptions)
    inside = np.zeros((len(rules), len(rejected)), dtype=np.bool_)
    for i, rule in enumerate(rules):
        inside[i] = rule.box.contains(space, rejected.values)
    coverage = _coverage("rejected gold parts", rejected, rejected.total, inside, limit)
    return replace(every, rules=rules, complete=not len(rejected), coverage=coverage, types=())


def _coverage(basis: str, rejected: WeightedPoints, total: float, inside: Bools, limit: int) -> Coverage:
    """The coverage of rules by `inside` (rules, points)."""
    every, shown = (float(rejected.weights[some.any(0)].sum()) for some in (inside, inside[:limit]))
    return Coverage(basis, total, rejected.total, every, shown)


def lattice_size(space: FeatureSpace) -> int:
    """prod(n_i + 1): the number of partial assignments of a space."""
    return math.prod(len(axis) + 1 for axis in space.axes)


def _enumerated(task: _Task) -> Explanation:
    space, negatives = task.space, task.negatives
    lattice = _Lattice.of(task.points, space)
    regions = list(lattice.minimal_rules())
    if any(block.whole for block in space.blocks):
        regions = _without_contained(regions)
    stated = [sentence(space, region, lattice.grown, task.common) for region in regions]
    sizes = [lattice.sum(lattice.rejected, entry.region) for entry in stated]
    covered = sizes if negatives is None else [negatives.weight(entry.region) for entry in stated]
    proof = Proof("enumeration")
    rules = [task.rule(entry, weight, proof) for entry, weight in zip(stated, covered, strict=True)]
    strength = [(-w, -size, s.names) for w, size, s in zip(covered, sizes, stated, strict=True)]
    order = sorted(range(len(rules)), key=strength.__getitem__)
    sample = lattice.rejected_points() if negatives is None else negatives
    sample = sample.sample(SAMPLE, np.random.default_rng(task.seed))
    strongest = order[: max(STRONGEST, task.limit)]
    regions = [stated[i].region for i in strongest]
    cover = _greedy_cover(sample, regions, task.limit)[0] if len(rules) > 1 else []
    first = [strongest[j] for j in cover]
    order = [*first, *(i for i in order if i not in set(first))]
    types: tuple[TypeRule, ...] = ()
    pairs = np.zeros([len(axis) for axis in space.axes], dtype=np.bool_)
    if is_label_pairs(space):
        inner = (slice(0, -1),) * 2
        counts = None if task.positives is None else task.positives.table()
        types, pairs = type_rules(space, lattice.rejected[inner] > 0, ~lattice.vacuous[inner], counts)
        rules = [
            replace(rule, implied=bool(types) and bool(pairs[_index(entry.region, pairs.shape)].all()))
            for rule, entry in zip(rules, stated, strict=True)
        ]
        order = sorted(order, key=lambda i: rules[i].implied)
    for i in order[: task.limit]:
        pairs[_index(stated[i].region, pairs.shape)] = True
    if negatives is None:
        total = float(lattice.rejected[(-1,) * lattice.rejected.ndim])
        shown = float(lattice.rejected[(slice(0, -1),) * pairs.ndim][pairs].sum())
        coverage = Coverage("rejected points", total, total, total, shown)
    else:
        rejected = float(negatives.weights[negatives.rejected].sum())
        shown = float(negatives.weights[pairs[tuple(negatives.values.T)]].sum())
        coverage = Coverage("negatives", negatives.total, rejected, rejected, shown)
    valid = None if task.positives is None else task.positives.total
    return Explanation(tuple(rules[i] for i in order), True, coverage, task.limit, valid, types)


def _index(region: Region, shape: Sequence[int]) -> tuple[Any, ...]:
    """The index of a region in an array with one entry per point."""
    chosen = [region[i].nonzero()[0] if i in region else np.arange(n) for i, n in enumerate(shape)]
    return np.ix_(*chosen)


def _without_contained(regions: list[Region]) -> list[Region]:
    """The regions that are not inside another one; of equal regions, the first."""
    outer: list[Region] = []
    for region in sorted(regions, key=lambda r: -sum(int(mask.sum()) for mask in r.values())):
        if not any(all(i in region and not (region[i] & ~m).any() for i, m in o.items()) for o in outer):
            outer.append(region)
    return outer


@dataclass(frozen=True, eq=False)
class _Lattice:
    """`rule` and `vacuous` on the extended domain; `rejected` is the number of rejected points per cell.

    Points that `space.requires` excludes count as rejected, because they cannot be completions; rules that
    have only such completions are vacuous and are dropped.
    """

    space: FeatureSpace
    rule: Bools
    vacuous: Bools
    rejected: Floats

    @classmethod
    def of(cls, points: PointSet, space: FeatureSpace) -> _Lattice:
        # Impossible points are no completions, so they count as rejected.
        rejected, impossible = np.ones((2, space.size), dtype=np.bool_)
        for flat, (accepted,) in scan([points], space):
            rejected[flat], impossible[flat] = ~accepted, False
        shape = tuple(len(axis) for axis in space.axes)
        counts = (rejected & ~impossible).astype(np.float64).reshape(shape)
        return cls(
            space,
            _extended(rejected.reshape(shape), np.all),
            _extended(impossible.reshape(shape), np.all),
            _extended(counts, np.sum),
        )

    def rejected_points(self) -> WeightedPoints:
        """The possible rejected points."""
        inner = self.rejected[(slice(0, -1),) * self.rejected.ndim]
        return WeightedPoints.rejected_ones(self.space, np.argwhere(inner))

    def minimal_rules(self) -> Iterator[Region]:
        """Boxes of minimal rules, merged within each set of axes."""
        minimal = self.rule & ~self.vacuous
        for i in range(minimal.ndim):
            before = (slice(None),) * i
            minimal[*before, :-1] &= ~self.rule[*before, -1:]
        cells = np.argwhere(minimal)
        fixed = cells < np.array([len(axis) for axis in self.space.axes])
        patterns, which = np.unique(fixed, axis=0, return_inverse=True)
        for p, pattern in enumerate(patterns):
            axes = np.flatnonzero(pattern)
            if not len(axes):
                yield {}
                continue
            sizes = tuple(len(self.space.axes[i]) for i in axes)
            for masks in merge_cells(cells[which.reshape(-1) == p][:, axes], sizes):
                region = dict(zip(axes.tolist(), masks, strict=True))
                # Neighbouring counts that are also rejected are added, because ranges are easier to read.
                for i in region:
                    if self.space.block(self.space.axes[i].block).whole:
                        region[i] = self.grown(region, i)
                yield region

    def grown(self, region: Region, axis: int) -> Bools:
        """All values of one axis that can be added to the region: a mask that contains that of the region."""
        wide = {**region, axis: np.ones(len(self.space.axes[axis]), dtype=np.bool_)}
        cells = self.rule[self._cells(wide)]
        mask: Bools = cells.all(tuple(i for i in range(cells.ndim) if i != axis)).reshape(-1)
        return mask

    def sum(self, extended: Floats, region: Region) -> float:
        """The sum of an extended tensor over a region."""
        return float(extended[self._cells(region)].sum())

    def _cells(self, region: Region) -> tuple[Any, ...]:
        shape = self.rule.shape
        return np.ix_(*(region[i].nonzero()[0] if i in region else [n - 1] for i, n in enumerate(shape)))


def _extended(tensor: NDArray[Any], reduce: Callable[..., NDArray[Any]]) -> NDArray[Any]:
    for axis in range(tensor.ndim):
        tensor = np.concatenate([tensor, reduce(tensor, axis=axis, keepdims=True)], axis=axis)
    return tensor


def merge_cells(cells: Ints, sizes: tuple[int, ...]) -> list[tuple[Bools, ...]]:
    """Disjoint boxes, each with one mask per axis, whose union is exactly the cells (C, axes). The number of
    boxes depends on the order of the axes, so all orders are tried, or some if there are many cells.

    >>> boxes = merge_cells(np.array([[0, 1], [0, 2], [1, 1], [1, 2]]), (2, 3))
    >>> [mask.astype(int).tolist() for mask in boxes[0]], len(boxes)
    ([[1, 1], [0, 1, 1]], 1)
    """
    words = max(sizes) // 64 + 1
    start = np.zeros((*cells.shape, words), dtype=np.uint64)
    row, column = np.indices(cells.shape)
    start[row, column, cells // 64] = np.uint64(1) << (cells % 64).astype(np.uint64)
    affordable = max(1, MERGE_WORK // max(1, len(sizes) * len(cells)))
    # Each axis is soon the last one.
    orders = islice(permutations(reversed(range(len(sizes)))), min(affordable, 120))
    merged = []
    for order in orders:
        boxes = start
        for axis in reversed(order):
            boxes = _merge_along(boxes, axis)
        merged.append(boxes)
    octets = min(merged, key=len).astype("<u8").view(np.uint8)
    bits = np.unpackbits(octets, axis=2, bitorder="little").view(np.bool_)
    return [tuple(box[axis, :size] for axis, size in enumerate(sizes)) for box in bits]


def _merge_along(boxes: NDArray[np.uint64], axis: int) -> NDArray[np.uint64]:
    """The boxes after merging those that are equal on all other axes."""
    others = np.delete(boxes, axis, axis=1).reshape(len(boxes), -1)
    if not others.shape[1]:
        return np.bitwise_or.reduce(boxes, axis=0, keepdims=True)
    order = np.lexsort(others.T)
    others = others[order]
    starts = np.flatnonzero(np.concatenate(([True], (others[1:] != others[:-1]).any(1))))
    merged = boxes[order[starts]]
    merged[:, axis] = np.bitwise_or.reduceat(boxes[order, axis], starts, axis=0)
    return merged


def _reading_price(lengths: Any, one_hot: Any, numbers: Any) -> Floats:
    """The part of the price of so many values of an axis that measures the effort of the reader."""
    names = np.where(one_hot, np.minimum(np.minimum(numbers, lengths - numbers), MOST_NAMES), 1)
    return np.where(numbers == lengths, 0.0, AXIS + NAME * names)


def _greedy_cover(
    points: WeightedPoints, regions: Sequence[Region], most: int, least: float = 0.0
) -> tuple[list[int], Bools]:
    """The indices of at most `most` regions, best first, and which points remain uncovered; a region is
    chosen only if it newly covers more than a share `least` of the weight."""
    uncovered = np.ones(len(points), dtype=np.bool_)
    inside = np.zeros((len(regions), len(points)), dtype=np.bool_)
    discount = np.zeros(len(regions))
    space = points.space
    one_hot = np.array([space.block(axis.block).kind is Kind.ONE_HOT for axis in space.axes])
    for i, region in enumerate(regions):
        inside[i] = points.inside(region)
        lengths = np.array([len(mask) for mask in region.values()])
        numbers = np.array([int(mask.sum()) for mask in region.values()])
        discount[i] = np.exp(-READING * _reading_price(lengths, one_hot[list(region)], numbers).sum())
    gain = inside @ points.weights
    chosen: list[int] = []
    while len(chosen) < min(most, len(regions)):
        best = int(np.argmax(np.where(gain > least * points.total, gain * discount, 0.0)))
        if not gain[best] > least * points.total:
            break
        chosen.append(best)
        fresh = np.flatnonzero(inside[best] & uncovered)
        gain -= inside[:, fresh] @ points.weights[fresh]
        gain[best] = 0.0
        uncovered[fresh] = False
    return chosen, uncovered


def _bounded(task: _Task) -> Explanation:
    points, space, negatives = task.points, task.space, task.negatives
    weights = sum(part.W.size for part in points.networks())
    if weights > MOST_WEIGHTS:
        raise TooLarge(f"a network on this large domain can have {MOST_WEIGHTS:,} weights, got {weights:,}.")
    rng = np.random.default_rng(task.seed)
    if negatives is None or not negatives.rejected.any():
        searched = _drawn_rejected(points, space, rng, task.seed)
    else:
        searched = negatives.take(negatives.rejected)
    basis = searched if negatives is None else negatives
    rejected = basis.take(basis.rejected)
    gold = None if task.positives is None else task.positives.take(task.positives.rejected)
    rules, inside = [], np.zeros((MOST_RULES, len(rejected)), dtype=np.bool_)
    for i, (region, rows, row) in enumerate(_strongest(points, searched, gold, rng)):
        stated = sentence(space, region, partial(rows.grown, row), task.common)
        proof = replace(rows.names[row], bound=float(rows.values.most(stated.region, row)))
        inside[i] = rejected.inside(stated.region)
        rules.append(task.rule(stated, float(rejected.weights[inside[i]].sum()), proof))
    named = "drawn rejected points" if negatives is None else "negatives"
    coverage = _coverage(named, rejected, basis.total, inside, task.limit)
    valid = None if task.positives is None else task.positives.total
    return Explanation(tuple(rules), False, coverage, task.limit, valid)


def _drawn_rejected(
    points: PointSet, space: FeatureSpace, rng: np.random.Generator, seed: int
) -> WeightedPoints:
    """Random rejected points, used if there are no examples; empty if there were none."""
    if not space.integral:
        psi = drawn_psi(space, SAMPLE, rng)
        return WeightedPoints.rejected_ones(space, space.assignments(psi[~points.accepts(psi)]))
    number = int(np.clip(MOST_NUMBERS // len(space.axes), 200, min(4 * SAMPLE, 200 + 4 * space.size)))
    drawn = drawn_points(space, number, rng)
    rejected = drawn[~points.verdicts(space, drawn)]
    if len(rejected) < number // 20:
        rejected = np.concatenate([rejected, search(space, None, points, wanted=200, seed=seed).points])
    return WeightedPoints.rejected_ones(space, np.unique(rejected, axis=0))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `values >= 0`; a maximum is a proof if it is below `-slack`."""

    coefficients: Floats
    values: Values
    slack: float
    names: tuple[Proof, ...]

    def grown(self, row: int, region: Region, axis: int) -> Bools:
        """All values of one axis that the row forbids under the region's other conditions."""
        rest = self.values.most({i: mask for i, mask in region.items() if i != axis}, row)
        table = self.values.of_axis(axis)[:, row]
        forbidden: Bools = rest - self.values.maxima[axis, row] + table < -self.slack
        return forbidden


def candidate_rows(points: PointSet, space: FeatureSpace, sample: Ints) -> Rows:
    """The rows that reject most of the sample (N, axes): of networks with few units among all rows, of others
    among the rows of the most active units that reject a point, of its active set S* and of single units."""
    size = sum(map(len, space.axes))
    check_numbers(32 * size, "the tables of rules")
    most = int(np.clip(2 * MOST_NUMBERS // size, 32, MOST_ROWS))
    networks, pieces, names = points.networks(), [], []
    for p, part in enumerate(networks, start=1):
        subsets = _subsets(affine(space, part.W, part.b, sample), most // len(networks)).astype(np.float64)
        pieces.append((0.0 - subsets @ part.W, 1.0 - subsets @ part.b))
        number = p if len(networks) > 1 else 0
        names += [Proof("row", tuple(subset.nonzero()[0].tolist()), number) for subset in subsets]
    if networks:
        C, c = (np.concatenate(part) for part in zip(*pieces, strict=True))
        total = max(1.0 + row_reach(space, part.W).sum() + np.abs(part.b).sum() for part in networks)
        terms, q = max(part.K for part in networks), max(part.exponent for part in networks)
    else:
        C, c = rows_of(points).affine
        names = [Proof("row", row=m) for m in range(len(c))]
        total, terms, q = (row_reach(space, C) + np.abs(c)).max(initial=0.0), 0, exponent(C, c)
    terms += 4 * len(space.axes) + 4
    slack = rounding_bound(float(3 * total), terms, q if space.integral else None)
    some = sample[:: 1 + len(sample) * len(c) // (4 * MOST_NUMBERS)]
    rejects = (affine(space, C, c, some) < -slack).sum(0)
    chosen = np.sort(np.argsort(-rejects, kind="stable")[:most])
    return Rows(C[chosen], Values.of(space, C[chosen], c[chosen]), slack, tuple(names[m] for m in chosen))


def _subsets(activations: Floats, most: int) -> Bools:
    """All non-empty subsets of the units if at most `most`, else those that reject the points."""
    K = activations.shape[1]
    if most >= 2**K - 1:
        return (np.arange(1, 2**K)[:, None] >> np.arange(K) & 1).astype(np.bool_)
    order = np.argsort(-activations, axis=1)
    ranked = np.take_along_axis(activations, order, axis=1)
    shortest = (np.maximum(ranked, 0.0).cumsum(1) <= 1.0).sum(1) + 1
    rank, sizes = np.argsort(order, axis=1), (shortest, (ranked > 0).sum(1))
    sets = np.concatenate([rank < size[:, None] for size in sizes])
    subsets, number = np.unique(sets, axis=0, return_counts=True)
    common = subsets[np.argsort(-number, kind="stable")[:most]]
    return np.concatenate([common[common.any(1)], np.eye(K, dtype=np.bool_)[:most]])


def _strongest(
    points: PointSet, rejected: WeightedPoints, gold: WeightedPoints | None, rng: np.random.Generator
) -> list[tuple[Region, Rows, int]]:
    """The rules found, each with the rows tried and its own row of them, in the order of a greedy cover.
    `gold`: valid points that are rejected, which should be in some rule, however long."""
    space = rejected.space
    sample = rejected.sample(int(np.clip(MOST_NUMBERS // len(space.axes), 200, SAMPLE)), rng)
    seeds = rng.permutation(len(sample))
    if gold is not None:
        first = gold.sample(DIVERSE_SEEDS, rng)
        seeds = np.concatenate([len(sample) + np.arange(len(first)), seeds])
        pairs = zip((sample.values, sample.weights), (first.values, first.weights), strict=True)
        values, weights = (np.concatenate(pair) for pair in pairs)
        sample = WeightedPoints(space, values, weights, np.ones(len(values), dtype=np.bool_))
    if not len(sample):
        return []
    rows = candidate_rows(points, space, sample.values)
    at = affine(space, rows.coefficients, rows.values.bias, sample.values)
    highest = rows.values.most({})
    growths: dict[int, _Growth] = {}
    rules: dict[tuple[tuple[int, bytes], ...], tuple[Region, Rows, int]] = {}
    covered = np.zeros(len(sample), dtype=np.bool_)
    work = GROWTH_WORK
    for number, seed in enumerate(seeds.tolist()):
        if work < 0 or (number >= DIVERSE_SEEDS and covered[seed]):
            continue
        # A row is sure at a point if little of its range is above its value there.
        sure = np.where(at[seed] < -rows.slack, -at[seed] / np.maximum(highest - at[seed], 1e-30), 0.0)
        for row in np.argsort(-sure, kind="stable")[: min(ROWS_A_SEED, np.count_nonzero(sure))].tolist():
            if row not in growths:
                growths[row] = _Growth.of(rows, row, sample, at[:, row] < -rows.slack)
            region, steps = growths[row].region(sample.values[seed])
            work -= steps
            key = tuple((axis, region[axis].tobytes()) for axis in sorted(region))
            if key not in rules and rows.values.most(region, row) < -rows.slack:
                rules[key] = region, rows, row
                covered |= sample.inside(region)
    entries = list(rules.values())
    chosen, _ = _greedy_cover(sample, [region for region, _, _ in entries], MOST_RULES, LEAST_SHARE)
    return [entries[i] for i in chosen]


@dataclass(frozen=True, eq=False)
class _Growth:
    """The values of every axis in ascending order of a row's table: (axes, longest), padded at the end."""

    rows: Rows
    row: int
    order: Ints
    levels: Floats
    rank: Ints
    price: Floats
    last: Ints

    @classmethod
    def of(cls, rows: Rows, row: int, sample: WeightedPoints, rejected: Bools) -> _Growth:
        """Sorted tables, with prices from the points that the row rejects."""
        values, axes = rows.values, rows.values.space.axes
        lengths = np.array([len(axis) for axis in axes])
        place = np.arange(lengths.max())
        inside = place < lengths[:, None]
        tables, share = np.full(inside.shape, np.inf), np.zeros(inside.shape)
        tables[inside] = values.table[:, row]
        positions = values.first + sample.values[rejected]
        weights = np.repeat(sample.weights[rejected], len(axes))
        share[inside] = np.bincount(positions.ravel(), weights, len(values.table))
        share /= max(float(sample.weights[rejected].sum()), 1e-300)
        order = np.argsort(tables, axis=1, kind="stable")
        one_hot = np.array([values.space.block(axis.block).kind is Kind.ONE_HOT for axis in axes])
        reading = _reading_price(lengths[:, None], one_hot[:, None], place + 1)
        mass = np.take_along_axis(share, order, axis=1).cumsum(1)
        price = np.where(inside, reading - np.log(np.clip(mass, 1e-6, 1.0)), np.inf)
        levels = np.take_along_axis(tables, order, axis=1)
        return cls(rows, row, order, levels, np.argsort(order, axis=1), price, lengths - 1)

    def region(self, seed: Ints) -> tuple[Region, int]:
        """A region around a point that the row rejects, and the work that the search took."""
        every, place = np.arange(len(self.last)), np.arange(self.levels.shape[1])
        now = self.rank[every, seed]
        slack = -float(self.rows.values.bias[self.row] + self.levels[every, now].sum()) - self.rows.slack
        now = np.where(self.levels[every, now] == self.levels[every, self.last], self.last, now)
        work = 0
        while True:
            work += self.levels.size
            rise = self.levels - self.levels[every, now, None]
            fits = (place > now[:, None]) & (place <= self.last[:, None]) & (rise < slack)
            saved = np.where(fits, self.price[every, now, None] - self.price, 0.0)
            axis, level = divmod(int((saved / (rise + 1e-9)).argmax()), len(place))
            if not saved[axis, level] > 0:
                break
            slack -= rise[axis, level]
            now[axis] = level
        region = {}
        for axis in np.flatnonzero(now < self.last).tolist():
            region[axis] = np.zeros(self.last[axis] + 1, dtype=np.bool_)
            region[axis][self.order[axis, : now[axis] + 1]] = True
        return region, work
