"""A parsed reference has all of its line in spans, with the labels that its tagger gives."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, learn_constraints
from lcons_decode import ChainBatch, Hard, Status, forbidden_ngrams
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.apps.references import Span, parse, to_tagged
from lcons_tasks.data import Sentence
from lcons_tasks.data.text._tokens import reference_tokens
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

AUTHORS = ("A. Brook.", "B. Hill and C. Dale.", "Fenn, D.")
TITLES = ("A study of small rivers.", "On the shape of clouds.")
JOURNALS = ("Journal of Weather,", "Water Letters,")
NUMBERS = (("12(3):", "45-67,", "1991."), ("4:", "101-110,", "May 1987."))
LINE = "B. Brook and A. Hill. On the study of clouds. Water Letters, 7(2):11-19, 1993."
LINES = [
    LINE,
    "",
    "Dale, C. 1990.",
    " \t\u2028",
    "small rivers small rivers",
    "... ;;",
    "1991 (12) A. Brook:",
]
GARBAGE = [
    "😀👨\u200d👩\u200d👧 שלום עולם \u202eabc مرحبا. 中文。",
    "\x00\x01\x07 bell\x1b[31m red\x1b[0m \x7f\x0b\x0c \x85 nul\x00nul",
    "caf\udce9 \udcff\udcfe \ud800 latin",
    "a\u2028b\x85c\x0cd\re",
    ".,;:()[]" * 20,
]


def made_up():
    for author, title, journal, numbers in itertools.product(AUTHORS, TITLES, JOURNALS, NUMBERS):
        words, labels = [], []
        fields = ("author", "title", "journal", "volume", "pages", "date")
        for field, text in zip(fields, (author, title, journal, *numbers), strict=True):
            found = [token.text for token in reference_tokens(text)]
            words += found
            labels += [field] * len(found)
        pos = tuple("NN" if word[0].isalnum() else "." for word in words)
        yield Sentence(tuple(words), tuple(labels), {"pos": pos})


SENTENCES = list(made_up())


@pytest.fixture(scope="module")
def model():
    return train_linear(SENTENCES, LinearSettings(iterations=8))


@pytest.fixture(scope="module")
def punctuation():
    return learn_constraints([s.instance for s in SENTENCES], feature="punctuation", n=2, hidden=4)


@pytest.fixture(scope="module")
def tagger(model, punctuation):
    return ConstrainedTagger(model, (Hard(punctuation, "punctuation"),))


def whole(references, lines):
    """Asserts that spans are in order, begin and end with text, and leave out white space alone."""
    assert [reference.text for reference in references] == list(lines)
    for reference in references:
        end = 0
        for span in reference.spans:
            assert end <= span.start < span.end
            assert not reference.text[end : span.start].strip()
            assert reference.text[span.start : span.end].strip() == reference.text[span.start : span.end]
            end = span.end
        assert not reference.text[end:].strip()
        assert all(a.field != b.field for a, b in itertools.pairwise(reference.spans))


def test_a_reference_is_cut_into_its_fields(tagger):
    (reference,) = parse(tagger, [LINE])
    assert to_tagged(reference.pieces) == (
        "<author> B. Brook and A. Hill. </author> <title> On the study of clouds. </title>"
        " <journal> Water Letters, </journal> <volume> 7(2): </volume> <pages> 11-19, </pages>"
        " <date> 1993. </date>"
    )


@pytest.mark.parametrize("decoder", ["viterbi", "exact", "beam", "global"])
def test_fields_are_runs_of_the_labels_that_the_tagger_gives(decoder, model, punctuation):
    constraints = () if decoder == "viterbi" else (Hard(punctuation),)
    tagger = ConstrainedTagger(model, constraints, decoder, 3)
    lines = [*LINES, *GARBAGE]
    references = list(parse(tagger, lines))
    whole(references, lines)
    for reference in references:
        tokens = reference_tokens(reference.text)
        (answer,) = tagger.tag([{"word": [token.text for token in tokens]}])
        expected = []
        for field, run in itertools.groupby(zip(answer.y, tokens, strict=True), key=lambda pair: pair[0]):
            own = [token for _, token in run]
            expected.append(Span(field, own[0].start, own[-1].end))
        assert reference.spans == tuple(expected)
        if tokens:
            assert (reference.changed, reference.status) == (answer.stats["changed"], answer.status)


@given(st.lists(st.text(st.characters() | st.sampled_from(".,() \t\r\x00\x0c\x85\u2028\ud800\udcff1aA"))))
def test_nothing_of_any_line_is_lost(tagger, lines):
    whole(list(parse(tagger, lines)), lines)


def test_a_line_of_any_length_is_labelled(tagger):
    lines = [LINE, (LINE + " ") * 600, "x" * 100_000, LINE, "( " * 20_000]
    references = list(parse(tagger, lines))
    whole(references, lines)
    assert references[0] == references[3] == next(parse(tagger, [LINE]))
    assert len(references[2].spans) == 1


def test_pos_tags_are_asked_for_words_alone(model):
    pos = learn_constraints([s.instance for s in SENTENCES], feature="pos", n=2, hidden=3)
    tagger = ConstrainedTagger(model, (Hard(pos, "pos"),))
    asked = []

    def tags(sentences):
        asked.extend(map(tuple, sentences))
        return [["NN" if word[0].isalnum() else "." for word in words] for words in sentences]

    references = list(parse(tagger, ["", "A. Brook.", " "], tags))
    assert asked == [("A", ".", "Brook", ".")]
    assert references[1].pieces == [("author", "A. Brook.")]
    with pytest.raises(InvalidInput):
        list(parse(tagger, ["A. Brook."]))


def test_a_line_without_an_answer_is_one_span_of_no_field():
    labels = ("author", "date")

    def scores(xs):
        words = [len(x["word"]) for x in xs]
        emission = np.array([[-np.inf] * 2 if "bad" in x["word"] else [1.0, 0.0] for x in xs])
        zeros = np.zeros(2)
        offsets = np.cumsum([0, *words])
        return ChainBatch(emission.repeat(words, 0), offsets, np.zeros((2, 2)), zeros, zeros, labels)

    model = SimpleNamespace(labels=labels, columns=(), scores=scores)
    constraint = Hard(forbidden_ngrams(labels, [("date", "author")]), "order")
    for tagger in (ConstrainedTagger(model, (), "viterbi"), ConstrainedTagger(model, (constraint,))):
        good, bad = parse(tagger, ["A. Cau", " bad, bad "])
        assert (good.spans, good.status) == ((Span("author", 0, 6),), Status.OPTIMAL)
        assert (bad.spans, bad.changed, bad.status) == ((Span(None, 1, 9),), 0, Status.INFEASIBLE)
