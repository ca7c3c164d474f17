"""Rules in words: the shortest true sentence for a forbidden box.

A box forbids `v_1 in V_1 and ... and v_m in V_m`. With C_i the complement of V_i, the same in words is

    one axis    "label 2 is never X or Y"              or  "label 2 is always Z"            (Z = C)
    two axes    "relation Kill needs source Person"    or  "source Location cannot go with relation Kill"
    more        "where label 1 is A and pos 2 is B, label 3 must be C"      or  "... cannot be V"

A condition that excludes only a few values is easier to read as an exception: "..., unless pos 1 is $". Of
V_i and its complement the shorter one is listed; if both are long, its most common values are named, or its
first ones if there are no examples, and the others counted:

    few values                "relation Kill or LiveIn"
    all but a few             "any relation but Kill"
    many inside and outside   "relation Kill, LiveIn or 18 others of 43"

Every sentence means exactly its box: the consequent is one axis, all other axes are the antecedent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from lcons_core._blocks import Axis, CellAxis, Kind
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats
from lcons_core.reason._explanation.regions import Region, Stacked

LONGEST_LIST = 6
LONGEST_SHORTER_SIDE = 8
SHOWN = 3

# The weight of each value of an axis, by the index of the axis.
Common = Callable[[int], Floats]


def listed(names: Sequence[str], last: str = "or") -> str:
    """Names joined by commas and a last word.

    >>> listed(["Kill", "LiveIn", "WorkFor"])
    'Kill, LiveIn or WorkFor'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def noun(axis: Axis, mask: Bools, common: Floats | None = None) -> str:
    """ "relation Kill or LiveIn", "any relation but Kill", "relation Kill, LiveIn or 18 others of 43"."""
    positive, names = _described(axis, mask, common)
    if not names:
        return f"any value of {axis.name}"
    return f"{axis.name} {names}" if positive else f"any {axis.name} but {names}"


def values(axis: Axis, mask: Bools, common: Floats | None = None) -> str:
    """ "Kill or LiveIn", "anything but Kill", "Kill, LiveIn or 18 others of 43"."""
    positive, names = _described(axis, mask, common)
    if not names:
        return "any value"
    return names if positive else f"anything but {names}"


def _described(axis: Axis, mask: Bools, common: Floats | None) -> tuple[bool, str]:
    """Whether the names are those of the values, or of all others; and the names, "" for all values."""
    inside, outside = _sides(mask)
    if _is_spelt_out(inside, outside):
        return True, listed(picked(axis, mask))
    if not outside:
        return True, ""
    if _is_complement(inside, outside):
        return False, listed(picked(axis, ~mask))
    positive = inside <= outside
    side = mask if positive else ~mask
    named = side
    if common is not None:
        # Values that never occur tell nothing; of the others, the most common ones.
        weights = np.where(side, common, 0.0)
        if weights.any():
            named = weights > 0
        order = np.argsort(-weights, kind="stable")
    else:
        order = np.arange(len(side))
    chosen = [int(v) for v in order if named[v]][:LONGEST_LIST]
    rest = int(side.sum()) - len(chosen)
    names = [name for v in chosen for name in picked(axis, np.arange(len(side)) == v)]
    return positive, f"{listed([*names, f'{rest} others'])} of {len(mask)}"


def spelt_out(names: list[str]) -> str:
    """The names, or their number and the first few."""
    if len(names) <= LONGEST_LIST:
        return listed(names)
    return f"any of {len(names)} ({', '.join(names[:SHOWN])}, ...)"


def _sides(mask: Bools) -> tuple[int, int]:
    inside = int(mask.sum())
    return inside, len(mask) - inside


def _is_spelt_out(inside: int, outside: int) -> bool:
    """Whether the values are named: they are few, or a little more but the shorter side."""
    return inside <= LONGEST_LIST or inside <= min(outside, LONGEST_SHORTER_SIDE)


def _is_complement(inside: int, outside: int) -> bool:
    """Whether the values are described by the names of the other values."""
    return not _is_spelt_out(inside, outside) and 0 < outside <= LONGEST_SHORTER_SIDE


def picked(axis: Axis, mask: Bools) -> list[str]:
    """Names of values; in quotes if they would look like punctuation."""
    values = [axis.values[v] for v in np.flatnonzero(mask)]
    return [v if any(c.isalnum() for c in v) else f'"{v}"' for v in values]


def names_of(inside: int, outside: int) -> int:
    """The number of names that a reader must read; a side given by its size costs more than any list."""
    if _is_spelt_out(inside, outside):
        return inside
    if _is_complement(inside, outside):
        return outside + 1
    return LONGEST_SHORTER_SIDE + 2 + (inside > outside)


FEWEST_FOR_EXCEPTIONS = 8
MOST_CLAUSES = 6
EXISTS = "exists"

Grow = Callable[[Region, int], Bools]


@dataclass(frozen=True, eq=False)
class RuleSentence:
    """`words` for the box `region`: if the antecedent holds, the values of `consequent` are forbidden."""

    words: str
    region: Region
    consequent: int | None
    names: int

    @property
    def antecedent(self) -> Region:
        """The conditions under which the rule applies."""
        return {i: mask for i, mask in self.region.items() if i != self.consequent}


def sentence(
    space: FeatureSpace, region: Region, grow: Grow | None = None, common: Common | None = None
) -> RuleSentence:
    """The sentence for a forbidden region that names the fewest values; of many, the most common ones.

    `grow(region, axis)` returns all values of an axis that the other conditions forbid, so that "must be"
    does not name values that are forbidden anyway; the region of the sentence then includes them.
    """
    if not region:
        return RuleSentence("nothing is allowed", region, None, 0)
    conditions = _Conditions.of(space, region)
    forms: list[tuple[int, int, Bools, bool]] = []
    for axis in sorted(region, reverse=True):
        own, kept = region[axis], conditions.kept[axis]
        wide, inside = own, kept
        if grow is not None and len(wide) - kept > 1:
            grown = wide | grow(region, axis)
            wide = wide if grown.all() else grown
            inside = int(wide.sum())
        forms.append((conditions.cost(axis, len(own) - inside), axis, wide, True))
        forms.append((conditions.cost(axis, kept), axis, own, False))
    # Of equal forms, that of the last axis: contexts are first and labels last, and a decoder chooses labels.
    best = _Form(conditions, *min(forms, key=itemgetter(0))[1:])
    return RuleSentence(best.words(space, common), best.region, best.consequent, best.names)


def condition(space: FeatureSpace, axis: Axis, mask: Bools, common: Floats | None = None) -> str:
    """ "label 1 is B-NP or I-NP", "title exists", "count author >= 3"."""
    block = space.block(axis.block)
    if block.whole:
        return f"{axis.name} {_ranges(axis, mask)}"
    if isinstance(axis, CellAxis):
        return f"{axis.name} is {_intervals(axis, mask)}"
    if block.kind is Kind.BINARY:
        exists = axis.block == EXISTS
        held, missing = (" exists", " is missing") if exists else (" holds", " does not hold")
        return _subject(axis) + (held if mask[-1] else missing)
    return f"{axis.name} is {values(axis, mask, common)}"


@dataclass(frozen=True, eq=False)
class _Conditions:
    """The conditions of a region in an antecedent: the number of values of each that are `kept`, which ones
    are `exceptions`, and the number of names that each needs. They are the same for every consequent, so that
    the forms of a region of many axes are counted in linear time."""

    space: FeatureSpace
    region: Region
    kept: dict[int, int]
    exceptions: frozenset[int]
    named: dict[int, int]
    names: int

    @classmethod
    def of(cls, space: FeatureSpace, region: Region) -> _Conditions:
        kept = dict(zip(region, Stacked.of(region).kept, strict=True))
        # An antecedent of one condition has no exceptions.
        several = len(region) > 2
        found = frozenset(i for i in region if several and _is_exception(space, i, region[i], kept[i]))
        named = {i: _named(space, i, len(space.axes[i]) - kept[i] if i in found else kept[i]) for i in region}
        return cls(space, region, kept, found, named, sum(named.values()))

    def cost(self, consequent: int, named: int) -> int:
        """The effort of reading the form whose consequent is the axis and has so many values to name."""
        core = len(self.region) - len(self.exceptions) - (consequent not in self.exceptions)
        return self.names_with(consequent, named) + core

    def names_with(self, consequent: int, named: int) -> int:
        """The number of names in the form whose consequent is the axis and has so many values to name."""
        return self.names - self.named[consequent] + _named(self.space, consequent, named)


@dataclass(frozen=True, eq=False)
class _Form:
    """One way to describe a region: the values in `mask` of the `consequent` are forbidden, or all others are
    allowed (`must`)."""

    conditions: _Conditions
    consequent: int
    mask: Bools
    must: bool

    @property
    def names(self) -> int:
        """The number of names that a reader must read."""
        inside, outside = _sides(self.mask)
        return self.conditions.names_with(self.consequent, outside if self.must else inside)

    @property
    def region(self) -> Region:
        """The region, which includes all values of the mask."""
        region = self.conditions.region
        own = region[self.consequent]
        return region if own is self.mask else {**region, self.consequent: self.mask}

    @property
    def core(self) -> list[int]:
        """The conditions that are not exceptions."""
        left_out = {*self.conditions.exceptions, self.consequent}
        return [i for i in sorted(self.conditions.region) if i not in left_out]

    @property
    def exceptions(self) -> list[int]:
        """The conditions after "unless"."""
        return sorted(self.conditions.exceptions - {self.consequent})

    def words(self, space: FeatureSpace, common: Common | None) -> str:
        words = _core_words(space, self.region, self.core, self.consequent, self.must, common)
        exceptions = self.exceptions
        if exceptions:
            words += f", unless {self._unless(space, exceptions)}"
        return words

    def _unless(self, space: FeatureSpace, exceptions: list[int]) -> str:
        clauses, held = [], []
        for i in exceptions:
            axis = space.axes[i]
            if space.block(axis.block).kind is Kind.BINARY:
                held.append(_subject(axis))
            else:
                # Slashes, because "or" is already between the exceptions.
                clauses.append(f"{axis.name} is {'/'.join(picked(axis, ~self.conditions.region[i]))}")
        if held:
            verb = EXISTS if space.axes[exceptions[-1]].block == EXISTS else "holds"
            clauses.append(f"{spelt_out(held)} {verb}")
        return _shortened(clauses, len(clauses), "or", "excepted")


def _core_words(
    space: FeatureSpace, region: Region, core: list[int], consequent: int, must: bool, common: Common | None
) -> str:
    axis, mask = space.axes[consequent], region[consequent]
    often = {i: None if common is None else common(i) for i in (*core[:MOST_CLAUSES], consequent)}
    own = often[consequent]
    kinds = {space.block(space.axes[i].block).kind for i in (*core, consequent)}
    if not core:
        return _always(space, axis, mask, must, own)
    if len(core) == 1 and kinds == {Kind.ONE_HOT}:
        subject = noun(space.axes[core[0]], region[core[0]], often[core[0]])
        if must:
            return f"{subject} needs {noun(axis, ~mask, own)}"
        return f"{subject} cannot go with {noun(axis, mask, own)}"
    clauses = [condition(space, space.axes[i], region[i], often[i]) for i in core[:MOST_CLAUSES]]
    then = _then(space, axis, mask, must, own)
    return f"where {_shortened(clauses, len(core), 'and', 'met')}, {then}"


def _is_exception(space: FeatureSpace, axis: int, mask: Bools, kept: int) -> bool:
    """Whether a condition is best put after "unless": it excludes few values, or a name must be missing."""
    kind = space.block(space.axes[axis].block).kind
    if kind is Kind.BINARY:
        return not mask[-1]
    left_out = len(mask) - kept
    few = 4 * left_out <= len(mask) and left_out <= LONGEST_SHORTER_SIDE
    return kind is Kind.ONE_HOT and len(mask) >= FEWEST_FOR_EXCEPTIONS and few


def _always(space: FeatureSpace, axis: Axis, mask: Bools, must: bool, common: Floats | None) -> str:
    block = space.block(axis.block)
    if block.whole:
        return f"{axis.name} is always {_ranges(axis, ~mask)}"
    if isinstance(axis, CellAxis):
        return f"{axis.name} is never {_intervals(axis, mask)}"
    if block.kind is Kind.BINARY:
        verb = "exists" if axis.block == EXISTS else "holds"
        return f"{_subject(axis)} {'never' if mask[-1] else 'always'} {verb}"
    named = values(axis, ~mask if must else mask, common)
    return f"{axis.name} is {'always' if must else 'never'} {named}"


def _then(space: FeatureSpace, axis: Axis, mask: Bools, must: bool, common: Floats | None) -> str:
    block = space.block(axis.block)
    if block.whole:
        return f"{axis.name} must be {_ranges(axis, ~mask)}"
    if isinstance(axis, CellAxis):
        return f"{axis.name} cannot be {_intervals(axis, mask)}"
    if block.kind is Kind.BINARY:
        exist, missing = ("exist", "be missing") if axis.block == EXISTS else ("hold", "not hold")
        return f"{_subject(axis)} must {missing if mask[-1] else exist}"
    named = values(axis, ~mask if must else mask, common)
    return f"{axis.name} {'must' if must else 'cannot'} be {named}"


def _subject(axis: Axis) -> str:
    """The name of a binary column; without the name of the block if that is `exists`."""
    return axis.name.removeprefix(f"{EXISTS} ") if axis.block == EXISTS else axis.name


def _named(space: FeatureSpace, axis: int, inside: int) -> int:
    """The number of names that a reader must read on one axis."""
    if space.block(space.axes[axis].block).kind is not Kind.ONE_HOT:
        return 1
    return names_of(inside, len(space.axes[axis]) - inside)


def _intervals(axis: CellAxis, mask: Bools) -> str:
    """Cells as intervals with their ends: "at least 3.5", "at most 1", "2 to 4"."""
    parts = []
    for inside, run in groupby(range(len(mask)), key=lambda v: bool(mask[v])):
        cells = list(run)
        low, high = f"{axis.edges[cells[0]]:.12g}", f"{axis.edges[cells[-1] + 1]:.12g}"
        if inside and cells[-1] == len(mask) - 1:
            parts.append(f"at least {low}")
        elif inside:
            parts.append(f"at most {high}" if not cells[0] else f"{low} to {high}")
    return " or ".join(parts)


def _ranges(axis: Axis, mask: Bools) -> str:
    """Counts as ranges: "= 2", ">= 3", "<= 1", "2 to 4"."""
    parts = []
    for inside, run in groupby(range(len(mask)), key=lambda v: bool(mask[v])):
        values = list(run)
        first, last = axis.values[values[0]], axis.values[values[-1]]
        if not inside:
            continue
        if len(values) == 1:
            parts.append(f"= {first}")
        elif values[-1] == len(mask) - 1:
            parts.append(f">= {first}")
        else:
            parts.append(f"<= {last}" if values[0] == 0 else f"{first} to {last}")
    return listed(parts)


def _shortened(clauses: list[str], number: int, last: str, verb: str) -> str:
    """The first of `number` clauses joined; if there are many, with how many others (`to_dict` has all)."""
    if number > MOST_CLAUSES:
        clauses = [*clauses[: MOST_CLAUSES - 1], f"{number - MOST_CLAUSES + 1} more are {verb}"]
    return listed(clauses, last)
