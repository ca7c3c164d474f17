"""Decoded labels as a run of the report: read with suspicion, measured against gold, and shown."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, LconsError, iob2, save
from lcons_decode import ChainScores, Scored
from lcons_decode._stream import decode_scored
from lcons_decode.files._answers import described
from lcons_tasks.report._decoded import decoded_document
from lcons_tasks.report._document import Table
from lcons_tasks.report._page import report_page
from lcons_tasks.report._predictions import read_predictions
from lcons_tasks.report._run import read_runs
from lcons_tasks.stats import chunk_f1

LABELS = ("B-X", "I-X", "O")
LINE = {"labels": ["B-X", "I-X"], "without": ["O", "I-X"], "status": "optimal"}


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def decoded(without, labels, gold=None, **members):
    line = {"without": list(without), "labels": list(labels), "status": "optimal", **members}
    return line if gold is None else {**line, "gold": list(gold)}


def rows_of(document):
    """{name of a row: its other cells} of all tables."""
    tables = [block for block in document.sections[0].blocks if isinstance(block, Table)]
    return {row[0]: row[1:] for table in tables for row in table.rows}


def test_what_decoding_writes_is_read_back(tmp_path):
    scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=LABELS)
    nothing = ChainScores(np.full((2, 3), -np.inf), labels=LABELS)
    sequences = [
        Scored(scores, {"word": ("New", "York"), "pos": ("NN", "NN"), "gold": ("B-X", "I-X")}, id="s1"),
        Scored(scores),
        Scored(nothing, {"word": ("a", "b")}),
        Scored(nothing),
    ]
    answers = decode_scored(sequences, [iob2(LABELS)])
    path = write(tmp_path / "labels", *(described(*pair) for pair in answers))
    first, second, third, fourth = read_predictions(path)
    assert (first.name, first.x) == ("s1", {"word": ("New", "York"), "pos": ["NN", "NN"]})
    assert (first.change.before, first.change.after) == (("O", "I-X"), ("B-X", "I-X"))
    assert first.change.gold == ("B-X", "I-X")
    assert (second.change.words, second.change.gold) == (("1", "2"), None)
    assert (third.change.after, third.note) == (("_", "_"), "infeasible")
    assert fourth.change.words == ()
    report_page(read_runs([path]))


def test_labels_and_constraints_on_one_page_explain_each_other(tmp_path):
    save(iob2(LABELS), tmp_path / "iob2.json")
    line = {**LINE, "words": ["New", "York"], "gold": ["B-X", "I-X"]}
    labels = write(tmp_path / "labels.jsonl", line, {**line, "gold": ["O", "I-X"]})
    page = report_page(read_runs([tmp_path / "iob2.json", labels]))
    assert "Rejects 1 of 6 parts" in page
    assert '<p class="why">forbidden: label 1 O, label 2 I-X' in page
    assert '<p class="why">' not in report_page(read_runs([labels]))


def test_constraint_files_and_other_things_are_told_from_labels(tmp_path):
    save(iob2(LABELS), tmp_path / "labels.jsonl")
    flat = json.dumps(json.loads((tmp_path / "labels.jsonl").read_text()))
    (tmp_path / "flat.json").write_text(flat)
    runs = read_runs([tmp_path / "labels.jsonl", tmp_path / "flat.json"])
    assert [run.document.task for run in runs] == ["constraint", "constraint"]
    for content in (b"", b"\n\n", b"\xff\xfe", b"[1]", b"{", b"[" * 100_000):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(LconsError):
            read_runs([tmp_path / "other"])


@pytest.mark.parametrize(
    "line",
    [
        {"labels": ["O"], "status": "optimal"},
        {**LINE, "labels": "B-X"},
        {**LINE, "words": ["a"]},
        {**LINE, "violations": [3]},
        [1],
    ],
)
def test_damaged_labels_are_one_sentence(tmp_path, line):
    with pytest.raises(InvalidInput) as caught:
        read_runs([write(tmp_path / "labels.jsonl", LINE, line)])
    assert "\n" not in str(caught.value)


IOB = st.lists(st.sampled_from(["B-X", "I-X", "B-Y", "I-Y", "O"]), min_size=1, max_size=6)


@given(drawn=st.lists(IOB.flatmap(lambda y: st.tuples(*[st.permutations(y)] * 3)), min_size=1, max_size=5))
def test_figures_are_those_of_the_metrics(drawn, tmp_path_factory):
    path = write(tmp_path_factory.mktemp("drawn") / "labels", *(decoded(*one) for one in drawn))
    rows = rows_of(decoded_document(path))
    golds = [gold for _, _, gold in drawn]
    for side, name in enumerate(("without constraints", "with constraints")):
        labels = [one[side] for one in drawn]
        pairs = [pair for y, gold in zip(labels, golds, strict=True) for pair in zip(y, gold, strict=True)]
        *spans, accuracy = (cell.mean for cell in rows[name])
        assert accuracy == pytest.approx(100 * sum(a == b for a, b in pairs) / len(pairs))
        for figure in spans:
            assert figure == pytest.approx(100 * chunk_f1(golds, labels).f1)


def test_changes_are_right_or_wrong(tmp_path):
    lines = decoded("AABB", "ABAC", "ABBA"), decoded("A", "A")
    document = decoded_document(write(tmp_path / "labels", *lines))
    rows = rows_of(document)
    for words in ("from wrong to right", "from right to wrong", "from wrong to wrong"):
        assert rows[f"changed {words}"] == (None, 1)
    assert rows["all"] == (2, 5)
    assert document.headline.gain is None  # a single sequence says nothing about others


def test_without_gold_labels_there_is_no_accuracy_but_what_is_still_broken(tmp_path):
    broken = decoded("AB", "AA", violations=[{"constraint": "c", "position": t} for t in range(2)])
    document = decoded_document(write(tmp_path / "labels", broken, decoded("A", "A", status="relaxed")))
    assert document.headline is None
    rows = rows_of(document)
    assert (rows["still breaks c"], rows["decoded with status relaxed"]) == ((1, 2), (1, None))


def test_hostile_labels_of_the_user_stay_text(tmp_path):
    hostile = "</td><script>alert(1)</script>\"'&"
    line = {
        "id": hostile,
        "words": [hostile, "x\0"],
        "gold": [hostile, "O"],
        "labels": [hostile, "O"],
        "without": ["O", f"B-{hostile}"],
        "status": hostile,
        "violations": [{"constraint": hostile, "position": 0}],
    }
    page = report_page(read_runs([write(tmp_path / "<b>labels", line)]))
    assert page.count("<script>") == 1
    assert page.count("&lt;script&gt;") > 8
    assert "<b>labels" not in page
