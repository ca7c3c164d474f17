"""The bundled corpora are valid, varied, and what the card says."""

import re
from collections import Counter

import pytest

from lcons_core import iob2
from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_columns, read_references, read_roth_yih
from lcons_tasks.data._references import CORA_FIELDS
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
CHUNKS = {"NP", "VP", "PP", "ADVP", "SBAR", "ADJP", "PRT", "CONJP", "INTJ", "LST"}
CHUNKED = [s for part in ("train", "dev", "test") for s in read_columns(bundled("chunking", f"{part}.txt"))]
REFERENCES = list(read_references(bundled("citation", "references.txt"), CORA_FIELDS))
SENTENCES = list(read_roth_yih(bundled("er", "sentences.corp")))
WORDS = {
    "chunking": [sentence.words for sentence in CHUNKED],
    "citation": [[token.text for token in reference_tokens(one.text)] for one in REFERENCES],
    "er": [labelled.passage.words for labelled in load_corpus("bundled").passages],
}
TAGS = {
    "chunking": [sentence.columns["pos"] for sentence in CHUNKED],
    "citation": [*map(str.split, bundled("citation", "references.pos").read_text("utf-8").splitlines())],
    "er": [[tag for tags in sentence.pos for tag in tags.split("/")] for sentence in SENTENCES],
}
CANDIDATES = [[entity for entity in sentence.entities if entity != "O"] for sentence in SENTENCES]
LABELS = Counter(label for candidates in CANDIDATES for label in candidates)
RELATIONS = Counter(relation.type for sentence in SENTENCES for relation in sentence.relations)
TYPES = {
    "Kill": ("Peop", "Peop"),
    "Live_In": ("Peop", "Loc"),
    "Located_In": ("Loc", "Loc"),
    "OrgBased_In": ("Org", "Loc"),
    "Work_For": ("Peop", "Org"),
}


@pytest.mark.parametrize("corpus", WORDS)
def test_there_are_enough_texts_none_twice_and_each_word_has_a_tag_of_penn(corpus):
    assert (
        len({tuple(word.lower() for word in words) for words in WORDS[corpus]}) == len(WORDS[corpus]) >= 260
    )
    assert [*map(len, TAGS[corpus])] == [*map(len, WORDS[corpus])]
    assert {tag for tags in TAGS[corpus] for tag in tags} <= set(PENN.split())


def test_chunks_are_valid_iob2():
    labels = sorted({label for sentence in CHUNKED for label in sentence.labels})
    assert all(re.fullmatch(r"O|[BI]-[A-Z]+", label) for label in labels)
    assert {label[2:] for label in labels} - {""} == CHUNKS
    valid = iob2(labels)
    for sentence in CHUNKED:
        assert valid.satisfied(sentence.labels), sentence.words
        assert not sentence.labels[0].startswith("I-")


def test_every_field_label_and_relation_is_common():
    fields = Counter(segment.field for reference in REFERENCES for segment in reference.segments)
    for counts, names, least in ((fields, CORA_FIELDS, 20), (RELATIONS, TYPES, 40)):
        assert set(counts) == set(names)
        assert min(counts.values()) >= least
    assert set(LABELS) == {"Peop", "Loc", "Org", "Other"}
    assert min(LABELS.values()) >= 200
    assert all(8 <= len(words) <= 40 for words in WORDS["er"])
    assert all(2 <= len(candidates) <= 9 for candidates in CANDIDATES)


def test_two_candidates_are_related_once_and_of_the_designed_types():
    for sentence in SENTENCES:
        pairs = [frozenset((relation.arg1, relation.arg2)) for relation in sentence.relations]
        assert len(set(pairs)) == len(pairs), sentence.id
        for relation in sentence.relations:
            arguments = sentence.entities[relation.arg1], sentence.entities[relation.arg2]
            assert arguments == TYPES[relation.type], (sentence.id, relation)


def test_the_card_states_the_counts():
    pairs = sum(len(candidates) * (len(candidates) - 1) // 2 for candidates in CANDIDATES)
    numbers = {
        "sentences": len(SENTENCES),
        "tokens": sum(map(len, WORDS["er"])),
        "candidates": LABELS.total(),
        "relations": RELATIONS.total(),
        "unrelated pairs of candidates": pairs - RELATIONS.total(),
        "sentences without relation": sum(not sentence.relations for sentence in SENTENCES),
    }
    card = bundled("er", "CARD.md").read_text(encoding="utf-8").splitlines()
    assert [name for name, number in numbers.items() if f"| {name} | {number} |" not in card] == []
