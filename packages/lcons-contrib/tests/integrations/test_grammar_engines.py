"""llguidance and Outlines accept exactly the texts of the constraint: all texts up to a length.

Texts that nearly belong to the set are tried as well: beginnings, doubled separators, changed characters.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import product

import numpy as np
import pytest
from label_constraints import LABELS, constrained, satisfied, sequences

from lcons_contrib.llm.grammars import write_grammar
from lcons_core import FeatureSpace, LearnedConstraint, RectifierNetwork, binary, bioes, count, iob2, one_hot
from lcons_core.features import Counts, Existence, NgramLabels, Tuples

pytestmark = pytest.mark.integrations


class Llguidance:
    def __init__(self, form: str, text: str) -> None:
        from llguidance import LLMatcher

        reader = {
            "lark": LLMatcher.grammar_from_lark,
            "regex": LLMatcher.grammar_from_regex,
            "json-schema": LLMatcher.grammar_from_json_schema,
        }[form]
        self.matcher = LLMatcher(_bytes(), reader(text), log_level=0)
        assert not self.matcher.is_error(), self.matcher.get_error()

    def accepts(self, text: str) -> bool:
        matcher = self.matcher.deep_copy()
        tokens = list(text.encode())
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


@cache
def _bytes():
    from llguidance import LLTokenizer

    return LLTokenizer("byte")


class Outlines:
    def __init__(self, form: str, text: str) -> None:
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        pattern = build_regex_from_schema(text) if form == "json-schema" else text
        self.characters = {chr(i): i for i in range(1, 256) if chr(i).isprintable() or chr(i) == "\n"}
        vocabulary = outlines_core.Vocabulary(0, {c: [i] for c, i in self.characters.items()})
        self.index = outlines_core.Index(pattern, vocabulary)
        self.transitions = self.index.get_transitions()

    def accepts(self, text: str) -> bool:
        state = self.index.get_initial_state()
        for character in text:
            state = self.transitions.get(state, {}).get(self.characters[character])
            if state is None:
                return False
        return bool(self.index.is_final_state(state))


ENGINES = [(Llguidance, "lark"), (Llguidance, "regex"), (Outlines, "regex")]


def drawn(seed: int, feature, K: int = 2) -> LearnedConstraint:
    """A network that accepts some sequences and rejects others."""
    rng = np.random.default_rng(seed)
    while True:
        W, b = rng.integers(-16, 17, (K, feature.space.d)) / 8, rng.integers(-16, 9, K) / 8
        found = constrained(feature, W, b)
        share = np.mean([satisfied(found, y) for y in sequences(feature.labels)])
        if 0.2 < share < 0.8:
            return found


CASES = {
    "iob2": [iob2(["B-X", "I-X", "O"])],
    "bioes": [bioes(["B", "I", "E", "S", "O"])],
    "trigrams": [drawn(1, NgramLabels(LABELS, n=3, pad=True))],
    "existence": [drawn(2, Existence(LABELS))],
    "spans": [drawn(5, Counts(LABELS[:2], high=2, spans=True))],
    "two at once": [drawn(6, NgramLabels(LABELS)), drawn(7, Existence(LABELS))],
    "special": [drawn(9, NgramLabels(('q"|', "(é)*", "\\.")))],
}


def near(text: str):
    yield text
    yield text + " "
    yield " " + text
    if text:
        yield text[:-1]
        yield text.replace(" ", "  ", 1)
        yield text[:-1] + ("A" if text[-1] != "A" else "B")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("engine", "form"), ENGINES)
def test_an_engine_accepts_exactly_the_sequences_of_the_constraints(engine, form, case):
    constraints = CASES[case]
    labels = constraints[0].labels
    # Outlines loses texts that go on where another text is complete, so they have an end.
    end = "\n" if engine is Outlines else ""
    tried = engine(form, write_grammar(constraints, form, end=end))
    words = sequences(labels, 4 if len(labels) < 4 else 3)
    allowed = {" ".join(y) for y in words if y and all(satisfied(one, y) for one in constraints)}
    assert 0 < len(allowed) < len(words)
    longer = {" ".join(y) for y in sequences(labels, 5)} - {" ".join(y) for y in words}
    for text in {other for y in words for other in near(" ".join(y))} - longer - {""}:
        assert tried.accepts(text + end) == (text in allowed), text
        assert not end or not tried.accepts(text)


PAIRS = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill", "LiveIn")))
KILL = constrained(PAIRS, [[0.0, 2.0, 0.0, 2.0, 0.0]], [-2.0])
FIELDS = FeatureSpace(
    [one_hot("size", "SML"), binary("has", ["roof", "door"]), count("wheels", ["wheels"], high=12)]
)
CAR = LearnedConstraint(
    RectifierNetwork([[2.0, 0.0, 0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0, 0.5]], [-2.0, -2.0]), FIELDS
)


@pytest.mark.parametrize("engine", [Llguidance, Outlines])
def test_an_engine_accepts_a_schema_of_label_sequences(engine):
    tried = engine("json-schema", write_grammar(iob2(["B", "I", "O"]), "json-schema", end="."))
    for text in ("B I O.", "O B.", "B.", "I.", "O I.", "B B", "B  I."):
        assert tried.accepts(json.dumps(text)) == (text in ("B I O.", "O B.", "B."))


@pytest.mark.parametrize("engine", [Llguidance, Outlines])
def test_an_engine_accepts_exactly_the_tuples_and_records_of_a_constraint(engine):
    tried = engine("json-schema", write_grammar(KILL, "json-schema"))
    for length in range(3):
        for tuples in product(product(*PAIRS.values), repeat=length):
            text = json.dumps([dict(zip(PAIRS.names, own, strict=True)) for own in tuples])
            assert tried.accepts(text) == KILL.satisfied(tuples), text
    assert not tried.accepts('[{"source": "Robot", "relation": "NoRel"}]')
    tried = engine("json-schema", write_grammar(CAR, "json-schema"))
    points = np.concatenate(list(FIELDS.points()))
    for point, verdict in zip(points, CAR.network.verdicts(FIELDS, points), strict=True):
        size, roof, door, wheels = point.tolist()
        record = {"size": "SML"[size], "has": {"roof": bool(roof), "door": bool(door)}, "wheels": wheels}
        assert tried.accepts(json.dumps(record)) == verdict, record
