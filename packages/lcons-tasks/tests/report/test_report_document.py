"""A document: what it refuses, its renderings as text, and document.json, read with suspicion."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, LconsError
from lcons_tasks.report import (
    Change,
    Claim,
    Claims,
    Constraints,
    Curve,
    Document,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Listing,
    Picture,
    Section,
    Sentences,
    Table,
    Text,
    read_document,
    to_markdown,
    to_terminal,
    write_document,
)
from lcons_tasks.report._storage import from_data, to_data
from lcons_tasks.stats import Interval

PEOPLE = ("B-Person", "I-Person", "O", "O", "B-Location", "O")
PLACES = ("B-Location", "I-Location", "O", "O", "B-Location", "O")
LINKED = Change(
    ("Fort", "Hill", "is", "in", "Ohio", "."), PEOPLE, PLACES, PLACES,
    "forbidden: source Person, relation OrgBasedIn", "-2.13 < 0",
    ((0, 4, "OrgBasedIn"),), ((0, 4, "LocatedAt"),), ((0, 4, "LocatedAt"),),
)  # fmt: skip
EVERY_BLOCK = (
    Text("Of **5** sets, `K` = 2."),
    Listing(("one", "two\nlines")),
    Table(
        "Token accuracy, %",
        ("row", "1% (89)", "F1", "count", "gain"),
        (
            ("exact", Figure((85.1, 85.3), 82.11), 80.5, 1200, None),
            ("chosen | on dev", Figure((90.5, 90.7)), None, 3, Interval(5.4, 5.1, 5.7)),
        ),
        "Means over seeds.",
        best=True,
    ),
    Gains("Gains", (Gain("chosen over exact", "1%", Interval(5.4, 5.1, 5.7)),)),
    Curve(
        "Accuracy", "sentences", "accuracy (%)", {"exact": {89.0: 85.2, 446: 91.6}},
        {"exact": {89.0: (85.0, 85.4)}},
    ),
    Claims((Claim("search beats exact", False, "+1.99"),)),
    Facts("Corpus", (("sha256", "0" * 64),)),
    Picture("dots", "dots.svg"),
    Constraints("seed 1", ("constraints/seed1/pos-2.json",), "predictions/seed1.txt"),
    Sentences("1%, seed 1", (LINKED,), "predictions/seed1.txt"),
)  # fmt: skip
WHOLE = Document(
    "Chunking", "chunking", "bundled", "A chunker that reads words, with and without constraints.",
    Headline("token accuracy", Figure((85.2,), 82.11), Figure((90.6,)), Interval(5.4, 5.1, 5.7)),
    (Section("Results", EVERY_BLOCK), Section("Nothing", ())),
    "CoNLL-2000", "lcons learn mine.txt", {"lcons-core": "0.1.0"},
)  # fmt: skip


def test_a_document_is_read_as_it_was_written(tmp_path):
    write_document(tmp_path, WHOLE)
    assert read_document(tmp_path) == WHOLE
    before = (tmp_path / "document.json").read_bytes()
    write_document(tmp_path, read_document(tmp_path))
    assert (tmp_path / "document.json").read_bytes() == before


def test_text_that_utf8_cannot_hold_still_leaves_a_document(tmp_path):
    write_document(tmp_path, Document("\ud800", "t", "", ""))
    assert read_document(tmp_path).title == "?"


def test_there_is_no_document_where_there_is_none(tmp_path):
    with pytest.raises(InvalidInput, match="cannot read"):
        read_document(tmp_path)


def spoilt(path: str, value: object) -> dict:
    data = {"format": 1, **to_data(WHOLE)}
    *parents, last = path.split("/")
    at = data
    for key in parents:
        at = at[int(key) if isinstance(at, list) else key]
    at[int(last) if isinstance(at, list) else last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("format", 2, "format 1"),
        ("title", 3, "expected str at the document.title"),
        ("kind", "Table", "expected Document"),
        ("surplus", 1, "no member 'surplus'"),
        ("sections", {}, "expected a list"),
        ("sections/0/blocks/0/kind", "Script", "expected one of Text"),
        ("sections/0/blocks/0/kind", None, "expected one of Text"),
        ("sections/0/blocks/0", "text", "found 'text'"),
        ("sections/0/blocks/0/text", ["x"], "expected str"),
        ("sections/0/blocks/2/rows/0", ["too", "short"], "one cell per column"),
        ("sections/0/blocks/2/rows/0/1/values", [], "at least one value"),
        ("sections/0/blocks/2/rows/0/1/values", ["5"], "expected float"),
        ("sections/0/blocks/2/rows/0/1/values", [True], "expected float"),
        ("sections/0/blocks/2/rows/0/2", [1], "found [1]"),
        ("sections/0/blocks/4/lines", {}, "at least one point"),
        ("sections/0/blocks/4/lines/exact", {"many": 3.0}, "a number as a name"),
        ("sections/0/blocks/4/lines/exact", {"0": 3.0}, "sizes above 0"),
        ("sections/0/blocks/4/lines/exact", {"nan": 3.0}, "a finite number"),
        ("sections/0/blocks/7/file", "../secret.svg", "outside it"),
        ("sections/0/blocks/8/files", ["/etc/passwd"], "outside it"),
        ("sections/0/blocks/8/predictions", "a/../../b", "outside it"),
        ("sections/0/blocks/9/file", "", "outside it"),
        ("sections/0/blocks/9/changes/0/after", ["O"], "one label per word"),
        ("sections/0/blocks/9/changes/0/links_after", [[0, 9, "LiveIn"]], "two of the 6 words"),
        ("sections/0/blocks/9/changes/0/links_after", [[0, 1]], "expected a list of 3"),
        ("headline/gain", {"mean": 1.0}, "as `kind`"),
        ("provenance", {"a": {}}, "expected str"),
    ],
)  # fmt: skip
def test_a_document_that_is_not_as_it_should_be_is_one_sentence(tmp_path, path, value, words):
    (tmp_path / "document.json").write_text(json.dumps(spoilt(path, value)))
    with pytest.raises(LconsError) as caught:
        read_document(tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "[" * 100_000, '{"format": 1, "title": NaN}'])
def test_what_is_no_json_object_is_one_sentence(tmp_path, content):
    (tmp_path / "document.json").write_text(content)
    with pytest.raises(InvalidInput):
        read_document(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["kind", "title"]), inner),
)


@given(st.sampled_from(["title", "headline", "sections", "sections/0/blocks/2/rows", "provenance"]), JSON)
def test_whatever_stands_there_a_document_or_one_sentence_comes_back(path, value):
    with suppress(InvalidInput):
        assert isinstance(from_data(spoilt(path, value)), Document)


def test_markdown_has_every_block_and_no_heading_over_nothing():
    text = to_markdown(WHOLE)
    for words in (
        "# Chunking\n",
        "**token accuracy**: 85.2 without constraints, 90.6 with learned constraints; gain [95% interval]"
        " +5.40 [+5.10, +5.70], better",
        "not on the data of this run",
        "- two\n  lines",
        "| exact            | 85.20 ± 0.14 (82.11) | 80.50 | 1,200 |                      |",
        "| chosen \\| on dev |",
        "[Person Fort Hill] is in [Location Ohio] . | Fort Hill OrgBasedIn Ohio",
        "(+2 correct)",
        "  forbidden: source Person, relation OrgBasedIn",
        "not held",
        "![dots](dots.svg)",
        "`constraints/seed1/pos-2.json`",
        "Next, with your own data: `lcons learn mine.txt`",
    ):  # fmt: skip
        assert words in text, words
    assert "## Nothing" not in text
    assert "\n\n\n" not in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_shows_the_headline_and_one_table_in_twenty_lines(width):
    many = Table(
        "Accuracy \x1b[31m" + "very " * 30,
        ("row", *(f"{n}%" for n in range(30))),
        tuple((f"row {n}" * n, *[Figure((1.0 * n, 2.0))] * 30) for n in range(40)),
    )
    document = Document(
        "Title", "t", "c", "What was compared. " * 40, WHOLE.headline, (Section("Results", (many,)),)
    )
    lines = to_terminal(document, width).splitlines()
    assert 10 < len(lines) <= 20
    assert max(map(len, lines)) <= width
    assert "85.2 without constraints" in " ".join(lines)
    assert "better" in " ".join(lines)
    assert any("rows only in the report" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_a_terminal_shows_a_curve_where_there_is_no_table():
    curve = Curve("Bits", "hidden units", "bits", {"learned": {2.0: 80.0, 10.0: 90.0}})
    shown = to_terminal(Document("T", "t", "", "", sections=(Section("Results", (curve,)),)))
    assert "learned" in shown
    assert "90.00" in shown
    assert to_terminal(Document("T", "t", "", "x")) == "T\nx\n"
