"""Repair: a constraint changed as little as possible, so that it accepts or rejects a given structure.

A structure is wrongly forbidden iff the network rejects some of its parts P. Every constraint that accepts it
accepts P, so the least change of the accepted set is

    allow:    after = before + P                     forbid:    after = before - {p}

where p is one part of a structure that is wrongly allowed: the part with the smallest margin that no example
needs. Of the networks with that set, the one with the least change of weights is taken:

    one weight or bias of one unit, moved by the least amount that changes the verdict on the point, if the
    verdicts on all other points of the domain stay the same (checked on every point)
    otherwise the exact edits `allow` and `forbid` (`_constraint.py`), which change units, not single weights

The proof is a comparison of before and after on the whole domain. The structure is kept in the provenance,
under `kept_examples`: a later repair that would break it is an error.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcons_contrib.calibrate.thresholds import MEMBER as CALIBRATION
from lcons_core import (
    Bools,
    Floats,
    Ints,
    InvalidInput,
    LconsError,
    LearnedConstraint,
    RectifierNetwork,
)
from lcons_core._coercion import as_constraint
from lcons_core._instance import read_instance
from lcons_core.reason import Box, Comparison, compare, in_words

MEMBER = "kept_examples"
MOST_POINTS = 10**5
GRAIN = 2.0**-10
SHOWN = 3


@dataclass(frozen=True)
class KeptExample:
    """A structure that an earlier repair kept: its parts, by name, and whether it is `valid`.

    >>> print(KeptExample(True, ({"source": "Firm", "relation": "Kill"},)))
    valid: source Firm, relation Kill
    """

    valid: bool
    parts: tuple[dict[str, str], ...]

    def __str__(self) -> str:
        more = f"; {len(self.parts) - SHOWN:,} more" if len(self.parts) > SHOWN else ""
        return f"{'valid' if self.valid else 'invalid'}: {'; '.join(map(in_words, self.parts[:SHOWN]))}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in a file."""
        return {"valid": self.valid, "parts": [dict(part) for part in self.parts]}


@dataclass(frozen=True)
class Repair:
    """The repaired constraint, what was done to it (`how`), and the proof of what else changed.

    `allowed` and `forbidden` are the points whose verdict changed, by name; `comparison` is that of the
    constraint before (A) and after (B).
    """

    constraint: LearnedConstraint
    allowed: tuple[dict[str, Any], ...]
    forbidden: tuple[dict[str, Any], ...]
    how: str
    comparison: Comparison

    def __str__(self) -> str:
        if not self.allowed and not self.forbidden:
            return f"nothing changed: {self.how}"
        lines = [f"now {word}: {in_words(one)}" for word, many in self._changes() for one in many]
        if self.comparison.complete:
            same = self.comparison.points - self.comparison.only_a - self.comparison.only_b
            lines.append(f"nothing else changed: the other {same:,} combinations were all checked")
        else:
            lines.append(f"nothing else changed, by construction; {self.comparison.points:,} points checked")
        return "\n".join([*lines, f"how: {self.how}"])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the constraint."""
        return {
            "allowed": list(self.allowed),
            "forbidden": list(self.forbidden),
            "how": self.how,
            "comparison": self.comparison.to_dict(),
        }

    def _changes(self) -> tuple[tuple[str, tuple[dict[str, Any], ...]], ...]:
        return ("allowed", self.allowed), ("forbidden", self.forbidden)


def repair(constraint: LearnedConstraint, *, allow: Any = None, forbid: Any = None) -> Repair:
    """The constraint that accepts the structure `allow`, or rejects `forbid`, and is otherwise unchanged.

    Both are a structure, as for `satisfied`, or a combination by name.

    >>> from lcons_core import FeatureSpace, one_hot
    >>> pair = [one_hot("source", ["Person", "Location"]), one_hot("relation", ["NoRel", "Kill"])]
    >>> nobody = LearnedConstraint(RectifierNetwork([[0.0, 0.0, 0.0, 2.0]], [0.0]), FeatureSpace(pair))
    >>> print(repair(nobody, allow={"source": "Person", "relation": "Kill"}))
    now allowed: source Person, relation Kill
    nothing else changed: the other 3 combinations were all checked
    how: one weight of one unit, by -1
    """
    as_constraint(constraint, "repair")
    if (allow is None) == (forbid is None):
        raise InvalidInput("repair needs one structure: pass either `allow` or `forbid`.")
    constraint.space.check_finite("a repair")
    valid = allow is not None
    parts = _parts(constraint, allow if valid else forbid)
    accepted = constraint.network.verdicts(constraint.space, parts)
    examples = kept_examples(constraint)
    if valid:
        wanted = parts[~accepted]
    else:
        wanted = parts[:0] if not accepted.all() else _least_needed(constraint, parts, examples)
    edited, how = constraint, "the constraint already agrees"
    for point in wanted:
        edited, how = _with_point(edited, point, valid)
    named = [constraint.space.describe(psi) for psi in constraint.space.vectors(wanted)]
    kept = KeptExample(valid, tuple(_named(constraint, point) for point in parts))
    all_kept = [*(one for one in examples if one != kept), kept]
    recorded = {**edited.provenance, MEMBER: [one.to_dict() for one in all_kept]}
    repaired = replace(edited, provenance=recorded)
    broken = broken_examples(repaired)
    if broken:
        raise LconsError(
            f"the repair would break an earlier example, {broken[0]}; remove that example or change this one."
        )
    comparison = compare(constraint, repaired)
    now_allowed, now_forbidden = (named, []) if valid else ([], named)
    return Repair(repaired, tuple(now_allowed), tuple(now_forbidden), how, comparison)


def broken_examples(constraint: LearnedConstraint) -> list[KeptExample]:
    """The examples that earlier repairs kept in the constraint, and that it breaks."""
    found = []
    for example in kept_examples(constraint):
        points = [_point(constraint, part) for part in example.parts]
        accepted = constraint.network.verdicts(constraint.space, np.array(points, dtype=np.int64))
        if accepted.all() != example.valid:
            found.append(example)
    return found


def kept_examples(constraint: LearnedConstraint) -> list[KeptExample]:
    """The examples of earlier repairs; raises an error if a file has something else in their place."""
    if MEMBER not in constraint.provenance:
        return []
    found = constraint.provenance[MEMBER]
    values = {axis.name: set(axis.values) for axis in constraint.space.axes}

    def is_point(part: Any) -> bool:
        if not isinstance(part, Mapping) or part.keys() != values.keys():
            return False
        return all(isinstance(v, str) and v in values[name] for name, v in part.items())

    for one in found if isinstance(found, list) else [found]:
        parts = one.get("parts") if isinstance(one, Mapping) else None
        if not (
            isinstance(one, Mapping)
            and isinstance(found, list)
            and isinstance(one.get("valid"), bool)
            and isinstance(parts, list)
            and parts
            and all(map(is_point, parts))
        ):
            raise InvalidInput(
                "expected examples as {valid, parts} in the provenance, with one value of each block, found"
                f" {one!r:.60}; remove the member {MEMBER!r}."
            )
    return [KeptExample(one["valid"], tuple(dict(part) for part in one["parts"])) for one in found]


def _parts(constraint: LearnedConstraint, given: Any) -> Ints:
    """(N, axes) the different parts of a structure, or the one point that is given by name."""
    space = constraint.space
    if isinstance(given, Mapping):
        box = Box.of(space, given)
        open_axes = [axis.name for axis in space.axes if axis.name not in dict(box.conditions)]
        if open_axes or any(len(values) > 1 for _, values in box.conditions):
            missing = open_axes or [name for name, values in box.conditions if len(values) > 1]
            raise InvalidInput(
                f"a repair changes one combination, found more than one value for {missing[0]!r}; name one"
                " value for each block, or use constraint.allow or constraint.forbid."
            )
        return np.array([_point(constraint, {name: values[0] for name, values in box.conditions})])
    if constraint.feature is None:
        raise InvalidInput("this constraint has no feature; pass a combination by name.")
    psi = constraint.feature.psi(read_instance(given, constraint.feature.column))
    parts = np.unique(space.assignments(psi), axis=0)
    if not len(parts):
        raise InvalidInput("the structure has no part that the constraint reads; pass a longer one.")
    return parts


def _named(constraint: LearnedConstraint, point: Ints) -> dict[str, str]:
    """A point as plain data: axis -> value."""
    axes = constraint.space.axes
    return {axis.name: axis.values[value] for axis, value in zip(axes, point.tolist(), strict=True)}


def _point(constraint: LearnedConstraint, named: Mapping[str, str]) -> list[int]:
    return [axis.values.index(named[axis.name]) for axis in constraint.space.axes]


def _least_needed(constraint: LearnedConstraint, parts: Ints, examples: Sequence[KeptExample]) -> Ints:
    """(1, axes) the part with the smallest margin that no valid example has."""
    needed = [_point(constraint, part) for one in examples if one.valid for part in one.parts]
    free = np.array([part.tolist() not in needed for part in parts])
    if not free.any():
        raise LconsError(
            "every part of the structure is part of a valid example, so no part can be forbidden; remove an"
            " example, or use a constraint that reads more of the structure."
        )
    margins = constraint.network.margins(constraint.space, parts)
    return parts[free][np.argmin(margins[free])][None]


def _with_point(constraint: LearnedConstraint, point: Ints, valid: bool) -> tuple[LearnedConstraint, str]:
    """The constraint with another verdict on one point, and how it was changed."""
    moved = _one_number(constraint, point, valid)
    if moved is not None:
        network, what, by = moved
        return _recorded(constraint, network, point, valid), f"one {what} of one unit, by {by:+g}"
    named = Box(tuple((name, (value,)) for name, value in _named(constraint, point).items())).to_dict()
    edit = constraint.allow if valid else constraint.forbid
    edited = edit(_by_block(constraint, named))
    return edited, f"the exact edit `{'allow' if valid else 'forbid'}` of one combination"


def _recorded(
    constraint: LearnedConstraint, network: RectifierNetwork, point: Ints, valid: bool
) -> LearnedConstraint:
    """The constraint with another network, recorded as `allow` and `forbid` record it."""
    box = {name: [value] for name, value in _named(constraint, point).items()}
    edit = {"allow" if valid else "forbid": box, "checked": constraint.space.size, "complete": True}
    recorded = {**constraint.provenance, "edits": [*constraint.provenance.get("edits", ()), edit]}
    if not valid:
        recorded.pop(CALIBRATION, None)  # it now rejects more than what was counted
    return replace(constraint, network=network, provenance=recorded)


def _by_block(constraint: LearnedConstraint, named: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The point in the form that `allow` and `forbid` read."""
    psi = constraint.space.vectors(np.array([_point(constraint, {k: v[0] for k, v in named.items()})]))[0]
    found = {}
    for block, value in constraint.space.describe(psi).items():
        if isinstance(value, list):  # a binary block: the names that hold
            value = {name: name in value for name in constraint.space.block(block).values}
        found[block] = value
    return found


def _one_number(
    constraint: LearnedConstraint, point: Ints, valid: bool
) -> tuple[RectifierNetwork, str, float] | None:
    """The network with one number moved least, if there is one with the wanted set; its kind and change."""
    network, space = constraint.network, constraint.space
    if not isinstance(network, RectifierNetwork) or space.size > MOST_POINTS:
        return None
    points = np.concatenate(list(space.points()))
    before = network.verdicts(space, points)
    target: Bools = np.where((points == point).all(1), valid, before)
    psi = space.vectors(point[None])[0]
    margin = float(network.rational_margin(psi))
    candidates: list[tuple[float, int, int]] = []
    for k, a in enumerate(network.activations(psi).tolist()):
        by = margin if valid else margin - min(a, 0.0) + GRAIN
        if valid and a < -margin:
            continue
        candidates += [(by / psi[j], k, j) for j in np.flatnonzero(psi).tolist()]
        candidates.append((by, k, -1))
    for by, k, j in sorted(candidates, key=lambda one: (abs(one[0]), one[2] < 0, one[1:])):
        moved = _moved(network, k, j, by)
        if np.array_equal(moved.verdicts(space, points), target):
            return moved, "weight" if j >= 0 else "bias", by
    return None


def _moved(network: RectifierNetwork, k: int, j: int, by: float) -> RectifierNetwork:
    W, b = network.W.copy(), network.b.copy()
    changed: Floats = b if j < 0 else W[:, j]
    changed[k] += by
    return RectifierNetwork(W, b)
