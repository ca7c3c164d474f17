"""The bundled chunking corpus is valid and varied."""

import re

from lcons_core import iob2
from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_columns

PARTS = {part: list(read_columns(bundled("chunking", f"{part}.txt"))) for part in ("train", "dev", "test")}
SENTENCES = [sentence for part in PARTS.values() for sentence in part]
PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
COMMON = {"NP", "VP", "PP", "ADVP", "SBAR", "ADJP", "PRT", "CONJP", "INTJ", "LST"}


def test_there_are_enough_sentences_and_none_twice():
    assert len(SENTENCES) >= 260
    assert len({tuple(word.lower() for word in sentence.words) for sentence in SENTENCES}) == len(SENTENCES)


def test_tags_are_penns_and_labels_are_valid_iob2():
    labels = sorted({label for sentence in SENTENCES for label in sentence.labels})
    assert all(re.fullmatch(r"O|[BI]-[A-Z]+", label) for label in labels)
    assert {label[2:] for label in labels if label != "O"} == COMMON
    valid = iob2(labels)
    for sentence in SENTENCES:
        assert set(sentence.columns["pos"]) <= set(PENN.split())
        assert valid.satisfied(sentence.labels), sentence.words
        assert not sentence.labels[0].startswith("I-")
