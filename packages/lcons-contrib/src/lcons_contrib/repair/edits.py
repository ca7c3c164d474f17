"""Repair: a constraint changed as little as possible, so that it accepts or rejects a given structure.

A structure is wrongly forbidden iff the network rejects some of its parts P. Every constraint that accepts it
accepts P, so the least change of the accepted set is

    allow:    after = before + P                     forbid:    after = before - {p}

where p is one part of a structure that is wrongly allowed: the part with the smallest margin that no example
needs. Of the networks with that set, the one with the least change of weights is taken:

    one weight or bias of one unit, moved by the least amount that changes the verdict on the point, if the
    verdicts on all other points of the domain stay the same (checked on every point)
    otherwise the exact edits `allow` and `LearnedConstraint.forbid`, which change units, not single weights

`allow` accepts the points of a box, too: then a point is rejected iff it was rejected and is outside the box,
which is the union over the box's axes j of "rejected and axis j has another value". Each set of this union is
that of the old network with every unit a_k at most 0 where axis j has one of the box's values,

    weights w of these values:                 w' = floor(w) - M_k                  M_k >= max a_k
    a value without a column (0, OTHER):       b' = floor(b) - M_k,   w' = w + b - b' for all other values

so the result is a conjunction of one network per axis. `w + b - b'` is computed as a rational: if float64
cannot represent it, the network is rounded to multiples of 2^-20 first, for which it always can. Then the
verdicts are compared on all points; if others changed, or there are too many points, the edit is refused.

The proof of a repair are the verdicts before and after on every point, or, on large domains, the construction
above. The structure is kept in the provenance, under `kept_examples`: a later repair that would break it is
an error.

Not in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lcons_contrib.calibrate.thresholds import MEMBER as CALIBRATION
from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LconsError,
    LearnedConstraint,
    RectifierNetwork,
    round_dyadic,
)
from lcons_core._constraint import as_constraint
from lcons_core._instance import read_instance
from lcons_core._network import Conjunction, Network, as_network
from lcons_core._pointset import least_values
from lcons_core._types import Floats, Ints
from lcons_core.reason._compare import in_words
from lcons_core.reason._rules import Box, indicator

MEMBER = "kept_examples"
# Larger domains are not enumerated.
MOST_POINTS = 10**5
GRAIN = 2.0**-10
# Sums of weights up to this size are rounded by less than 1.
LARGEST_SUM = 2.0**40
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
    """The repaired constraint, what was done to it (`how`), and what changed.

    `allowed` and `forbidden` are the points whose verdict changed, by name. `compared` is the number of
    points on which the verdicts before and after were compared; 0 on a large domain, where the edit is exact
    by construction.
    """

    constraint: LearnedConstraint
    allowed: tuple[dict[str, Any], ...]
    forbidden: tuple[dict[str, Any], ...]
    how: str
    compared: int

    def __str__(self) -> str:
        changes = [("allowed", point) for point in self.allowed]
        changes += [("forbidden", point) for point in self.forbidden]
        if not changes:
            return f"nothing changed: {self.how}"
        same = f": the other {self.compared - len(changes):,} combinations were all checked"
        return "\n".join(
            [
                *(f"now {verdict}: {in_words(point)}" for verdict, point in changes),
                f"nothing else changed{same if self.compared else ', by construction'}",
                f"how: {self.how}",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the constraint."""
        return {
            "allowed": list(self.allowed),
            "forbidden": list(self.forbidden),
            "how": self.how,
            "compared": self.compared,
        }


def repair(constraint: LearnedConstraint, *, allow: Any = None, forbid: Any = None) -> Repair:
    """The constraint that accepts the structure `allow`, or rejects `forbid`, and is otherwise unchanged.

    Both are a structure, as for `satisfied`, or a combination by name.

    >>> from lcons_core import one_hot
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
    changed, compared = _changes(constraint, edited, wanted)
    example = KeptExample(valid, tuple(_named(constraint, point) for point in parts))
    recorded = [*(earlier for earlier in examples if earlier != example), example]
    repaired = replace(edited, provenance={**edited.provenance, MEMBER: [one.to_dict() for one in recorded]})
    broken = broken_examples(repaired)
    if broken:
        raise LconsError(
            f"the repair would break an earlier example, {broken[0]}; remove that example or change this one."
        )
    return Repair(repaired, changed if valid else (), () if valid else changed, how, compared)


def allow(
    constraint: LearnedConstraint, assignment: Mapping[str, Any] | None = None, /, **named: Any
) -> LearnedConstraint:
    """The constraint that also accepts every point of a partial assignment, by name, and is otherwise
    unchanged; raises `LconsError` if float64 cannot represent its weights.

    >>> from lcons_core import one_hot
    >>> space = FeatureSpace([one_hot("label 1", "ABC"), one_hot("label 2", "ABC")])
    >>> nothing = LearnedConstraint(RectifierNetwork(np.zeros((1, 6)), [2.0]), space)
    >>> some = allow(nothing, {"label 1": "A", "label 2": ["B", "C"]})
    >>> [some.accepts(space.vector({"label 1": "A", "label 2": label})) for label in "ABC"]
    [False, True, True]
    """
    as_constraint(constraint, "allow")
    space, network = constraint.space, as_network(constraint, "allow")
    box = Box.of(space, {**(assignment or {}), **named})
    edited = _allowed(network, space, box)
    if edited is None and space.size <= MOST_POINTS:
        edited = _allowed(_dyadic(network), space, box)
        points = np.concatenate(list(space.points()))
        expected = network.verdicts(space, points) | box.contains(space, points)
        if edited is not None and not np.array_equal(edited.verdicts(space, points), expected):
            edited = None
    if edited is None:
        raise LconsError(
            f"float64 cannot represent the weights that allow {box.to_dict()} and nothing else; round the"
            " weights to multiples of 2^-20, as learning does, or learn the constraint again."
        )
    return _edited(constraint, edited, {"allow": box.to_dict()})


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


def _changes(
    before: LearnedConstraint, after: LearnedConstraint, wanted: Ints
) -> tuple[tuple[dict[str, Any], ...], int]:
    """The points with another verdict, by name, and on how many points the verdicts were compared; raises an
    error if these are not exactly the wanted points."""
    space, compared = before.space, 0
    changed = wanted
    if space.size <= MOST_POINTS:
        points = np.concatenate(list(space.points()))
        compared = len(points)
        changed = points[before.network.verdicts(space, points) != after.network.verdicts(space, points)]
    elif (before.network.verdicts(space, wanted) == after.network.verdicts(space, wanted)).any():
        changed = wanted[:0]
    if not np.array_equal(np.unique(changed, axis=0), np.unique(wanted, axis=0)):
        raise LconsError("the repair changed other verdicts than it should; this is a bug, please report it.")
    return tuple(space.describe(psi) for psi in space.vectors(changed)), compared


def _allowed(network: Network, space: FeatureSpace, box: Box) -> Conjunction | None:
    """The network that also accepts every point of the box; None if float64 cannot represent it."""
    parts = [
        _switched_off(part, space, axis, values) for part in network.parts for axis, values in box.conditions
    ]
    exact = [part for part in parts if part is not None]
    return Conjunction(tuple(exact)) if len(exact) == len(parts) else None


def _switched_off(
    part: RectifierNetwork, space: FeatureSpace, axis: str, values: tuple[str, ...]
) -> RectifierNetwork | None:
    """The network in which no unit is active if the axis has one of `values`, and which is unchanged
    elsewhere; None if float64 cannot represent its weights."""
    w, c = indicator(space, axis, values)
    # The largest activations are sums of floats, which are rounded: 1 is more than enough for that.
    largest = np.ceil(np.maximum(-least_values(space, -part.W, -part.b), 0.0)) + 1.0
    if np.abs(part.W).sum() + np.abs(part.b).sum() > LARGEST_SUM:
        return None
    W, b = part.W.copy(), part.b
    W[:, w > 0] = np.floor(W[:, w > 0]) - largest[:, None]
    if c:
        b = np.floor(b) - largest
        for k, j in np.argwhere(np.broadcast_to(w < 0, W.shape)).tolist():
            exact = Fraction(W[k, j]) + Fraction(part.b[k]) - Fraction(b[k])
            W[k, j] = float(exact)
            if Fraction(W[k, j]) != exact:
                return None
    return RectifierNetwork(W, b)


def _dyadic(network: Network) -> Network:
    """The network with weights rounded to multiples of 2^-20."""
    return Conjunction(
        tuple(RectifierNetwork(round_dyadic(part.W), round_dyadic(part.b)) for part in network.parts)
    )


def _with_point(constraint: LearnedConstraint, point: Ints, valid: bool) -> tuple[LearnedConstraint, str]:
    """The constraint with another verdict on one point, and how it was changed."""
    box = {name: [value] for name, value in _named(constraint, point).items()}
    edit = {"allow" if valid else "forbid": box}
    moved = _one_number(constraint, point, valid)
    if moved is not None:
        network, what, by = moved
        return _edited(constraint, network, edit), f"one {what} of one unit, by {by:+g}"
    how = f"the exact edit `{'allow' if valid else 'forbid'}` of one combination"
    assignment = _by_block(constraint, point)
    return allow(constraint, assignment) if valid else constraint.forbid(assignment), how


def _edited(constraint: LearnedConstraint, network: Network, edit: Mapping[str, Any]) -> LearnedConstraint:
    """The constraint with another network, recorded as `LearnedConstraint.forbid` records it."""
    recorded = {**constraint.provenance, "edits": [*constraint.provenance.get("edits", ()), edit]}
    if "forbid" in edit:
        recorded.pop(CALIBRATION, None)  # it now rejects more than what was counted
    return replace(constraint, network=network, provenance=recorded)


def _by_block(constraint: LearnedConstraint, point: Ints) -> dict[str, Any]:
    """The point in the form that `allow` and `forbid` read."""
    assignment: dict[str, Any] = {}
    for block, value in constraint.space.describe(constraint.space.vectors(point[None])[0]).items():
        if isinstance(value, list):  # a binary block: the names that hold
            value = {name: name in value for name in constraint.space.block(block).values}
        assignment[block] = value
    return assignment


def _one_number(
    constraint: LearnedConstraint, point: Ints, valid: bool
) -> tuple[RectifierNetwork, str, float] | None:
    """The network with one number moved least, if there is one with the wanted set; its kind and change."""
    network, space = constraint.network, constraint.space
    if not isinstance(network, RectifierNetwork) or space.size > MOST_POINTS:
        return None
    points = np.concatenate(list(space.points()))
    before = network.verdicts(space, points)
    target = np.where((points == point).all(1), valid, before)
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
