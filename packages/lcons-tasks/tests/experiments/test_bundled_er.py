"""The bundled corpus of entities and relations is valid, varied, and what its card says."""

from collections import Counter

from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_roth_yih
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

SENTENCES = list(read_roth_yih(bundled("er", "sentences.corp")))
WORDS = [one.passage.words for one in load_corpus("bundled").passages]
CANDIDATES = [[entity for entity in sentence.entities if entity != "O"] for sentence in SENTENCES]
LABELS = Counter(label for candidates in CANDIDATES for label in candidates)
RELATIONS = Counter(relation.type for sentence in SENTENCES for relation in sentence.relations)
CARD = bundled("er", "CARD.md").read_text(encoding="utf-8").splitlines()
PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
TYPES = {
    "Kill": ("Peop", "Peop"),
    "Live_In": ("Peop", "Loc"),
    "Located_In": ("Loc", "Loc"),
    "OrgBased_In": ("Org", "Loc"),
    "Work_For": ("Peop", "Org"),
}


def test_there_are_enough_sentences_of_usual_sizes_and_none_twice():
    assert len(SENTENCES) >= 260
    assert [sentence.id for sentence in SENTENCES] == [str(i) for i in range(len(SENTENCES))]
    assert len({tuple(word.lower() for word in words) for words in WORDS}) == len(SENTENCES)
    assert all(8 <= len(words) <= 40 for words in WORDS)
    assert all(2 <= len(candidates) <= 9 for candidates in CANDIDATES)


def test_every_label_and_every_relation_is_common():
    assert set(LABELS) == {"Peop", "Loc", "Org", "Other"}
    assert min(LABELS.values()) >= 200
    assert set(RELATIONS) == set(TYPES)
    assert min(RELATIONS.values()) >= 40


def test_two_candidates_are_related_once_and_of_the_designed_types():
    for sentence in SENTENCES:
        pairs = [frozenset((relation.arg1, relation.arg2)) for relation in sentence.relations]
        assert len(set(pairs)) == len(pairs), sentence.id
        for relation in sentence.relations:
            arguments = sentence.entities[relation.arg1], sentence.entities[relation.arg2]
            assert arguments == TYPES[relation.type], (sentence.id, relation)


def test_tags_are_penns_and_as_many_as_words():
    for sentence in SENTENCES:
        for phrase, pos in zip(sentence.phrases, sentence.pos, strict=True):
            assert len(pos.split("/")) == len(phrase), (sentence.id, phrase)
            assert set(pos.split("/")) <= set(PENN.split()), (sentence.id, phrase)


def test_the_card_states_the_counts():
    pairs = sum(len(candidates) * (len(candidates) - 1) // 2 for candidates in CANDIDATES)
    numbers = {
        "sentences": len(SENTENCES),
        "tokens": sum(map(len, WORDS)),
        "candidates": LABELS.total(),
        "relations": RELATIONS.total(),
        "unrelated pairs of candidates": pairs - RELATIONS.total(),
        "sentences without relation": sum(not sentence.relations for sentence in SENTENCES),
    }
    assert [name for name, number in numbers.items() if f"| {name} | {number} |" not in CARD] == []
