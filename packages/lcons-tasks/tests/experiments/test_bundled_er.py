"""The bundled corpus of entities and relations is valid, varied, and what its card says."""

import re
from collections import Counter, defaultdict
from itertools import product

import pytest

from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_roth_yih
from lcons_tasks.experiments.entity_relation._constraints import certificates, learned
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

SENTENCES = list(read_roth_yih(bundled("er", "sentences.corp")))
PASSAGES = load_corpus("bundled").passages
WORDS = [one.passage.words for one in PASSAGES]
CANDIDATES = [
    [
        (entity, " ".join(phrase))
        for entity, phrase in zip(sentence.entities, sentence.phrases, strict=True)
        if entity != "O"
    ]
    for sentence in SENTENCES
]
LABELS = Counter(label for candidates in CANDIDATES for label, _ in candidates)
RELATIONS = Counter(relation.type for sentence in SENTENCES for relation in sentence.relations)
PAIRS = sum(len(candidates) * (len(candidates) - 1) // 2 for candidates in CANDIDATES)
CARD = bundled("er", "CARD.md").read_text(encoding="utf-8")
PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
TYPES = {
    "Kill": ("Peop", "Peop"),
    "Live_In": ("Peop", "Loc"),
    "Located_In": ("Loc", "Loc"),
    "OrgBased_In": ("Org", "Loc"),
    "Work_For": ("Peop", "Org"),
}
NEGATIONS = {"not", "n't", "no", "never", "neither", "nobody", "denied"}
REGISTERS = 4


def test_there_are_enough_sentences_and_none_twice_or_out_of_order():
    assert len(SENTENCES) >= 260
    assert [sentence.id for sentence in SENTENCES] == [str(i) for i in range(len(SENTENCES))]
    assert len({tuple(word.lower() for word in words) for words in WORDS}) == len(SENTENCES)


def test_no_two_sentences_are_nearly_the_same():
    counts = Counter()
    for words in WORDS:
        lower = [word.lower() for word in words]
        counts.update({tuple(lower[i : i + 6]) for i in range(len(lower) - 5)})
    assert [gram for gram, count in counts.items() if count > 1] == []


def test_the_file_is_ascii_and_has_no_brackets():
    text = bundled("er", "sentences.corp").read_bytes()
    assert text.isascii()
    assert not set(b"[]()\r") & set(text)


def test_sentences_have_8_to_40_tokens_and_2_to_9_candidates():
    assert all(8 <= len(words) <= 40 for words in WORDS)
    assert all(2 <= len(candidates) <= 9 for candidates in CANDIDATES)


def test_sentences_end_in_a_mark_and_rows_without_label_are_single_words():
    for sentence, words in zip(SENTENCES, WORDS, strict=True):
        assert words[-1] in {".", "?", "!", "''"}, sentence.id
        for entity, phrase in zip(sentence.entities, sentence.phrases, strict=True):
            assert entity != "O" or len(phrase) == 1, (sentence.id, phrase)


def test_every_label_and_every_relation_is_common():
    assert set(LABELS) == {"Peop", "Loc", "Org", "Other"}
    assert min(LABELS.values()) >= 200
    assert set(RELATIONS) == set(TYPES)
    assert min(RELATIONS.values()) >= 40


def test_arguments_are_of_the_designed_types():
    for sentence in SENTENCES:
        for relation in sentence.relations:
            arguments = sentence.entities[relation.arg1], sentence.entities[relation.arg2]
            assert arguments == TYPES[relation.type], (sentence.id, relation)


def test_two_candidates_are_related_once_and_in_one_direction():
    for sentence in SENTENCES:
        pairs = [frozenset((relation.arg1, relation.arg2)) for relation in sentence.relations]
        assert all(len(pair) == 2 for pair in pairs), sentence.id
        assert len(set(pairs)) == len(pairs), sentence.id


def test_what_lies_in_a_place_lies_in_those_around_it():
    seen = 0
    for sentence in SENTENCES:
        known = {(relation.arg1, relation.arg2): relation.type for relation in sentence.relations}
        for ((source, place), label), ((inner, outer), other) in product(known.items(), repeat=2):
            if inner == place and other == "Located_In":
                assert known.get((source, outer)) == label, (sentence.id, source, outer)
                seen += 1
    assert seen >= 50


def test_both_orders_of_source_and_target_are_common():
    turned = Counter(r.type for sentence in SENTENCES for r in sentence.relations if r.arg1 > r.arg2)
    related = sum(RELATIONS.values())
    assert 0.15 * related <= sum(turned.values()) <= 0.5 * related
    assert set(turned) == set(TYPES)


def test_most_pairs_are_unrelated_and_many_sentences_have_no_relation():
    related = sum(RELATIONS.values())
    assert PAIRS - related > 2 * related
    without = [words for sentence, words in zip(SENTENCES, WORDS, strict=True) if not sentence.relations]
    assert len(without) >= 30
    assert sum(bool(NEGATIONS & {word.lower() for word in words}) for words in without) >= 20


def test_no_person_or_organisation_is_in_two_sentences():
    found = defaultdict(set)
    for i, candidates in enumerate(CANDIDATES):
        for label, name in candidates:
            if label in ("Peop", "Org"):
                found[name.lower()].add(i)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_tags_are_penns_and_as_many_as_words():
    for sentence in SENTENCES:
        for phrase, pos in zip(sentence.phrases, sentence.pos, strict=True):
            tags = pos.split("/")
            assert len(tags) == len(phrase), (sentence.id, phrase)
            assert set(tags) <= set(PENN.split()), (sentence.id, phrase)


def test_marks_numbers_and_names_have_the_tags_the_card_says():
    always = {
        ",": ",",
        ".": ". ? !",
        ":": "-- ; :",
        "``": "``",
        "''": "''",
        "$": "$",
        "POS": "'s '",
        "TO": "to",
        "CC": "& and or",
        "JJ": "-based -born",
        "RB": "n't not",
    }
    tag_of = {word: tag for tag, words in always.items() for word in words.split()}
    for one in PASSAGES:
        words, tags = one.passage.words, one.passage.pos
        for word, tag in zip(words, tags, strict=True):
            assert tag == tag_of.get(word, tag), (one.id, word)
            assert tag == "CD" or not re.fullmatch(r"\d[\d,.]*", word), (one.id, word)
        for (first, _), entity in zip(one.passage.spans, one.entities, strict=True):
            assert entity == "NoEnt" or tags[first] in {"NNP", "NNPS", "DT"}, (one.id, words[first])


def test_the_registers_take_turns():
    """Only informal writing (3) calls out, and what is dated before 1850 is history (1)."""
    assert len(SENTENCES) % REGISTERS == 0
    called = {i % REGISTERS for i, one in enumerate(PASSAGES) if "UH" in one.passage.pos or "!" in WORDS[i]}
    dated = {
        i % REGISTERS
        for i, words in enumerate(WORDS)
        if any(re.fullmatch(r"1([0-7]\d|8[0-4])\d", word) for word in words)
    }
    assert called == {3}
    assert dated == {1}


def test_learned_constraints_are_the_designed_ones():
    found = certificates(learned(PASSAGES, min_support=2))
    assert {name: comparison.equal for name, comparison in found.items()} == {
        "source-relation": True,
        "relation-target": True,
        "relation-relation": True,
    }


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("sentences", len(SENTENCES)),
        ("tokens", sum(map(len, WORDS))),
        ("candidates", LABELS.total()),
        ("relations", RELATIONS.total()),
        ("unrelated pairs of candidates", PAIRS - RELATIONS.total()),
        ("sentences without relation", sum(not sentence.relations for sentence in SENTENCES)),
    ],
)
def test_the_card_states_the_counts(name, count):
    assert f"| {name} | {count} |" in CARD.splitlines()


def test_the_card_states_labels_and_relations():
    rows = re.findall(r"^\| ([A-Z]\w+) \| (.*) \| (\d+) \|$", CARD, re.MULTILINE)
    assert {name: int(count) for name, _, count in rows} == LABELS + RELATIONS
    arguments = {name: what.split(" | ")[0] for name, what, _ in rows if name in TYPES}
    assert arguments == {name: " -> ".join(types) for name, types in TYPES.items()}


def test_the_card_states_the_registers_and_the_sizes():
    registers = re.findall(r"^\| (\d+) \| .* \|$", CARD, re.MULTILINE)
    assert registers == [str(register) for register in range(REGISTERS)]
    assert f"Four, {len(SENTENCES) // REGISTERS} sentences each." in CARD
    tokens, candidates = list(map(len, WORDS)), list(map(len, CANDIDATES))
    stated = (
        f"Sentences have {min(tokens)} to {max(tokens)} tokens and {min(candidates)} to {max(candidates)}"
        " candidates."
    )
    assert stated in " ".join(CARD.split())
