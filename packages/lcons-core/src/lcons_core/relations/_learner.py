"""A relation schema learned from a few annotated graphs, with the evidence for each rule.

**Endpoint types.** Let a relation have n heads, c_1 >= c_2 >= ... of them of the first, second ... type, of E
types in all. If its k most frequent types are allowed and a share e of the labels is wrong, then with flat
priors on the shares of the types, right and wrong ones apart, the labels have the probability

    P(c | k, e) = (1 - e)^m e^(n - m) D(c_1 .. c_k; k) D(c_(k+1) .. c_E; E - k),   m = c_1 + ... + c_k
    D(c; k) = (k - 1)! prod c_i! / (sum c_i + k - 1)!

The distribution w(e) over a grid of shares is the most probable one, given all heads and tails of all
relations. The most probable k is chosen, with prior 4^-k. Types that were never shown are not allowed.
Relations that break the endpoint types are taken for wrong labels and count nowhere below.

**The other rules.** Each rule has n chances to be broken, and b of them did break it:

    odds = P(b | rule) / P(b | no rule),   P(b | rule) = sum_e w(e) Binomial(b; n, e)

| rule | one chance to break it | learned if |
|---|---|---|
| acyclic | two entities with a path from one to the other, and fitting types for a way back | odds > 1 |
| at most k per head | a head with at least k relations and another possible tail | odds > `odds` x 2 R |
| symmetric, inverse | two entities with one of the two relations at least | odds > `odds` |
| no self loops | an entity of a type that may be head and tail | b = 0, or odds > `odds` |

If there is no rule, b has one of two distributions, equally probable: that of an unknown share, which gives
1 / (n + 1), and (not for symmetric and inverse) chance: each fitting pair has the relation with the share
of all fitting pairs that have it, so that b is a sum of independent events. Maxima need more, because there
are 2 R of them to find, for R relations; of several k, the smallest one is learned. A pair that should have
two relations has two labels that can be wrong.

**The bound.** Whatever the odds, with `confidence` the share of the chances that break the rule is at most
the exact binomial (Clopper-Pearson) bound of b in n, if the annotated passages are a random sample. It is a
statement about labels as they are annotated, wrong ones included.

Not in the paper. The prior and `odds` were chosen on drawn schemas. The rule for acyclic, with odds above 1
where the others need more, was chosen after seeing the development sentences of Roth & Yih. Measured with
wrong labels beside frequency gates: `tools/bench/relation_schema.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from lcons_core._bounds import rounded_up, upper_bound
from lcons_core._errors import InvalidInput
from lcons_core._types import Floats
from lcons_core.relations._schema import EntityGraph, RelationSchema, RelationType

ODDS = 2.0
CONFIDENCE = 0.95
MOST_COUNTED = 8
PRIOR = 4.0
ROUNDS = 50
# The shares of wrong labels, equally probable before any data: from none in a thousand to one in four.
NOISE = np.array([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256])


@dataclass(frozen=True)
class Evidence:
    """The evidence for a rule: `broken` of `chances` break it; `odds` of the rule against no rule; with the
    stated confidence at most the share `bound` of the chances break it. `learned`: the schema has the rule.
    """

    relation: str
    rule: str
    sentence: str
    chances: int
    broken: int
    odds: float
    bound: float
    learned: bool

    def words(self) -> str:
        """The rule and its evidence in words."""
        held = f"{self.chances - self.broken} of {self.chances}"
        odds = f"{self.odds:.3g}" if self.odds < 1e4 else "over 10,000"
        return (
            f"{self.sentence}: {held}, odds {odds}, broken in at most {rounded_up(self.bound)} of cases"
            + ("" if self.learned else "; not learned")
        )


@dataclass(frozen=True)
class LearnedSchema:
    """A schema, the evidence for each rule that was tested, the estimated share of wrong labels, and the
    settings."""

    schema: RelationSchema
    evidence: tuple[Evidence, ...]
    wrong_labels: float
    settings: dict[str, float] = field(default_factory=dict)

    def words(self) -> list[str]:
        """A sentence per rule, with its evidence; the learned ones first."""
        ordered = sorted(self.evidence, key=lambda own: not own.learned)
        return [own.words() for own in ordered]


def learn_schema(
    graphs: Iterable[EntityGraph],
    *,
    odds: float = ODDS,
    confidence: float = CONFIDENCE,
    no_entity: Sequence[str] = (),
) -> LearnedSchema:
    """The schema of annotated graphs. Types in `no_entity` are never endpoints.

    >>> graphs = [EntityGraph(["Person", "Place"], [(0, "LiveIn", 1)])] * 20
    >>> for sentence in learn_schema(graphs).words()[:2]:
    ...     print(sentence)
    the head of LiveIn is Person: 20 of 20, odds 42, broken in at most 14.0% of cases
    the tail of LiveIn is Place: 20 of 20, odds 42, broken in at most 14.0% of cases
    """
    shown = list(graphs)
    if not all(isinstance(graph, EntityGraph) for graph in shown):
        raise InvalidInput("expected annotated passages as EntityGraph; pass a list of them.")
    if not any(graph.relations for graph in shown):
        raise InvalidInput(
            f"expected passages with relations, found none in {len(shown)} passages; add some with relations."
        )
    if not (odds > 0 and 0 < confidence < 1):
        raise InvalidInput(
            f"`odds` must be positive and `confidence` between 0 and 1: got {odds} and {confidence}."
        )
    return _Learner(shown, odds, confidence, frozenset(no_entity)).learn()


class _Learner:
    """One run: the graphs, and what is known so far."""

    def __init__(
        self, graphs: Sequence[EntityGraph], odds: float, confidence: float, no_entity: frozenset[str]
    ) -> None:
        self.graphs, self.least, self.confidence, self.no_entity = graphs, odds, confidence, no_entity
        self.types = sorted({name for graph in graphs for name in graph.entities})
        self.names = sorted({name for graph in graphs for _, name, _ in graph.relations})
        self.evidence: list[Evidence] = []
        self.weights = np.full(len(NOISE), 1.0 / len(NOISE))

    def learn(self) -> LearnedSchema:
        sides = {(name, side): self._counts(name, side) for name in self.names for side in (0, 1)}
        tables = {key: _type_table(counts, len(self.types)) for key, counts in sides.items()}
        self.weights = _mixture([_log_sum(table, axis=0) for table in tables.values()])
        allowed = {key: self._endpoints(*key, sides[key], table) for key, table in tables.items()}
        relations = {
            name: RelationType(name, allowed[name, 0], allowed[name, 1])
            for name in self.names
            if allowed[name, 0] and allowed[name, 1]
        }
        relations = self._with_inverses(relations)
        relations = {name: self._with_rules(own) for name, own in relations.items()}
        entities = [name for name in self.types if name not in self.no_entity]
        return LearnedSchema(
            RelationSchema(entities, relations.values()),
            tuple(self.evidence),
            float(self.weights @ NOISE),
            {"odds": self.least, "confidence": self.confidence, "passages": len(self.graphs)},
        )

    # Endpoint types.

    def _counts(self, name: str, side: int) -> list[tuple[str, int]]:
        """(type, count) of the heads or tails of a relation, the most frequent first; types that cannot be
        endpoints last."""
        found = Counter(
            graph.entities[(head, tail)[side]]
            for graph in self.graphs
            for head, own, tail in graph.relations
            if own == name
        )
        return sorted(found.items(), key=lambda item: (item[0] in self.no_entity, -item[1], item[0]))

    def _endpoints(
        self, name: str, side: int, counts: list[tuple[str, int]], table: Floats
    ) -> tuple[str, ...]:
        most = sum(own not in self.no_entity for own, _ in counts)
        if not most:
            return ()
        posterior = _posterior(table, self.weights)[:most]
        k = int(np.argmax(posterior)) + 1
        types = tuple(sorted(own for own, _ in counts[:k]))
        n, broken = sum(count for _, count in counts), sum(count for _, count in counts[k:])
        rest = float(posterior.sum() - posterior[k - 1]) + _unseen(n - broken, k, len(self.types))
        rule = ("head", "tail")[side]
        sentence = dict(RelationType(name, types, types).rules)[rule]
        self._note(name, rule, sentence, n, broken, float(posterior[k - 1]) / rest, True)
        return types

    # The other rules.

    def _with_inverses(self, relations: dict[str, RelationType]) -> dict[str, RelationType]:
        """Symmetric relations and pairs of inverse relations."""
        for a, b in [*((name, name) for name in self.names), *combinations(self.names, 2)]:
            if a not in relations or b not in relations or not _free(relations[a], relations[b]):
                continue
            pairs = [self._pairs(relations[a], graph) for graph in self.graphs]
            turned = [{(j, i) for i, j in self._pairs(relations[b], graph)} for graph in self.graphs]
            both = sum(_unordered(x & y, a == b) for x, y in zip(pairs, turned, strict=True))
            either = sum(_unordered(x | y, a == b) for x, y in zip(pairs, turned, strict=True))
            if not both:
                continue
            broken = either - both
            odds = self._likelihood(either, broken, labels=2) * (either + 1)
            if a == b:
                ends = tuple(sorted({*relations[a].head, *relations[a].tail}))
                own = replace(relations[a], head=ends, tail=ends, symmetric=True)
                if self._decide(own, "symmetric", either, broken, odds):
                    relations[a] = own
                continue
            head = tuple(sorted({*relations[a].head, *relations[b].tail}))
            tail = tuple(sorted({*relations[a].tail, *relations[b].head}))
            own = replace(relations[a], head=head, tail=tail, inverse=b)
            if self._decide(own, "inverse", either, broken, odds):
                relations[a] = own
                relations[b] = replace(relations[b], head=tail, tail=head, inverse=a)
        return relations

    def _with_rules(self, own: RelationType) -> RelationType:
        """The relation with its maxima, and with its rules on cycles."""
        fitting = sum(len(_fitting(own, graph)) for graph in self.graphs)
        shown = sum(len(self._pairs(own, graph)) for graph in self.graphs)
        p = shown / fitting if fitting else 0.0
        for rule, side in (("max_per_head", 0), ("max_per_tail", 1)):
            own = self._with_most(own, rule, side, p)
        if not own.can_return:
            return own
        own = self._self_loops(own, p)
        return own if own.symmetric or own.allow_self else self._acyclic(own, p)

    def _with_most(self, own: RelationType, rule: str, side: int, p: float) -> RelationType:
        """The relation with the smallest maximum that has enough evidence."""
        degrees: list[tuple[int, int]] = []
        for graph in self.graphs:
            possible = Counter(pair[side] for pair in _fitting(own, graph))
            there = Counter(pair[side] for pair in self._pairs(own, graph))
            degrees += [(count, possible[node]) for node, count in there.items()]
        for k in range(1, min(max((count for count, _ in degrees), default=0), MOST_COUNTED) + 1):
            at = [(count, most) for count, most in degrees if count >= k and most > k]
            broken = sum(count > k for count, _ in at)
            chance = [1.0 - (1.0 - p) ** (most - k) for _, most in at]
            odds = self._likelihood(len(at), broken) / _no_rule(chance, broken)
            limited = replace(own, max_per_head=k) if side == 0 else replace(own, max_per_tail=k)
            if self._decide(limited, rule, len(at), broken, odds, self.least * 2 * len(self.names)):
                return limited
        return own

    def _acyclic(self, own: RelationType, p: float) -> RelationType:
        chances = broken = 0
        for graph in self.graphs:
            reach = _reachable(self._pairs(own, graph))
            fitting = set(_fitting(own, graph))
            # One way leads from i to j; the way back, from j to i, must fit.
            open_pairs = {frozenset((i, j)) for i, j in reach if i != j and (j, i) in fitting}
            chances += len(open_pairs)
            broken += sum((i, j) in reach and (j, i) in reach for i, j in map(sorted, open_pairs))
        odds = self._likelihood(chances, broken) / _no_rule([p] * chances, broken)
        acyclic = replace(own, acyclic=True)
        return acyclic if self._decide(acyclic, "acyclic", chances, broken, odds, 1.0) else own

    def _self_loops(self, own: RelationType, p: float) -> RelationType:
        loops = sum(
            head == tail and name == own.name for graph in self.graphs for head, name, tail in graph.relations
        )
        both = set(own.head) & set(own.tail)
        chances = sum(name in both for graph in self.graphs for name in graph.entities)
        odds = self._likelihood(chances, loops) / _no_rule([p] * chances, loops)
        # Without self loops unless they are shown.
        learned = not loops or odds >= self.least
        sentence = dict(replace(own, allow_self=False).rules)["no_self_loops"]
        self._note(own.name, "no_self_loops", sentence, chances, loops, odds, learned)
        return replace(own, allow_self=not learned)

    def _pairs(self, own: RelationType, graph: EntityGraph) -> set[tuple[int, int]]:
        """The pairs of different entities that have the relation and its endpoint types."""
        return {
            (head, tail)
            for head, name, tail in graph.relations
            if name == own.name
            and head != tail
            and graph.entities[head] in own.head
            and graph.entities[tail] in own.tail
        }

    def _likelihood(self, n: int, broken: int, labels: int = 1) -> float:
        """P(broken | rule): a breach is a wrong label, one of so many."""
        return float(self.weights @ _binomial(n, broken, 1.0 - (1.0 - NOISE) ** labels))

    def _decide(
        self,
        own: RelationType,
        rule: str,
        chances: int,
        broken: int,
        odds: float,
        least: float | None = None,
    ) -> bool:
        if not chances:
            return False
        learned = odds > (self.least if least is None else least)
        self._note(own.name, rule, dict(own.rules)[rule], chances, broken, odds, learned)
        return learned

    def _note(
        self, name: str, rule: str, sentence: str, chances: int, broken: int, odds: float, learned: bool
    ) -> None:
        bound = upper_bound(broken, chances, self.confidence)
        self.evidence.append(
            Evidence(name, rule, sentence, chances, broken, min(odds, 1e300), bound, learned)
        )


def _free(a: RelationType, b: RelationType) -> bool:
    """Whether two relations are neither symmetric nor have an inverse; one relation, too."""
    return not any(own.symmetric or own.inverse for own in (a, b))


def _type_table(counts: Sequence[tuple[str, int]], E: int) -> Floats:
    """(types shown, shares of wrong labels): log of the prior 2^-k times P(c | k, e)."""
    numbers = [count for _, count in counts]
    n = sum(numbers)
    rows = []
    for k in range(1, len(numbers) + 1):
        m = sum(numbers[:k])
        shares = math.lgamma(k) - math.lgamma(m + k) + sum(math.lgamma(c + 1) for c in numbers[:k])
        shares += math.lgamma(E - k) - math.lgamma(n - m + E - k) if k < E else 0.0
        shares += sum(math.lgamma(c + 1) for c in numbers[k:])
        labels = m * np.log1p(-NOISE) + (n - m) * np.log(NOISE) if k < E else np.zeros(len(NOISE))
        rows.append(shares + labels - k * math.log(PRIOR))
    return np.array(rows)


def _mixture(logs: Sequence[Floats]) -> Floats:
    """w(e): the most probable distribution of the share of wrong labels over heads and tails, given the log
    likelihood of each, by expectation maximisation with one more count per share."""
    likelihoods = np.exp(np.array([own - own.max() for own in logs]))
    weights = np.full(len(NOISE), 1.0 / len(NOISE))
    for _ in range(ROUNDS):
        shares = likelihoods * weights
        counts = (shares / shares.sum(1, keepdims=True)).sum(0) + 1.0 / len(NOISE)
        weights = counts / counts.sum()
    return weights


def _posterior(table: Floats, weights: Floats) -> Floats:
    """(types shown,): the probability of each number of allowed types."""
    joint = np.exp(table - table.max()) @ weights
    return np.asarray(joint / joint.sum())


def _unseen(m: int, k: int, E: int) -> float:
    """The weight, relative to the chosen k, of one more allowed type that was never shown."""
    return 0.5 * math.exp(math.log(k) - math.log(m + k)) if k < E else 1e-12


def _log_sum(values: Floats, axis: int) -> Floats:
    top = values.max(axis=axis, keepdims=True)
    return np.asarray(np.squeeze(top, axis) + np.log(np.exp(values - top).sum(axis=axis)))


def _binomial(n: int, b: int, share: Floats) -> Floats:
    log = math.lgamma(n + 1) - math.lgamma(b + 1) - math.lgamma(n - b + 1)
    return np.asarray(np.exp(log + b * np.log(share) + (n - b) * np.log1p(-share)))


def _no_rule(probabilities: Sequence[float], b: int) -> float:
    """The probability of exactly b: half of it by independent events, half of it by an unknown share."""
    exactly = np.zeros(b + 1)
    exactly[0] = 1.0
    for p in probabilities:
        exactly[1:] = exactly[1:] * (1.0 - p) + exactly[:-1] * p
        exactly[0] *= 1.0 - p
    return 0.5 * float(exactly[b]) + 0.5 / (len(probabilities) + 1)


def _fitting(own: RelationType, graph: EntityGraph) -> list[tuple[int, int]]:
    """The ordered pairs of different entities with the endpoint types of a relation."""
    heads = [i for i, name in enumerate(graph.entities) if name in own.head]
    tails = [i for i, name in enumerate(graph.entities) if name in own.tail]
    return [(i, j) for i in heads for j in tails if i != j]


def _reachable(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """(i, j) for every path from i to j."""
    found = set(edges)
    while True:
        longer = {(i, k) for i, j in found for own, k in edges if own == j} - found
        if not longer:
            return found
        found |= longer


def _unordered(pairs: set[tuple[int, int]], same: bool) -> int:
    """The number of pairs; for one relation, a pair and its reverse count once."""
    return len({tuple(sorted(pair)) for pair in pairs}) if same else len(pairs)
