"""Lattices and packing problems are decoded as by enumeration, and the proofs are checked apart."""

import math
from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, Unsupported
from lcons_core.relations import cycle
from lcons_decode import Lattice, LatticeEdge, LatticeNode, LatticeRules, Status, decode_lattice
from lcons_decode._packing_problem import Branch, Leaf, Packing, Row, check_proof, pack, simplex


@st.composite
def packings(draw):
    n = draw(st.integers(1, 8))
    values = draw(st.lists(st.integers(-5, 9), min_size=n, max_size=n))
    some = st.sets(st.integers(0, n - 1), min_size=1).map(sorted).map(tuple)
    rows = draw(st.lists(st.builds(Row, some, st.integers(0, 2)), max_size=6))
    needs = [
        tuple(sorted(draw(st.sets(st.integers(0, j - 1), max_size=2)))) if j > n // 2 else ()
        for j in range(n)
    ]
    return Packing(tuple(values), tuple(rows), tuple(needs))


def subsets(n):
    return (frozenset(own) for own in chain.from_iterable(combinations(range(n), k) for k in range(n + 1)))


@settings(max_examples=120)
@given(problem=packings())
def test_a_packing_is_the_best_of_all_choices_and_its_proof_is_exact(problem):
    found = pack(problem)
    assert problem.holds(found.chosen)
    best = max(problem.value(own) for own in subsets(len(problem.values)) if problem.holds(own))
    assert found.value == found.bound == problem.value(found.chosen) == best
    assert check_proof(problem, best, found.proof)
    assert not check_proof(problem, best - 1, found.proof)


def test_a_proof_with_a_negative_or_a_missing_multiplier_is_refused():
    problem = Packing((3, 2), (Row((0, 1), 1),), ((), ()))
    assert check_proof(problem, 3, Leaf(((0, 3),), ()))
    assert not check_proof(problem, 3, Leaf((), ()))
    assert not check_proof(problem, 0, Leaf(((0, -5),), ()))
    assert check_proof(problem, 3, Branch(0, Leaf((), ()), Leaf((), ())))
    with pytest.raises(ValueError, match="no need"):
        check_proof(problem, 9, Leaf((), (((0, 1), 1),)))


def test_without_leaves_the_bound_still_holds():
    # Five items in a circle, of which no two neighbours: the relaxation takes half of each.
    circle = Packing((1,) * 5, tuple(Row((i, (i + 1) % 5), 1) for i in range(5)), ((),) * 5)
    assert pack(circle).value == 2
    found = pack(circle, max_leaves=0)
    assert found.proof is None
    assert found.bound >= 2


def test_the_simplex_method_solves_a_known_program():
    x, prices = simplex([5.0, 4.0], [([0, 1], [], 4.0), ([0], [1], 0.0)])
    assert x.tolist() == [2.0, 2.0]
    assert prices == pytest.approx([4.5, 0.5])


# Lattices.

RULES = st.builds(
    LatticeRules,
    overlap=st.sampled_from(["disallow", "nested", "allow"]),
    types=st.sampled_from([(), (("r", ("P",), ()),), ((None, (), ("L", "P")),)]),
    no_self_loops=st.sampled_from([frozenset(), frozenset({None}), frozenset({"r"})]),
    per_head=st.sampled_from([(), (("r", 1),), (("q", 2),)]),
    per_tail=st.sampled_from([(), (("r", 1),), (("r", 2), ("q", 1))]),
    companions=st.sampled_from([{}, {}, {"r": "r"}, {"r": "q", "q": "r"}]),
    acyclic=st.sampled_from([frozenset(), frozenset({"q"}), frozenset({"r", "q"})]),
    single=st.sampled_from([{"r": False, "q": False}, {"r": False, "q": True}]),
    derived_once=st.sampled_from([frozenset(), frozenset({"r", "q"})]),
)
SCORE = st.integers(-6, 9).map(lambda own: own / 4)


@st.composite
def lattices(draw):
    spans = st.tuples(st.integers(0, 4), st.integers(1, 2))
    nodes = [
        LatticeNode(draw(st.sampled_from("PL")), start, start + width, draw(SCORE))
        for start, width in draw(st.lists(spans, min_size=1, max_size=4))
    ]
    end = st.integers(0, len(nodes) - 1)
    edges = []
    for i in range(draw(st.integers(0, 5))):
        choice = draw(st.sampled_from([None, ("h", 0), ("h", 1)]))
        key = draw(st.sampled_from([(), ("a",), (i,)]))
        edges.append(LatticeEdge(draw(st.sampled_from("rq")), draw(end), draw(end), draw(SCORE), key, choice))
    return Lattice(tuple(nodes), tuple(edges), draw(RULES))


def derived_of(lattice, chosen):
    there = {(e.relation, e.head, e.tail) for e in chosen}
    turned = ((lattice.rules.companions.get(r), t, h) for r, h, t in there)
    return {own for own in turned if own[0] and own not in there}


def allowed(lattice, nodes, edges):
    """By the definition of each rule."""
    rules, spans = lattice.rules, [lattice.nodes[i] for i in nodes]
    chosen = [lattice.edges[i] for i in edges]
    if any(end not in nodes for e in chosen for end in (e.head, e.tail)):
        return False
    for a, b in combinations(spans, 2):
        apart = a.end <= b.start or b.end <= a.start
        within = (a.start <= b.start and b.end <= a.end) or (b.start <= a.start and a.end <= b.end)
        if not (rules.overlap == "allow" or apart or (rules.overlap == "nested" and within)):
            return False
    keys = [key for e in chosen for key in e.keys]
    alternatives = {e.choice for e in chosen if e.choice}
    if len(set(keys)) < len(keys) or len({h for h, _ in alternatives}) < len(alternatives):
        return False
    extra = derived_of(lattice, chosen)
    triples = [(e.relation, e.head, e.tail) for e in chosen] + list(extra)
    for relation, head, tail in triples:
        ends = lattice.nodes[head].type, lattice.nodes[tail].type
        for of, heads, tails in rules.types:
            if of in (None, relation) and (
                (heads and ends[0] not in heads) or (tails and ends[1] not in tails)
            ):
                return False
        if head == tail and {None, relation} & rules.no_self_loops:
            return False
    for side, limits in ((1, rules.per_head), (2, rules.per_tail)):
        for of, most in limits:
            ends = [own[side] for own in triples if of in (None, own[0])]  # type: ignore[assignment]
            if any(ends.count(end) > most for end in ends):
                return False
    for relation, both in rules.single.items():
        pairs = [tuple(sorted(own[1:])) if both else own[1:] for own in triples if own[0] == relation]
        if len(set(pairs)) < len(pairs):
            return False
    for relation in rules.derived_once:
        free = [e for e in chosen if e.relation == relation and not e.keys]
        if len(free) + sum(own[0] == relation for own in extra) > 1:
            return False
    return not any(cycle([own[1:] for own in triples if own[0] == r]) for r in rules.acyclic)


@settings(max_examples=200)
@given(lattice=lattices())
def test_a_lattice_is_the_best_of_all_answers_with_a_proof_that_is_checked(lattice):
    found = decode_lattice(lattice)
    assert found.status is Status.OPTIMAL
    assert allowed(lattice, found.nodes, found.edges)
    assert set(found.derived) == derived_of(lattice, [lattice.edges[i] for i in found.edges])
    best = 0.0
    scores = [own.score for own in (*lattice.nodes, *lattice.edges)]
    n = len(lattice.nodes)
    for bits in product((0, 1), repeat=len(scores)):
        total = sum(score for score, bit in zip(scores, bits, strict=True) if bit)
        if total > best and allowed(
            lattice, {i for i in range(n) if bits[i]}, [i - n for i in range(n, len(bits)) if bits[i]]
        ):
            best = total
    assert found.score == found.bound == best
    assert found.certificate.check(lattice)


def test_a_certificate_does_not_fit_a_better_lattice():
    nodes = (LatticeNode("P", 0, 1, 1.0), LatticeNode("P", 0, 2, 0.5))
    found = decode_lattice(Lattice(nodes, ()))
    assert found.certificate.check(Lattice(nodes, ()))
    better = (nodes[0], replace(nodes[1], score=2.0))
    assert not found.certificate.check(Lattice(better, ()))
    assert not found.certificate.check(Lattice((*nodes, LatticeNode("P", 5, 6, 1.0)), ()))


def test_out_of_budget_is_not_called_optimal():
    rng = np.random.default_rng(1)
    nodes = tuple(LatticeNode("P", i, i + 1, -3.0) for i in range(5))
    edges = tuple(
        LatticeEdge("r", i, j, float(rng.uniform(1, 3))) for i, j in product(range(5), repeat=2) if i != j
    )
    rules = LatticeRules(
        per_head=(("r", 2),), per_tail=(("r", 2),), acyclic=frozenset({"r"}), single={"r": True}
    )
    lattice = Lattice(nodes, edges, rules)
    found = decode_lattice(lattice, max_leaves=0)
    best = decode_lattice(lattice)
    assert best.status is Status.OPTIMAL
    assert best.certificate.check(lattice)
    assert found.score <= best.score <= found.bound
    if found.status is not Status.OPTIMAL:
        assert not found.certificate.check(lattice)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Lattice((LatticeNode("P", 0, 1, math.nan),), ()), InvalidInput, "must be numbers"),
        (lambda: Lattice((), (LatticeEdge("r", 0, 1, 1.0),)), InvalidInput, "needs two of the 0 nodes"),
        (lambda: Lattice((), (), LatticeRules("never")), InvalidInput, "disallow, nested or allow"),
        (
            lambda: decode_lattice(
                Lattice(
                    (LatticeNode("P", 0, 1, 1.0), LatticeNode("P", 1, 2, 1.0)),
                    (LatticeEdge("r", 0, 1, 1.0),),
                    LatticeRules(companions={"r": "r"}),
                )
            ),
            Unsupported,
            "add it to `single`",
        ),
    ],
)
def test_what_is_wrong_is_stated(make, error, message):
    with pytest.raises(error, match=message):
        make()
