"""Decoded labels as a run of the report: read with suspicion, measured against gold, and shown."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import InvalidInput, iob2, save
from lcons_decode import ChainScores, Scored
from lcons_decode._stream import decode_scored
from lcons_decode.files._answers import described
from lcons_tasks.report import Table, read_runs, report_page
from lcons_tasks.report._decoded import Decoded, is_decoded, read_decoded
from lcons_tasks.report._measures import document_of, measured
from lcons_tasks.report._predictions import read_predictions
from lcons_tasks.report._sentences import sentence_item
from lcons_tasks.report._spans import are_iob, change_spans, spans_of
from lcons_tasks.report._templates import environment
from lcons_tasks.stats import chunk_f1

LABELS = ("B-X", "I-X", "O")
LINE = {"labels": ["B-X", "I-X"], "without": ["O", "I-X"], "status": "optimal"}


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def decoded(without, labels, gold=None):
    return Decoded("1", None, {}, gold, tuple(without), tuple(labels), "optimal", ())


def view(found):
    return document_of(found, "labels.jsonl")


def tables(document):
    return [block for block in document.sections[0].blocks if isinstance(block, Table)]


def test_what_decoding_writes_is_read_back(tmp_path):
    scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=LABELS)
    nothing = ChainScores(np.full((2, 3), -np.inf), labels=LABELS)
    given_ = [
        Scored(scores, {"word": ("New", "York"), "pos": ("NN", "NN"), "gold": ("B-X", "I-X")}, id="s1"),
        Scored(scores),
        Scored(nothing, {"word": ("a", "b")}),
        Scored(nothing),
    ]
    path = write(tmp_path / "labels", *(described(*pair) for pair in decode_scored(given_, [iob2(LABELS)])))
    assert is_decoded(path)
    first, second, third, fourth = read_decoded(path)
    assert first == Decoded(
        "s1",
        ("New", "York"),
        {"pos": ("NN", "NN")},
        ("B-X", "I-X"),
        ("O", "I-X"),
        ("B-X", "I-X"),
        "optimal",
        (),
    )
    assert (second.name, second.words, second.gold, second.labels) == ("2", None, None, ("B-X", "I-X"))
    assert (third.labels, third.without, third.status) == (("_", "_"), ("_", "_"), "infeasible")
    assert fourth.labels == ()
    report_page(read_runs([path]))


def test_gold_labels_of_a_file_support_the_rules_of_constraints_beside_it(tmp_path):
    save(iob2(LABELS), tmp_path / "iob2.json")
    line = {**LINE, "gold": ["B-X", "I-X"]}
    labels = write(tmp_path / "labels.jsonl", line, {**line, "gold": ["O", "I-X"]})
    page = report_page(read_runs([tmp_path / "iob2.json", labels]))
    assert "Rejects 1 of 6 parts of the gold labels" in page
    assert '<th scope="col">support</th>' in page
    assert "support</th>" not in report_page(read_runs([tmp_path / "iob2.json"]))


def test_constraints_beside_labels_give_the_rule_behind_each_change(tmp_path):
    save(iob2(LABELS), tmp_path / "iob2.json")
    labels = write(tmp_path / "labels.jsonl", {**LINE, "words": ["New", "York"]})
    page = report_page(read_runs([tmp_path / "iob2.json", labels]))
    assert '<p class="why">forbidden: label 1 O, label 2 I-X' in page
    assert '<p class="why">' not in report_page(read_runs([labels]))


def test_constraint_files_and_other_things_are_told_from_labels(tmp_path):
    save(iob2(LABELS), tmp_path / "labels.jsonl")
    assert not is_decoded(tmp_path / "labels.jsonl")
    flat = json.dumps(json.loads((tmp_path / "labels.jsonl").read_text()))
    (tmp_path / "flat.json").write_text(flat)
    assert not is_decoded(tmp_path / "flat.json")
    assert [run.task for run in read_runs([tmp_path / "labels.jsonl", tmp_path / "flat.json"])] == [
        "constraint",
        "constraint",
    ]
    for content in (b"", b"\n\n", b"\xff\xfe", b"[1]", b"{", b"[" * 100_000):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(
            InvalidInput, match=r"no constraint file .* not the output of `lcons decode --json`"
        ):
            read_runs([tmp_path / "other"])
    (tmp_path / "flat.json").write_text(flat.replace('"sha256": "', '"sha256": "0'))
    with pytest.raises(ValueError, match="checksum"):
        read_runs([tmp_path / "flat.json"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"labels": ["O"], "status": "optimal"}, "expected `without` on line 2 of .*, found none"),
        ({"labels": ["O"], "without": ["O"]}, "expected `status` on line 2"),
        ({**LINE, "labels": "B-X"}, "`labels` as a list of strings on line 2 of .*, found B-X"),
        ({**LINE, "gold": ["O", 3]}, "`gold` as a list of strings"),
        (
            {**LINE, "words": ["a"]},
            "columns of one length on line 2 of .*, found 2 labels, 2 without, 1 words",
        ),
        ({**LINE, "without": ["O"]}, "columns of one length"),
        ({**LINE, "violations": [3]}, "`violations` as a list of objects"),
        ([1], "expected a JSON object on line 2 of .*, found a list"),
    ],
)
def test_damaged_labels_are_one_sentence(tmp_path, line, words):
    path = write(tmp_path / "labels.jsonl", LINE, line)
    with pytest.raises(InvalidInput, match=words) as caught:
        read_runs([path])
    assert "write it again with `lcons decode --json`" in str(caught.value)
    assert "\n" not in str(caught.value)


IOB = st.lists(st.sampled_from(["B-X", "I-X", "B-Y", "I-Y", "O"]), min_size=1, max_size=6)


@given(
    st.lists(IOB.flatmap(lambda y: st.tuples(*[st.permutations(y).map(tuple)] * 3)), min_size=1, max_size=5)
)
def test_figures_are_those_of_the_metrics(drawn):
    kept = [decoded(*one) for one in drawn]
    found = measured(kept)
    golds = [one.gold for one in kept]
    for side, labels in (("without", [one.without for one in kept]), ("with", [one.labels for one in kept])):
        right = sum(
            a == b for y, gold in zip(labels, golds, strict=True) for a, b in zip(y, gold, strict=True)
        )
        own = {name: figure[side] for name, figure in found["gold"]["figures"].items()}
        assert own["token accuracy"] == pytest.approx(100 * right / found["labels"]["all"])
        if "span F1" in own:
            spans = chunk_f1(golds, labels)
            assert own["span F1"] == pytest.approx(100 * spans.f1)
            assert own["span precision"] == pytest.approx(100 * spans.precision)
            assert own["span recall"] == pytest.approx(100 * spans.recall)
    changed = sum(a != b for one in kept for a, b in zip(one.without, one.labels, strict=True))
    assert found["labels"]["changed"] == changed == sum(found["gold"]["became"].values())


def test_what_changed_is_said_to_be_right_or_wrong():
    found = measured([decoded("AABB", "ABAC", "ABBA"), decoded("A", "A")])
    assert found["gold"]["became"] == {"right": 1, "wrong": 1, "neither": 1}
    assert found["sequences"] == {"all": 2, "changed": 1, "gold": 1, "words": 0}
    assert "span F1" not in found["gold"]["figures"]
    document = view(found)
    assert document.headline.gain is None  # a single sequence says nothing about others
    assert document.compared == "Constraints changed 1 of 2 sequences and 3 of 5 labels."


def test_without_gold_labels_there_is_no_accuracy():
    document = view(measured([decoded("AB", "AA"), decoded("A", "A", ())]))
    (table,) = document.sections[0].blocks
    assert document.headline is None
    assert document.compared == "Constraints changed 1 of 2 sequences and 1 of 3 labels."
    assert ("without words (shown as positions)", 2, None) in table.rows


def test_violations_that_remain_are_counted():
    broken = Decoded("1", ("a",), {}, None, ("A",), ("A",), "relaxed", ("iob2", "iob2"))
    changed, remaining = tables(view(measured([broken, decoded("A", "A")])))
    assert ("decoded with status relaxed", 1, None) in changed.rows
    assert remaining.rows == (("iob2", 1, 2),)


def test_spans_go_by_what_labels_are(tmp_path):
    assert spans_of(["B-X", "L-X", "O", "U-Y"], iob=True) == (("X", 0, 2), ("Y", 3, 4))
    assert spans_of(["S-X", "B-X", "E-X"], iob=True) == (("X", 0, 1), ("X", 1, 3))
    assert are_iob(["B", "I", "O"])
    assert not are_iob(["B-side", "A-side"])
    lines = [{**LINE, "labels": ["B-side"], "without": ["A-side"]}] * 2
    first, _ = read_predictions(write(tmp_path / "labels", *lines))
    assert change_spans(first.change, "before") == (("A-side", 0, 1),)
    assert change_spans(first.change, "after") == (("B-side", 0, 1),)


def test_without_words_and_gold_positions_are_shown_and_what_differs_is_dashed(tmp_path):
    (sentence,) = read_predictions(write(tmp_path / "labels", {**LINE, "status": "relaxed"}))
    assert (sentence.change.words, sentence.change.gold) == (("1", "2"), None)
    module = environment().get_template("blocks.html").module
    shown = module.sentence(sentence_item(sentence, {}, 0, {}), False)  # type: ignore[attr-defined]
    assert "1 label changed" in shown
    assert "relaxed" in shown
    assert "gold" not in shown
    assert shown.count("(not in the other)") == 2
    assert "data-wrong" not in shown
    assert change_spans(sentence.change, "before") == (("X", 1, 2),)


def test_hostile_labels_of_ones_own_stay_text(tmp_path):
    hostile = "</td><script>alert(1)</script>\"'&"
    line = {
        "id": hostile,
        "words": [hostile, "x\ud800\0"],
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
