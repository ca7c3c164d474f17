"""The bundled chunking corpus is valid, varied, and what its card says."""

import re
from collections import Counter

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


def test_no_two_sentences_are_nearly_the_same():
    grams = Counter(
        gram
        for sentence in SENTENCES
        for gram in {tuple(w.lower() for w in sentence.words[i : i + 6]) for i in range(len(sentence) - 5)}
    )
    assert [gram for gram, count in grams.items() if count > 1] == []


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


def test_the_genres_take_turns_in_each_part():
    """Recipes and manuals (4 and 5 of each six) are full of imperatives; news and science hardly have any."""
    imperatives = [0] * 6
    for sentences in PARTS.values():
        assert len(sentences) % 6 == 0
        for i, sentence in enumerate(sentences):
            imperatives[i % 6] += sentence.columns["pos"][0] == "VB"
    assert min(imperatives[4:]) > 3 * max(imperatives[:2])


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


def test_the_card_states_how_often_each_type_occurs():
    types = Counter(kind for sentence in SENTENCES for kind, _, _ in chunks(sentence.labels))
    stated = {m[1]: int(m[2]) for m in re.finditer(r"^\| ([A-Z]+) \| .* \| (\d+) \|$", CARD, re.MULTILINE)}
    assert stated == types
