"""Lattices of scored entity spans and relations, decoded exactly, with a proof that no answer is better.

    maximise   the scores of the chosen nodes + the scores of the chosen edges
    subject to an edge needs its two nodes; nodes overlap only as far as `overlap` allows; rules on edges

A relation with a companion (symmetric: itself; or its inverse) holds in both directions: an edge that is
chosen alone brings a derived edge with score 0. So edges are chosen in bundles: one edge, or an edge with its
companion, chosen or derived. Bundles that break a rule on their own, or whose score is not positive, are
left out: without a bundle, everything else still holds. What remains is a problem of `_packing_problem.py`:

    items   nodes, bundles, and alternatives (of hypotheses, of which one alternative is used at most)
    rows    spans that cover a token; edges that use the same key; at most k edges of a head or tail; cycles,
            added when a choice has one

Scores are rounded to multiples of 2^-30 and added as integers, as in `_relations.py`. Parts of a lattice
that share nothing are solved apart. The certificate holds the proofs, and `check` needs only the lattice.

Not in the paper.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations, product

from lcons_core import InvalidInput, Unsupported
from lcons_core.relations import cycle
from lcons_decode._packing_problem import MAX_LEAVES, Packing, Proof, Row, check_proof, pack
from lcons_decode._result import Status

SCALE = 2.0**30
LARGEST = 2.0**20


@dataclass(frozen=True)
class LatticeNode:
    """A span [start, end) of a type, with its score."""

    type: str
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class LatticeEdge:
    """A relation between two nodes, as indices, with its score. `keys`: no other chosen edge has one of
    these. `choice`: (hypothesis, alternative), of which each hypothesis uses one alternative at most."""

    relation: str
    head: int
    tail: int
    score: float
    keys: tuple[Hashable, ...] = ()
    choice: tuple[Hashable, Hashable] | None = None


@dataclass(frozen=True)
class LatticeRules:
    """Rules on nodes and edges; None as a relation: of all relations together.

    overlap: "disallow", "nested" (one span within the other) or "allow".
    types: (relation, head types, tail types). companions: relation -> itself if it is symmetric, or its
    inverse. single: relations that two nodes have at most once (True: in one direction only). derived_once:
    relations with at most one derived edge or edge without keys.
    """

    overlap: str = "disallow"
    types: tuple[tuple[str | None, tuple[str, ...], tuple[str, ...]], ...] = ()
    no_self_loops: frozenset[str | None] = frozenset()
    per_head: tuple[tuple[str | None, int], ...] = ()
    per_tail: tuple[tuple[str | None, int], ...] = ()
    companions: Mapping[str, str] = field(default_factory=dict)
    acyclic: frozenset[str] = frozenset()
    single: Mapping[str, bool] = field(default_factory=dict)
    derived_once: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lattice:
    """Nodes and edges with scores, and rules."""

    nodes: tuple[LatticeNode, ...]
    edges: tuple[LatticeEdge, ...]
    rules: LatticeRules = LatticeRules()

    def __post_init__(self) -> None:
        for score in (*(node.score for node in self.nodes), *(edge.score for edge in self.edges)):
            if not (abs(score) <= LARGEST or score == -math.inf):
                raise InvalidInput(
                    f"scores of a lattice must be numbers up to 2^20 (-inf forbids): got {score}; scale them."
                )
        for edge in self.edges:
            if not all(0 <= end < len(self.nodes) for end in (edge.head, edge.tail)):
                raise InvalidInput(f"an edge needs two of the {len(self.nodes)} nodes: got {edge!r:.80}.")
        if self.rules.overlap not in ("disallow", "nested", "allow"):
            raise InvalidInput(f"`overlap` is disallow, nested or allow: got {self.rules.overlap!r:.40}.")

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """The bundles that can be part of a best answer."""
        whole = _bundles(self)
        return tuple(own for own in whole if own.value > 0 and _holds(self, own))


@dataclass(frozen=True)
class Bundle:
    """Chosen edges, derived edges as (relation, head, tail), and the value of the chosen ones."""

    edges: tuple[int, ...]
    derived: tuple[tuple[str, int, int], ...]
    value: int
    triples: tuple[tuple[str, int, int], ...]

    @property
    def nodes(self) -> set[int]:
        """The nodes that the edges need."""
        return {end for _, head, tail in self.triples for end in (head, tail)}


@dataclass(frozen=True)
class LatticeDecoding:
    """The chosen nodes and edges as indices, derived edges as (relation, head, tail), and the score.

    `bound`: no answer has a higher score, if scores are rounded to multiples of 2^-30. The status is OPTIMAL
    if the bound is reached, else OUT_OF_BUDGET.
    """

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    derived: tuple[tuple[str, int, int], ...]
    score: float
    bound: float
    status: Status
    certificate: LatticeCertificate


@dataclass(frozen=True)
class LatticeCertificate:
    """A proof for each part of a lattice, with the cycles that it uses; a part without a proof has None."""

    parts: tuple[tuple[int, Proof | None, tuple[Row, ...]], ...]

    def check(self, lattice: Lattice) -> bool:
        """Whether the proofs show that no answer is better, by the definition of the lattice alone."""
        parts = _parts(lattice)
        if len(parts) != len(self.parts):
            return False
        for part, (value, proof, cycles) in zip(parts, self.parts, strict=True):
            if proof is None or not all(part.is_cycle(row) for row in cycles):
                return False
            problem = Packing(part.problem.values, part.problem.rows + cycles, part.problem.needs)
            if not check_proof(problem, value, proof):
                return False
        return True

    @property
    def value(self) -> int:
        """The score that is proved, in units of 2^-30."""
        return sum(value for value, _, _ in self.parts)


def decode_lattice(lattice: Lattice, max_leaves: int = MAX_LEAVES) -> LatticeDecoding:
    """The best nodes and edges, and the proof.

    >>> person, place = LatticeNode("Person", 0, 1, 1.0), LatticeNode("Place", 3, 4, -0.5)
    >>> found = decode_lattice(Lattice((person, place), (LatticeEdge("LiveIn", 0, 1, 2.0),)))
    >>> found.nodes, found.edges, found.score, found.status.value
    ((0, 1), (0,), 2.5, 'optimal')
    """
    nodes: list[int] = []
    edges: list[int] = []
    derived: list[tuple[str, int, int]] = []
    proofs = []
    bound = 0
    for part in _parts(lattice):
        found = pack(part.problem, part.find_cycle, max_leaves)
        for item in found.chosen:
            name = part.items[item]
            if isinstance(name, Bundle):
                edges += name.edges
                derived += name.derived
            elif isinstance(name, int):
                nodes.append(name)
        bound += found.bound
        proofs.append((found.value, found.proof, found.rows))
    certificate = LatticeCertificate(tuple(proofs))
    score = math.fsum([*(lattice.nodes[i].score for i in nodes), *(lattice.edges[i].score for i in edges)])
    status = Status.OPTIMAL if bound == certificate.value else Status.OUT_OF_BUDGET
    return LatticeDecoding(
        tuple(sorted(nodes)),
        tuple(sorted(edges)),
        tuple(sorted(derived)),
        score,
        bound / SCALE,
        status,
        certificate,
    )


Item = int | Bundle | tuple[Hashable, Hashable]


@dataclass(frozen=True)
class _Part:
    """A packing problem, its items (nodes as indices, bundles, alternatives), and the acyclic relations."""

    problem: Packing
    items: tuple[Item, ...]
    acyclic: frozenset[str]

    def find_cycle(self, chosen: frozenset[int]) -> Row | None:
        """The row of a cycle of the chosen edges."""
        for relation in sorted(self.acyclic):
            owner = self._edges(chosen, relation)
            closed = cycle(owner)
            if closed:
                return Row(tuple(sorted({owner[edge] for edge in closed})), len(closed) - 1)
        return None

    def is_cycle(self, row: Row) -> bool:
        """Whether the items of a row have a cycle, so that not all of them can be chosen."""
        items = frozenset(row.items)
        closed = any(cycle(self._edges(items, relation)) for relation in self.acyclic)
        return closed and row.most >= len(items) - 1

    def _edges(self, chosen: Iterable[int], relation: str) -> dict[tuple[int, int], int]:
        return {
            (head, tail): item
            for item in chosen
            if isinstance(own := self.items[item], Bundle)
            for name, head, tail in own.triples
            if name == relation
        }


def _bundles(lattice: Lattice) -> Iterator[Bundle]:
    companions = lattice.rules.companions
    by_triple: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for i, edge in enumerate(lattice.edges):
        if edge.score > -math.inf:
            by_triple[edge.relation, edge.head, edge.tail].append(i)
    for triple, own in by_triple.items():
        relation, head, tail = triple
        other = (companions.get(relation, ""), tail, head)
        if not other[0] or other == triple:
            yield from (_bundle(lattice, (i,), ()) for i in own)
            continue
        if relation not in lattice.rules.single or other[0] not in lattice.rules.single:
            raise Unsupported(
                f"{relation!r} has a companion, so two nodes must have it at most once; add it to `single`."
            )
        yield from (_bundle(lattice, (i,), (other,)) for i in own)
        if triple < other:
            yield from (_bundle(lattice, pair, ()) for pair in product(own, by_triple.get(other, ())))


def _bundle(lattice: Lattice, edges: tuple[int, ...], derived: tuple[tuple[str, int, int], ...]) -> Bundle:
    chosen = [lattice.edges[i] for i in edges]
    triples = (*((edge.relation, edge.head, edge.tail) for edge in chosen), *derived)
    return Bundle(edges, derived, sum(_units(edge.score) for edge in chosen), triples)


def _holds(lattice: Lattice, bundle: Bundle) -> bool:
    """Whether a bundle breaks no rule on its own."""
    rules = lattice.rules
    for relation, head, tail in bundle.triples:
        for of, heads, tails in rules.types:
            ends = lattice.nodes[head].type, lattice.nodes[tail].type
            if of in (None, relation) and (
                (heads and ends[0] not in heads) or (tails and ends[1] not in tails)
            ):
                return False
        if head == tail and {None, relation} & rules.no_self_loops:
            return False
    if any(lattice.nodes[node].score == -math.inf for node in bundle.nodes):
        return False
    if any(cycle([(h, t) for r, h, t in bundle.triples if r == own]) for own in rules.acyclic):
        return False
    if any(
        _conflict(rules.overlap, lattice.nodes[i], lattice.nodes[j]) for i, j in combinations(bundle.nodes, 2)
    ):
        return False
    used: dict[Hashable, int] = defaultdict(int)
    limits: dict[Hashable, int] = {}
    for key, most in _resources(lattice, bundle):
        used[key] += 1
        limits[key] = most
    if any(used[key] > most for key, most in limits.items()):
        return False
    if any(count > 1 for count in used.values()):
        raise Unsupported("an edge and its companion count twice for one maximum; this is not supported.")
    return True


def _resources(lattice: Lattice, bundle: Bundle) -> Iterator[tuple[Hashable, int]]:
    """(key, how many edges may use it) for each edge of a bundle."""
    rules = lattice.rules
    for i in bundle.edges:
        yield from ((("key", key), 1) for key in lattice.edges[i].keys)
    for at, (relation, head, tail) in enumerate(bundle.triples):
        for side, end, limits in (("head", head, rules.per_head), ("tail", tail, rules.per_tail)):
            yield from (((side, of, end), most) for of, most in limits if of in (None, relation))
        if relation in rules.single:
            one_way = rules.single[relation] or relation in rules.acyclic
            ends = tuple(sorted((head, tail))) if one_way else (head, tail)
            yield ("pair", relation, ends), 1
        explicit = at < len(bundle.edges)
        if relation in rules.derived_once and not (explicit and lattice.edges[bundle.edges[at]].keys):
            yield ("derived", relation), 1


def _conflict(overlap: str, a: LatticeNode, b: LatticeNode) -> bool:
    if overlap == "allow" or a.end <= b.start or b.end <= a.start:
        return False
    nested = (a.start >= b.start and a.end <= b.end) or (b.start >= a.start and b.end <= a.end)
    return overlap == "disallow" or not nested


def _parts(lattice: Lattice) -> list[_Part]:
    """The packing problems of a lattice, one per part that shares nothing with the others."""
    bundles, alive = _useful(lattice)
    items: list[Item] = [*sorted(alive), *bundles]
    alternatives: dict[Hashable, set[Hashable]] = defaultdict(set)
    for own in bundles:
        for hypothesis, alternative in _choices(lattice, own):
            alternatives[hypothesis].add(alternative)
    several = {key: own for key, own in alternatives.items() if len(own) > 1}
    items += [(key, own) for key, found in several.items() for own in sorted(found, key=repr)]
    place = {item: i for i, item in enumerate(items)}
    values = [_units(lattice.nodes[i].score) for i in sorted(alive)] + [own.value for own in bundles]
    values += [0] * (len(items) - len(values))
    needs: list[tuple[int, ...]] = [()] * len(items)
    uses: dict[Hashable, list[int]] = defaultdict(list)
    limits: dict[Hashable, int] = {}
    for own in bundles:
        chosen = [choice for choice in _choices(lattice, own) if choice[0] in several]
        needs[place[own]] = tuple(sorted({place[i] for i in own.nodes} | {place[own_] for own_ in chosen}))
        for key, most in _resources(lattice, own):
            uses[key].append(place[own])
            limits[key] = most
    rows = [Row(tuple(own), limits[key]) for key, own in uses.items() if len(own) > limits[key]]
    rows += [
        Row(tuple(place[key, own] for own in sorted(found, key=repr)), 1) for key, found in several.items()
    ]
    rows += _overlaps(lattice, sorted(alive), place)
    return _separate(Packing(tuple(values), tuple(rows), tuple(needs)), items, lattice.rules.acyclic)


def _useful(lattice: Lattice) -> tuple[list[Bundle], set[int]]:
    """The bundles and nodes that can be part of a best answer: a node whose bundles are worth less than it
    costs cannot."""
    bundles = list(lattice.bundles)
    while True:
        worth: dict[int, int] = defaultdict(int)
        for own in bundles:
            for node in own.nodes:
                worth[node] += own.value
        alive = {
            i
            for i, node in enumerate(lattice.nodes)
            if node.score > -math.inf and _units(node.score) + worth[i] > 0
        }
        kept = [own for own in bundles if own.nodes <= alive]
        if len(kept) == len(bundles):
            return bundles, alive
        bundles = kept


def _choices(lattice: Lattice, bundle: Bundle) -> list[tuple[Hashable, Hashable]]:
    found = (lattice.edges[i].choice for i in bundle.edges)
    return list(dict.fromkeys(choice for choice in found if choice is not None))


def _overlaps(lattice: Lattice, alive: list[int], place: Mapping[Item, int]) -> Iterator[Row]:
    """Rows of spans of which one can be chosen: those that begin at or before a start and end after it."""
    overlap = lattice.rules.overlap
    if overlap == "disallow":
        for start in sorted({lattice.nodes[i].start for i in alive}):
            over = [i for i in alive if lattice.nodes[i].start <= start < lattice.nodes[i].end]
            if len(over) > 1:
                yield Row(tuple(place[i] for i in over), 1)
    else:
        for i, j in combinations(alive, 2):
            if _conflict(overlap, lattice.nodes[i], lattice.nodes[j]):
                yield Row((place[i], place[j]), 1)


def _separate(problem: Packing, items: list[Item], acyclic: frozenset[str]) -> list[_Part]:
    """The parts of a packing problem that share no row and no need."""
    group = list(range(len(items)))

    def find(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for linked in chain(
        (row.items for row in problem.rows), ((j, *own) for j, own in enumerate(problem.needs))
    ):
        for other in linked[1:]:
            group[find(other)] = find(linked[0])
    members: dict[int, list[int]] = defaultdict(list)
    for i in range(len(items)):
        members[find(i)].append(i)
    rows: dict[int, list[Row]] = defaultdict(list)
    for row in problem.rows:
        rows[find(row.items[0])].append(row)
    parts = []
    for root, own in members.items():
        at = {i: k for k, i in enumerate(own)}
        small = Packing(
            tuple(problem.values[i] for i in own),
            tuple(Row(tuple(at[i] for i in row.items), row.most) for row in rows[root]),
            tuple(tuple(at[k] for k in problem.needs[i]) for i in own),
        )
        parts.append(_Part(small, tuple(items[i] for i in own), acyclic))
    return parts


def _units(score: float) -> int:
    return round(score * SCALE)
