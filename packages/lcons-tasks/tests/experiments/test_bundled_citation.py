"""The bundled citation corpus is valid, varied, and what its card says."""

import re
from collections import Counter

import pytest

from lcons_tasks.bundled import bundled
from lcons_tasks.data import CORA_FIELDS, read_references
from lcons_tasks.data.text._tokens import reference_tokens

REFERENCES = list(read_references(bundled("citation", "references.txt"), CORA_FIELDS))
TOKENS = [[token.text for token in reference_tokens(reference.text)] for reference in REFERENCES]
TAGS = [
    line.split() for line in bundled("citation", "references.pos").read_text(encoding="utf-8").splitlines()
]
FIELDS = [[segment.field for segment in reference.segments] for reference in REFERENCES]
CARD = bundled("citation", "CARD.md").read_text(encoding="utf-8")
PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
NAMES = {"publisher", "location", "journal", "institution"}
STYLES = 12


def grams(reference):
    """The six-word sequences of a reference that do not touch a name."""
    found, run = set(), []
    for field, text in reference.segments:
        run = [] if field in NAMES else [*run, *re.findall(r"\w+", text.lower())]
        found |= {tuple(run[i : i + 6]) for i in range(len(run) - 5)}
    return found


def test_there_are_enough_references_and_none_twice():
    assert len(REFERENCES) >= 260
    assert len({tuple(token.lower() for token in tokens) for tokens in TOKENS}) == len(REFERENCES)


def test_no_two_references_are_nearly_the_same():
    counts = Counter(gram for reference in REFERENCES for gram in grams(reference))
    assert [gram for gram, count in counts.items() if count > 1] == []


def test_references_have_8_to_110_tokens():
    assert all(8 <= len(tokens) <= 110 for tokens in TOKENS)


def test_every_field_is_common_and_nothing_is_outside_fields():
    counts = Counter(field for fields in FIELDS for field in fields)
    assert set(counts) == set(CORA_FIELDS)
    assert min(counts.values()) >= 20


def test_tags_are_penns_and_as_many_as_tokens():
    assert [len(tags) for tags in TAGS] == [len(tokens) for tokens in TOKENS]
    assert {tag for tags in TAGS for tag in tags} <= set(PENN.split())


def test_marks_and_numbers_have_the_tags_the_card_says():
    always = {
        "(": "( [",
        ")": ") ]",
        ",": ",",
        ":": ": ; - \N{EN DASH} /",
        "CC": "&",
        "NN": "vol Vol ed edn",
        "NNS": "pp eds Eds",
        "SYM": "= + @ ° º ª",
    }
    tag_of = {token: tag for tag, tokens in always.items() for token in tokens.split()}
    for tokens, tags in zip(TOKENS, TAGS, strict=True):
        for token, tag in zip(tokens, tags, strict=True):
            assert tag == tag_of.get(token, tag), (token, tokens)
            assert tag == "CD" or not token.isdecimal(), (token, tokens)
            assert tag == "JJ" or not re.fullmatch(r"\d+(st|nd|rd|th)", token), (token, tokens)


def test_the_apostrophe_and_the_s_of_a_possessive_have_the_same_tag():
    seen = 0
    for reference, tags in zip(REFERENCES, TAGS, strict=True):
        tokens = reference_tokens(reference.text)
        for i, token in enumerate(tokens[1:], 1):
            if token.text == "s" and reference.text[token.start - 1] == "'":
                assert tags[i - 1 : i + 1] == ["POS", "POS"], reference.text
                seen += 1
    assert seen >= 10


def test_the_styles_take_turns():
    """Styles 0 and 7 number their references, 3 and 8 have the year second, 9 mostly has no title."""
    assert len(REFERENCES) % STYLES == 0
    numbered, dated, titled = [0] * STYLES, [0] * STYLES, [0] * STYLES
    for i, fields in enumerate(FIELDS):
        numbered[i % STYLES] += fields[0] == "note"
        dated[i % STYLES] += fields[1] == "date"
        titled[i % STYLES] += "title" in fields
    each = len(REFERENCES) // STYLES
    assert [style for style in range(STYLES) if numbered[style] == each] == [0, 7]
    assert [style for style in range(STYLES) if dated[style] > each * 0.9] == [3, 8]
    assert [style for style in range(STYLES) if titled[style] < each] == [9]
    assert sum(numbered) < 3 * each


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("references", len(REFERENCES)),
        ("tokens", sum(map(len, TOKENS))),
        ("segments", sum(map(len, FIELDS))),
    ],
)
def test_the_card_states_the_counts(name, count):
    assert f"| {name} | {count} |" in CARD.splitlines()


def test_the_card_states_how_often_each_field_occurs():
    counts = Counter(field for fields in FIELDS for field in fields)
    stated = {m[1]: int(m[2]) for m in re.finditer(r"^\| ([a-z]+) \| .* \| (\d+) \|$", CARD, re.MULTILINE)}
    assert stated == counts


def test_the_card_states_the_styles_and_the_lengths():
    styles = re.findall(r"^\| (\d+) \| .* \|$", CARD, re.MULTILINE)
    assert styles == [str(style) for style in range(STYLES)]
    assert f"Twelve, {len(REFERENCES) // STYLES} references each." in CARD
    lengths = list(map(len, TOKENS))
    assert f"References have {min(lengths)} to {max(lengths)} tokens." in CARD
