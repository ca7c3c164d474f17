"""What is tagged and what is written: streams give what the whole text gives, and no text is lost."""

import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lcons_decode import Decoding, Status
from lcons_tasks.data import MalformedCorpus
from lcons_tasks.data._stream import ColumnReader, TextReader, blocks, column_layout
from lcons_tasks.data._tagged_text import TAGGED_FORMATS
from lcons_tasks.data.text import sentences

PIECES = ["The dog", " barked", ".", "?", '"', ")", "(", "...", "e.g.", "Mr.", "don't", "U.S.", "x.Y", "?Why"]
BLANKS = [" ", "  ", "\n", "\r\n", "\n\n", "\r\n \r\n", "\t", "\x85", "\u2028", "\u2029", "\x1c", "\xa0"]
STRANGE = ["\x00", "😀", "👩\u200d👧", "שלום", "\u202e", "\ufeff", "\udcff", "。", "中文", "x" * 300]
TEXTS = st.lists(st.sampled_from(PIECES + BLANKS + STRANGE), max_size=30).map("".join)


def text_sentences(text, size=2**16, **settings):
    parts = blocks(io.StringIO(text, newline=""), TextReader(**settings), size)
    return [x["word"] for part in parts for x, _ in part.sentences()]


def whole(text):
    return [tuple(token.text for token in sentence) for sentence in sentences(text)]


@given(TEXTS | st.text(st.characters(exclude_categories=()), max_size=40), st.integers(1, 20))
@example('.\n\n"The dog', 1)
@example("a.)\n\n)b c. d", 1)
@example('"Yes."No. x.Y ?Why', 3)
@settings(deadline=None, max_examples=300)
def test_blocks_of_text_give_the_sentences_of_the_whole_text(text, block):
    assert text_sentences(text, block, wrapped=True) == whole(text)


@given(TEXTS, st.integers(1, 20), st.integers(1, 20))
@settings(deadline=None, max_examples=200)
def test_no_text_is_lost_where_long_sentences_are_cut(text, block, longest):
    found = text_sentences(text, block, longest=longest)
    assert "".join(word for words in found for word in words) == "".join(text.split())
    assert all(found)


@pytest.mark.parametrize("text", ["word " * 30_000, "x" * 100_000, "😀(" * 30_000, " " * 100_000])
def test_a_text_without_sentence_ends_is_cut_and_none_is_lost(text):
    found = text_sentences(text, 2**13)
    assert "".join(word for words in found for word in words) == "".join(text.split())
    assert max((len(" ".join(words)) for words in found), default=0) < 2**16


@pytest.mark.parametrize(
    ("text", "words", "context"),
    [
        ("_,word,_,pos", 2, {"pos": 4}),
        ("word=1,pos=-2", 1, {"pos": -2}),
        (" pos = 1 , word = 2 ", 2, {"pos": 1}),
        ("3", 3, {}),
        ("3,-1", 3, {"pos": -1}),
        ("word,pos,chunk", 1, {"pos": 2, "chunk": 3}),
    ],
)
def test_columns_are_stated_by_name_or_number(text, words, context):
    layout = column_layout(text)
    assert (layout.words, layout.context) == (words, context)


def read(text, columns="word,pos", size=4):
    reader = ColumnReader(column_layout(columns), "standard input")
    parts = blocks(io.StringIO(text, newline="\n"), reader, size)
    return [x for part in parts for x, _ in part.sentences()]


def test_labels_may_be_there_or_not():
    expected = [{"word": ("a", "dog"), "pos": ("DT", "NN")}, {"word": ("ran",), "pos": ("VBD",)}]
    assert read("a DT\ndog NN\n\nran VBD\n") == expected
    assert read("a DT B-NP\ndog NN I-NP\n\n\n \t\r\nran VBD B-VP") == expected
    assert read("DT\ta\r\nNN\tdog\r\n\r\nVBD\tran\r\n", "word=-1,pos=1") == expected
    assert read("") == read("\n \n\r\n") == []


def test_only_newlines_end_lines_and_only_blanks_end_cells():
    assert read("a\u2028b\x0c 1\x85\n\xa0 x\n") == [{"word": ("a\u2028b\x0c", "\xa0"), "pos": ("1\x85", "x")}]


@pytest.mark.parametrize(("text", "line"), [("a\n", 1), ("a DT\n\nb\n", 3), ("a DT\nb NN I-NP\n", 2)])
def test_a_line_with_other_columns_is_named(text, line):
    with pytest.raises(MalformedCorpus):
        read(text)


X = {"word": ("The", "dog", "😀", "."), "pos": ("DT", "NN", "VBD", ".")}
FOUND = Decoding(("B-NP", "I-NP", "B-VP", "O"), 1.0, Status.OPTIMAL)
NOTHING = Decoding((), float("-inf"), Status.INFEASIBLE)


def test_the_formats():
    assert TAGGED_FORMATS["conll"](X, FOUND) == "The DT B-NP\ndog NN I-NP\n😀 VBD B-VP\n. . O\n\n"
    assert TAGGED_FORMATS["conll"]({"word": X["word"]}, FOUND).startswith("The B-NP\n")
    assert TAGGED_FORMATS["brackets"](X, FOUND) == "[NP The dog] [VP 😀] .\n"
    line = TAGGED_FORMATS["json"](X, FOUND)
    assert line.count("\n") == 1
    assert json.loads(line) == {
        "words": ["The", "dog", "😀", "."],
        "offsets": None,
        "pos": ["DT", "NN", "VBD", "."],
        "labels": ["B-NP", "I-NP", "B-VP", "O"],
        "chunks": [
            {"type": "NP", "start": 0, "end": 2, "text": "The dog"},
            {"type": "VP", "start": 2, "end": 3, "text": "😀"},
        ],
        "status": "optimal",
    }
