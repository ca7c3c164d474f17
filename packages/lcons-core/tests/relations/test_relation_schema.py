"""Relation schemas: what they allow, by definition; as JSON, for GLiNER2, and as SHACL."""

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core._errors import DamagedFile, InvalidInput
from lcons_core.relations import (
    EntityGraph,
    LearnedSchema,
    RelationSchema,
    RelationType,
    cycle,
    learn_schema,
    load_schema,
    read_graph,
    save_schema,
    schema_from_dict,
    schema_to_dict,
    schema_to_gliner2,
    schema_to_shacl,
)

edges = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@settings(max_examples=200)
@given(edges=edges)
def test_a_cycle_is_found_if_and_only_if_there_is_one(edges):
    reach = set(edges)
    while more := {(i, k) for i, j in reach for own, k in edges if own == j} - reach:
        reach |= more
    found = cycle(edges)
    assert bool(found) == any(i == j for i, j in reach)
    assert set(found) <= edges
    ends = [head for head, _ in found[1:]] + [head for head, _ in found[:1]]
    assert [tail for _, tail in found] == ends


def one(**rules):
    return RelationSchema(["P", "L"], [RelationType("r", ("P", "L"), ("P", "L"), **rules)])


def triples(*pairs):
    return [(i, "r", j) for i, j in pairs]


@pytest.mark.parametrize(
    ("rules", "right", "wrong"),
    [
        ({"max_per_head": 1}, [(0, 1), (1, 1), (2, 1)], [(0, 1), (0, 2)]),
        ({"max_per_tail": 2}, [(0, 1), (2, 1), (0, 2)], [(0, 1), (2, 1), (3, 1)]),
        ({"symmetric": True}, [(0, 1), (1, 0)], [(0, 1), (1, 0), (2, 1)]),
        ({"acyclic": True}, [(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2), (2, 0)]),
        ({}, [(0, 1), (1, 0)], [(0, 0)]),
    ],
)
def test_each_rule_allows_and_refuses(rules, right, wrong):
    schema = one(**{"allow_self": "max_per_head" in rules, **rules})
    types = ["P", "L", "P", "L"]
    assert schema.allows(EntityGraph(types, triples(*right)))
    assert len(schema.breaches(EntityGraph(types, triples(*wrong)))) == 1


def test_types_inverses_and_unknown_relations():
    schema = RelationSchema(
        ["P", "O"],
        [
            RelationType("works", "P", "O", inverse="employs"),
            RelationType("employs", "O", "P", inverse="works"),
        ],
    )
    both = [(0, "works", 1), (1, "employs", 0)]
    assert schema.allows(EntityGraph(["P", "O"], both))
    assert schema.allows(EntityGraph(["P", "O"], [(1, "unknown", 0)]))
    assert schema.breaches(EntityGraph(["P", "O"], both[:1])) == (
        "works is the inverse of employs",
        "employs is the inverse of works",
    )
    assert schema.breaches(EntityGraph(["P", "P"], both))[0] == "the tail of works is O"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RelationType("", "P", "P"), "needs a name"),
        (lambda: RelationType("r", (), "P"), "one or more different types"),
        (lambda: RelationType("r", "P", "P", 0), "positive integer"),
        (lambda: RelationType("r", "P", "L", symmetric=True), "same types at both ends"),
        (lambda: RelationType("r", "P", "P", acyclic=True, allow_self=True), "cannot allow self loops"),
        (lambda: RelationSchema(["P"], [RelationType("r", "P", "Q")]), "unknown entity type 'Q'"),
        (lambda: RelationSchema(["P"], [RelationType("r", "P", "P")] * 2), "different names"),
        (
            lambda: RelationSchema(["P"], [RelationType("r", "P", "P", inverse="q")]),
            "must be another relation",
        ),
        (lambda: EntityGraph(["P"], [(0, "r", 1)]), "indices of the 1 entities"),
        (lambda: one().without("head"), "optional rules are"),
        (lambda: read_graph({"entities": [{}]}, "line 3"), "line 3: expected entities with `label`"),
        (lambda: schema_to_shacl(one(), base="a b"), "beginning of an IRI"),
        (lambda: learn_schema([EntityGraph(["P"])]), "found none in 1 passages"),
    ],
)
def test_what_is_wrong_is_stated(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


names = st.text(min_size=1, max_size=5)


@st.composite
def schemas(draw):
    types = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    some = st.lists(st.sampled_from(types), min_size=1, unique=True)
    found = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        head, tail = draw(some), draw(some)
        kind = draw(st.sampled_from(["", "symmetric", "acyclic", "allow_self"]))
        most = st.none() | st.integers(1, 3)
        ends = (head, head) if kind == "symmetric" else (head, tail)
        found.append(RelationType(name, *ends, draw(most), draw(most), **({kind: True} if kind else {})))
    return RelationSchema(types, found)


@settings(max_examples=40)
@given(schema=schemas())
def test_files_hold_the_schema(schema, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "schema.json"
    try:
        save_schema(schema, path)
    except InvalidInput:  # half of a surrogate pair in a name
        return
    assert load_schema(path) == schema


def test_the_evidence_is_kept_in_the_file(tmp_path):
    learned = learn_schema([EntityGraph(["P", "L", "P"], [(0, "r", 1), (2, "r", 1)])] * 9)
    save_schema(learned, tmp_path / "schema.json")
    assert load_schema(tmp_path / "schema.json") == learned
    assert isinstance(learned, LearnedSchema)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "lcons relation schema", "version": 2}', "\xff"]
)
def test_a_damaged_file_is_one_sentence(content, tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(DamagedFile, match="is not a relation schema"):
        load_schema(path)
    with pytest.raises(DamagedFile, match="cannot read"):
        load_schema(tmp_path)


@pytest.mark.parametrize("key", ["entities", "relations"])
def test_a_file_without_a_part_is_damaged(key):
    whole = schema_to_dict(one())
    del whole[key]
    with pytest.raises(InvalidInput, match="whole relation schema"):
        schema_from_dict(whole)


def test_a_symmetric_relation_is_a_constraint_for_gliner2():
    schema = RelationSchema(["P"], [RelationType("spouse", "P", "P", 1, symmetric=True)])
    assert schema_to_gliner2(schema) == {
        "entities": {"P": {}},
        "relations": {"spouse": {"head": ["P"], "tail": ["P"], "max_per_head": 1}},
        "constraints": [{"type": "SymmetricRelation", "relation": "spouse"}],
    }
    json.dumps(schema_to_gliner2(schema))


def test_shapes_state_every_rule():
    turtle = schema_to_shacl(
        RelationSchema(
            ["P", "L"],
            [
                RelationType("in", "P", ("P", "L"), 1, 2),
                RelationType("spouse", "P", "P", symmetric=True),
                RelationType("part of", "L", "L", acyclic=True),
            ],
        ),
        base="https://example.org/",
    )
    for part in (
        "sh:targetSubjectsOf <https://example.org/in>",
        "sh:or ( [ sh:class <https://example.org/P> ] [ sh:class <https://example.org/L> ] )",
        "sh:path <https://example.org/in> ; sh:maxCount 1",
        "sh:path [ sh:inversePath <https://example.org/in> ] ; sh:maxCount 2",
        "sh:path [ sh:inversePath <https://example.org/spouse> ] ; sh:equals <https://example.org/spouse>",
        "SELECT $this WHERE { $this <https://example.org/part%20of>+ $this }",
    ):
        assert part in turtle


def test_passages_of_extract_and_of_gliner2_are_read():
    mine = {
        "entities": [{"label": "P"}, {"label": "L"}],
        "relations": [{"source": 0, "target": 1, "label": "r"}],
    }
    theirs = {
        "entities": [{"id": "e1", "type": "P"}, {"id": "e2", "type": "L"}],
        "relations": [{"head": "e1", "tail": "e2", "type": "r"}],
    }
    assert read_graph(mine) == read_graph(theirs) == EntityGraph(["P", "L"], [(0, "r", 1)])


def test_all_small_graphs_of_one_relation_are_judged_as_defined():
    schema = one(max_per_head=1, acyclic=True)
    pairs = list(product(range(3), repeat=2))
    for bits in product((False, True), repeat=len(pairs)):
        own = [pair for pair, bit in zip(pairs, bits, strict=True) if bit]
        heads = [i for i, _ in own]
        fine = len(set(heads)) == len(heads) and not cycle(own)
        assert schema.allows(EntityGraph(["P", "L", "P"], triples(*own))) == fine
