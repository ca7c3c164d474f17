"""The bundled chunking corpus is valid, varied, and what its card says."""

import re

import pytest

from lcons_core import iob2
from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_columns
from lcons_tasks.stats import chunks

PARTS = {part: list(read_columns(bundled("chunking", f"{part}.txt"))) for part in ("train", "dev", "test")}
SENTENCES = [sentence for part in PARTS.values() for sentence in part]
CARD = bundled("chunking", "CARD.md").read_text(encoding="utf-8")
PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
COMMON = {"NP", "VP", "PP", "ADVP", "SBAR", "ADJP", "PRT", "CONJP", "INTJ", "LST"}


def test_there_are_enough_sentences_and_none_twice():
    assert len(SENTENCES) >= 260
    assert len({tuple(word.lower() for word in sentence.words) for sentence in SENTENCES}) == len(SENTENCES)


def test_sentences_have_8_to_35_tokens():
    assert all(8 <= len(sentence) <= 35 for sentence in SENTENCES)


def test_tags_are_penns_and_labels_are_valid_iob2():
    labels = sorted({label for sentence in SENTENCES for label in sentence.labels})
    assert all(re.fullmatch(r"O|[BI]-[A-Z]+", label) for label in labels)
    assert {label[2:] for label in labels if label != "O"} == COMMON
    valid = iob2(labels)
    for sentence in SENTENCES:
        assert set(sentence.columns["pos"]) <= set(PENN.split())
        assert valid.satisfied(sentence.labels), sentence.words
        assert not sentence.labels[0].startswith("I-")


def test_training_sentences_have_every_chunk_type_and_every_label_of_the_others():
    seen = {label for sentence in PARTS["train"] for label in sentence.labels}
    assert {label[2:] for label in seen if label != "O"} == COMMON
    assert {label for part in PARTS.values() for s in part for label in s.labels} <= seen


@pytest.mark.parametrize("part", PARTS)
def test_the_card_states_the_counts(part):
    column = {"train": 0, "dev": 1, "test": 2}[part]
    rows = {
        line.split("|")[1].strip(): line.split("|")[2:6] for line in CARD.splitlines() if line.count("|") == 6
    }
    found = {
        "sentences": len(PARTS[part]),
        "tokens": sum(map(len, PARTS[part])),
        "chunks": sum(len(list(chunks(s.labels))) for s in PARTS[part]),
    }
    assert {name: int(rows[name][column]) for name in found} == found
