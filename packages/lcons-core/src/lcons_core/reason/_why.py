"""Why one assignment is rejected: the most violated inequality, term by term; and its completions.

Paper: Sec. 4.1 reads a learned inequality, Eq. 9, by hand: (Location, Kill) is disallowed, because
-1.90 - 2.84 + 0.32 < 0.

Not in the paper: partial assignments. For these, `why` uses the row with the smallest maximum over the
completions; a block without a value counts with its best value, so the sum is a bound. `completions` looks
for an allowed point with the given values. A combination is forbidden iff every completion is rejected, by
any rows. Up to `limit` completions, or kinds of them (`_points.py`), are all checked, so the answer is a
proof. Of more, some are drawn: then an allowed one is a proof, and so is a row that rejects all completions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import plain
from lcons_core._blocks import Kind
from lcons_core._errors import InvalidInput
from lcons_core._pointset import Fitted, PointSet, as_points, row_of
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats, Ints
from lcons_core.reason._explain import candidate_rows, freed
from lcons_core.reason._points import (
    Region,
    both_sides,
    drawn_points,
    drawn_reals,
    kinds,
    region_points,
    space_of,
)
from lcons_core.reason._rules import Box
from lcons_core.reason._words import sentence

COMPLETIONS = 200
MOST_TERMS = 12
MOST_COLUMNS = 60
LIMIT = 10**6
DRAWN = 2**13
MOST_NUMBERS = 2**22

Terms = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Why:
    """`value` is the sum of `terms` (by name) and `bias`; `forbidden` iff some row is below zero there.

    If blocks are open, `value` is the largest value of the row, and `forbidden` iff that is below zero.
    `coefficients` is the whole row, by the names of its columns. `rule` is what the row forbids in words; ""
    if the assignment is allowed or has real numbers."""

    terms: Terms
    bias: float
    value: float
    forbidden: bool
    partial: bool
    coefficients: Terms
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.rule}; here {self.arithmetic}" if self.rule else self.arithmetic

    @property
    def arithmetic(self) -> str:
        """The sum as text."""
        # Omit zero terms; of very many terms, print only the largest.
        terms = [term for term in self.terms if term[1]] or list(self.terms)
        if len(terms) > MOST_TERMS:
            ordered = sorted(terms, key=_size)
            rest = sum(value for _, value in ordered[MOST_TERMS:])
            terms = [*ordered[:MOST_TERMS], (f"{len(terms) - MOST_TERMS} more", rest)]
        named = ", ".join(name for name, _ in terms)
        first, *others = [*(value for _, value in terms), self.bias]
        numbers = " ".join([f"{first:.2f}", *map(_signed, others)])
        if self.forbidden:
            verdict = "< 0, so it is forbidden"
        elif self.partial:
            verdict = ">= 0, so no row tried forbids every completion"
        else:
            verdict = ">= 0, so it is allowed"
        return f"{named}: {numbers} = {self.value:.2f} {verdict}"

    @property
    def inequality(self) -> str:
        """The row as text; of very many columns, only those with the largest coefficients."""
        shown = [term for term in self.coefficients if term[1]]
        largest = set(sorted(shown, key=_size)[:MOST_COLUMNS])
        terms = [f"{_signed(value)} [{name}]" for name, value in shown if (name, value) in largest]
        if len(shown) > len(largest):
            terms.append(f"(and {len(shown) - len(largest):,} smaller terms)")
        return f"{' '.join(terms)} {_signed(self.bias)} >= 0".lstrip("+ ")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        named = {name: [{"name": n, "value": v} for n, v in getattr(self, name)] for name in _NAMED}
        return {**vars(self), **named}


_NAMED = ("terms", "coefficients")


def _size(term: tuple[str, float]) -> float:
    return -abs(term[1])


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value):.2f}"


def why(
    constraint: PointSet | Fitted,
    assignment: Mapping[str, Any] | Sequence[str] | None = None,
    /,
    *,
    space: FeatureSpace | None = None,
    **named: Any,
) -> Why:
    """The inequality that is most violated at an assignment by name, and its terms.

    Pass one value per one-hot block, the names that hold (or a mapping from names to truth values) per binary
    block, and a mapping from names to numbers per other block (the number alone if it has one column); blocks
    that are not named stay open, and an open real column counts with its better bound. A tuple or list has
    the values of all blocks, in order, or is a structure: then its part with the smallest margin is named.

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> network = RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0])
    >>> reason = why(network, space=FeatureSpace(blocks), source="Location", relation="Kill")
    >>> print(reason.rule)
    source Location needs relation NoRel
    >>> print(reason.arithmetic)
    source Location, relation Kill: -2.00 - 2.00 + 3.00 = -1.00 < 0, so it is forbidden
    """
    points = as_points(constraint, "why")
    space = space_of(points, space)
    psi_of = getattr(points, "psi", None)  # only constraints read structures
    if psi_of is not None and not _is_point(space, assignment):
        psi = psi_of(assignment)
        assignment = space.describe(row_of(psi, int(points.margin(psi).argmin())))
    space, region = _region_of(space, {**space.by_block(assignment or {}), **named})
    partial = len(region) < len(space.axes)
    rows = candidate_rows(points, space, _drawn(space, COMPLETIONS if partial else 1, 0, region))
    bounds = rows.most(region)
    best = int(bounds.argmin())
    coefficients, bias = rows.coefficients[best], float(rows.bias[best])
    if partial:
        forbidden = bool(bounds[best] < -rows.slack)
    else:
        psi = space.vectors(np.array([[int(region[i].argmax()) for i in range(len(space.axes))]]))[0]
        forbidden = not points.accepts(psi)
    terms, costs = [], {}
    for i, axis in enumerate(space.axes):
        table = axis.table(coefficients[None])[:, 0]
        at = int(np.where(region.get(i, True), table, -np.inf).argmax())
        between = " " if space.block(axis.block).kind is Kind.ONE_HOT else " = "
        name = f"{between}{axis.values[at]}" if i in region else f" open ({axis.values[at]} at best)"
        terms.append((axis.name + name, float(table[at])))
        costs[i] = float(table.max() - table[at])
    rule = ""
    if forbidden and space.integral:
        grow = functools.partial(rows.grown, best)
        region = freed(region, grow, sorted(region, key=costs.__getitem__))
        rule = sentence(space, region, grow).words
    columns = [f"{block} {value}" for block, value in space.columns]
    whole = tuple(zip(columns, coefficients.tolist(), strict=True))
    value = bias + sum(value for _, value in terms)
    return Why(tuple(terms), bias, value, forbidden, partial, whole, rule)


def _is_point(space: FeatureSpace, assignment: Any) -> bool:
    """Whether an assignment has values of blocks, not a structure of several parts."""
    if assignment is None or isinstance(assignment, Mapping):
        return True
    return len(assignment) == len(space.blocks) and all(isinstance(value, str) for value in assignment)


def _drawn(space: FeatureSpace, number: int, seed: int, region: Region) -> Ints:
    return drawn_points(space, number, np.random.default_rng(seed), region)


def _region_of(space: FeatureSpace, assignment: Mapping[str, Any]) -> tuple[FeatureSpace, Region]:
    """A finite space for the assignment, and its region there: real columns have their given numbers, or
    their two bounds, where a row has its maximum."""
    pinned: dict[int, float] = {}
    spelt: dict[str, Any] = {}
    for name, value in assignment.items():
        block = space.block(name)
        if block.kind is Kind.REAL:
            pinned.update(_numbers(space, name, value))
        elif block.kind is Kind.BINARY and not isinstance(value, Mapping):
            names = {value} if isinstance(value, str) else set(value)
            for missing in names:
                space.column(name, missing)
            spelt[name] = {column: column in names for column in block.values}
        else:
            spelt[name] = value
    finite = space if space.integral else space.corners(pinned)
    region = dict(Box.of(finite, spelt).masks(finite)) if spelt else {}
    for i, axis in enumerate(finite.axes):
        if len(axis) == 1 and int(axis.columns[0]) in pinned:
            region[i] = np.ones(1, dtype=np.bool_)
    return finite, region


def _numbers(space: FeatureSpace, name: str, value: Any) -> dict[int, float]:
    """The numbers of the real columns of a block, by column."""
    block = space.block(name)
    numbers = value if isinstance(value, Mapping) else dict.fromkeys(block.values[:1], value)
    if len(numbers) < len(block.values) and not isinstance(value, Mapping):
        raise InvalidInput(f"block {name!r} is real and needs a mapping of numbers by name.")
    for number in numbers.values():
        if not isinstance(number, int | float | np.number) or not block.low <= number <= block.high:
            raise InvalidInput(
                f"{name!r} needs a number in {block.low:g}..{block.high:g}, got {number!r:.40}."
            )
    return {space.column(name, column): float(number) for column, number in numbers.items()}


@dataclass(frozen=True)
class Completions:
    """`looked` of `total` completions were checked; `allowed` are accepted; `example` is the first of these.

    `forbidden` is True or False if proved, None if not known. `total` counts the completions in the product
    of axes; `looked` counts only points of the space. If a real column is open, completions are drawn, and
    `total` is their number.
    """

    total: int
    looked: int
    allowed: int
    example: dict[str, Any] | None
    forbidden: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "total": plain(self.total)}


def completions(
    constraint: PointSet | Fitted,
    assignment: Mapping[str, Any],
    *,
    space: FeatureSpace | None = None,
    limit: int = LIMIT,
    seed: int = 0,
) -> Completions:
    """The verdicts of the constraint on the points with these values; see `why` for the assignment.

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> network = RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0])
    >>> completions(network, {"source": "Location"}, space=FeatureSpace(blocks)).example
    {'source': 'Location', 'relation': 'NoRel'}
    """
    points = as_points(constraint, "completions")
    space, region = _region_of(space_of(points, space), assignment)
    sizes = [int(region[i].sum()) if i in region else len(axis) for i, axis in enumerate(space.axes)]
    total = math.prod(sizes)
    if not all(len(axis) == 1 for axis in space.axes if space.block(axis.block).kind is Kind.REAL):
        psi = _drawn_psi(space, region, seed)
        accepted = points.accepts(psi)
        return _completions(space, len(psi), len(psi), psi[accepted], int(accepted.sum()), None)
    some = region if total <= limit else kinds(space, [points], region)
    number = math.prod(int(some[i].sum()) if i in some else len(axis) for i, axis in enumerate(space.axes))
    every = number <= limit
    if every:
        chunks: Iterable[Ints] = region_points(space, some, number)
        unless: bool | None = True
    else:
        drawn = max(1, min(DRAWN, MOST_NUMBERS // len(space.axes)))
        sample = both_sides(points, space, drawn, np.random.default_rng(seed), region)
        chunks, unless = [sample], _is_proved(points, space, region, sample)
    looked = allowed = 0
    first = np.zeros((0, len(space.axes)), dtype=np.int64)
    for chunk in chunks:
        accepted = points.verdicts(space, chunk)
        looked, allowed = looked + len(chunk), allowed + int(accepted.sum())
        first = first if len(first) else chunk[accepted][:1]
    if every and not looked:
        raise InvalidInput("no point of the space has these values together; choose others.")
    return _completions(space, total, looked, space.vectors(first), allowed, unless)


def _is_proved(points: PointSet, space: FeatureSpace, region: Region, sample: Ints) -> bool | None:
    """True if a row rejects every point of a region; otherwise None, not known."""
    if not points.networks():
        return None
    rows = candidate_rows(points, space, sample)
    return True if rows.most(region).min() < -rows.slack else None


def _completions(
    space: FeatureSpace, total: int, looked: int, psi: Floats, allowed: int, unless: bool | None
) -> Completions:
    """The result; `psi` begins with an accepted point if one was found, and `unless` holds if none was."""
    example = space.describe(psi[0]) if allowed else None
    return Completions(total, looked, allowed, example, False if allowed else unless)


def _drawn_psi(space: FeatureSpace, region: Region, seed: int) -> Floats:
    """Random completions, half of them with open real columns at their bounds, half with numbers between."""
    ends = space.vectors(_drawn(space, DRAWN, seed, region))
    inner, real = ends.copy(), space.real_columns
    open_columns = [axis.columns[0] for axis in space.axes if len(axis) > 1 and real[axis.columns[0]]]
    drawn = np.zeros_like(ends)
    drawn[:, real] = drawn_reals(space, len(ends), np.random.default_rng(seed))
    inner[:, open_columns] = drawn[:, open_columns]
    return np.concatenate([ends, inner])
