"""The result of `explain`: rules as sentences, with proofs and figures on examples, as text and plain data.

A box forbids `v_1 in V_1 and ... and v_m in V_m`. With C_i the complement of V_i, the same in words is

    one axis           "source is never X or Y"             or  "source is always Z"        (Z = C)
    two axes           "relation Kill needs source Person"  or  "relation Kill cannot go with source Place"
    adjacent labels    "I-ORG only after B-ORG or I-ORG"    or  "I-ORG never after O"
    more               "where label 1 is A and pos 2 is B, label 3 must be C"    or  "... cannot be V"

A condition that excludes only a few values is easier to read as an exception: "..., unless pos 1 is $". Of
V_i and its complement the shorter one is listed; if both are long, its most common values are named, or its
first ones if there are no examples, and the others counted:

    few values                "relation Kill or LiveIn"
    all but a few             "any relation but Kill"
    many inside and outside   "relation Kill, LiveIn or 18 others of 43"

Every sentence means exactly its box: the consequent is one axis, all other axes are the antecedent.

Labels such as B-PER have a prefix and a type. For label pairs, the cell (h, p, same) is the set of pairs
whose first label has the prefix h (or is the label h, such as O), whose second label has the prefix p, and
whose types are the same or not. `type_rules` makes one sentence for all types of the forbidden cells next to
a prefix: "I-X only after B-X or I-X" if only cells of the same type are allowed there, otherwise "I-X never
after O or B-Y", where X and Y are different types.

    support     weight of the positives that the premise (antecedent) covers; all positives without a premise
    exceptions  weight of the positives that the rule forbids
    expected    weight of the exceptions that is expected if its conditions were independent
    covered     weight of the negatives in its box; without examples, of the rejected points in it
    bound       if it was judged on held-out data: an upper bound (95 %) on the share of rejected parts among
                the valid parts that the premise covers

Only `expected` measures the evidence for a rule. A rule on a label that occurs once has the support of its
premise, but an expectation near 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from lcons_core._arithmetic import plain, rounded_up
from lcons_core._blocks import Axis, CellAxis, Kind
from lcons_core._space import FeatureSpace
from lcons_core._types import Bools, Floats
from lcons_core.features._ngrams import block_names, type_of
from lcons_core.reason._points import Region
from lcons_core.reason._rules import Box

LEGEND = (
    "support: valid parts that the rule's premise covers (all of them where it has none); expected: how many"
    " the rule\nwould forbid if its conditions were independent; seen: how many it forbids. Where expected is"
    " small, the rule\nrests on little, whatever its support."
)
BOUND_LEGEND = (
    "rejects under: on new data, the share of the valid parts covered by the premise that the constraint"
    " rejects (95 % bound,\nfrom held-out data)."
)
# With fewer valid parts, as in short examples, the figures need no legend.
FEWEST_FOR_LEGEND = 30
LONGEST_LIST = 6
LONGEST_SHORTER_SIDE = 8
FEWEST_FOR_EXCEPTIONS = 8
MOST_CLAUSES = 6
EXISTS = "exists"
IF, ALWAYS, THEN = "if", "always", "then"
# For numbers, for values, and for a binary column that holds, does not hold, exists, does not exist.
CLAUSES = {
    IF: (" ", " is ", " holds", " does not hold", " exists", " is missing"),
    ALWAYS: (" is always ", " is never ", " never holds", " always holds", " never exists", " always exists"),
    THEN: (" must be ", " cannot be ", " must not hold", " must hold", " must be missing", " must exist"),
}

# The weight of each value of an axis, by the index of the axis.
Common = Callable[[int], Floats]
Grow = Callable[[Region, int], Bools]


@dataclass(frozen=True)
class Proof:
    """The proof that every completion of a rule is rejected.

    `method` is "enumeration" or "row". A row is named by its hidden units (in a conjunction, those of
    `part`), or by its position if rows were given; `bound` is its maximum over the box, which is below zero.
    """

    method: str
    units: tuple[int, ...] = ()
    part: int = 0
    bound: float | None = None
    row: int | None = None

    def __str__(self) -> str:
        if self.method == "enumeration":
            return "every completion enumerated"
        units = ", ".join(map(str, self.units))
        name = f"row {self.row}" if self.row is not None else f"the row of units {units}"
        part = f" of part {self.part}" if self.part else ""
        return f"{name}{part} is at most {self.bound:.3g} there"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        if self.method == "enumeration":
            return {"method": self.method}
        row = {"part": self.part, "units": list(self.units)} if self.row is None else {"row": self.row}
        return {"method": self.method, "bound": self.bound, **row}


@dataclass(frozen=True, kw_only=True)
class _Figures:
    """The figures of a rule on examples; None without examples."""

    support: float | None = None
    exceptions: float | None = None
    expected: float | None = None
    bound: float | None = None

    def text(self) -> str:
        """The figures in brackets; "" without examples."""
        if self.support is None or self.exceptions is None or self.expected is None:
            return ""
        expected, seen = by_chance(self.expected), _number(self.exceptions)
        # Without a held-out part to judge the rule by, the bound is 1.
        judged = self.bound is not None and self.bound < 1
        rejects = f"; rejects under {rounded_up(self.bound or 0.0)}" if judged else ""
        return f"  [support {_number(self.support)}; expected {expected} by chance, seen {seen}{rejects}]"

    def figures(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "support": whole(self.support),
            "exceptions": whole(self.exceptions),
            "expected": None if self.expected is None else round(self.expected, 3),
            **({} if self.bound is None else {"bound": round(self.bound, 6)}),
        }


@dataclass(frozen=True)
class Rule(_Figures):
    """A forbidden box: every point inside is rejected.

    `antecedent` is the part of the box before "needs", "cannot" or "must"; `size` is the number of points of
    the box; `implied`: a rule over types says the same.
    """

    words: str
    box: Box
    antecedent: Box
    size: int
    covered: float
    proof: Proof
    implied: bool = False

    def __str__(self) -> str:
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with all values of every condition."""
        return {
            "words": self.words,
            "forbidden": self.box.to_dict(),
            "antecedent": self.antecedent.to_dict(),
            "size": plain(self.size),
            "covered": whole(self.covered),
            **self.figures(),
            "proof": self.proof.to_dict(),
        }


@dataclass(frozen=True)
class TypeRule(_Figures):
    """A rule for all types: its words, the labels that it is about (`antecedent`), the number of forbidden
    pairs."""

    words: str
    antecedent: Box
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        named = {"words": self.words, "antecedent": self.antecedent.to_dict(), "size": self.size}
        return {**named, **self.figures()}


@dataclass(frozen=True)
class Coverage:
    """Weights of `basis` (such as "negatives"): in total, rejected, and in the rules found and shown."""

    basis: str
    total: float
    rejected: float
    found: float
    shown: float

    def __str__(self) -> str:
        if not self.total:
            return f"no {self.basis}"
        text = f"{_share(self.shown, self.total)} of the {self.basis}"
        if self.found > self.shown:
            text += f", all that were found {_share(self.found, self.total)}"
        if self.rejected < self.total:
            text += f" (the constraint rejects {_share(self.rejected, self.total)})"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: value if name == "basis" else whole(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Explanation:
    """Rules, strongest first; `complete` if their union is exactly the rejected set.

    `limit` is the default number of rules to show; `rules` has all of them. `positives` is the total weight
    of the valid parts in the figures, None without examples. `types` are rules over label types, which the
    text shows first, without the rules that they imply.
    """

    rules: tuple[Rule, ...]
    complete: bool
    coverage: Coverage
    limit: int
    positives: float | None = None
    types: tuple[TypeRule, ...] = ()

    def __len__(self) -> int:
        return len(self.rules)

    def text(self, limit: int | None = None) -> str:
        """One line per rule, one line on their coverage, and a legend if there are many valid parts."""
        shown = self.rules[: self.limit if limit is None else limit]
        beyond = [rule for rule in shown if not rule.implied]
        stated: tuple[Rule | TypeRule, ...] = (*self.types, *beyond)
        lines = [f"- {rule.words}{rule.text()}" for rule in stated]
        if len(beyond) < len(shown):
            implied = len(shown) - len(beyond)
            named = any("-Y" in rule.words for rule in self.types)
            types = "X and Y are different types" if named else "X is any type"
            single = "1 rule on a single type" if implied == 1 else f"{implied:,} rules on single types"
            lines.append(f"  ({types}: such lines stand for {single})")
        legend = [LEGEND] * bool(shown and self.positives and self.positives >= FEWEST_FOR_LEGEND)
        legend += [BOUND_LEGEND] * bool(legend and any(rule.bound is not None for rule in stated))
        return "\n".join([*lines, self.summary(len(shown)), *legend])

    def __str__(self) -> str:
        return self.text()

    def summary(self, shown: int | None = None) -> str:
        """One sentence on the number of rules and their coverage."""
        if not self.rules:
            return "nothing is forbidden." if self.complete else "no rule was found."
        shown = min(self.limit, len(self.rules)) if shown is None else shown
        rules = f"{len(self.rules):,} rule{'s'[: len(self.rules) > 1]}"
        counted = rules if shown == len(self.rules) else f"{shown:,} of {rules}"
        kind = "complete" if self.complete else "strongest first, each proved, not complete"
        they = "it covers" if shown == 1 else "these cover"
        covers = f"; {they} {self.coverage}" if shown == min(self.limit, len(self.rules)) else ""
        return f"{counted} ({kind}){covers}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: every rule with all its values."""
        return {
            "complete": self.complete,
            "coverage": self.coverage.to_dict(),
            **({"types": [rule.to_dict() for rule in self.types]} if self.types else {}),
            "rules": [rule.to_dict() for rule in self.rules],
        }


def whole(value: float | None) -> float | None:
    """A weight for files; an int if it is a whole number."""
    return value if value is None or value != int(value) else int(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def by_chance(value: float) -> str:
    """An expectation as text; a small one with one decimal.

    >>> by_chance(0.0), by_chance(0.004), by_chance(3.21), by_chance(1234.5)
    ('0', 'under 0.1', '3.2', '1,234')
    """
    if value < 0.05:
        return "under 0.1" if value else "0"
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def _share(part: float, total: float) -> str:
    share = f"{100 * part / total:.1f}%"
    return "100%" if part == total else min(share, "99.9%") if share == "100.0%" else share


def listed(names: Sequence[str], last: str = "or") -> str:
    """Names joined by commas and a last word.

    >>> listed(["Kill", "LiveIn", "WorkFor"])
    'Kill, LiveIn or WorkFor'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _values(axis: Axis, mask: Bools, common: Floats | None, noun: str = "") -> str:
    """ "Kill or LiveIn", "anything but Kill", "Kill, LiveIn or 18 others of 43"; with the noun "relation":
    "relation Kill or LiveIn", "any relation but Kill"."""
    inside, outside = int(mask.sum()), int((~mask).sum())
    positive = _is_listed(inside, outside) or (outside > LONGEST_SHORTER_SIDE and inside <= outside)
    side = mask if positive else ~mask
    if not outside:
        return f"any value{' of ' * bool(noun)}{noun}"
    if _is_listed(inside, outside) or outside <= LONGEST_SHORTER_SIDE:
        names = listed(_names(axis, side))
    else:
        # Values that never occur tell nothing; of the others, the most common ones.
        weights = np.where(side, 0.0 if common is None else common, 0.0)
        named = weights > 0 if weights.any() else side
        chosen = [v for v in np.argsort(-weights, kind="stable").tolist() if named[v]][:LONGEST_LIST]
        some = [name for v in chosen for name in _names(axis, np.arange(len(side)) == v)]
        names = f"{listed([*some, f'{int(side.sum()) - len(chosen)} others'])} of {len(mask)}"
    if positive:
        return f"{noun} {names}".lstrip()
    return f"any {noun} but {names}" if noun else f"anything but {names}"


def _is_listed(inside: int, outside: int) -> bool:
    """Whether the values are named: they are few, or a little more but the shorter side."""
    return inside <= LONGEST_LIST or inside <= min(outside, LONGEST_SHORTER_SIDE)


def _names(axis: Axis, mask: Bools) -> list[str]:
    """Names of values; in quotes if they would look like punctuation."""
    values = [axis.values[v] for v in np.flatnonzero(mask)]
    return [v if any(c.isalnum() for c in v) else f'"{v}"' for v in values]


def _reading(space: FeatureSpace, axis: int, inside: int) -> int:
    """The number of names that a reader must read for so many values of an axis; a side that is given by its
    size costs more than any list."""
    if space.block(space.axes[axis].block).kind is not Kind.ONE_HOT:
        return 1
    outside = len(space.axes[axis]) - inside
    if _is_listed(inside, outside):
        return inside
    if 0 < outside <= LONGEST_SHORTER_SIDE:
        return outside + 1
    return LONGEST_SHORTER_SIDE + 2 + (inside > outside)


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


def sentence(space: FeatureSpace, region: Region, grow: Grow, common: Common | None = None) -> RuleSentence:
    """The sentence for a forbidden region that names the fewest values; of many, the most common ones.

    `grow(region, axis)` returns all values of an axis that the other conditions forbid, so that "must be"
    does not name values that are forbidden anyway; the region of the sentence then includes them.
    """
    region = {i: mask for i, mask in region.items() if not mask.all()}
    if not region:
        return RuleSentence("nothing is allowed", region, None, 0)
    numbers = {i: int(mask.sum()) for i, mask in region.items()}
    # An antecedent of one condition has no exceptions.
    exceptions = {i for i in region if len(region) > 2 and _is_exception(space, i, region[i])}
    reading = {
        i: _reading(space, i, len(space.axes[i]) - n if i in exceptions else n) for i, n in numbers.items()
    }
    total = sum(reading.values())
    forms: list[tuple[int, int, Bools, bool, int]] = []
    for axis in sorted(region, reverse=True):
        core = len(region) - len(exceptions) - (axis not in exceptions)
        wide = region[axis]
        if len(wide) - numbers[axis] > 1:
            grown = wide | grow(region, axis)
            wide = wide if grown.all() else grown
        for mask, must in ((wide, True), (region[axis], False)):
            side = int((~mask).sum()) if must else int(mask.sum())
            names = total - reading[axis] + _reading(space, axis, side)
            forms.append((names + core, axis, mask, must, names))
    # Of equal forms, that of the last axis: contexts are first and labels last, and a decoder chooses labels.
    _, consequent, mask, must, names = min(forms, key=lambda form: form[0])
    region = {**region, consequent: mask}
    words = _core_words(space, region, exceptions, consequent, must, common)
    unless = sorted(exceptions - {consequent})
    if unless:
        words += f", unless {_unless(space, region, unless)}"
    return RuleSentence(words, region, consequent, names)


def _is_exception(space: FeatureSpace, axis: int, mask: Bools) -> bool:
    """Whether a condition is best put after "unless": it excludes few values, or a name must be missing."""
    kind = space.block(space.axes[axis].block).kind
    if kind is Kind.BINARY:
        return not mask[-1]
    excluded = int((~mask).sum())
    few = 4 * excluded <= len(mask) and excluded <= LONGEST_SHORTER_SIDE
    return kind is Kind.ONE_HOT and len(mask) >= FEWEST_FOR_EXCEPTIONS and few


def _unless(space: FeatureSpace, region: Region, exceptions: list[int]) -> str:
    clauses, held = [], []
    for i in exceptions:
        axis = space.axes[i]
        if space.block(axis.block).kind is Kind.BINARY:
            held.append(_subject(axis))
        else:
            # Slashes, because "or" is already between the exceptions.
            clauses.append(f"{axis.name} is {'/'.join(_names(axis, ~region[i]))}")
    if held:
        verb = EXISTS if space.axes[exceptions[-1]].block == EXISTS else "holds"
        some = (
            listed(held) if len(held) <= LONGEST_LIST else f"any of {len(held)} ({', '.join(held[:3])}, ...)"
        )
        clauses.append(f"{some} {verb}")
    return _shortened(clauses, len(clauses), "or", "excepted")


def _core_words(
    space: FeatureSpace,
    region: Region,
    exceptions: set[int],
    consequent: int,
    must: bool,
    common: Common | None,
) -> str:
    core = [i for i in sorted(region) if i != consequent and i not in exceptions]
    axis, mask = space.axes[consequent], region[consequent]
    often = {i: None if common is None else common(i) for i in (*core[:MOST_CLAUSES], consequent)}
    if not core:
        return _clause(space, axis, mask, often[consequent], ALWAYS, must)
    kinds = {space.block(space.axes[i].block).kind for i in (*core, consequent)}
    if len(core) == 1 and kinds == {Kind.ONE_HOT}:
        other, chosen = space.axes[core[0]], ~mask if must else mask
        gap = _place(other) - _place(axis)
        if abs(gap) != 1:
            verb = "needs" if must else "cannot go with"
            subject = _values(other, region[core[0]], often[core[0]], other.name)
            return f"{subject} {verb} {_values(axis, chosen, often[consequent], axis.name)}"
        sides = [
            _values(other, region[core[0]], often[core[0]]),
            _values(axis, chosen, often[consequent]),
        ]
        if gap < 0 and not must:
            # The later label is the subject: it is the one that a reader would change.
            gap, sides = 1, sides[::-1]
        return f"{sides[0]} {'only' if must else 'never'} {'after' if gap > 0 else 'before'} {sides[1]}"
    clauses = [condition(space, space.axes[i], region[i], often[i]) for i in core[:MOST_CLAUSES]]
    then = _clause(space, axis, mask, often[consequent], THEN, must)
    return f"where {_shortened(clauses, len(core), 'and', 'met')}, {then}"


def _place(axis: Axis) -> float:
    """The position of a label of an n-gram (`label 2`); no number for other axes."""
    name, _, place = axis.name.partition(" ")
    return int(place) if name == "label" and place.isdecimal() else np.nan


def condition(space: FeatureSpace, axis: Axis, mask: Bools, common: Floats | None = None) -> str:
    """ "label 1 is B-NP or I-NP", "title exists", "count author >= 3"."""
    return _clause(space, axis, mask, common, IF)


def _clause(
    space: FeatureSpace, axis: Axis, mask: Bools, common: Floats | None, form: str, must: bool = False
) -> str:
    """A clause by the kind of the axis: a condition, or what follows from others or from none. What follows
    names the numbers that are allowed, and with `must` the values that are allowed."""
    of_numbers, of_values, *verbs = CLAUSES[form]
    block = space.block(axis.block)
    if block.kind is Kind.BINARY:
        return _subject(axis) + verbs[2 * (axis.block == EXISTS) + (not mask[-1])]
    if block.whole:
        return f"{axis.name}{of_numbers}{_ranges(axis, mask if form == IF else ~mask)}"
    if block.numeric:
        return f"{axis.name}{of_values}{_ranges(axis, mask)}"
    if must:
        return f"{axis.name}{of_numbers}{_values(axis, ~mask, common)}"
    return f"{axis.name}{of_values}{_values(axis, mask, common)}"


def _subject(axis: Axis) -> str:
    """The name of a binary column; without the name of the block if that is `exists`."""
    return axis.name.removeprefix(f"{EXISTS} ") if axis.block == EXISTS else axis.name


def runs(mask: Bools) -> Iterator[tuple[int, int]]:
    """The first and the last position of each run of values inside."""
    for inside, run in groupby(range(len(mask)), key=lambda v: bool(mask[v])):
        if inside:
            positions = list(run)
            yield positions[0], positions[-1]


def _ranges(axis: Axis, mask: Bools) -> str:
    """Numbers as ranges: "= 2", ">= 3", "<= 1", "2 to 4"; cells of a real column by their ends."""
    parts = []
    for first, last in runs(mask):
        low, high = axis.values[first], axis.values[last]
        if isinstance(axis, CellAxis):
            low, high = f"{axis.edges[first]:.12g}", f"{axis.edges[last + 1]:.12g}"
        if low == high:
            parts.append(f"= {low}")
        elif last == len(mask) - 1:
            parts.append(f">= {low}")
        else:
            parts.append(f"<= {high}" if not first else f"{low} to {high}")
    return listed(parts)


def _shortened(clauses: list[str], number: int, last: str, verb: str) -> str:
    """The first of `number` clauses joined; if there are many, with how many others (`to_dict` has all)."""
    if number > MOST_CLAUSES:
        clauses = [*clauses[: MOST_CLAUSES - 1], f"{number - MOST_CLAUSES + 1} more are {verb}"]
    return listed(clauses, last)


def box_of(space: FeatureSpace, region: Region) -> Box:
    """The region by name, its axes in the order of the space."""
    axes = ((space.axes[i], region[i]) for i in sorted(region))
    held = ((axis.name, tuple(axis.values[v] for v in mask.nonzero()[0])) for axis, mask in axes)
    return Box(tuple(held))


def is_label_pairs(space: FeatureSpace) -> bool:
    """Whether the points of the space are pairs of labels."""
    return [axis.name for axis in space.axes] == block_names("label", 2)


def type_rules(
    space: FeatureSpace, rejected: Bools, possible: Bools, counts: Floats | None
) -> tuple[tuple[TypeRule, ...], Bools]:
    """The rules over types of label pairs, and the pairs (labels, labels) that they forbid; `counts` are the
    valid pairs in training."""
    kinds = [[type_of(value) for value in axis.values] for axis in space.axes]
    same = np.array([[a[1] == b[1] and bool(a[1]) for b in kinds[1]] for a in kinds[0]])
    sentences: list[tuple[str, Bools, Bools, int]] = []
    for axis, side in ((1, "after"), (0, "before")):
        # Rows are the labels beside, columns those that the sentence is about.
        turn = (lambda table: table) if axis else np.transpose
        labels = space.axes[1 - axis].values
        for prefix in _shared_prefixes(kinds[axis]):
            chosen = np.array([kind[0] == prefix for kind in kinds[axis]])
            cells = list(_cells(labels, kinds[1 - axis], chosen[None, :] & turn(possible), turn(same)))
            for words, mask in _type_sentence(prefix, cells, turn(rejected), side):
                sentences.append((words, turn(mask), chosen, axis))
    covered = np.zeros_like(rejected)
    rules = []
    # What a label needs says more than what it never follows.
    sentences.sort(key=lambda entry: " never " in entry[0])
    for words, mask, chosen, axis in sentences:
        if (mask & ~covered).any():
            figures = _type_figures(counts, mask, chosen[None, :] if axis else chosen[:, None])
            rules.append(TypeRule(words, box_of(space, {axis: chosen}), int(mask.sum()), **figures))
            covered |= mask
    return tuple(rules), covered


def _shared_prefixes(kinds: Sequence[tuple[str, str]]) -> list[str]:
    """The prefixes that occur with two types or more."""
    prefixes = sorted({prefix for prefix, kind in kinds if kind})
    return [prefix for prefix in prefixes if len({kind for start, kind in kinds if start == prefix}) > 1]


def _cells(
    values: Sequence[str], kinds: Sequence[tuple[str, str]], pairs: Bools, same: Bools
) -> Iterator[tuple[str, Bools]]:
    """The non-empty cells: the name of the neighbours, and their pairs."""
    heads = [prefix or value for value, (prefix, _) in zip(values, kinds, strict=True)]
    for head in dict.fromkeys(heads):
        rows = np.array([name == head for name in heads])[:, None] & pairs
        typed = any(prefix == head for prefix, _ in kinds)
        cells = [(f"{head}-X", rows & same), (f"{head}-Y", rows & ~same)] if typed else [(head, rows)]
        yield from ((name, cell) for name, cell in cells if cell.any())


def _type_sentence(
    prefix: str, cells: Sequence[tuple[str, Bools]], rejected: Bools, side: str
) -> Iterator[tuple[str, Bools]]:
    """The sentence for the forbidden cells next to a prefix, if there is one, with its pairs."""
    forbidden = [(name, cell) for name, cell in cells if rejected[cell].all()]
    others = [name for name, cell in cells if not rejected[cell].all()]
    if not forbidden or not others:
        return
    mask = np.any([cell for _, cell in forbidden], axis=0)
    if all(name.endswith("-X") for name in others):
        yield f"{prefix}-X only {side} {listed(others)}", mask
    elif side == "after":
        yield f"{prefix}-X never after {listed([name for name, _ in forbidden])}", mask


def _type_figures(counts: Floats | None, mask: Bools, premise: Bools) -> dict[str, float]:
    """The figures of a rule over types; nothing without examples."""
    if counts is None:
        return {}
    chance = np.outer(counts.sum(1), counts.sum(0)) / (counts.sum() or 1.0)
    return {
        "support": float((counts * premise).sum()),
        "exceptions": float(counts[mask].sum()),
        "expected": float(chance[mask].sum()),
    }
