"""A document: what it refuses, its renderings as text, and document.json, read with suspicion."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from lcons_core import InvalidInput
from lcons_tasks.report import Document, read_document, to_html, to_markdown, to_terminal
from lcons_tasks.report._document import (
    Change,
    Claim,
    Claims,
    Constraints,
    Curve,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Listing,
    Section,
    Sentences,
    Table,
    Text,
    write_document,
)
from lcons_tasks.report._page import report_page
from lcons_tasks.report._run import Run
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
    ),
    Gains("Gains", (Gain("chosen over exact", "1%", Interval(5.4, 5.1, 5.7)),)),
    Curve("Accuracy", "sentences", "accuracy (%)", {"exact": {89.0: 85.2, 446.0: 91.6}}),
    Claims((Claim("search beats exact", False, "+1.99"),)),
    Facts("Corpus", (("sha256", "0" * 64),)),
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
    with pytest.raises(InvalidInput):
        read_document(tmp_path)


def spoil(file: Path, path: str, value: object) -> None:
    data = json.loads(file.read_text())
    *parents, last = path.split("/")
    at = data
    for key in parents:
        at = at[int(key) if isinstance(at, list) else key]
    at[int(last) if isinstance(at, list) else last] = value
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("format", 1),
        ("title", 3),
        ("sections/0/blocks/0/kind", "Script"),
        ("sections/0/blocks/0/text", ["x"]),
        ("sections/0/blocks/2/rows/0", ["too", "short"]),
        ("sections/0/blocks/2/rows/0/1/values", []),
        ("sections/0/blocks/2/rows/0/1/values", ["5"]),
        ("sections/0/blocks/4/lines", {}),
        ("sections/0/blocks/4/lines/exact", {"0": 3.0}),
        ("sections/0/blocks/4/lines/exact", {"nan": 3.0}),
        ("sections/0/blocks/7/files", ["/etc/passwd"]),
        ("sections/0/blocks/7/predictions", "a/../../b"),
        ("sections/0/blocks/8/changes/0/after", ["O"]),
        ("sections/0/blocks/8/changes/0/links_after", [[0, 9, "LiveIn"]]),
        ("headline/without/values", [float("nan")]),
        ("provenance", {"a": {}}),
    ],
)
def test_a_document_that_is_not_as_it_should_be_is_one_sentence(tmp_path: Path, path: str, value: object):
    write_document(tmp_path, WHOLE)
    spoil(tmp_path / "document.json", path, value)
    with pytest.raises(InvalidInput) as caught:
        read_document(tmp_path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "[" * 100_000, '{"format": 3, "title": NaN}'])
def test_what_is_no_json_object_is_refused(tmp_path: Path, content: str):
    (tmp_path / "document.json").write_text(content)
    with pytest.raises(InvalidInput):
        read_document(tmp_path)


def hostile_document(word: str) -> Document:
    """Every text of every block is `word`."""
    gain = Interval(1.0, 0.5, 1.5)
    changed = Change((word, word), (f"B-{word}", "O"), ("O", "O"), None, word, word)
    linked = Change((word,), ("O",), ("O",), None, word, word, ((0, 0, word),))
    blocks = (
        Text(word),
        Listing((word,)),
        Table(word, (word, word), ((word, Figure((1.0,), 2.0)), (word, word)), word),
        Gains(word, (Gain(word, word, gain),)),
        Curve(word, word, word, {word: {1.0: 2.0, 3.0: 4.0}}),
        Claims((Claim(word, True, word),)),
        Facts(word, ((word, word),)),
        Sentences(word, (changed, linked)),
    )
    figure = Figure((1.0,), 2.0)
    head = Headline(word, figure, figure, gain, word, word, figure, word, gain, word)
    return Document(word, word, word, word, head, (Section(word, blocks),), word)


@pytest.mark.parametrize(
    "word", ["<script>x</script>", "](http://x)", "![x](y)", "*a*", "`a`", "a_b_", "\\<b>"]
)
def test_words_of_the_data_are_not_markup_of_a_report(word: str):
    text = to_markdown(hostile_document(word))
    assert not re.search(r"<[a-z/]|\]\(", text)
    words = "\n".join(line for line in text.splitlines() if line.startswith(("- before", "  after")))
    assert not re.search(r"(?<!\\)[`*_]", words)
    assert not re.search(r"(?<!\\)[*_]", re.sub(r"^\*\*|\*\*:|`[^`]*`", "", text, flags=re.MULTILINE))


def test_hostile_text_stays_text_on_pages_of_one_run_and_of_several(tmp_path: Path):
    word = "</td><script>alert(1)</script>\"'&"
    runs = [Run(word + str(i), tmp_path, hostile_document(word)) for i in range(2)]
    for page in (report_page(runs[:1]), report_page(runs)):
        assert page.count("<script>") == 1
        # Neither markup that slips through could change where links go, nor send anything.
        assert "default-src 'none'; base-uri 'none'; form-action 'none';" in unescape(page)
        assert "<script>alert" not in page
        assert page.count("&lt;script&gt;") > 30


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


def test_every_rendering_counts_the_claims_after_the_headline(tmp_path: Path):
    claims = Claims((Claim("better", True, "x"), Claim("much better", False, "y"), Claim("good", True, "z")))
    document = Document(
        "T", "t", "", "", sections=(Section("First", (Text("a begin"),)), Section("C", (claims,)))
    )
    for text in (to_markdown(document), to_terminal(document), to_html(document, tmp_path)):
        assert "Claims of the paper: 2 held, 1 not held" in text.partition("a begin")[0]


@pytest.mark.parametrize("low", [-1.4, 0.3])
def test_a_baseline_and_its_interval_are_in_every_rendering(low: float, tmp_path: Path):
    figures = [Figure((value,)) for value in (76.6, 91.5, 92.3)]
    over = Interval(low + 0.5, low, low + 1)
    head = Headline("F1", *figures[:2], None, baseline=figures[2], gain_over_baseline=over, row="soft <2>")
    document = Document("A run", "made", "made", "", head)
    write_document(tmp_path, document)
    assert read_document(tmp_path) == document
    for text in (to_markdown(document), to_terminal(document, 200), unescape(to_html(document, tmp_path))):
        shown = ("92.3", "worse" if low < 0 else "better", "row soft <2>", "look-up table")
        assert all(word in text for word in shown)
