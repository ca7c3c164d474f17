"""Each hand-written rule on citation fields accepts and rejects what it says, and decoders take them all."""

import re
import string
from itertools import groupby, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lcons_decode import ChainScores, Hard, beam_search, decode_global
from lcons_tasks.data._references import CORA_FIELDS
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.experiments.citation._constraints import designed

REFERENCE = (
    ("author", "A. Cau and R. Kuiper, \N{EN DASH}"),
    ("title", '"Formal development of 1899 machines in CALIFORNIA,"'),
    ("editor", "in C. B. Jones, Ed.,"),
    ("booktitle", "Proc. 5th ACM Workshop,"),
    ("location", "Sydney, Australia,"),
    ("pages", "pp. 2101-2110,"),
    ("date", "May 1992."),
    ("note", "To appear."),
)
WORDS = [
    token.text
    for token in reference_tokens(
        """Turing , . ( " ' ` \u201c \u201d 1899 1900 1992 2099 2100 19921 pp Page pages PAGES p Note note
        appear Submitted noted CA Ca NY Australia AUSTRALIA australia Tech technical TECHNICAL PhD PHD phd
        Thesis theses Proc proceedings JOURNAL trans ACM acm ed Eds editor Editors EDITORS edited"""
    )
]


def labelled(*segments):
    """(words, labels) of (field, text) segments."""
    pairs = [(token.text, field) for field, text in segments for token in reference_tokens(text)]
    return [word for word, _ in pairs], [field for _, field in pairs]


def only_in(pattern, *fields):
    """Whether the tokens that match are all in the fields."""
    match = re.compile(pattern).fullmatch
    return lambda words, y: all(label in fields for word, label in zip(words, y, strict=True) if match(word))


def is_mark(word):
    return word in string.punctuation + "\u201c\u201d"


def one_span_a_field(words, y):
    runs = [label for label, _ in groupby(y) if label in CORA_FIELDS]
    return len(runs) == len(set(runs))


def changes_beside_marks(words, y):
    borders = zip(pairwise(words), pairwise(y), strict=True)
    return all(a == b or is_mark(v) or is_mark(w) for (v, w), (a, b) in borders)


VENUES = "[pP]roc(eedings)?|PROC(EEDINGS)?|[jJ]ournal|JOURNAL|[tT]rans|TRANS|ACM"
# What each rule says, written without networks, and the fields it is about.
MEANINGS = {
    "once": (one_span_a_field, CORA_FIELDS),
    "marks": (changes_beside_marks, CORA_FIELDS),
    "start": (lambda words, y: not y or y[0] in ("author", "editor"), ("author", "editor")),
    "pages": (only_in("[pP]p|PP|[pP]ages?|PAGES?", "pages"), ("pages",)),
    "date": (only_in("(19|20)[0-9][0-9]", "date"), ("date",)),
    "quotation": (only_in('["`\u201c\u201d]', "title"), ("title",)),
    "note": (only_in("[nN]ote|NOTE|[sS]ubmitted|SUBMITTED|[aA]ppear|APPEAR", "note"), ("note",)),
    "location": (only_in("CA|NY|Australia|AUSTRALIA", "location"), ("location",)),
    "tech": (only_in("[tT]ech(nical)?|TECH(NICAL)?|[tT]hesis|THESIS|PhD|PHD", "tech"), ("tech",)),
    "venue": (only_in(VENUES, "journal", "booktitle"), ("journal", "booktitle")),
    "editor": (only_in("[eE]ds?|EDS?|[eE]ditors?|EDITORS?", "editor"), ("editor",)),
}


@st.composite
def labellings(draw, labels, max_T=8):
    """Words that rules are about and words that are like them, with labels in runs."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=max_T))
    y = []
    while len(y) < len(words):
        y += [draw(st.sampled_from(labels))] * draw(st.integers(1, 4))
    return words, y[: len(words)]


label_sets = st.lists(st.sampled_from([*CORA_FIELDS, "other"]), min_size=1, unique=True)


@given(st.data())
def test_rules_with_a_field_among_the_labels_accept_exactly_what_they_say(data):
    labels = data.draw(label_sets)
    words, y = data.draw(labellings(labels))
    rules = designed(labels)
    assert [name for name, _ in rules] == [
        n for n, (_, fields) in MEANINGS.items() if set(fields) & set(labels)
    ]
    for name, rule in rules:
        assert rule.satisfied((words, y)) == MEANINGS[name][0](words, y), name


def test_the_rules_put_a_wrong_token_of_a_whole_reference_right():
    words, y = labelled(*REFERENCE)
    labels = sorted(CORA_FIELDS)
    # Right everywhere but in the title, whose middle looks like a journal, without marks around.
    emission = np.array([[float(label == gold) for label in labels] for gold in y])
    emission[words.index("development"), labels.index("journal")] = 1.5
    scores, x = ChainScores(emission, labels=labels), {"word": words}
    rules = [Hard(rule, name) for name, rule in designed(labels)]
    assert beam_search(scores).y != tuple(y)
    assert beam_search(scores, rules, x).y == tuple(y)
    assert decode_global(scores, rules, x).y == tuple(y)
