"""Grammars have exactly the sets of their constraints: compared with enumeration, and with engines' own
rules."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pytest
from grammar_strategies import LABELS, label_constraints, networks_of, satisfied, sequences
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    Unsupported,
    binary,
    bioes,
    count,
    iob2,
    one_hot,
    real,
)
from lcons_core.features import Counts, Existence, NgramContext, NgramLabels, Tuples
from lcons_core.grammars import (
    FORMS,
    Automaton,
    compare_grammar,
    estimate_states,
    label_automaton,
    write_grammar,
)
from lcons_core.grammars._lark import read_lark
from lcons_core.grammars._texts import numbered

SEQUENCE_FORMS = ("lark", "ebnf", "regex")


def constrained(feature, W, b) -> LearnedConstraint:
    return LearnedConstraint(RectifierNetwork(W, b), feature.space, feature)


ANY_PAIR = constrained(NgramLabels(LABELS), [[0.0] * 6], [0.0])
# A must occur, and B and AB exclude each other.
EXISTS = constrained(Existence(LABELS), [[-2.0, 0.0, 0.0], [0.0, 2.0, 2.0]], [2.0, -2.0])


@given(label_constraints())
@settings(max_examples=40)
def test_the_automaton_accepts_exactly_the_sequences_that_satisfy_the_constraint(constraint):
    automaton = label_automaton(constraint, LABELS)
    for y in sequences():
        assert automaton.accepts(y) == satisfied(constraint, y), y


@given(st.lists(label_constraints(), min_size=2, max_size=3), st.integers(0, 2), st.integers(0, 3))
@settings(max_examples=20)
def test_several_constraints_and_lengths_make_their_intersection(constraints, shortest, more):
    longest = shortest + more
    automaton = label_automaton(constraints, LABELS, shortest=shortest, longest=longest)
    for y in sequences():
        wanted = shortest <= len(y) <= longest and all(satisfied(one, y) for one in constraints)
        assert automaton.accepts(y) == wanted, y


@given(label_constraints(), label_constraints(), st.integers(0, 1), st.sampled_from([None, 3]))
@settings(max_examples=20)
def test_every_form_has_exactly_the_texts_of_the_set(first, second, shortest, longest):
    """`write_grammar` compares the written text with the automaton; the regex is also run by Python's
    engine."""
    both = [first, second]
    assume(not label_automaton(both, LABELS, shortest=shortest, longest=longest).empty)
    for form in SEQUENCE_FORMS:
        grammar = write_grammar(both, form, separator="; ", shortest=shortest, longest=longest)
        assert grammar.compared > 0
    pattern = re.compile(grammar.text)
    for y in sequences():
        wanted = len(y) >= shortest and (longest is None or len(y) <= longest)
        wanted = wanted and all(satisfied(one, y) for one in both)
        assert bool(pattern.fullmatch("; ".join(y))) == wanted, y
        assert not pattern.fullmatch("; ".join(y) + "; ")


@given(label_constraints(), st.data())
@settings(max_examples=30)
def test_a_changed_grammar_is_told_apart_by_a_shortest_text(constraint, data):
    assume(not label_automaton(constraint).empty)
    form = data.draw(st.sampled_from(SEQUENCE_FORMS))
    text = write_grammar(constraint, form, longest=3).text
    literals = [found.start() for found in re.finditer("A", text)]
    assume(literals)
    at = data.draw(st.sampled_from(literals))
    changed = text[:at] + "X" + text[at + 1 :]
    found = compare_grammar(changed, constraint, form, longest=3)
    assert not found.equal
    wanted = found.text in {" ".join(y) for y in sequences(longest=3) if satisfied(constraint, y)}
    assert wanted != found.only_first
    if not found.only_first:
        assert "A" in found.text


def test_one_alternative_less_is_noticed_in_every_form():
    grammar = write_grammar(iob2(["B", "I", "O"]), "ebnf").text
    assert grammar.count(' | " I" s1') == 1
    found = compare_grammar(grammar.replace(' | " I" s1', ""), iob2(["B", "I", "O"]), "ebnf")
    assert (found.text, found.only_first) == ("B I", False)
    two = constrained(Counts(LABELS, high=12), [[1.0, 0.0, 0.0]], [-1.0])
    lark = write_grammar(two, "lark").text
    assert lark.count("%if le([0:4], 1)") == 2
    found = compare_grammar(lark.replace("%if le([0:4], 1)", "%if le([0:4], 2)"), two)
    assert (found.text, found.only_first) == ("A A A", True)


@given(label_constraints())
@settings(max_examples=30)
def test_minimal_automata_have_one_state_per_future_and_one_numbering(constraint):
    automaton = label_automaton(constraint)
    assert automaton.same(automaton.minimal())
    rng = np.random.default_rng(0)
    order = np.concatenate([[0], 1 + rng.permutation(len(automaton) - 1)])
    place = np.append(np.argsort(order), -1)
    shuffled = Automaton(automaton.symbols, place[automaton.table[order]], automaton.final[order])
    assert shuffled.minimal().same(automaton)
    # Two states with the same future up to as many labels as there are states have the same future.
    classes = automaton.final.astype(int)
    for _ in range(len(automaton)):
        after = np.where(automaton.table >= 0, classes[automaton.table], -1)
        classes = np.unique(np.column_stack([classes, after]), axis=0, return_inverse=True)[1].reshape(-1)
    assert len(set(classes.tolist())) == len(automaton)


def counts_of(high: int, **options) -> LearnedConstraint:
    """At most two A, and no more AB than B."""
    feature = Counts(LABELS, high=high, **options)
    return constrained(feature, [[1.0, 0.0, 0.0], [0.0, -1.0, 1.0]], [-1.0, 1.0])


@pytest.mark.parametrize(
    "constraint",
    [
        EXISTS,
        counts_of(6),
        counts_of(5, spans=True),
        constrained(Existence(LABELS[:2], n=2), [[1.0] * 4], [-1.0]),
    ],
)
@pytest.mark.parametrize("longest", [None, 4])
def test_parameters_of_lark_carry_what_was_seen_and_have_no_dead_ends(constraint, longest):
    from lcons_core.grammars._grammar import _language
    from lcons_core.grammars._lark import write_counted
    from lcons_core.grammars._registers import Registers

    language = _language(constraint, " ", "", 0, longest, 2**16)
    registers = Registers.of(language.machines, language.labels)
    text = "".join(f"{line}\n" for line in write_counted(registers, " "))
    assert "::" in text
    assert compare_grammar(text, constraint, longest=longest).equal
    graph = numbered(read_lark(text))
    alive = set(graph.ends)
    for _ in graph.edges:
        alive |= {node for node, arcs in enumerate(graph.edges) if any(after in alive for _, after in arcs)}
    assert alive == set(range(len(graph.edges)))


def test_the_shorter_of_states_and_parameters_is_written():
    many = counts_of(12)
    assert "incr([" in write_grammar(many, "lark").text
    assert "::_" not in write_grammar(many, "lark", longest=1).text
    assert "::" not in write_grammar(iob2(["B", "I", "O"]), "lark").text


def test_expressions_of_span_schemes_grow_with_the_types_alone():
    def size(types: int, scheme, letters: str) -> int:
        labels = [f"{letter}-{kind}" for kind in "CDFGHJKMNP"[:types] for letter in letters]
        return len(write_grammar(scheme([*labels, "O"]), "regex").text)

    for scheme, letters in ((iob2, "BI"), (bioes, "BIES")):
        assert size(10, scheme, letters) - size(9, scheme, letters) == size(3, scheme, letters) - size(
            2, scheme, letters
        )


@pytest.mark.parametrize("form", SEQUENCE_FORMS)
def test_labels_and_separators_with_special_characters_are_written_and_read(form):
    labels = ("a|b", 'q"q', "c\\d", "(x)*", "é.", "[1]{2}", "^$+?")
    feature = NgramLabels(labels)
    network = RectifierNetwork([[2.0] + [0.0] * 6 + [2.0] + [0.0] * 6], [-2.0])
    constraint = LearnedConstraint(network, feature.space, feature)
    for separator, end in ((" ", "\n"), ("\n", ""), ("\t|", "$")):
        options = {"separator": separator, "end": end, "longest": 3}
        grammar = write_grammar(constraint, form, **options)
        assert compare_grammar(grammar.text, constraint, form, **options).equal
        if form == "regex":
            for y in product(labels, repeat=2):
                assert bool(re.fullmatch(grammar.text, separator.join(y) + end)) == constraint.satisfied(y)


PAIRS = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill", "LiveIn")))
FIELDS = FeatureSpace(
    [
        one_hot("size", "SML", other=True),
        binary("has", ["roof", "door"]),
        count("wheels", ["wheels"], high=3),
        count("seats", ["front", "back"], high=1),
    ]
)


def valid(schema, value) -> bool:
    """JSON schema, as far as it is written."""
    if "anyOf" in schema:
        return any(valid(option, value) for option in schema["anyOf"])
    if "enum" in schema:
        return any(type(value) is type(known) and value == known for known in schema["enum"])
    if schema["type"] == "array":
        return isinstance(value, list) and all(valid(schema["items"], item) for item in value)
    assert not schema["additionalProperties"]
    return (
        isinstance(value, dict)
        and set(value) == set(schema["required"]) == set(schema["properties"])
        and all(valid(schema["properties"][name], item) for name, item in value.items())
    )


@given(networks_of(PAIRS.space.d))
@settings(max_examples=20)
def test_tuples_are_a_list_of_objects_in_every_form(network):
    constraint = LearnedConstraint(network, PAIRS.space, PAIRS)
    schema = json.loads(write_grammar(constraint, "json-schema").text)
    pattern = re.compile(write_grammar(constraint, "regex").text)
    for form in ("lark", "ebnf"):
        assert write_grammar(constraint, form).compared > 0
    for length in range(3):
        for tuples in product(product(*PAIRS.values), repeat=length):
            document = [dict(zip(PAIRS.names, own, strict=True)) for own in tuples]
            assert valid(schema, document) == constraint.satisfied(tuples)
            assert bool(pattern.fullmatch(json.dumps(document))) == constraint.satisfied(tuples)


@given(networks_of(FIELDS.d))
@settings(max_examples=8)
def test_fields_are_an_object_that_the_space_reads(network):
    constraint = LearnedConstraint(network, FIELDS)
    points = np.concatenate(list(FIELDS.points()))
    verdicts = network.verdicts(FIELDS, points)
    assume(verdicts.any())
    schema = json.loads(write_grammar(constraint, "json-schema").text)
    pattern = re.compile(write_grammar(constraint, "regex").text)
    for psi, verdict in zip(FIELDS.vectors(points), verdicts, strict=True):
        named = FIELDS.describe(psi)
        named["has"] = {name: name in named["has"] for name in ("roof", "door")}
        named["wheels"] = named["wheels"]["wheels"]
        assert np.array_equal(FIELDS.vector(named), psi)
        assert valid(schema, named) == verdict
        assert bool(pattern.fullmatch(json.dumps(named))) == verdict


def test_a_changed_schema_is_told_apart_by_a_record():
    constraint = LearnedConstraint(RectifierNetwork([[0.0, 2.0, 0.0, 2.0, 0.0]], [-2.0]), PAIRS.space, PAIRS)
    text = write_grammar(constraint, "json-schema").text
    found = compare_grammar(text.replace('"Person"', '"Location"'), constraint, "json-schema")
    assert not found.equal
    assert json.loads(found.text) == [{"source": "Person", "relation": "NoRel"}]
    assert not found.only_first
    with pytest.raises(InvalidInput, match="expected values of 'source'"):
        compare_grammar(text.replace('"Person"', '"Robot"'), constraint, "json-schema")
    with pytest.raises(InvalidInput, match="expected a schema with"):
        compare_grammar(text.replace("false", "true"), constraint, "json-schema")


def test_what_cannot_be_expressed_is_refused_by_name():
    context = NgramContext(("A", "B"), ("DT", "NN"))
    with pytest.raises(Unsupported, match="the constraint reads 'pos' of the input"):
        write_grammar(constrained(context, [[0.0] * 8], [0.0]))
    with pytest.raises(Unsupported, match="JSON schema cannot relate the labels of a sequence"):
        write_grammar(ANY_PAIR, "json-schema")
    with pytest.raises(Unsupported, match="JSON schema cannot relate"):
        compare_grammar("{}", ANY_PAIR, "json-schema")
    space = FeatureSpace([real("age", ["age"], 0, 120)])
    with pytest.raises(Unsupported, match="block 'age' has real numbers"):
        write_grammar(LearnedConstraint(RectifierNetwork([[1.0]], [0.0]), space), "json-schema")
    pairs = LearnedConstraint(RectifierNetwork([[0.0] * 5], [0.0]), PAIRS.space, PAIRS)
    with pytest.raises(Unsupported, match="only constraints on label sequences can share a grammar"):
        write_grammar([pairs, ANY_PAIR])


def test_wrong_arguments_are_one_sentence():
    cases = [
        ({"form": "gbnf"}, "one of lark, ebnf, regex, json-schema, found 'gbnf'"),
        ({"separator": ""}, "must not be empty"),
        ({"separator": "B"}, "the label 'B' contains the separator"),
        ({"separator": "\x07"}, "is not printable"),
        ({"shortest": 3, "longest": 2}, "0 <= shortest <= longest, found 3 and 2"),
    ]
    for options, message in cases:
        with pytest.raises(InvalidInput, match=message):
            write_grammar(ANY_PAIR, **options)
    with pytest.raises(InvalidInput, match="at least one constraint"):
        write_grammar([])
    with pytest.raises(InvalidInput, match="does not know the label 'AB'"):
        write_grammar([ANY_PAIR, constrained(NgramLabels(("A", "B")), [[0.0] * 4], [0.0])])
    with pytest.raises(InvalidInput, match="need the same labels, but not all have 'AB'"):
        write_grammar([constrained(NgramLabels(("A", "B")), [[0.0] * 4], [0.0]), ANY_PAIR])
    nothing = constrained(Existence(LABELS), [[0.0] * 3], [2.0])
    with pytest.raises(InvalidInput, match="no sequence satisfies"):
        write_grammar(nothing)
    for form in FORMS:
        with pytest.raises(InvalidInput):
            compare_grammar("(((", EXISTS if form != "json-schema" else nothing_pairs(), form)


def nothing_pairs() -> LearnedConstraint:
    return LearnedConstraint(RectifierNetwork([[0.0] * 5], [2.0]), PAIRS.space, PAIRS)


def test_a_list_may_be_empty_where_no_tuple_is_accepted():
    for form in FORMS:
        assert "[]" in re.sub(r"[\\\s]", "", write_grammar(nothing_pairs(), form).text)
    space = FeatureSpace([one_hot("size", "SML")])
    with pytest.raises(InvalidInput, match="no record satisfies"):
        write_grammar(LearnedConstraint(RectifierNetwork([[0.0] * 3], [2.0]), space), "regex")


def test_sizes_are_known_before_and_limited(monkeypatch):
    labels = tuple("ABCDEFGHIJ")
    exists = constrained(Existence(labels, n=2), [np.r_[np.ones(50), -np.ones(50)]], [0.0])
    assert estimate_states(exists) == 11 * 2**100
    with pytest.raises(TooLarge, match="alone can have 13,944,156,602,510,523,416,463,735,259,136"):
        write_grammar(exists, most=1000)
    assert estimate_states(counts_of(6), longest=4) == 7**3 * 5
    assert estimate_states(nothing_pairs()) == 6
    wide = Tuples(tuple("abcdefgh"), (tuple("0123456789"),) * 8)
    with pytest.raises(TooLarge, match="100,000,000 points"):
        write_grammar(constrained(wide, [[0.0] * 80], [0.0]), "json-schema")
    monkeypatch.setattr("lcons_core.grammars._regex.MAX_CHARACTERS", 20)
    with pytest.raises(TooLarge, match="more than 20 characters, the limit; use lark or ebnf"):
        write_grammar(EXISTS, "regex")


def test_counts_above_their_bound_are_outside_the_set_and_short_sequences_never_reach_it():
    free = constrained(Counts(("A", "B"), high=3), [[0.0, 0.0]], [0.0])
    assert len(label_automaton(free)) == 16
    assert not label_automaton(free).accepts("AAAA")
    assert len(label_automaton(free, longest=3)) == 4
