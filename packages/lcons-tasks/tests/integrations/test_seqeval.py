"""Our chunks and their F1 are those of seqeval, for labels that are well-formed or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from lcons_tasks.stats import chunk_f1, chunks

pytestmark = pytest.mark.integrations

TYPES = ["NP", "VP", "A-B"]
IOB = ["O", *(f"{prefix}-{name}" for prefix in "BI" for name in TYPES)]
BIOES = [*IOB, *(f"{prefix}-{name}" for prefix in "ES" for name in TYPES)]


def labellings(alphabet):
    return st.lists(st.sampled_from(alphabet), max_size=9)


@st.composite
def gold_and_found(draw, alphabet):
    """Labels of a few sentences, and others of the same lengths that agree with them in many places."""
    gold = draw(st.lists(st.lists(st.sampled_from(alphabet), min_size=1, max_size=9), min_size=1, max_size=4))
    changes = st.one_of(st.none(), st.sampled_from(alphabet))
    return gold, [[draw(changes) or label for label in labels] for labels in gold]


@given(labellings(BIOES))
def test_chunks_are_the_entities_of_the_default_mode(labels):
    theirs = [(name, first, last + 1) for name, first, last in get_entities(labels)]
    assert list(chunks(labels)) == theirs


@given(gold_and_found(BIOES))
def test_f1_is_that_of_the_default_mode(pair):
    ours = chunk_f1(*pair)
    measures = {precision_score: ours.precision, recall_score: ours.recall, f1_score: ours.f1}
    for theirs, value in measures.items():
        assert value == pytest.approx(theirs(*pair, zero_division=0), abs=1e-12)
