"""Sentences without labels: the format is found from the file, and labels are never read."""

import json

import numpy as np
import pytest

from lcons_core import LconsError
from lcons_tasks.own_data import read_data, read_words

SENTENCES = (("New", "York", "sleeps", "."), ("Why", "?"))


def written(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("raw.txt", "New York sleeps. Why?\n"),
        ("raw", "New York sleeps.\n\nWhy?"),
        ("words.txt", "New\nYork\nsleeps\n.\n\nWhy\n?\n"),
        ("words.conll", "New\r\nYork\r\nsleeps\r\n.\r\n\r\nWhy\r\n?"),
        ("columns.txt", "New B-LOC\nYork I-LOC\nsleeps O\n. O\n\nWhy O\n? O\n"),
        (
            "more.conll",
            "# text = New York sleeps\nNew NNP B\nYork NNP I\nsleeps VB O\n. . O\n\nWhy WP O\n? . O\n",
        ),
        ("more.jsonl", "".join(json.dumps({"words": s, "labels": 5}) + "\n" for s in SENTENCES)),
        (
            "more.conllu",
            "\n".join("".join(f"{i}\t{w}\t_\tX\n" for i, w in enumerate(s, 1)) for s in SENTENCES),
        ),
    ],
)
def test_every_format_gives_the_same_sentences(name, content, tmp_path):
    assert read_words(written(tmp_path / name, content)) == SENTENCES


def test_the_place_of_the_words_is_used_if_it_fits_the_format(tmp_path):
    columns = written(tmp_path / "a.conll", "1 New\n2 York\n3 sleeps\n4 .\n\n1 Why\n2 ?\n")
    lines = written(tmp_path / "a.jsonl", "".join(json.dumps({"tokens": s}) + "\n" for s in SENTENCES))
    words = written(tmp_path / "a.txt", "New\nYork\nsleeps\n.\n\nWhy\n?\n")
    assert read_words(columns, "word=2,label=-1") == SENTENCES
    assert read_words(lines, "word=tokens,label=tags") == SENTENCES
    assert read_words(words, "word=2,label=3") == SENTENCES
    assert read_words(words, "word=tokens") == SENTENCES
    named = written(tmp_path / "b.jsonl", "".join(json.dumps({"words": s}) + "\n" for s in SENTENCES))
    assert read_words(named, "word=2,label=3") == SENTENCES


def test_a_line_break_ends_a_sentence_unless_lines_are_wrapped(tmp_path):
    lines = ["New York", "sleeps all day and all night long, it seems to me"]
    assert len(read_words(written(tmp_path / "a.txt", "\n".join(lines)))) == 2
    wrapped = (
        "New York sleeps all day and all night, it\nseems to me, and wakes only for the parades\nof May\n"
    )
    assert len(read_words(written(tmp_path / "b.txt", wrapped))) == 1


def test_cells_between_tabs_may_hold_blanks(tmp_path):
    path = written(tmp_path / "a.conll", "New York\tB-LOC\nsleeps\tO\n")
    assert read_words(path, tabs=True) == (("New York", "sleeps"),)


def test_raw_text_may_hold_any_bytes(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfcaf\xe9 is open\n")
    (words,) = read_words(tmp_path / "a.txt")
    assert "".join(words) == "caf\N{REPLACEMENT CHARACTER}isopen"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", ""),
        ("a.jsonl", '{"labels": ["O"]}\n'),
        ("a.jsonl", '{"words": "New York"}\n'),
        ("a.csv", "a,b,valid\n1,0,1\n"),
        ("none.txt", None),
    ],
)
def test_other_files_are_an_error(name, content, tmp_path):
    if content is not None:
        written(tmp_path / name, content)
    with pytest.raises(LconsError):
        read_words(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b\x08\x00" + bytes(range(256)),
        "New York sleeps".encode("utf-16"),
        np.random.default_rng(0).bytes(3000),
        b"New\rYork\rsleeps\r",
    ],
    ids=["gzip", "utf-16", "random", "cr"],
)
@pytest.mark.parametrize("name", ["a.txt", "a.conll", "a.jsonl"])
def test_what_is_no_text_with_lines_is_refused(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LconsError) as error:
        read_words(tmp_path / name)
    assert "\n" not in str(error.value)
    with pytest.raises(LconsError):
        read_data(tmp_path / name)
