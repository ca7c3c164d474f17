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

A relation schema (`lcons_core.relations`) also has rules on more than two candidates: maxima per head and
tail, and no cycles. If the best labelling of the pairs breaks one, some of its relations p_1, ..., p_m
cannot all stay, and the labellings are divided into m parts: part i keeps p_1, ..., p_(i-1) and forbids p_i.
The part with the best labelling is divided next, so the first labelling without a conflict is the best, ties
included. After `MAX_PARTS`, a packing problem takes over (`_schema_problem.py`): its answer is the best one,
but ties may go elsewhere. If it finds no proof, the status is OUT_OF_BUDGET: the answer satisfies the schema,
but may not be the best. The schema always holds, because no relations at all satisfy it; only the
constraints beside it may be broken.

Soft constraints subtract a penalty for the labels of two candidates and the relations between them, which
`best_ij` takes in: the search stays exact.

Paper: Sec. 4, which uses the integer program alone. Not in the paper: a decoder by search; schemas; soft
constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import InvalidInput, LearnedConstraint, TooLarge, check_numbers
from lcons_core.features import Tuples, checked_names
from lcons_core.relations import RelationSchema
from lcons_decode._constraints import MEMBERS, Hard, Soft
from lcons_decode._result import RelationDecoding, Status
from lcons_decode._schema_problem import pack_relations
from lcons_decode._schema_rules import Place, SchemaRules
from lcons_decode._scores import Floats, Ints, RelationScores

MAX_NODES = 500_000
MAX_PARTS = 100
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
    schema: SchemaRules | None = None
    penalty: Floats | None = None

    @classmethod
    def of(
        cls,
        constraints: Iterable[LearnedConstraint | Hard | Soft],
        entity_labels: Sequence[str],
        relation_labels: Sequence[str],
        schema: RelationSchema | None = None,
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
        for given in constraints:
            learned = given.constraint if isinstance(given, Hard | Soft) else given
            if not isinstance(learned, LearnedConstraint):
                raise InvalidInput(
                    "constraints on relations are LearnedConstraint, Hard or Soft, found"
                    f" {type(given).__name__}."
                )
            if isinstance(given, Soft):
                margins = _spread(learned, E, R, learned.network.margin)
                own = given.rate * (np.maximum(0.0, -margins) if given.hinge else np.logaddexp(0.0, -margins))
                penalty = (0.0 if penalty is None else penalty) + own + own.transpose(1, 0, 3, 2)
            else:
                rejected = 1 - _spread(learned, E, R, learned.network.accepts).astype(np.int64)
                broken += rejected + rejected.transpose(1, 0, 3, 2)
        broken.flags.writeable = False
        return cls(E, R, broken, None if schema is None else SchemaRules.of(schema, E, R), penalty)

    @classmethod
    def none(cls, entity_labels: Sequence[str], relation_labels: Sequence[str]) -> RelationRules:
        """No constraints."""
        return cls.of((), entity_labels, relation_labels)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The feasible set: which (a, b, r, s) break nothing."""
        return (self.broken == 0) & self._possible

    @cached_property
    def allowed_lists(self) -> tuple[Ints, Ints, Ints, Ints]:
        """(starts, forward, backward, broken) of the relations that break nothing, by labels (a, b)."""
        return _lists(self.broken, self.allowed)

    @cached_property
    def all_lists(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The same for all relations that the schema allows."""
        return _lists(self.broken, self._possible)

    @property
    def _possible(self) -> NDArray[np.bool_]:
        if self.schema is None:
            return np.ones(self.broken.shape, dtype=np.bool_)
        return ~self.schema.forbidden


def decode_relations(
    scores: RelationScores,
    constraints: Iterable[LearnedConstraint | Hard | Soft] | RelationRules = (),
    schema: RelationSchema | None = None,
) -> RelationDecoding:
    """The best labels of all candidates and pairs under the constraints and the schema.

    >>> from lcons_core.relations import RelationType
    >>> scores = RelationScores([[3.0, 0.0], [0.0, 3.0], [0.0, 3.0]], [[[0.0, 1.0]] * 3] * 3,
    ...                         entity_labels=["Person", "Place"], relation_labels=["NoRel", "LiveIn"])
    >>> one_home = RelationSchema(["Person", "Place"], [RelationType("LiveIn", "Person", "Place", 1)])
    >>> decode_relations(scores, schema=one_home).relations
    {(0, 2): 'LiveIn'}
    """
    rules = constraints
    if not isinstance(rules, RelationRules):
        rules = RelationRules.of(rules, scores.entity_labels, scores.relation_labels, schema)
    elif schema is not None:
        raise InvalidInput("pass the schema to RelationRules.of, not beside RelationRules.")
    if (rules.entity_labels, rules.relation_labels) != (scores.entity_labels, scores.relation_labels):
        raise InvalidInput("constraints and scores must have the same labels in the same order.")
    found = relation_ids(scores.entities, scores.relations, rules)
    n = len(scores)
    pairs = [(i, j) for i, j in product(range(n), repeat=2) if i != j]
    total = float(scores.entities[np.arange(n), found.entities].sum()) + float(
        sum(scores.relations[i, j, found.relations[i, j]] for i, j in pairs)
    )
    if rules.penalty is not None:
        y, r = found.entities, found.relations
        total -= float(sum(rules.penalty[y[i], y[j], r[i, j], r[j, i]] for i, j in pairs if i < j))
    names = {(i, j): scores.relation_labels[found.relations[i, j]] for i, j in pairs if found.relations[i, j]}
    status = Status.RELAXED if found.broken else Status.OPTIMAL
    return RelationDecoding(
        tuple(scores.entity_labels[e] for e in found.entities),
        names,
        total,
        status if found.proved else Status.OUT_OF_BUDGET,
        found.broken,
        {"nodes": found.nodes, "ilp": found.nodes < 0},
    )


@dataclass(frozen=True, eq=False)
class RelationIds:
    """Labels as indices: entities (n,) and relations (n, n); the number of broken constraints; the number of
    partial labellings tried, or -1 if the integer program was used; whether no better labelling exists."""

    entities: Ints
    relations: Ints
    broken: int
    nodes: int
    proved: bool = True


def relation_ids(
    entities: Floats, relations: Floats, rules: RelationRules, max_nodes: int = MAX_NODES
) -> RelationIds:
    """The same for arrays of scores, without checks: training calls this in its inner loop."""
    price = _price(entities, relations, rules)
    single = np.rint(entities * SCALE).astype(np.int64)
    double = np.rint(relations * SCALE).astype(np.int64)
    # First only labellings that break nothing. If there is none: all labellings, with a price per breach.
    nodes = 0
    for lists in (rules.allowed_lists, rules.all_lists):
        search = _Search(single, double, lists, price, max_nodes, rules.penalty)
        found = search.run(rules.schema)
        nodes = -1 if search.nodes < 0 or nodes < 0 else nodes + search.nodes
        if found is not None:
            return RelationIds(found.y, found.relations, found.broken, nodes, search.proved)
    raise AssertionError("some labelling has the fewest breaches.")


@dataclass(frozen=True, eq=False)
class _Part:
    """The best labelling of the labellings that keep and forbid the relations of some places."""

    y: Ints
    relations: Ints
    broken: int
    value: int
    kept: frozenset[Place] = frozenset()
    forbidden: frozenset[Place] = frozenset()

    def __lt__(self, other: _Part) -> bool:
        """Whether this part comes first: a better labelling, or the first of equal ones."""
        return (-self.value, self._order) < (-other.value, other._order)

    @cached_property
    def _order(self) -> tuple[int, ...]:
        i, j = np.triu_indices(len(self.y), 1)
        both = np.stack([self.relations[i, j], self.relations[j, i]], axis=1)
        return (*self.y.tolist(), *both.reshape(-1).tolist())


class _Search:
    """The best labelling for lists of relations by labels: of pairs alone, or under a schema."""

    def __init__(
        self,
        single: Ints,
        double: Ints,
        lists: tuple[Ints, Ints, Ints, Ints],
        price: int,
        max_nodes: int,
        penalty: Floats | None,
    ) -> None:
        self.single, self.double, self.lists = single, double, lists
        self.price, self.max_nodes, self.nodes, self.proved = price, max_nodes, 0, True
        starts, forward, backward, broken = lists
        self.cost = broken * price
        if penalty is not None:
            E, R = single.shape[1], double.shape[2]
            which = np.repeat(np.arange(E * E), np.diff(starts))
            rounded = np.rint(penalty * SCALE).astype(np.int64).reshape(E * E, R, R)
            self.cost = self.cost + rounded[which, forward, backward]
        self.soft = penalty is not None
        from lcons_decode.kernels._compiled import best_pairs

        self.best, self.choice = best_pairs(double, starts, forward, backward, self.cost, -price)

    def run(self, schema: SchemaRules | None) -> _Part | None:
        """The best labelling without a conflict; None if there is no labelling."""
        first = self._solved(frozenset(), frozenset())
        if first is None or schema is None or schema.local:
            return first
        parts, made = [first], 1
        while parts:
            part = heappop(parts)
            conflict = schema.conflict(part.relations)
            if conflict is None:
                return part
            if made > MAX_PARTS:
                return self._packed(schema)
            kept = set(part.kept)
            stay = [place for place in conflict.places if place in kept]
            rest = [place for place in conflict.places if place not in kept]
            for place in rest[: conflict.most + 1 - len(stay)]:
                own = self._solved(frozenset(kept), part.forbidden | {place})
                made += 1
                if own is not None:
                    heappush(parts, own)
                kept.add(place)
        return None

    def _packed(self, schema: SchemaRules) -> _Part:
        """The best labelling without a conflict and without breaches, by packing."""
        starts, forward, backward, broken = self.lists
        n, E, R = len(self.single), self.single.shape[1], self.double.shape[2]
        allowed = np.zeros((E * E, R, R), dtype=np.bool_)
        for which in range(E * E):
            entries = np.arange(starts[which], starts[which + 1])
            entries = entries[broken[entries] == 0]
            allowed[which, forward[entries], backward[entries]] = True
        if self.soft or not allowed[:, 0, 0].all():
            raise TooLarge(
                f"the schema has too many conflicts with these {n} candidates for constraints that need"
                " relations or are soft; use fewer candidates, or ilp.decode_relations_ilp."
            )
        y, relations, self.proved = pack_relations(
            self.single, self.double, allowed.reshape(E, E, R, R), schema
        )
        return _Part(y, relations, 0, 0)

    def _solved(self, kept: frozenset[Place], forbidden: frozenset[Place]) -> _Part | None:
        from lcons_decode.kernels._compiled import label_pairs

        best, choice = self.best, self.choice
        if kept or forbidden:
            best, choice = best.copy(), choice.copy()
            for i, j in {(min(i, j), max(i, j)) for i, j, _ in kept | forbidden}:
                best[i, j], choice[i, j] = self._restricted(i, j, kept, forbidden)
        y, tried = label_pairs(self.single, best, SWEEPS, self.max_nodes)
        if tried < 0:
            y, self.nodes = _by_ilp(self.single, best), -1
        elif self.nodes >= 0:
            self.nodes += tried
        _, forward, backward, broken = self.lists
        relations, count = _relations(y, choice, forward, backward, broken)
        if relations is None:
            return None
        sources, targets = np.triu_indices(len(y), 1)
        pairs = best[sources, targets, y[sources], y[targets]]
        value = int(self.single[np.arange(len(y)), y].sum()) + int(pairs.sum())
        return _Part(y, relations, count, value, kept, forbidden)

    def _restricted(
        self, i: int, j: int, kept: frozenset[Place], forbidden: frozenset[Place]
    ) -> tuple[Ints, Ints]:
        """(L, L) `best` and `choice` of one pair i < j."""
        starts, forward, backward, _ = self.lists
        possible = np.ones(len(forward), dtype=np.bool_)
        for places, wanted in ((kept, True), (forbidden, False)):
            for source, target, r in places:
                if (source, target) == (i, j):
                    possible &= (forward == r) == wanted
                elif (source, target) == (j, i):
                    possible &= (backward == r) == wanted
        values = self.double[i, j, forward] + self.double[j, i, backward] - self.cost
        L = self.single.shape[1]
        best, choice = np.full(L * L, -self.price), np.full(L * L, -1)
        for which in range(L * L):
            own = starts[which] + np.flatnonzero(possible[starts[which] : starts[which + 1]])
            if len(own):
                choice[which] = own[int(values[own].argmax())]
                best[which] = values[choice[which]]
        return best.reshape(L, L), choice.reshape(L, L)


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
    from lcons_decode.ilp._solve import label_pairs_by_ilp

    return label_pairs_by_ilp(single / SCALE, best / SCALE)


def _relations(y: Ints, choice: Ints, forward: Ints, backward: Ints, broken: Ints) -> tuple[Ints | None, int]:
    """The chosen relations (n, n) and how many constraints they break; None if a pair has no relations."""
    n = len(y)
    found = np.zeros((n, n), dtype=np.int64)
    i, j = np.triu_indices(n, 1)
    picked = choice[i, j, y[i], y[j]]
    if (picked < 0).any():
        return None, 0
    found[i, j], found[j, i] = forward[picked], backward[picked]
    return found, int(broken[picked].sum())


def _lists(broken: Ints, allowed: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Ints]:
    E, _, R, _ = broken.shape
    kept = allowed.reshape(E * E, R * R)
    which, pairs = np.nonzero(kept)
    starts = np.searchsorted(which, np.arange(E * E + 1))
    return starts, pairs // R, pairs % R, broken.reshape(E * E, R * R)[which, pairs]


def _spread(
    learned: LearnedConstraint, E: Sequence[str], R: Sequence[str], answer: Callable[[Any], Any]
) -> NDArray[Any]:
    """(E, E, R, R): the answer for source a, target b, relation r, reverse s."""
    feature = learned.feature
    if not isinstance(feature, Tuples) or not set(feature.names) <= set(MEMBERS):
        found = f"({', '.join(feature.names)})" if isinstance(feature, Tuples) else f"{feature!r:.60}"
        raise InvalidInput(f"expected a constraint on tuples of some of {', '.join(MEMBERS)}, found {found}.")
    labels = {"source": E, "target": E, "relation": R, "reverse": R}
    values = [labels[name] for name in feature.names]
    found = answer(feature.psi([tuple(point) for point in product(*values)]))
    table = np.asarray(found).reshape([len(v) for v in values])
    order = ("source", "target", "relation", "reverse")
    axes = [name for name in order if name in feature.names]
    table = table.transpose([feature.names.index(name) for name in axes])
    shape = [len(labels[name]) if name in axes else 1 for name in order]
    return np.broadcast_to(table.reshape(shape), [len(labels[name]) for name in order])
