"""Grammars have exactly the sets of their constraints: compared with enumeration."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from label_constraints import LABELS, constrained, label_constraints, networks_of, satisfied, sequences

from lcons_contrib.llm.grammars import write_grammar
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
from lcons_core.features import Existence, NgramContext, NgramLabels, Tuples

ANY_PAIR = constrained(NgramLabels(LABELS), [[0.0] * 6], [0.0])
# A must occur, and B and AB exclude each other.
EXISTS = constrained(Existence(LABELS), [[-2.0, 0.0, 0.0], [0.0, 2.0, 2.0]], [2.0, -2.0])


def lark_texts(grammar: str, most_labels: int) -> set[str]:
    """The texts of a right-linear grammar with at most so many literals, read by rules alone."""
    rules = {}
    for line in grammar.split("\n"):
        name, _, body = line.partition(": ")
        alternatives = re.findall(r'("(?:[^"\\]|\\.)*")(?: (\w+))?(?: \| |$)', body)
        rules[name] = [(json.loads(literal), after) for literal, after in alternatives]
    texts, begun = set(), [("", "start")]
    for _ in range(most_labels + 1):
        following = [(text + literal, after) for text, name in begun for literal, after in rules[name]]
        texts |= {text for text, after in following if not after}
        begun = [(text, after) for text, after in following if after]
    return texts


@given(
    st.lists(label_constraints(), min_size=1, max_size=3), st.integers(0, 2), st.sampled_from([None, 0, 2])
)
@settings(max_examples=30)
def test_every_form_has_exactly_the_sequences_that_satisfy_all_constraints(constraints, shortest, more):
    longest = None if more is None else shortest + more
    bounds = {"separator": "; ", "shortest": shortest, "longest": longest}
    wanted = {
        "; ".join(y)
        for y in sequences()
        if len(y) >= shortest and (longest is None or len(y) <= longest)
        if all(satisfied(constraint, y) for constraint in constraints)
    }
    if not wanted and longest is not None:
        with pytest.raises(InvalidInput, match="no sequence of labels satisfies"):
            write_grammar(constraints, **bounds)
    assume(wanted)
    lark = write_grammar(constraints, "lark", **bounds)
    assert {text for text in lark_texts(lark, 4) if len(text.split("; ")) <= 4} == wanted
    if lark.count("\n") > 60:
        return
    regex, schema = (write_grammar(constraints, form, **bounds) for form in ("regex", "json-schema"))
    pattern = re.compile(regex)
    for y in sequences():
        text = "; ".join(y)
        assert bool(pattern.fullmatch(text)) == (text in wanted), y
        assert not pattern.fullmatch(text + "; ")
    assert json.loads(schema) == {"type": "string", "pattern": f"^(?:{regex})$"}


def test_expressions_of_span_schemes_grow_with_the_types_alone():
    def size(types: int, scheme, letters: str) -> int:
        labels = [f"{letter}-{kind}" for kind in "CDFGHJKMNP"[:types] for letter in letters]
        return len(write_grammar(scheme([*labels, "O"]), "regex"))

    for scheme, letters in ((iob2, "BI"), (bioes, "BIES")):
        assert size(10, scheme, letters) <= 1.1 * (size(2, scheme, letters) / 2) * 10


def test_labels_and_separators_may_have_special_characters():
    labels = ("a|b", 'q"q', "c\\d", "(x)*", "é.", "[1]{2}", "^$+?")
    constraint = constrained(NgramLabels(labels), [[2.0] + [0.0] * 6 + [2.0] + [0.0] * 6], [-2.0])
    for separator, end in ((" ", "\n"), ("\n", ""), ("\t|", "$")):
        options = {"separator": separator, "end": end, "longest": 2}
        pattern = re.compile(write_grammar(constraint, "regex", **options))
        texts = lark_texts(write_grammar(constraint, "lark", **options), 3)
        for y in product(labels, repeat=2):
            text = separator.join(y) + end
            assert bool(pattern.fullmatch(text)) == (text in texts) == constraint.satisfied(y)


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
def test_tuples_are_a_list_of_objects(network):
    constraint = LearnedConstraint(network, PAIRS.space, PAIRS)
    schema = json.loads(write_grammar(constraint, "json-schema"))
    for length in range(3):
        for tuples in product(product(*PAIRS.values), repeat=length):
            document = [dict(zip(PAIRS.names, values, strict=True)) for values in tuples]
            assert valid(schema, document) == constraint.satisfied(tuples)


@given(networks_of(FIELDS.d))
@settings(max_examples=8)
def test_fields_are_an_object_that_the_space_reads(network):
    constraint = LearnedConstraint(network, FIELDS)
    points = np.concatenate(list(FIELDS.points()))
    verdicts = network.verdicts(FIELDS, points)
    assume(verdicts.any())
    schema = json.loads(write_grammar(constraint, "json-schema"))
    for psi, verdict in zip(FIELDS.vectors(points), verdicts, strict=True):
        record = FIELDS.describe(psi)
        record["has"] = {name: name in record["has"] for name in ("roof", "door")}
        record["wheels"] = record["wheels"]["wheels"]
        assert np.array_equal(FIELDS.vector(record), psi)
        assert valid(schema, record) == verdict


def test_a_list_may_be_empty_where_no_tuple_is_accepted():
    nothing = LearnedConstraint(RectifierNetwork([[0.0] * 5], [2.0]), PAIRS.space, PAIRS)
    assert json.loads(write_grammar(nothing, "json-schema")) == {"enum": [[]]}
    space = FeatureSpace([one_hot("size", "SML")])
    with pytest.raises(InvalidInput, match="no record satisfies"):
        write_grammar(LearnedConstraint(RectifierNetwork([[0.0] * 3], [2.0]), space), "json-schema")


def test_what_cannot_be_expressed_is_refused(monkeypatch):
    context = constrained(NgramContext(("A", "B"), ("DT", "NN")), [[0.0] * 8], [0.0])
    ages = LearnedConstraint(RectifierNetwork([[1.0]], [0.0]), FeatureSpace([real("age", ["age"], 0, 120)]))
    pairs = LearnedConstraint(RectifierNetwork([[0.0] * 5], [0.0]), PAIRS.space, PAIRS)
    wide = Tuples(tuple("abcdefgh"), (tuple("0123456789"),) * 8)
    cases = [
        (Unsupported, context, {}),
        (Unsupported, ages, {"form": "json-schema"}),
        (Unsupported, [pairs, ANY_PAIR], {"form": "json-schema"}),
        (Unsupported, pairs, {"form": "regex"}),
        (TooLarge, constrained(wide, [[0.0] * 80], [0.0]), {"form": "json-schema"}),
        (InvalidInput, ANY_PAIR, {"form": "gbnf"}),
        (InvalidInput, [], {}),
        (InvalidInput, ANY_PAIR, {"separator": "B"}),
        (InvalidInput, ANY_PAIR, {"shortest": 3, "longest": 2}),
        (InvalidInput, [ANY_PAIR, constrained(NgramLabels(("A", "B")), [[0.0] * 4], [0.0])], {}),
        (InvalidInput, constrained(Existence(LABELS), [[0.0] * 3], [2.0]), {}),
    ]
    for error, constraints, options in cases:
        with pytest.raises(error):
            write_grammar(constraints, **options)
    for limit in ("_regex.MAX_CHARACTERS", "_regex.MAX_STATES", "_automaton.MAX_STATES"):
        with monkeypatch.context() as patch:
            patch.setattr(f"lcons_contrib.llm.{limit}", 2)
            with pytest.raises(TooLarge):
                write_grammar(EXISTS, "regex")
