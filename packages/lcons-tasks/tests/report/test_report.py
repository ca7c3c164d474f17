"""The page: what it shows of constraints, sentences and headlines, and that text of others stays text."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    Instance,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    binary,
    one_hot,
    save,
)
from lcons_core.features import NgramContext, NgramLabels
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.report import Document, to_html
from lcons_tasks.report._change import NO_WINDOW, gain, reason
from lcons_tasks.report._document import (
    Change,
    Constraints,
    Figure,
    Headline,
    Section,
    Sentences,
    write_document,
)
from lcons_tasks.report._matrix import Combination, matrices
from lcons_tasks.report._page import report_page
from lcons_tasks.report._run import read_runs
from lcons_tasks.report._templates import environment
from lcons_tasks.report._views import Limits
from lcons_tasks.stats import Interval

HOSTILE = "</td><script>alert(1)</script>\"'&"
ALLOWED, DEPENDS, FORBIDDEN = Combination.ALLOWED, Combination.DEPENDS, Combination.FORBIDDEN
THREE = FeatureSpace([one_hot("a", "pqr"), one_hot("b", "st", other=True), one_hot("c", "uv")])
WINDOWS = NgramContext(("B", "I", "O"), ("DT", "NN"), n=2)


def constraint_of(W, b, *blocks) -> LearnedConstraint:
    return LearnedConstraint(RectifierNetwork(W, b), FeatureSpace(blocks))


def no_inside_after_outside() -> LearnedConstraint:
    W = np.zeros((1, WINDOWS.space.d))
    W[0, WINDOWS.space.column("label 1", "O")] = W[0, WINDOWS.space.column("label 2", "I")] = 2.0
    return LearnedConstraint(RectifierNetwork(W, [-2.0]), WINDOWS.space, WINDOWS)


def verdict(matrix, row, column) -> Combination:
    return Combination(matrix.codes[matrix.rows.index(row), matrix.columns.index(column)])


def page_of_constraint(folder: Path, constraint: LearnedConstraint) -> str:
    save(constraint, folder / "one.json")
    return report_page(read_runs([folder / "one.json"]))


def page_of(folder: Path, *blocks, head: Headline | None = None) -> str:
    return to_html(Document("T", "t", "", "", head, (Section("S", blocks),)), folder)


@given(st.text())
def test_text_is_escaped_and_nothing_else_is_lost(value):
    shown = environment().from_string('<p title="{{ value }}">').render(value=value)[10:-2]
    assert not set("<>\"'") & set(shown)
    printable = re.sub(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", value)
    assert unescape(shown) == printable


@given(st.lists(st.lists(st.integers(-6, 6), min_size=8, max_size=8), min_size=3, max_size=3))
def test_enumerated_verdicts_are_those_of_every_completion(drawn):
    table = np.array(drawn) / 2
    constraint = LearnedConstraint(RectifierNetwork(table[:, :-1], table[:, -1]), THREE)
    points = np.concatenate(list(THREE.points()))
    accepted = constraint.network.verdicts(THREE, points)
    for matrix in matrices(constraint)[0]:
        i, j = (["a", "b", "c"].index(name) for name in (matrix.down, matrix.across))
        for a, b in np.ndindex(matrix.codes.shape):
            completions = accepted[(points[:, i] == a) & (points[:, j] == b)]
            wanted = ALLOWED if completions.all() else DEPENDS if completions.any() else FORBIDDEN
            assert Combination(matrix.codes[a, b]) is wanted
            assert matrix.shares[a, b] == pytest.approx(completions.mean())


def test_combinations_that_cannot_occur_are_marked():
    padded = NgramLabels(("B", "I"), n=2, pad=True).space
    W = np.zeros((1, padded.d))
    W[0, [padded.column("label 1", "B"), padded.column("label 2", "I")]] = 2.0
    (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork(W, [-2.0]), padded))
    points = {tuple(point) for point in np.concatenate(list(padded.points())).tolist()}
    for pair in np.ndindex(matrix.codes.shape):
        assert (matrix.codes[pair] == Combination.IMPOSSIBLE) == (pair not in points)


def test_binary_blocks_are_shown_by_what_holds_together():
    block = binary("exists", ["title", "date", "note"])
    (matrix,), _ = matrices(constraint_of([[2.0, 2.0, 0.0], [0.0, 0.0, 2.0]], [-2.0, 0.0], block))
    assert verdict(matrix, "title", "date") is FORBIDDEN
    assert verdict(matrix, "note", "note") is FORBIDDEN
    assert verdict(matrix, "title", "title") is DEPENDS
    assert matrix.shares[0, 0] == 0.25


def test_windows_show_the_pairs_that_forbid_something_by_themselves(tmp_path: Path):
    (matrix,), note = matrices(no_inside_after_outside())
    assert (matrix.down, matrix.across) == ("label 1", "label 2")
    assert verdict(matrix, "O", "I") is FORBIDDEN
    assert "1 of 6" in note
    assert "1 of 6" in page_of_constraint(tmp_path, no_inside_after_outside())


def test_values_of_a_long_axis_that_are_judged_alike_share_a_row_but_o():
    names = [f"v{i}" for i in range(69)] + ["O"]
    W = np.zeros((1, 72))
    W[0, [3, 5]] = W[0, 71] = 2.0
    (matrix,), _ = matrices(constraint_of(W, [-2.0], one_hot("a", names), one_hot("b", "xy")))
    others, strict, outside = [values for values, _ in matrix.down_groups]
    assert (len(others), strict, outside) == (67, ("v3", "v5"), ("O",))


def test_hostile_labels_stay_text_in_every_part_of_a_constraint(tmp_path: Path):
    blocks = one_hot(HOSTILE, [HOSTILE, "q"]), one_hot("b", [HOSTILE, "s"])
    page = page_of_constraint(tmp_path, constraint_of([[2.0, 0.0, 2.0, 0.0]], [-2.0], *blocks))
    assert page.count("<script") == 1
    assert page.count("&lt;script&gt;") > 5


def test_rules_have_support_and_exceptions_in_gold_labels(tmp_path: Path):
    save(no_inside_after_outside(), tmp_path / "ngram.json")
    (tmp_path / "cell.txt").write_text("a DT O B B\nb NN I I B\n\nc NN Z B B\nd NN B B B\n\n")
    page = page_of(tmp_path, Constraints("set", ("ngram.json",), "cell.txt"))
    assert "Rejects 1 of 1 parts" in page
    assert '<th scope="col">exceptions</th>' in page
    assert "exceptions</th>" not in page_of(tmp_path, Constraints("set", ("ngram.json",)))


@pytest.mark.parametrize(
    ("interval", "state", "words"),
    [
        (Interval(3.0, 1.0, 5.0), "better", "better"),
        (Interval(-3.0, -5.0, -1.0), "worse", "worse"),
        (Interval(0.0, 0.0, 0.0), "even", "no clear difference"),
        (None, "", None),
    ],
)
def test_a_headline_is_good_or_bad_by_its_interval_in_words_too(tmp_path: Path, interval, state, words):
    head = Headline("accuracy", Figure((60.0,)), Figure((63.0,)), interval)
    shown = page_of(tmp_path, head=head)
    assert f'<span class="to {state}">63.0</span>' in shown
    assert (f'<span class="badge {state}">{words}</span>' in shown) == (interval is not None)


def test_the_sentences_that_changed_come_first(tmp_path: Path):
    still = Change(("still",), ("O",), ("O",), ("O",))
    moved = Change(("moved",), ("O",), ("B-X",), ("B-X",))
    document = Document("T", "t", "", "", None, (Section("S", (Sentences("s", (still, moved)),)),))
    page = to_html(document, tmp_path, Limits(sentences=1))
    assert "moved" in page
    assert ">still<" not in page
    assert gain(moved) == 1


def test_errors_of_relations_are_places_where_gold_differs():
    words = ("Ann", "Lee", "in", "Oslo")
    person = ("B-Person", "I-Person", "O", "B-Location")
    place = ("B-Location", "I-Location", "O", "B-Location")
    link = ((0, 3, "LiveIn"),)
    assert gain(Change(words, place, person, person, links_after=link, links_gold=link)) == 2
    assert gain(Change(words, person, person, person, links_before=link, links_gold=())) == 1


def test_spans_are_marked_and_wrong_ones_are_dashed(tmp_path: Path):
    change = Change(("the", "dog", "."), ("B-NP", "O", "O"), ("B-NP", "I-NP", "O"), ("B-NP", "I-NP", "O"))
    page = page_of(tmp_path, Sentences("s", (change,)))
    without, within, gold = re.findall(r"<dd>(.*?)</dd>", page)
    assert without.startswith('<mark class="c0 w"><b>NP</b>&nbsp;the')
    assert within == '<mark class="c0"><b>NP</b>&nbsp;the <em>dog</em></mark> .'
    assert gold == '<mark class="c0"><b>NP</b>&nbsp;the dog</mark> .'
    assert "+1 correct" in page


def test_the_rule_behind_a_change_is_the_smallest_forbidden_part_of_a_window():
    constraints = {"ngram": no_inside_after_outside()}
    x = {"word": ("a", "b", "c"), "pos": ("DT", "NN", "NN")}
    before, after = Instance(x, ("B", "O", "I")), Instance(x, ("B", "O", "O"))
    rule, why = reason(before, after, constraints)
    assert rule == "forbidden: label 1 O, label 2 I"
    assert why
    strange = Instance({"word": ("a", "b")}, ("Q", "O"))
    for unexplained in (after, strange):
        assert reason(unexplained, unexplained, constraints) == (NO_WINDOW, "")


@pytest.mark.parametrize("content", ['{"id": 1}\n', "[" * 100_000, "3"])
def test_damaged_predictions_are_refused(tmp_path: Path, content):
    (tmp_path / "cell.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        page_of(tmp_path, Sentences("s", file="cell.jsonl"))


def test_what_is_no_run_is_refused(tmp_path: Path):
    folder = tmp_path / "run"
    folder.mkdir()
    for paths in ([folder], [tmp_path / "nowhere"], [folder, folder], []):
        with pytest.raises(InvalidInput):
            read_runs(paths)
    (folder / "results.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_runs([folder])


def test_a_page_shows_so_many_sets_of_constraints(tmp_path: Path):
    (tmp_path / "results.json").write_text("{}", encoding="utf-8")
    for name, constraint in designed().items():
        save(constraint, tmp_path / f"{name}.json")
    sets = tuple(Constraints(name, (f"{name}.json",)) for name in designed())
    write_document(tmp_path, Document("Of boxes", "weaving", "", "", None, (Section("Sets", sets),)))
    page = report_page(read_runs([tmp_path]), Limits(sets=1))
    assert "Of boxes" in page
    assert page.count("<article") == 1


def test_values_that_the_words_of_a_rule_shorten_can_be_opened_in_full(tmp_path: Path):
    values = [f"v{i}" for i in range(40)]
    space = FeatureSpace([one_hot("pos", values), one_hot("label", ["B", "I", "O"])])
    pages = [
        page_of_constraint(tmp_path, LearnedConstraint(Rules(space, [forbidden]).network(), space))
        for forbidden in ({"pos": values[:20], "label": "I"}, {"pos": values[:2], "label": "I"})
    ]
    assert ", ".join(values[:20]) in re.search(r"<details class=\"whole\">(.*?)</details>", pages[0])[1]
    assert 'class="whole"' not in pages[1]


def test_a_page_of_one_document_leaves_out_what_takes_long(tmp_path: Path):
    large = constraint_of(np.ones((1, 40)), [0.0], binary("z", [f"z{i}" for i in range(40)]))
    save(large, tmp_path / "large.json")
    save(designed()["source-relation"], tmp_path / "small.json")
    sets = Constraints("all", ("large.json", "small.json"))
    document = Document("T", "t", "", "", None, (Section("Sets", (sets,)),))
    assert to_html(document, tmp_path, Limits(large=0)).count("<summary>In words</summary>") == 1
    assert to_html(document, tmp_path).count("<summary>In words</summary>") == 2
