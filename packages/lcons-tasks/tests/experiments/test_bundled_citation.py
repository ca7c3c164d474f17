"""The bundled citation corpus is valid and varied."""

from collections import Counter

from lcons_tasks.bundled import bundled
from lcons_tasks.data import read_references
from lcons_tasks.data._references import CORA_FIELDS
from lcons_tasks.data.text._tokens import reference_tokens

REFERENCES = list(read_references(bundled("citation", "references.txt"), CORA_FIELDS))
TOKENS = [[token.text for token in reference_tokens(reference.text)] for reference in REFERENCES]
TAGS = [
    line.split() for line in bundled("citation", "references.pos").read_text(encoding="utf-8").splitlines()
]
FIELDS = [[segment.field for segment in reference.segments] for reference in REFERENCES]
PENN = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH
VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` ''"""
NAMES = {"publisher", "location", "journal", "institution"}
STYLES = 12


def test_there_are_enough_references_and_none_twice():
    assert len(REFERENCES) >= 260
    assert len({tuple(token.lower() for token in tokens) for tokens in TOKENS}) == len(REFERENCES)


def test_every_field_is_common_and_nothing_is_outside_fields():
    counts = Counter(field for fields in FIELDS for field in fields)
    assert set(counts) == set(CORA_FIELDS)
    assert min(counts.values()) >= 20


def test_tags_are_penns_and_as_many_as_tokens():
    assert [len(tags) for tags in TAGS] == [len(tokens) for tokens in TOKENS]
    assert {tag for tags in TAGS for tag in tags} <= set(PENN.split())
