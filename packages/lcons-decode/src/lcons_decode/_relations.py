"""Graphs of candidates, decoded exactly and fast: one label per candidate, one relation per ordered pair.

    maximise   sum_i entity[i, e_i] + sum_{i != j} relation[i, j, r_ij]
    subject to every constraint on (source e_i, target e_j, relation r_ij, reverse r_ji), for every i != j

Given the labels of i and j, the best two relations between them can be looked up. This leaves a problem over
pairs of candidates:

    maximise   sum_i entity[i, e_i] + sum_{i < j} best_ij(e_i, e_j)

It is searched depth first. The bound on the rest of a partial labelling comes from moving value between pairs
and single labels until the sum of maxima is low (max-product linear programming, Globerson and Jaakkola
2007). With few candidates the search is plain enumeration.

Scores are rounded to multiples of 2^-30 and added as integers. So sums are exact, equal scores are equal, and
ties go to the first labelling in declared label order: entities first, then the two relations of each pair
i < j, forward before backward. Two constraints with the same feasible set therefore have the same answer; no
solver guarantees this. If no labelling satisfies all constraints, the answer breaks as few as possible. After
`MAX_NODES` partial labellings, an integer program over the same pairs (`ilp._solve`) takes over, and the
solver breaks the ties. With random scores this happens at about 30 candidates.

Soft constraints subtract a penalty for the labels of two candidates and the relations between them, which
`best_ij` takes in: the search stays exact.

Paper: Sec. 4, which uses the integer program alone. Not in the paper: a decoder by search; soft constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, LearnedConstraint
from lcons_core._blocks import check_numbers
from lcons_core.features import Tuples
from lcons_core.features._feature import checked_names
from lcons_decode._constraints import MEMBERS, Hard, Soft
from lcons_decode._result import RelationDecoding, Status
from lcons_decode._scores import Floats, Ints, RelationScores

MAX_NODES = 500_000
SWEEPS = 10
SCALE = 2.0**30
_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class RelationRules:
    """Constraints as a table: broken[a, b, r, s] counts the constraints that two candidates labelled a and b
    break with relation r from the first to the second and relation s back. Soft constraints are a table of
    penalties, which are subtracted from the score of each two candidates."""

    entity_labels: tuple[str, ...]
    relation_labels: tuple[str, ...]
    broken: Ints
    penalty: Floats | None = None

    @classmethod
    def of(
        cls,
        constraints: Iterable[LearnedConstraint | Hard | Soft],
        entity_labels: Sequence[str],
        relation_labels: Sequence[str],
    ) -> RelationRules:
        """Constraints on tuples whose members are some of source, relation, target and reverse; hard, unless
        they are `Soft`.

        >>> from lcons_core._network import RectifierNetwork
        >>> pairs = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))
        >>> net = RectifierNetwork([[0, 2, 0, 2]], [-2.0])
        >>> no_location_kills = LearnedConstraint(net, pairs.space, pairs)
        >>> rules = RelationRules.of([no_location_kills], ["Person", "Location"], ["NoRel", "Kill"])
        >>> int((rules.broken == 0).sum()), rules.broken.size
        (9, 16)
        """
        E = checked_names(entity_labels, "entity_labels")
        R = checked_names(relation_labels, "relation_labels")
        check_numbers(
            (len(E) * len(R)) ** 2, "the table of two candidates and two relations", "use fewer labels"
        )
        broken = np.zeros((len(E), len(E), len(R), len(R)), dtype=np.int64)
        penalty: Floats | None = None
        for use in constraints:
            learned = use.constraint if isinstance(use, Hard | Soft) else use
            if not isinstance(learned, LearnedConstraint):
                raise InvalidInput(
                    "constraints on relations are LearnedConstraint, Hard or Soft, found"
                    f" {type(use).__name__}."
                )
            if isinstance(use, Soft):
                margins = _spread(learned, E, R, learned.network.margin)
                cost = use.rate * (np.maximum(0.0, -margins) if use.hinge else np.logaddexp(0.0, -margins))
                penalty = (0.0 if penalty is None else penalty) + cost + cost.transpose(1, 0, 3, 2)
            else:
                rejected = 1 - _spread(learned, E, R, learned.network.accepts).astype(np.int64)
                broken += rejected + rejected.transpose(1, 0, 3, 2)
        broken.flags.writeable = False
        return cls(E, R, broken, penalty)

    @classmethod
    def none(cls, entity_labels: Sequence[str], relation_labels: Sequence[str]) -> RelationRules:
        """No constraints."""
        return cls.of((), entity_labels, relation_labels)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The feasible set: which (a, b, r, s) break nothing."""
        return self.broken == 0

    @cached_property
    def allowed_lists(self) -> tuple[Ints, Ints, Ints, Ints]:
        """(starts, forward, backward, broken) of the relations that break nothing, by labels (a, b)."""
        return _lists(self.broken, self.allowed)

    @cached_property
    def all_lists(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The same for all relations."""
        return _lists(self.broken, np.ones(self.broken.shape, dtype=np.bool_))


def decode_relations(
    scores: RelationScores, constraints: Iterable[LearnedConstraint | Hard | Soft] | RelationRules = ()
) -> RelationDecoding:
    """The best labels of all candidates and pairs under the constraints.

    >>> scores = RelationScores([[3.0, 0.0], [0.0, 3.0]], [[[0.0, 1.0], [0.0, 1.0]], [[0.0, -1.0]] * 2],
    ...                         entity_labels=["Person", "Place"], relation_labels=["NoRel", "LiveIn"])
    >>> decode_relations(scores).relations
    {(0, 1): 'LiveIn'}
    """
    rules = constraints
    if not isinstance(rules, RelationRules):
        rules = RelationRules.of(rules, scores.entity_labels, scores.relation_labels)
    if (rules.entity_labels, rules.relation_labels) != (scores.entity_labels, scores.relation_labels):
        raise InvalidInput("constraints and scores must have the same labels in the same order.")
    best = relation_ids(scores.entities, scores.relations, rules)
    y, r, n = best.entities, best.relations, len(scores)
    i, j = _upper_pairs(n)
    total = scores.entities[np.arange(n), y].sum()
    total += scores.relations[i, j, r[i, j]].sum() + scores.relations[j, i, r[j, i]].sum()
    if rules.penalty is not None:
        total -= rules.penalty[y[i], y[j], r[i, j], r[j, i]].sum()
    related = zip(*np.nonzero(r), strict=True)
    return RelationDecoding(
        tuple(scores.entity_labels[e] for e in y),
        {(int(i), int(j)): scores.relation_labels[r[i, j]] for i, j in related},
        float(total),
        Status.RELAXED if best.broken else Status.OPTIMAL,
        best.broken,
        {"nodes": best.nodes, "ilp": best.nodes < 0},
    )


@dataclass(frozen=True, eq=False)
class RelationIds:
    """Labels as indices: entities (n,) and relations (n, n); the number of broken constraints; the number of
    partial labellings tried, or -1 if the integer program was used."""

    entities: Ints
    relations: Ints
    broken: int
    nodes: int


def relation_ids(
    entities: Floats, relations: Floats, rules: RelationRules, max_nodes: int = MAX_NODES
) -> RelationIds:
    """The same for arrays of scores, without checks: training calls this in its inner loop."""
    from lcons_decode.kernels._compiled import best_pairs, label_pairs

    price = _price(entities, relations, rules)
    single = np.rint(entities * SCALE).astype(np.int64)
    double = np.rint(relations * SCALE).astype(np.int64)
    # First only labellings that break nothing. If there is none: all labellings, with a price per breach.
    nodes = 0
    for lists in (rules.allowed_lists, rules.all_lists):
        starts, forward, backward, broken = lists
        cost = broken * price
        if rules.penalty is not None:
            E, R = single.shape[1], double.shape[2]
            which = np.repeat(np.arange(E * E), np.diff(starts))
            rounded = np.rint(rules.penalty * SCALE).astype(np.int64).reshape(E * E, R, R)
            cost = cost + rounded[which, forward, backward]
        best, choice = best_pairs(double, starts, forward, backward, cost, -price)
        y, tried = label_pairs(single, best, SWEEPS, max_nodes)
        if tried < 0:
            y = _by_ilp(single, best)
        nodes = -1 if tried < 0 or nodes < 0 else nodes + tried
        chosen, breaches = _relations(y, choice, forward, backward, broken)
        if chosen is not None:
            return RelationIds(y, chosen, breaches, nodes)
    raise AssertionError("some labelling has the fewest breaches.")


def _price(entities: Floats, relations: Floats, rules: RelationRules) -> int:
    """The price of a breach: larger than the difference between any two labellings, also with a solver's
    tolerances. Raises an error if the sums, with all prices, do not fit in 64-bit integers."""
    n = len(entities)
    with np.errstate(over="ignore"):
        total = float(np.abs(entities).sum() + np.abs(relations).sum())
        if rules.penalty is not None:
            total += n * n / 2 * float(np.abs(rules.penalty).max(initial=0.0))
    breaches = max(int(rules.broken.max(initial=0)), 1) * max(n * n // 2, 1)
    price = (2.0 * total + 1.0) * SCALE
    if price * breaches > _LARGEST:
        raise InvalidInput(
            f"the scores of {n} candidates add up to {total:.4g}, too much for exact sums; scale them down"
            f" until they add up to at most {(_LARGEST / breaches / SCALE - 1.0) // 2:,.0f}."
        )
    return int(price)


def _by_ilp(single: Ints, best: Ints) -> Ints:
    """The labels by integer program."""
    from lcons_decode.ilp._decoders import label_pairs_by_ilp

    return label_pairs_by_ilp(single / SCALE, best / SCALE)


@cache
def _upper_pairs(n: int) -> tuple[Ints, Ints]:
    """The pairs i < j of n candidates."""
    return np.triu_indices(n, 1)


def _relations(y: Ints, choice: Ints, forward: Ints, backward: Ints, broken: Ints) -> tuple[Ints | None, int]:
    """The chosen relations (n, n) and how many constraints they break; None if a pair has no relations."""
    n = len(y)
    relations = np.zeros((n, n), dtype=np.int64)
    i, j = _upper_pairs(n)
    picked = choice[i, j, y[i], y[j]]
    if (picked < 0).any():
        return None, 0
    relations[i, j], relations[j, i] = forward[picked], backward[picked]
    return relations, int(broken[picked].sum())


def _lists(broken: Ints, allowed: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Ints]:
    E, _, R, _ = broken.shape
    listed = allowed.reshape(E * E, R * R)
    which, pairs = np.nonzero(listed)
    starts = np.searchsorted(which, np.arange(E * E + 1))
    return starts, pairs // R, pairs % R, broken.reshape(E * E, R * R)[which, pairs]


def _spread(
    learned: LearnedConstraint, E: Sequence[str], R: Sequence[str], answer: Callable[[Any], Any]
) -> NDArray[Any]:
    """(E, E, R, R): the answer for source a, target b, relation r, reverse s."""
    feature = learned.feature
    if not isinstance(feature, Tuples) or not set(feature.names) <= set(MEMBERS):
        named = f"({', '.join(feature.names)})" if isinstance(feature, Tuples) else f"{feature!r:.60}"
        raise InvalidInput(f"expected a constraint on tuples of some of {', '.join(MEMBERS)}, found {named}.")
    labels = {"source": E, "target": E, "relation": R, "reverse": R}
    values = [labels[name] for name in feature.names]
    answers = answer(feature.psi([tuple(point) for point in product(*values)]))
    table = np.asarray(answers).reshape([len(v) for v in values])
    order = ("source", "target", "relation", "reverse")
    axes = [name for name in order if name in feature.names]
    table = table.transpose([feature.names.index(name) for name in axes])
    shape = [len(labels[name]) if name in axes else 1 for name in order]
    return np.broadcast_to(table.reshape(shape), [len(labels[name]) for name in order])
