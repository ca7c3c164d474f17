"""A schema is learned from a few graphs, with exact evidence, also if some labels are wrong."""

import math
from itertools import product

import numpy as np
import pytest

from lcons_core._bounds import upper_bound
from lcons_core.relations import EntityGraph, RelationSchema, RelationType, learn_schema
from lcons_core.relations._learner import NOISE, _binomial, _no_rule, _type_table

TRUE = RelationSchema(
    ["Person", "Place", "Org"],
    [
        RelationType("born", "Person", "Place", 1),
        RelationType("spouse", "Person", "Person", symmetric=True),
        RelationType("within", "Place", "Place", acyclic=True),
        RelationType("works", "Person", "Org", inverse="employs"),
        RelationType("employs", "Org", "Person", inverse="works"),
    ],
)


def passage(rng):
    """A graph that the true schema allows."""
    types = ["Person", "Person", "Place", "Place", "Place", "Org"]
    found = {(0, "spouse", 1), (1, "spouse", 0)} if rng.random() < 0.7 else set()
    found |= {(i, "born", int(rng.integers(2, 5))) for i in (0, 1) if rng.random() < 0.9}
    chain = rng.permutation([2, 3, 4]).tolist()
    found |= {(chain[i], "within", chain[i + 1]) for i in (0, 1)}
    for i in (0, 1):
        if rng.random() < 0.7:
            found |= {(i, "works", 5), (5, "employs", i)}
    return EntityGraph(types, found)


def passages(number, wrong=0.0, seed=0):
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(number):
        own = passage(rng)
        types = [rng.choice(TRUE.entities) if rng.random() < wrong else name for name in own.entities]
        graphs.append(EntityGraph(map(str, types), own.relations))
    return graphs


@pytest.mark.parametrize(("number", "wrong"), [(40, 0.0), (40, 0.02), (60, 0.05)])
def test_the_true_schema_is_found_also_with_wrong_labels(number, wrong):
    learned = learn_schema(passages(number, wrong))
    kinds = ("head", "tail", "symmetric", "inverse", "acyclic")
    found = learned.schema.by_name
    assert {name: [getattr(own, kind) for kind in kinds] for name, own in found.items()} == {
        name: [getattr(own, kind) for kind in kinds] for name, own in TRUE.by_name.items()
    }
    assert found["born"].max_per_head == 1
    assert found["works"].max_per_tail is None
    assert abs(learned.wrong_labels - wrong) < 0.06


def test_every_rule_of_the_schema_has_evidence_and_an_exact_bound():
    learned = learn_schema(passages(40, 0.02), confidence=0.9)
    stated = {own.sentence for own in learned.evidence if own.learned}
    assert set(learned.schema.words()) <= stated | {
        "employs is the inverse of works",
        "works is the inverse of employs",
    }
    for own in learned.evidence:
        assert 0 <= own.broken <= own.chances
        assert own.bound == upper_bound(own.broken, own.chances, 0.9)
        assert own.words().startswith(own.sentence)
        assert own.words().endswith("not learned") != own.learned


def test_few_passages_give_few_rules_and_wide_bounds():
    learned = learn_schema(passages(2))
    assert learned.schema.by_name["born"].max_per_head is None
    assert min(own.bound for own in learned.evidence if own.rule == "head") > 0.3


def test_types_that_are_no_entities_are_never_endpoints():
    graphs = [
        EntityGraph(["Person", "None"], [(0, "r", 1)]),
        EntityGraph(["Person", "Place"], [(0, "r", 1)]),
    ] * 5
    assert learn_schema(graphs, no_entity=["None"]).schema.by_name["r"].tail == ("Place",)
    assert learn_schema(graphs[::2], no_entity=["None"]).schema.relations == ()


def test_self_loops_are_allowed_if_they_are_shown():
    graphs = [EntityGraph(["P", "P"], [(0, "r", 0), (1, "r", 1), (0, "r", 1)])] * 10
    assert learn_schema(graphs).schema.by_name["r"].allow_self


def test_the_order_of_passages_does_not_matter():
    graphs = passages(20, 0.05)
    assert learn_schema(graphs) == learn_schema(graphs[::-1])


def test_the_probabilities_are_those_of_an_enumeration():
    # Of all outcomes of independent events.
    chances = [0.1, 0.5, 0.7]
    for b in range(4):
        total = sum(
            math.prod(p if hit else 1 - p for p, hit in zip(chances, hits, strict=True))
            for hits in product((0, 1), repeat=3)
            if sum(hits) == b
        )
        assert _no_rule(chances, b) == pytest.approx(total / 2 + 1 / 8, rel=1e-12)
    assert sum(_binomial(5, b, NOISE) for b in range(6)) == pytest.approx(1.0)
    # All label sequences of length 3 over 3 types, with the first k types allowed, have probability 1.
    for k in (1, 2):
        total = np.zeros(len(NOISE))  # type: ignore[assignment]
        for labels in product(range(3), repeat=3):
            counts = [(str(i), labels.count(i)) for i in range(3)]
            total += np.exp(_type_table(counts, 3)[k - 1]) * 4.0**k
        assert total == pytest.approx(np.ones(len(NOISE)))
