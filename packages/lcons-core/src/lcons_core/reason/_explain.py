"""`explain`: a constraint as rules in words, each proved.

A rule is a box whose points are all rejected. One search finds boxes around rejected points: from a point,
conditions that are not needed are dropped, then values are added to the others, in several orders of the
axes. Of the boxes, a greedy cover chooses those with the largest

    newly covered weight * exp(-READING * price),    price = NAME * names + AXIS * axes

Two proofs decide whether a box can grow:

    small domains, where the product of n_axis + 1 is at most `enumeration` (by default 10^7): every point is
    enumerated. The search goes on until every rejected point is in a box, so the rules are complete: their
    union is the rejected set. No condition can be dropped from any of them.

    larger domains: a row of Theorem 1, r_S(psi) = 1 - sum_{k in S} a_k, whose maximum over the box,
    a sum over axes, is below zero. The rules are the strongest that a bounded search finds.

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
from functools import cached_property, partial
from itertools import islice
from typing import Any, Protocol

import numpy as np

from lcons_core._arithmetic import exponent, rounding_bound
from lcons_core._blocks import Kind, check_numbers
from lcons_core._errors import InvalidInput, TooLarge
from lcons_core._pointset import Fitted, PointSet, affine, as_points, row_reach
from lcons_core._psi import PsiRows
from lcons_core._space import FeatureSpace
from lcons_core._theorem import rows_of
from lcons_core._types import Bools, Floats, Ints
from lcons_core.reason._points import (
    ENUMERATION_LIMIT,
    Region,
    both_sides,
    drawn_psi,
    near_boundary,
    needed,
    scan,
    space_of,
)
from lcons_core.reason._words import (
    Coverage,
    Explanation,
    Grow,
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
# Weights of a set on a domain that cannot be enumerated: less than a minute.
MOST_WEIGHTS = 2**18
MOST_ORDERS = 8
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
        tables = []
        for rule in self.space.requires:
            axes = [self.space.axis_index(name) for name in (rule.block, rule.needs_block)]
            if set(axes) <= set(region):
                chosen, needed = (self.space.axes[i].values for i in axes)
                table = np.ones((len(chosen), len(needed)))
                table[chosen.index(rule.value)] = [value in rule.needs_values for value in needed]
                tables.append((table, axes))
        tied = sorted({axis for _, axes in tables for axis in axes})
        chance = self.total * math.prod(float(s.sum()) for axis, s in inside.items() if axis not in tied)
        operands: list[Any] = [x for i, axis in enumerate(tied) for x in (inside[axis], [i])]
        operands += [x for table, axes in tables for x in (table, [tied.index(axis) for axis in axes])]
        return chance * float(np.einsum(*operands, [], optimize="greedy")) if tied else chance


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
class _Box:
    """A region whose points are all rejected, how it can grow, and the proof for a region that has grown."""

    region: Region
    grow: Grow
    proof: Callable[[Region], Proof]


# From the place of a point in a sample to boxes around it, each with the work of its search.
Around = Callable[[int], Iterator[tuple[_Box, int]]]


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
        """The explanation of a small space, whose partial assignments are at most so many, or of a large
        one."""
        space, rng = self.space, np.random.default_rng(self.seed)
        lattice = math.prod(len(axis) + 1 for axis in space.axes)
        if space.integral and len(space.axes) <= MOST_AXES and lattice <= enumeration:
            whole = _Whole.of(self.points, space)
            rejected = WeightedPoints.rejected_ones(space, np.argwhere(whole.rejected & whole.possible))
            named, boxes = "rejected points", list(whole.boxes(self.negatives, rng))
        else:
            whole, named = None, "drawn rejected points"
            weights = sum(part.W.size for part in self.points.networks())
            if weights > MOST_WEIGHTS:
                raise TooLarge(
                    f"a network on this large domain can have {MOST_WEIGHTS:,} weights, got {weights:,}."
                )
            rejected = _rejected_some(self.points, space, self.negatives, self.seed)
            gold = None if self.positives is None else self.positives.take(self.positives.rejected)
            boxes = _by_rows(self.points, rejected, gold, rng)
        named, basis = (named, rejected) if self.negatives is None else ("negatives", self.negatives)
        rejected = basis.take(basis.rejected)
        rules, regions = [], []
        for box in boxes:
            stated = sentence(
                space, box.region, box.grow, None if self.positives is None else self.positives.share
            )
            rules.append(self._rule(stated, rejected.weight(stated.region), box.proof(stated.region)))
            regions.append(stated.region)
        types: tuple[TypeRule, ...] = ()
        covered = np.zeros(len(rejected), dtype=np.bool_)
        if whole is not None and is_label_pairs(space):
            counts = None if self.positives is None else self.positives.table()
            types, pairs = type_rules(space, whole.rejected & whole.possible, whole.possible, counts)
            covered = pairs[tuple(rejected.values.T)]
            implied = [bool(types) and bool(pairs[_index(region, pairs.shape)].all()) for region in regions]
            order = sorted(range(len(rules)), key=implied.__getitem__)
            rules = [replace(rules[i], implied=implied[i]) for i in order]
            regions = [regions[i] for i in order]
        shown, every = _covered(rejected, covered, regions, self.limit)
        every = rejected.total if whole is not None else every
        coverage = Coverage(named, basis.total, rejected.total, every, shown)
        valid = None if self.positives is None else self.positives.total
        return Explanation(tuple(rules), whole is not None, coverage, self.limit, valid, types)

    def _rule(self, stated: RuleSentence, covered: float, proof: Proof) -> Rule:
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
    regions = [dict(rule.box.masks(space)) for rule in rules]
    shown, every_rule = _covered(rejected, np.zeros(len(rejected), dtype=np.bool_), regions, limit)
    coverage = Coverage("rejected gold parts", rejected.total, rejected.total, every_rule, shown)
    return replace(every, rules=rules, complete=not len(rejected), coverage=coverage, types=())


def _covered(
    points: WeightedPoints, covered: Bools, regions: Sequence[Region], limit: int
) -> tuple[float, float]:
    """The weight of the points that are `covered` or in the first `limit` regions, and in all of them."""
    for region in regions[:limit]:
        covered = covered | points.inside(region)
    shown = float(points.weights[covered].sum())
    for region in regions[limit:]:
        covered = covered | points.inside(region)
    return shown, float(points.weights[covered].sum())


def _index(region: Region, shape: Sequence[int]) -> tuple[Any, ...]:
    """The index of a region in an array with one entry per point."""
    chosen = [region[i].nonzero()[0] if i in region else np.arange(n) for i, n in enumerate(shape)]
    return np.ix_(*chosen)


@dataclass(frozen=True, eq=False)
class _Whole:
    """Every point of a small space: which are `rejected`, and which are `possible` under `space.requires`.

    Impossible points count as rejected, because they are completions of no combination."""

    space: FeatureSpace
    rejected: Bools
    possible: Bools

    @classmethod
    def of(cls, points: PointSet, space: FeatureSpace) -> _Whole:
        """The verdicts on all points."""
        rejected, possible = np.ones(space.size, dtype=np.bool_), np.zeros(space.size, dtype=np.bool_)
        for flat, (accepted,) in scan([points], space):
            rejected[flat], possible[flat] = ~accepted, True
        shape = tuple(len(axis) for axis in space.axes)
        return cls(space, rejected.reshape(shape), possible.reshape(shape))

    def boxes(self, negatives: WeightedPoints | None, rng: np.random.Generator) -> Iterator[_Box]:
        """Boxes that cover every rejected point: those of the negatives first, then the others."""
        left = self.rejected & self.possible
        weights = np.zeros(left.shape) if negatives is None else negatives.table()
        while left.any():
            now = left & (weights > 0)
            weights, now = (weights, now) if now.any() else (np.ones(left.shape), left)
            points = WeightedPoints.rejected_ones(self.space, np.argwhere(now))
            sample = replace(points, weights=weights[now]).sample(SAMPLE, rng)
            seeds = np.argsort(-sample.weights, kind="stable")
            for box in _narrowed(sample, _cover(sample, seeds, partial(self.around, sample.values))):
                left[_index(box.region, left.shape)] = False
                yield box

    def around(self, values: Ints, seed: int) -> Iterator[tuple[_Box, int]]:
        """Boxes of rejected points around one: axes are freed where possible, and the others widened."""
        point = {i: np.arange(n) == values[seed, i] for i, n in enumerate(self.rejected.shape)}
        for order in _orders(list(point)):
            region = _widened(freed(point, self.grown, order), self.grown, order)
            yield _Box(region, self.grown, lambda _: Proof("enumeration")), 0

    def grown(self, region: Region, axis: int) -> Bools:
        """All values of one axis that are rejected with all points of the region's other conditions."""
        rejected = self.rejected
        for i, mask in region.items():
            if i != axis:
                rejected = rejected.compress(mask, axis=i)
        return np.asarray(rejected.all(tuple(i for i in range(rejected.ndim) if i != axis)))


def _orders(axes: Sequence[int]) -> Iterator[Sequence[int]]:
    """Some orders of the axes: forwards and backwards from each."""
    turns = ([*axes[i:], *axes[:i]] for i in range(len(axes) or 1))
    return islice((way for turn in turns for way in (turn, turn[::-1])), MOST_ORDERS)


def freed(region: Region, grow: Grow, order: Sequence[int]) -> Region:
    """The region without the conditions that it does not need, tried in this order."""
    for i in order:
        if grow(region, i).all():
            region = {axis: mask for axis, mask in region.items() if axis != i}
    return region


def _widened(region: Region, grow: Grow, order: Sequence[int]) -> Region:
    """The region with all values that can be added to its conditions, one after the other."""
    for i in [i for i in order if i in region]:
        region = {**region, i: region[i] | grow(region, i)}
    return {i: mask for i, mask in region.items() if not mask.all()}


def _cover(
    sample: WeightedPoints, seeds: Ints, around: Around, most: int | None = None, least: float = 0.0
) -> list[_Box]:
    """Boxes around the seeds that no other covers, in the order of a greedy cover."""
    boxes: dict[tuple[tuple[int, bytes], ...], _Box] = {}
    covered = np.zeros(len(sample), dtype=np.bool_)
    work = GROWTH_WORK
    for number, seed in enumerate(seeds.tolist()):
        if work < 0 or (number >= DIVERSE_SEEDS and covered[seed]):
            continue
        for box, steps in around(seed):
            work -= steps
            key = tuple((axis, box.region[axis].tobytes()) for axis in sorted(box.region))
            if boxes.setdefault(key, box) is box:
                covered |= sample.inside(box.region)
    entries = list(boxes.values())
    chosen = _greedy_cover(sample, [box.region for box in entries], most or len(entries), least)
    return [entries[i] for i in chosen]


def _narrowed(sample: WeightedPoints, boxes: Sequence[_Box]) -> list[_Box]:
    """The boxes that the sample needs, without values whose points are all in other boxes, if that is easier
    to read."""
    prices = np.array([_reading(sample.space, box.region) for box in boxes])
    inside = np.array([sample.inside(box.region) for box in boxes])
    left = needed(inside.T, order := np.argsort(-prices, kind="stable"))
    regions = [dict(box.region) for box in boxes]
    times = inside[left].sum(0)
    for i in [i for i in order.tolist() if left[i]]:
        region = regions[i]
        for axis, value in [(i, v) for i, mask in region.items() for v in np.flatnonzero(mask)]:
            narrow = {**region, axis: region[axis] & (np.arange(len(region[axis])) != value)}
            points = inside[i] & (sample.values[:, axis] == value)
            cheaper = _reading(sample.space, narrow) < _reading(sample.space, region)
            if cheaper and points.any() and (times[points] >= 2).all():
                region[axis] = narrow[axis]
                inside[i] &= ~points
                times = times - points
    return [
        replace(box, region=freed(region, box.grow, sorted(region)))
        for box, region, is_left in zip(boxes, regions, left, strict=True)
        if is_left
    ]


def _reading(space: FeatureSpace, region: Region) -> float:
    """The part of the price of a region that measures the effort of the reader."""
    one_hot = np.array([space.block(space.axes[i].block).kind is Kind.ONE_HOT for i in region])
    lengths = np.array([len(mask) for mask in region.values()])
    numbers = np.array([int(mask.sum()) for mask in region.values()])
    return float(_reading_price(lengths, one_hot, numbers).sum())


def _reading_price(lengths: Any, one_hot: Any, numbers: Any) -> Floats:
    """The price of so many values of an axis, without the share of the points that have them."""
    names = np.where(one_hot, np.minimum(np.minimum(numbers, lengths - numbers), MOST_NAMES), 1)
    return np.where(numbers == lengths, 0.0, AXIS + NAME * names)


def _greedy_cover(points: WeightedPoints, regions: Sequence[Region], most: int, least: float) -> list[int]:
    """The indices of at most `most` regions, best first; a region is chosen only if it newly covers more than
    a share `least` of the weight."""
    uncovered = np.ones(len(points), dtype=np.bool_)
    inside = np.array([points.inside(region) for region in regions]).reshape(-1, len(points))
    discount = np.exp([-READING * _reading(points.space, region) for region in regions])
    gain = inside @ points.weights
    chosen: list[int] = []
    while len(chosen) < min(most, len(regions)):
        gain = np.where(gain > least * points.total, gain, 0.0)
        best = int((gain * discount).argmax())
        if not gain[best]:
            break
        fresh = np.flatnonzero(inside[best] & uncovered)
        gain -= inside[:, fresh] @ points.weights[fresh]
        gain[best] = 0.0
        uncovered[fresh] = False
        if len(fresh):  # otherwise its gain was a rounding error
            chosen.append(best)
    return chosen


def _rejected_some(
    points: PointSet, space: FeatureSpace, negatives: WeightedPoints | None, seed: int
) -> WeightedPoints:
    """The rejected negatives; if there are none, random rejected points; empty if none was found."""
    if negatives is not None and negatives.rejected.any():
        return negatives.take(negatives.rejected)
    rng = np.random.default_rng(seed)
    if not space.integral:
        psi = drawn_psi(space, SAMPLE, rng)
        return WeightedPoints.rejected_ones(space, space.assignments(psi[~points.accepts(psi)]))
    number = int(np.clip(MOST_NUMBERS // len(space.axes), 200, min(4 * SAMPLE, 200 + 4 * space.size)))
    drawn = both_sides(points, space, number, rng)
    drawn = np.concatenate([drawn, near_boundary(points, space, number // 20, rng, drawn)])
    rejected = drawn[~points.verdicts(space, drawn)]
    return WeightedPoints.rejected_ones(space, np.unique(rejected, axis=0))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `coefficients @ psi + bias >= 0`, as sums over axes: the part of value v of axis i is
    `table[first[i] + v]`. A maximum of a row over a region is a proof if it is below `-slack`."""

    space: FeatureSpace
    coefficients: Floats
    bias: Floats
    slack: float
    names: tuple[Proof, ...]

    @cached_property
    def table(self) -> Floats:
        """(values, M) what each value of each axis adds to the rows."""
        sizes = sum(map(len, self.space.axes))
        check_numbers(len(self.bias) * sizes, f"the tables of {len(self.bias):,} rows")
        return np.concatenate([axis.table(self.coefficients) for axis in self.space.axes])

    @cached_property
    def first(self) -> Ints:
        """(axes,) where the values of each axis begin in the table."""
        return np.cumsum([0, *map(len, self.space.axes)])[:-1]

    @cached_property
    def maxima(self) -> Floats:
        """(axes, M) the most that each axis adds."""
        maxima: Floats = np.maximum.reduceat(self.table, self.first, axis=0)
        return maxima

    def of_axis(self, axis: int) -> Floats:
        """(values, M) the part of the table of one axis."""
        return self.table[self.first[axis] : self.first[axis] + len(self.space.axes[axis])]

    def most(self, region: Region, rows: int | slice = slice(None)) -> Floats:
        """The maximum over a region of all rows, or of one of them."""
        total = self.bias[rows] + self.maxima[:, rows].sum(0)
        for axis, mask in region.items():
            total = total + self.of_axis(axis)[mask][:, rows].max(0) - self.maxima[axis, rows]
        return total

    def proof(self, row: int, region: Region) -> Proof:
        """The proof that a row is below zero in a region."""
        return replace(self.names[row], bound=float(self.most(region, row)))

    def around(self, row: int, point: Ints, value: float) -> Region:
        """The conditions of a point that remain when those that raise the row least, which is below zero
        there by `value`, are dropped."""
        rise = self.maxima[:, row] - self.table[self.first + point, row]
        order = np.argsort(rise, kind="stable")
        left = order[rise[order].cumsum() >= -value - self.slack]
        return {i: np.arange(len(self.space.axes[i])) == point[i] for i in left.tolist()}

    def grown(self, row: int, region: Region, axis: int) -> Bools:
        """All values of one axis that the row forbids under the region's other conditions."""
        rest = self.most({i: mask for i, mask in region.items() if i != axis}, row)
        forbidden: Bools = rest - self.maxima[axis, row] + self.of_axis(axis)[:, row] < -self.slack
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
    values = affine(space, C, c, some)
    chosen = np.sort(np.lexsort((values.min(0, initial=0.0), -(values < -slack).sum(0)))[:most])
    return Rows(space, C[chosen], c[chosen], slack, tuple(names[m] for m in chosen))


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


def _by_rows(
    points: PointSet, rejected: WeightedPoints, gold: WeightedPoints | None, rng: np.random.Generator
) -> list[_Box]:
    """The boxes that cover most of the rejected points, each proved by one row. `gold`: valid points that are
    rejected, which should be in some box, however long its rule."""
    space = rejected.space
    sample = rejected.sample(int(np.clip(MOST_NUMBERS // len(space.axes), 200, SAMPLE)), rng)
    seeds = rng.permutation(len(sample))
    if gold is not None:
        first = gold.sample(DIVERSE_SEEDS, rng)
        seeds = np.concatenate([len(sample) + np.arange(len(first)), seeds])
        pairs = zip((sample.values, sample.weights), (first.values, first.weights), strict=True)
        values, weighted = (np.concatenate(pair) for pair in pairs)
        sample = replace(WeightedPoints.rejected_ones(space, values), weights=weighted)
    if not len(sample):
        return []
    rows = candidate_rows(points, space, sample.values)
    at = affine(space, rows.coefficients, rows.bias, sample.values)
    highest = rows.most({})

    def around(seed: int) -> Iterator[tuple[_Box, int]]:
        # A row is sure at a point if little of its range is above its value there.
        sure = np.where(at[seed] < -rows.slack, -at[seed] / np.maximum(highest - at[seed], 1e-30), 0.0)
        for row in np.argsort(-sure, kind="stable")[: min(ROWS_A_SEED, np.count_nonzero(sure))].tolist():
            grow, proof = partial(rows.grown, row), partial(rows.proof, row)
            tight = rows.around(row, sample.values[seed], float(at[seed, row]))
            for order in islice(_orders(sorted(tight)), 2):
                region = _widened(tight, grow, order)
                if rows.most(region, row) < -rows.slack:
                    yield _Box(region, grow, proof), len(rows.table) * (1 + len(region))

    return _cover(sample, seeds, around, MOST_RULES, LEAST_SHARE)
