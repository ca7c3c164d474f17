"""Tokens have exact offsets and lose nothing; sentences are rules over them; garbage is only text."""

import subprocess
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lcons_tasks.data.text import sentences, tokenise
from lcons_tasks.data.text._tokens import LONGEST_RUN

# Arbitrary text, lone surrogates too, and text rich in what the tokenizer's rules are about.
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from("aI'\u2019.,:;!?()[]\"-/@#$%&…0 \n\t\r\u00a0\u2028\u200b😀\u0301א")),
    st.lists(st.sampled_from(["don't", "U.S.", "p.m.", "x@y.org", ":-)", "\n\n", " ", "(", "1,000"])).map(
        "".join
    ),
)


@given(TEXTS)
@example("\ud800a b\udfff")
@example("(" * (2 * LONGEST_RUN + 1))
@settings(deadline=None)
def test_tokens_are_exact_slices_that_lose_nothing_but_white_space(text):
    tokens = tokenise(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(before.end <= after.start for before, after in pairwise(tokens))
    assert "".join(token.text for token in tokens) == "".join(text.split())
    assert not any(character.isspace() for token in tokens for character in token.text)
    grouped = sentences(text)
    assert all(grouped)
    assert [token for sentence in grouped for token in sentence] == tokens


def test_sentences_end_at_stops_and_at_blank_lines_but_not_at_line_ends():
    text = "A title\r\n\r\nMr. Hill left\r\nfor the U.S. today. Why? \n \n And so on"
    assert [[token.text for token in sentence] for sentence in sentences(text)] == [
        ["A", "title"],
        ["Mr.", "Hill", "left", "for", "the", "U.S.", "today", "."],
        ["Why", "?"],
        ["And", "so", "on"],
    ]
    assert sentences("\u00a0\u2028\t") == []


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "http://" + "a.b/" * 2_500,
        "👩‍👩‍👧😀" * 2_000,
        "".join(map(chr, range(32))) * 300 + "\x7f\x00\ufffe\ufeff",
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_garbage_of_ten_thousand_characters_is_read_in_seconds(text):
    started = time.process_time()
    assert "".join(token.text for sentence in sentences(text) for token in sentence) == "".join(text.split())
    assert time.process_time() - started < 5


def test_importing_the_package_does_not_import_spacy():
    code = "import lcons_tasks.data.text, sys; sys.exit(bool({'spacy', 'thinc', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
