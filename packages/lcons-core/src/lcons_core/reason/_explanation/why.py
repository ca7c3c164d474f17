"""Why one assignment is rejected: the most violated inequality, term by term; and its completions.

Paper: Sec. 4.1 reads a learned inequality, Eq. 9, by hand: (Location, Kill) is disallowed, because
-1.90 - 2.84 + 0.32 < 0.

Not in the paper: partial assignments. For these, `why` uses the row with the smallest maximum over the
completions; a block without a value counts with its best value, so the sum is a bound. `completions` searches
for an allowed point with the given values. A combination is forbidden iff every completion is rejected, by
any rows. Up to `limit` completions are all checked, so the answer is a proof. Of more, random ones and ones
found by climbing the margin are checked: then an allowed one is a proof, but finding none is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core._arithmetic import plain, unravelled
from lcons_core._blocks import Axis, Kind
from lcons_core._errors import InvalidInput
from lcons_core._pointset import Fitted, PointSet, as_points
from lcons_core._space import FeatureSpace
from lcons_core._theorem import cut_of
from lcons_core._types import Floats, Ints
from lcons_core.reason._domain import Box
from lcons_core.reason._explanation.large_domains import candidate_rows
from lcons_core.reason._explanation.regions import Region, points_of, size_of
from lcons_core.reason._points import climb, space_of
from lcons_core.reason._real_points import drawn_reals

COMPLETIONS = 200
MOST_TERMS = 12
MOST_COLUMNS = 60


@dataclass(frozen=True)
class Why:
    """`value` is the sum of `terms` (by name) and `bias`; `forbidden` iff some row is below zero there.

    If blocks are open, `value` is the largest value of the row, and `forbidden` iff that is below zero.
    `coefficients` is the whole row, by the names of its columns."""

    terms: tuple[tuple[str, float], ...]
    bias: float
    value: float
    forbidden: bool
    partial: bool
    coefficients: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        # Omit zero terms; of very many terms, print only the largest.
        shown = [term for term in self.terms if term[1]] or list(self.terms)
        left = sum(value for _, value in sorted(shown, key=_size)[MOST_TERMS:])
        terms = sorted(shown, key=_size)[:MOST_TERMS] if len(shown) > MOST_TERMS else shown
        rest = [(f"{len(shown) - MOST_TERMS} more", left)] if len(shown) > MOST_TERMS else []
        named = ", ".join(name for name, _ in [*terms, *rest])
        values = [*(value for _, value in [*terms, *rest]), self.bias]
        numbers = " ".join(_signed(value, first=i == 0) for i, value in enumerate(values))
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
        kept = sorted(shown, key=_size)[:MOST_COLUMNS]
        terms = [f"{_signed(value, first=False)} [{name}]" for name, value in shown if (name, value) in kept]
        if len(shown) > len(kept):
            terms.append(f"(and {len(shown) - len(kept):,} smaller terms)")
        return f"{' '.join(terms)} {_signed(self.bias, first=False)} >= 0".lstrip("+ ")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "terms": [{"name": name, "value": value} for name, value in self.terms],
            "bias": self.bias,
            "value": self.value,
            "forbidden": self.forbidden,
            "partial": self.partial,
            "coefficients": [{"name": name, "value": value} for name, value in self.coefficients],
        }


def why(
    constraint: PointSet | Fitted,
    assignment: Mapping[str, Any] | None = None,
    /,
    *,
    space: FeatureSpace | None = None,
    **named: Any,
) -> Why:
    """The inequality that is most violated at an assignment by name, and its terms.

    Pass one value per one-hot block, the names that hold (or a mapping from names to truth values) per binary
    block, and a mapping from names to numbers per other block (the number alone if it has one column); blocks
    that are not named stay open. An open real column counts with its better bound.

    >>> from lcons_core import RectifierNetwork, one_hot
    >>> blocks = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> network = RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0])
    >>> print(why(network, space=FeatureSpace(blocks), source="Location", relation="Kill"))
    source Location, relation Kill: -2.00 - 2.00 + 3.00 = -1.00 < 0, so it is forbidden
    """
    points = as_points(constraint, "why")
    space = space_of(points, space)
    space, region = pinned_region(space, {**(assignment or {}), **named})
    is_open = [i not in region for i in range(len(space.axes))]
    if any(is_open):
        coefficients, bias, forbidden = _open_row(points, space, region)
    else:
        values = np.array([[int(np.flatnonzero(region[i])[0]) for i in range(len(space.axes))]])
        coefficients, bias, forbidden = _point_row(points, space, values)
    terms = []
    for i, axis in enumerate(space.axes):
        table = axis.table(coefficients[None])[:, 0]
        allowed = np.flatnonzero(region[i]) if i in region else np.arange(len(axis))
        best = int(allowed[table[allowed].argmax()])
        terms.append((_term_name(space, axis, best, i not in region), float(table[best])))
    value = bias + sum(value for _, value in terms)
    columns = [f"{block} {value}" for block, value in space.columns]
    whole = tuple(zip(columns, coefficients.tolist(), strict=True))
    return Why(tuple(terms), bias, float(value), forbidden, any(is_open), whole)


def pinned_region(space: FeatureSpace, assignment: Mapping[str, Any]) -> tuple[FeatureSpace, Region]:
    """A finite space for the assignment, and its region there: real columns have their given numbers, or
    their two bounds, where a row has its maximum."""
    if space.integral:
        return space, region_of(space, assignment)
    pinned, rest = split_assignment(space, assignment)
    finite = space.corners(pinned)
    region = dict(region_of(finite, rest))
    for i, axis in enumerate(finite.axes):
        if len(axis) == 1 and int(axis.columns[0]) in pinned:
            region[i] = np.ones(1, dtype=np.bool_)
    return finite, region


def split_assignment(
    space: FeatureSpace, assignment: Mapping[str, Any]
) -> tuple[dict[int, float], dict[str, Any]]:
    """The numbers of real columns by index, and the assignment of the other blocks."""
    pinned: dict[int, float] = {}
    rest: dict[str, Any] = {}
    for name, given in assignment.items():
        block = space.block(name)
        if block.kind is not Kind.REAL:
            rest[name] = given
            continue
        alone = len(block.values) == 1 and not isinstance(given, Mapping)
        numbers = {block.values[0]: given} if alone else given
        if not isinstance(numbers, Mapping):
            raise InvalidInput(
                f"block {name!r} is real and needs a mapping of numbers by name, found {given!r:.40}."
            )
        for value, number in numbers.items():
            j, inside = space.column(name, value), isinstance(number, int | float | np.number)
            if not inside or not block.low <= number <= block.high:
                raise InvalidInput(
                    f"{name!r} needs a number from {block.low:g} to {block.high:g} for {value!r}, found"
                    f" {number!r:.40}."
                )
            pinned[j] = float(number)
    return pinned, rest


def region_of(space: FeatureSpace, assignment: Mapping[str, Any]) -> Region:
    """The region of the points with an assignment by name, in the form that `why` accepts."""
    spelt: dict[str, Any] = {}
    for name, given in assignment.items():
        block = space.block(name)
        if block.kind is Kind.BINARY and not isinstance(given, Mapping):
            names = {given} if isinstance(given, str) else set(given)
            for value in names:
                space.column(name, value)
            given = {value: value in names for value in block.values}
        spelt[name] = given
    region = {}
    for axis_name, values in Box.of(space, spelt).conditions if spelt else ():
        i = space.axis_index(axis_name)
        region[i] = np.isin(space.axes[i].values, values)
    return region


def _point_row(points: PointSet, space: FeatureSpace, values: Ints) -> tuple[Any, float, bool]:
    """The row with the smallest value at a point, that value, and whether the set rejects the point."""
    psi = space.vectors(values)[0]
    row = cut_of(points, psi)
    return row.coefficients[0], float(row.bias[0]), not points.accepts(psi)


def _open_row(points: PointSet, space: FeatureSpace, region: Region) -> tuple[Any, float, bool]:
    """Of the rows tried, that with the smallest maximum over the completions; whether it is below zero."""
    rng = np.random.default_rng(0)
    drawn = np.stack([rng.integers(0, len(axis), COMPLETIONS) for axis in space.axes], axis=1)
    for i, mask in region.items():
        drawn[:, i] = rng.choice(np.flatnonzero(mask), COMPLETIONS)
    rows = candidate_rows(points, space, points_of(space, drawn))
    bounds = np.array([rows.bound(m, region) for m in range(len(rows))])
    best = int(bounds.argmin())
    forbidden = bool((bounds < -rows.slack).any())
    return rows.coefficients[best], float(rows.bias[best]), forbidden


def _term_name(space: FeatureSpace, axis: Axis, value: int, is_open: bool) -> str:
    if is_open:
        return f"{axis.name} open ({axis.values[value]} at best)"
    kind = space.block(axis.block).kind
    return f"{axis.name}{' ' if kind is Kind.ONE_HOT else ' = '}{axis.values[value]}"


def _size(term: tuple[str, float]) -> float:
    return -abs(term[1])


def _signed(value: float, first: bool) -> str:
    if first:
        return f"{value:.2f}"
    return f"{'-' if value < 0 else '+'} {abs(value):.2f}"


LIMIT = 10**6
DRAWN = 2**13
MOST_NUMBERS = 2**22
CLIMBED = 2**7
MOST_CLIMBED = 2**9  # the total number of values of all axes: each is one step of climbing
_CHUNK = 2**14


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
    space = space_of(points, space)
    space, region = pinned_region(space, assignment)
    reals = open_reals(space)
    if reals.size:
        return _drawn_completions(points, space, region, reals, seed)
    total = size_of(space, region)
    every = total <= limit
    looked = allowed = 0
    example = None
    chunks: Iterable[Ints] = _all(space, region, total)
    for chunk in chunks if every else [_some(points, space, region, seed)]:
        accepted = points.verdicts(space, chunk)
        looked += len(chunk)
        allowed += int(accepted.sum())
        if example is None and accepted.any():
            example = space.describe(space.vectors(chunk[accepted][:1])[0])
    if every and not looked:
        raise InvalidInput(
            "no point of the space has these values together, with or without the constraint; choose values"
            " that can occur together."
        )
    forbidden = False if allowed else (True if every else None)
    return Completions(total, looked, allowed, example, forbidden)


def open_reals(space: FeatureSpace) -> Ints:
    """The axes of real columns that have two bounds instead of one number (`pinned_region`)."""
    real = [
        space.block(axis.block).kind is Kind.REAL and axis.coefficients[0] < axis.coefficients[-1]
        for axis in space.axes
    ]
    return np.flatnonzero(real)


def _drawn_completions(
    points: PointSet, space: FeatureSpace, region: Region, reals: Ints, seed: int
) -> Completions:
    """As `completions`, for random numbers in the open real columns."""
    psi = space.vectors(_some(points, space, region, seed))
    rng = np.random.default_rng(seed)
    real = np.flatnonzero(space.real_columns)
    is_open = np.isin(real, [space.axes[i].columns[0] for i in reals])
    inner = psi.copy()
    inner[:, real[is_open]] = drawn_reals(space, len(psi), rng)[:, is_open]
    psi = np.concatenate([psi, inner])
    accepted = points.accepts(psi)
    example = space.describe(psi[accepted][0]) if accepted.any() else None
    allowed = int(accepted.sum())
    return Completions(len(psi), len(psi), allowed, example, False if allowed else None)


def _all(space: FeatureSpace, region: Region, total: int) -> Iterator[Ints]:
    """Every completion, in chunks."""
    choices = [
        np.flatnonzero(region[i]) if i in region else np.arange(len(axis))
        for i, axis in enumerate(space.axes)
    ]
    lengths = [len(choice) for choice in choices]
    for first in range(0, total, _CHUNK):
        places = unravelled(np.arange(first, min(first + _CHUNK, total)), lengths)
        chunk = np.stack([choice[f] for choice, f in zip(choices, places.T, strict=True)], axis=1).astype(
            np.int64
        )
        yield chunk[space.possible(chunk)]


def _some(points: PointSet, space: FeatureSpace, region: Region, seed: int) -> Ints:
    """Random completions, and some more found by climbing the margin from them."""
    rng = np.random.default_rng(seed)
    number = max(1, min(DRAWN, MOST_NUMBERS // len(space.axes)))
    drawn = np.stack([rng.integers(0, len(axis), number) for axis in space.axes], axis=1)
    for i, mask in region.items():
        drawn[:, i] = rng.choice(np.flatnonzero(mask), number)
    drawn = drawn[space.possible(drawn)]
    if sum(len(axis) for axis in space.axes) > MOST_CLIMBED:
        return drawn

    def within(assignments: Ints) -> Floats:
        outside = np.zeros(len(assignments), dtype=np.bool_)
        for i, mask in region.items():
            outside |= ~mask[assignments[:, i]]
        return np.where(outside, -np.inf, points.margins(space, assignments))

    return np.concatenate([drawn, climb(space, drawn[:CLIMBED], within)])
