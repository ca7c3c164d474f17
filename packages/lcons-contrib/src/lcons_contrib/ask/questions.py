"""Questions that settle a constraint: is any of these combinations possible?

Every point of the space is shown (valid), answered, implied, or open. A question is a box Q of points, none
of which is known to be valid, and is answered yes (some point of Q is valid), no (none is) or not at all:

    no       all of Q is invalid
    yes      a clause: some point of Q is valid. If all its points but one are invalid, that one is valid

So what is known is a set of exact statements on points, and a contradiction is a clause without a point left.
The next question has the most information, H(P(no)) bits, under the prior that open points are valid
independently. How many of them are is estimated by Chao's estimator from the numbers f1 and f2 of points that
were shown once and twice (and a half, because none is no proof); which ones, by how often chance would have
shown them:

    sum of p  =  f1 (f1 - 1) / (2 (f2 + 1)) + 1/2,      p proportional to exp(-c),  at most 1/2

where c is the number of examples times the shares of the point's values. After each answer, p is multiplied
by (valid + 1) / (expected valid + 1) over all points that were settled, and then by the same quotient over
those with each of its values: where a rule that the others have is missing, all points of a value are valid.
Points of a clause have the probability given that one of them is valid.
Questions are grown from single points to boxes that cannot be enlarged, and then shrunk while this adds
information; an answer of no to a large box settles all of it.

Answers may be wrong. With `lead` m, a question is asked until one answer leads by m. The answers in a
contradiction are asked again until one leads by more than before.

At the end every point is valid or invalid, and a network that rejects exactly the invalid points is checked
on every point: the proof that nothing is left open.

Not in the paper. Learning constraints by questions is constraint acquisition (QuAcq, Bessiere et al. 2013),
which asks about partial assignments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcons_core import FeatureSpace, InvalidInput, LconsError, LearnedConstraint, Rules, TooLarge
from lcons_core._constraint import as_constraint
from lcons_core._instance import read_instance
from lcons_core._types import Bools, Floats, Ints
from lcons_core.features import ConstraintFeature
from lcons_core.reason._rules import Box

MOST_POINTS = 2**14
SEEDS = 24
MOST_AGAIN = 20
_TINY = 1e-12

Reply = bool | None
Answer = Callable[["Question"], Reply]


@dataclass(frozen=True)
class Question:
    """Whether any combination of `box` can occur; `open` of them are not settled yet."""

    box: Box
    words: str
    open: int

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Asked:
    """The constraint, the questions with their replies in order, and what is left open, by name.

    `shown`, `answered` and `implied` are numbers of valid points, `invalid` that of the others.
    """

    constraint: LearnedConstraint
    replies: tuple[tuple[Question, Reply], ...]
    shown: int
    answered: int
    implied: int
    invalid: int
    open: tuple[dict[str, str], ...]

    def __str__(self) -> str:
        asked = "1 question" if len(self.replies) == 1 else f"{len(self.replies):,} questions"
        settled = (
            f"{asked}; possible: {self.shown:,} shown, {self.answered:,} answered,"
            f" {self.implied:,} implied; impossible: {self.invalid:,}"
        )
        total = self.shown + self.answered + self.implied + self.invalid + len(self.open)
        if self.open:
            return f"{settled}; {len(self.open):,} of {total:,} combinations are left open"
        return f"{settled}; nothing is left open: the constraint was checked on all {total:,} combinations"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the constraint."""
        asked = [
            {"question": str(q), "box": q.box.to_dict(), "open": q.open, "reply": r} for q, r in self.replies
        ]
        names = ("shown", "answered", "implied", "invalid")
        return {
            "questions": asked,
            **{name: getattr(self, name) for name in names},
            "open": list(self.open),
        }


def ask(
    feature: ConstraintFeature | LearnedConstraint,
    structures: Iterable[Any],
    answer: Answer,
    *,
    lead: int = 1,
    most: int | None = None,
) -> Asked:
    """The constraint that valid structures and the answers determine; at most `most` questions are asked.

    `answer` returns True if some combination of the question's box is possible, False if none is, None if
    unsure.

    >>> from lcons_core.features import Tuples
    >>> pairs = Tuples(("source", "relation"), (("Person", "Place"), ("NoRel", "Kill", "LiveIn")))
    >>> shown = [[("Person", "NoRel"), ("Place", "NoRel"), ("Person", "Kill")]] * 4
    >>> asked = ask(pairs, shown, lambda question: "Person" in dict(question.box.conditions)["source"])
    >>> for question, reply in asked.replies: print(question, "yes" if reply else "no")
    Can this occur: any source, with relation LiveIn? yes
    Can this occur: source Place, with relation Kill or LiveIn? no
    >>> print(asked)  # doctest: +ELLIPSIS
    2 questions; possible: 3 shown, 0 answered, 1 implied; impossible: 2; nothing is left open: ...
    """
    if lead < 1:
        raise InvalidInput(f"lead must be at least 1, found {lead}.")
    own = feature.feature if isinstance(feature, LearnedConstraint) else feature
    if own is None:
        raise InvalidInput("the constraint has no feature, so structures cannot be read; pass a feature.")
    if isinstance(feature, LearnedConstraint):
        as_constraint(feature, "ask")
    inquiry = Inquiry(own.space, _shown(own, structures))
    replies: list[tuple[Question, Reply]] = []

    def put(question: Question, needed: int, tally: int = 0) -> int:
        """The lead of yes over no, after asking until one leads by `needed`; 0 if unsure."""
        start = len(replies)
        while abs(tally) < needed and (most is None or len(replies) < most):
            reply = answer(question)
            replies.append((question, reply))
            if reply is None or len(replies) - start > MOST_AGAIN:
                return 0
            tally += 1 if reply else -1
        return tally

    while (question := inquiry.question()) is not None and (most is None or len(replies) < most):
        inquiry.learn(question, put(question, lead))
        again = 0
        while doubted := inquiry.contradiction():
            again += 1
            for one, tally in doubted:
                # What stays contradictory is left open.
                inquiry.learn(one, 0 if again > MOST_AGAIN else put(one, abs(tally) + 1, tally))
    return _settled(own, inquiry, tuple(replies), feature)


class Inquiry:
    """What is known of every point of a space: the counts that were shown, and the answers."""

    def __init__(self, space: FeatureSpace, counts: Floats) -> None:
        self.space = space
        self.points: Ints = np.concatenate(list(space.points()))
        self.counts = counts
        self.facts: dict[Box, tuple[Question, int]] = {}
        self.first = self.prior = _prior(space, self.points, counts)
        self._inside: dict[Box, Bools] = {}
        self._deduce()

    def learn(self, question: Question, tally: int) -> None:
        """Adds the answer to a question: yes if `tally` is above 0, no if below, unsure if 0."""
        self.facts[question.box] = (question, tally)
        self._deduce()

    def contradiction(self) -> list[tuple[Question, int]]:
        """The facts that cannot all be right; none if they can."""
        for question, tally in self.facts.values():
            if tally > 0 and (self.status[self.inside(question.box)] < 0).all():
                inside = self.inside(question.box)
                against = [
                    f for f in self.facts.values() if f[1] < 0 and (self.inside(f[0].box) & inside).any()
                ]
                return [(question, tally), *against]
        return []

    def question(self) -> Question | None:
        """The open question with the most information; None if nothing is open, or all of it unsure."""
        best: tuple[float, int] = (0.0, 0)
        found: Box | None = None
        for masks in self._candidates():
            box = self._box(masks)
            if box in self.facts:
                continue
            own = self._in_masks(masks) & (self.status == 0)
            value = (self._information(own), int(own.sum()))
            if value > best:
                best, found = value, box
        if found is None:
            return None
        number = int((self.inside(found) & (self.status == 0)).sum())
        return Question(found, _words(self.space, found), number)

    def inside(self, box: Box) -> Bools:
        """(N,) the points of a box."""
        if box not in self._inside:
            self._inside[box] = box.contains(self.space, self.points)
        return self._inside[box]

    def _deduce(self) -> None:
        """The status of every point, 1 valid, -1 invalid, 0 open, and which are only implied."""
        self.status = np.where(self.counts > 0, 1, 0).astype(np.int8)
        self.implied: Bools = np.zeros(len(self.points), dtype=np.bool_)
        for question, tally in self.facts.values():
            own = self.inside(question.box)
            if tally < 0:
                self.status[own & (self.status == 0)] = -1
        self.clauses: list[Bools] = []
        clauses = [self.inside(q.box) for q, tally in self.facts.values() if tally > 0]
        single = [int(c.sum()) == 1 for c in clauses]
        changed = True
        while changed:
            changed = False
            for clause, alone in zip(clauses, single, strict=True):
                left = clause & (self.status >= 0)
                if left.sum() == 1 and self.status[left] == 0:
                    self.status[left] = 1
                    self.implied[left] = not alone
                    changed = True
        self.clauses = [c & (self.status == 0) for c in clauses if not (self.status[c] > 0).any()]
        self.prior = self._updated()
        self.log_no = np.log1p(-self.prior)

    def _updated(self) -> Floats:
        """(N,) the prior after the answers; an open clause counts as one valid point, spread over its own."""
        settled = (self.status != 0) & (self.counts == 0)
        valid = (settled & (self.status > 0)).astype(np.float64)
        for clause in self.clauses:
            share = np.maximum(self.first, _TINY) * clause
            valid += share / max(float(share.sum()), _TINY)  # none is left of a clause in a contradiction
        prior = self.first * (valid.sum() + 1.0) / (self.first[settled].sum() + 1.0)
        factor = np.ones(len(self.points))
        for a, axis in enumerate(self.space.axes):
            value = self.points[:, a]
            found = np.bincount(value, valid, minlength=len(axis))
            expected = np.bincount(value[settled], prior[settled], minlength=len(axis))
            factor *= ((found + 1.0) / (expected + 1.0))[value]
        return np.minimum(prior * factor, 0.5)

    def _information(self, own: Bools) -> float:
        """The entropy of the answer to a question on open points, in bits."""
        if not own.any() or any(not (clause & ~own).any() for clause in self.clauses):
            return -1.0  # nothing is open, or the answer is already known to be yes
        no = math.exp(self.log_no[own].sum())
        within = [clause for clause in self.clauses if not (own & ~clause).any()]
        if within:
            none = min(math.exp(self.log_no[clause].sum()) for clause in within)
            no = (no - none) / max(1.0 - none, _TINY)
        no = min(max(no, _TINY), 1.0 - _TINY)
        return -no * math.log2(no) - (1.0 - no) * math.log2(1.0 - no)

    def _candidates(self) -> Iterator[list[Bools]]:
        """Boxes without a valid point: from the most uncertain open points, grown, and then shrunk."""
        still_open = np.flatnonzero(self.status == 0)
        order = np.argsort(np.abs(self.prior[still_open] - 0.5), kind="stable")
        known = set()
        for seed in still_open[order][:SEEDS].tolist():
            pairs = zip(self.space.axes, self.points[seed], strict=True)
            single = [np.arange(len(axis)) == v for axis, v in pairs]
            yield single
            for first in range(len(self.space.axes)):
                grown = grow(single, self.points, self.status != 1, self.status == 0, first)
                key = np.concatenate(grown).tobytes()
                if key not in known:
                    known.add(key)
                    yield grown
                    yield self._shrunk(grown)

    def _shrunk(self, masks: list[Bools]) -> list[Bools]:
        """The box with values left out as long as this adds information."""
        best = self._information(self._in_masks(masks) & (self.status == 0))
        while True:
            options: list[tuple[float, int, list[Bools]]] = []
            for a, mask in enumerate(masks):
                for v in np.flatnonzero(mask).tolist() if mask.sum() > 1 else ():
                    less = [m.copy() for m in masks]
                    less[a][v] = False
                    own = self._in_masks(less) & (self.status == 0)
                    options.append((self._information(own), len(options), less))
            if not options or max(options, key=lambda o: (o[0], -o[1]))[0] <= best:
                return masks
            best, _, masks = max(options, key=lambda o: (o[0], -o[1]))

    def _in_masks(self, masks: list[Bools]) -> Bools:
        inside = np.ones(len(self.points), dtype=np.bool_)
        for a, mask in enumerate(masks):
            inside &= mask[self.points[:, a]]
        return inside

    def _box(self, masks: list[Bools]) -> Box:
        return _box(self.space, masks)


def grow(masks: list[Bools], points: Ints, may: Bools, wanted: Bools, first: int = 0) -> list[Bools]:
    """The box enlarged value by value, axis `first` first, while it has only points that it `may` have; each
    step adds the value with the most `wanted` points."""
    masks = [mask.copy() for mask in masks]
    axes = [first, *(a for a in range(len(masks)) if a != first)]
    for a in axes:
        others = np.ones(len(points), dtype=np.bool_)
        for other, mask in enumerate(masks):
            if other != a:
                others &= mask[points[:, other]]
        values = points[others, a]
        width = len(masks[a])
        bad = np.bincount(values[~may[others]], minlength=width) > 0
        good = np.bincount(values[wanted[others]], minlength=width) > 0
        masks[a] |= good & ~bad
    return masks


def _prior(space: FeatureSpace, points: Ints, counts: Floats) -> Floats:
    """(N,) the probability that a point that was not shown is valid."""
    total = max(float(counts.sum()), 1.0)
    chance = np.full(len(points), total)
    for a, axis in enumerate(space.axes):
        chance *= np.bincount(points[:, a], counts, minlength=len(axis))[points[:, a]] / total
    likely = np.where(counts > 0, 0.0, np.exp(-chance))
    once, twice = float((counts == 1).sum()), float((counts == 2).sum())
    unseen = once * (once - 1.0) / (2.0 * (twice + 1.0)) + 0.5
    return np.minimum(unseen * likely / max(float(likely.sum()), _TINY), 0.5)


def _shown(feature: ConstraintFeature, structures: Iterable[Any]) -> Floats:
    """(N,) how often each point of the space was shown."""
    space = feature.space
    space.check_finite("questions")
    if space.size > MOST_POINTS:
        raise TooLarge(
            f"questions need a list of all {space.size:,} combinations, above the limit of {MOST_POINTS:,};"
            " use a smaller n or fewer labels."
        )
    shape = tuple(len(axis) for axis in space.axes)
    counts = np.zeros(shape)
    for structure in structures:
        psi = feature.psi(read_instance(structure, feature.column))
        np.add.at(counts, tuple(space.assignments(psi).T), 1.0)
    points = np.concatenate(list(space.points()))
    return counts[tuple(points.T)]


def _settled(
    feature: ConstraintFeature,
    inquiry: Inquiry,
    replies: tuple[tuple[Question, Reply], ...],
    given: ConstraintFeature | LearnedConstraint,
) -> Asked:
    space, status = feature.space, inquiry.status
    still_open = status == 0
    rejected = status < 0
    if isinstance(given, LearnedConstraint):  # what is still open stays as it was
        rejected = rejected | (still_open & ~given.network.verdicts(space, inquiry.points))
    rules = Rules(space, _cover(space, inquiry.points, rejected))
    network = rules.network()
    if not np.array_equal(network.verdicts(space, inquiry.points), ~rejected):
        raise LconsError("the constraint differs from the answers; this is a bug in lcons, please report it.")
    names = [
        {axis.name: axis.values[v] for axis, v in zip(space.axes, point, strict=True)}
        for point in inquiry.points[still_open].tolist()
    ]
    shown = inquiry.counts > 0
    numbers = {
        "shown": int(shown.sum()),
        "answered": int(((status > 0) & ~shown & ~inquiry.implied).sum()),
        "implied": int((inquiry.implied & (status > 0)).sum()),
        "invalid": int((status < 0).sum()),
    }
    asked = [[question.box.to_dict(), reply] for question, reply in replies]
    before: Mapping[str, Any] = given.provenance if isinstance(given, LearnedConstraint) else {}
    # What was judged of the set before is not true of this one.
    kept = {name: value for name, value in before.items() if name not in ("calibration", "bound", "evidence")}
    provenance = {**kept, "asked": {"replies": asked, **numbers, "open": len(names)}}
    constraint = LearnedConstraint(network, space, feature, provenance)
    return Asked(constraint, replies, **numbers, open=tuple(names))


def _cover(space: FeatureSpace, points: Ints, rejected: Bools) -> list[Box]:
    """Boxes of rejected points alone that contain all of them, each as large as it can be grown."""
    left = rejected.copy()
    boxes = []
    while left.any():
        seed = points[np.flatnonzero(left)[0]]
        single = [np.arange(len(axis)) == v for axis, v in zip(space.axes, seed, strict=True)]
        grown = [grow(single, points, rejected, rejected, first) for first in range(len(space.axes))]
        inside = [np.all([m[points[:, a]] for a, m in enumerate(masks)], axis=0) for masks in grown]
        best = int(np.argmax([(own & left).sum() for own in inside]))
        boxes.append(_box(space, grown[best]))
        left &= ~inside[best]
    return boxes


def _box(space: FeatureSpace, masks: list[Bools]) -> Box:
    """The box by name; axes on which all values are inside have a condition too."""
    pairs = zip(space.axes, masks, strict=True)
    return Box(tuple((axis.name, tuple(np.array(axis.values)[m].tolist())) for axis, m in pairs))


def _words(space: FeatureSpace, box: Box) -> str:
    parts = []
    for axis, (name, values) in zip(space.axes, box.conditions, strict=True):
        if len(values) == len(axis) > 1:
            parts.append(f"any {name}")
        elif len(values) > max(4, len(axis) // 2):
            left_out = [value for value in axis.values if value not in set(values)]
            parts.append(f"{name} other than {_listed(left_out)}")
        else:
            parts.append(f"{name} {_listed(values)}")
    return f"Can this occur: {', with '.join(parts)}?"


def _listed(values: Iterable[str]) -> str:
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last
