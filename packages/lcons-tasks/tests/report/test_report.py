"""The page: what it shows of constraints, sentences and headlines, and that text of others stays text."""

import re
from html import unescape
from itertools import product
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
    binary,
    one_hot,
    save,
)
from lcons_core.features import NgramContext, NgramLabels
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import DESIGNED, designed
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
    Limits,
    Listing,
    Section,
    Sentences,
    Table,
    Text,
    read_runs,
    report_page,
    to_html,
    write_document,
)
from lcons_tasks.report._matrix import Combination, Verdicts, matrices, matrix_view
from lcons_tasks.report._predictions import gold_parts, read_predictions
from lcons_tasks.report._reasons import NO_WINDOW, reason
from lcons_tasks.report._run import Run
from lcons_tasks.report._spans import gain, is_changed
from lcons_tasks.report._templates import environment
from lcons_tasks.stats import Interval

HOSTILE = "</td><script>alert(1)</script>\"'&"
MINUS = "\N{MINUS SIGN}"
ALLOWED, DEPENDS, FORBIDDEN = Combination.ALLOWED, Combination.DEPENDS, Combination.FORBIDDEN

THREE = FeatureSpace([one_hot("a", "pqr"), one_hot("b", "st", other=True), one_hot("c", "uv")])
PADDED = NgramLabels(("B", "I"), n=2, pad=True).space


def constraint_of(W, b, *blocks) -> LearnedConstraint:
    return LearnedConstraint(RectifierNetwork(W, b), FeatureSpace(blocks))


def page_of_constraint(folder: Path, constraint: LearnedConstraint) -> str:
    save(constraint, folder / "own.json")
    return report_page(read_runs([folder / "own.json"]))


def page_of(folder: Path, *blocks, head: Headline | None = None) -> str:
    document = Document("T", "t", "", "", head, (Section("S", blocks),))
    return report_page([Run("r", folder, document)])


@given(st.text())
def test_text_is_escaped_and_nothing_else_is_lost(value):
    shown = environment().from_string('<p title="{{ value }}">').render(value=value)[10:-2]
    assert not set("<>\"'") & set(shown)
    printable = re.sub(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", value)
    assert unescape(shown) == printable


@given(
    st.lists(st.lists(st.integers(-6, 6), min_size=8, max_size=8), min_size=3, max_size=3),
    st.sampled_from([(0, 1), (0, 2), (1, 2)]),
)
def test_enumerated_verdicts_are_those_of_every_completion(drawn, pair):
    table = np.array(drawn) / 2
    constraint = LearnedConstraint(RectifierNetwork(table[:, :-1], table[:, -1]), THREE)
    codes, shares = Verdicts(constraint).of(*pair)
    points = np.concatenate(list(THREE.points()))
    accepted = constraint.network.verdicts(THREE, points)
    for a, b in product(range(len(THREE.axes[pair[0]])), range(len(THREE.axes[pair[1]]))):
        completions = accepted[(points[:, pair[0]] == a) & (points[:, pair[1]] == b)]
        wanted = ALLOWED if completions.all() else DEPENDS if completions.any() else FORBIDDEN
        assert Combination(codes[a, b]) is wanted
        assert shares[a, b] == pytest.approx(completions.mean())


def test_combinations_that_cannot_occur_are_marked():
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, PADDED.d)), [0.0]), PADDED)
    codes, _ = Verdicts(everything).of(0, 1)
    points = {tuple(point) for point in np.concatenate(list(PADDED.points())).tolist()}
    for pair in product(range(codes.shape[0]), range(codes.shape[1])):
        assert Combination(codes[pair]) is (ALLOWED if pair in points else Combination.IMPOSSIBLE)
    assert (codes == Combination.IMPOSSIBLE).any()


def test_the_matrices_of_entities_and_relations_are_the_designed_ones():
    constraints = designed()
    for name, at in (("source-relation", 0), ("relation-target", 1)):
        (matrix,), _, pairs = matrices(constraints[name])
        assert pairs == 1
        for entity, relation in product(ENTITIES, RELATIONS):
            good = relation == "NoRel" or DESIGNED[relation][at] == entity
            names = (relation, entity) if at else (entity, relation)
            assert matrix.code(*names) is (ALLOWED if good else FORBIDDEN)
    (matrix,), *_ = matrices(constraints["relation-relation"])
    for pair in product(RELATIONS, RELATIONS):
        assert matrix.code(*pair) is (ALLOWED if "NoRel" in pair else FORBIDDEN)


def test_binary_blocks_are_shown_by_what_holds_together():
    block = binary("exists", ["title", "date", "note"])
    (matrix,), *_ = matrices(constraint_of([[2.0, 2.0, 0.0], [0.0, 0.0, 2.0]], [-2.0, 0.0], block))
    assert matrix.code("title", "date") is FORBIDDEN
    assert matrix.code("note", "note") is FORBIDDEN
    assert matrix.code("title", "title") is DEPENDS
    assert matrix.shares[0, 0] == 0.25


def test_windows_show_the_pairs_that_forbid_most(tmp_path: Path):
    feature = NgramContext(("B", "I", "O"), ("DT", "NN"), n=2)
    W = np.zeros((1, feature.space.d))
    W[0, feature.space.column("label 1", "O")] = W[0, feature.space.column("label 2", "I")] = 2.0
    constraint = LearnedConstraint(RectifierNetwork(W, [-2.0]), feature.space)
    (matrix,), _, pairs = matrices(constraint, most=1)
    assert (pairs, matrix.down, matrix.across) == (6, "label 1", "label 2")
    assert matrix.code("O", "I") is FORBIDDEN
    assert "Pairs of blocks shown: 1 of 6" in page_of_constraint(tmp_path, constraint)


def test_of_many_values_those_that_differ_are_shown_and_o_stays():
    names = [f"v{i}" for i in range(69)] + ["O"]
    W = np.zeros((1, 72))
    W[0, [3, 5]] = W[0, 71] = 2.0
    (matrix,), *_ = matrices(constraint_of(W, [-2.0], one_hot("a", names), one_hot("b", "xy")))
    assert matrix.code("v3", "y") is FORBIDDEN
    view = matrix_view(matrix)
    assert [names for names, _ in view.rows] == [("v3",), ("v5",), ("O",)]
    assert view.columns == (("x",), ("y",))


def test_a_large_domain_has_no_matrix(tmp_path: Path):
    large = constraint_of(np.ones((1, 50)), [-24.0], binary("z", [f"z{i}" for i in range(50)]))
    page = page_of_constraint(tmp_path, large)
    assert 'class="matrix"' not in page
    assert "because the domain is large" in page


def test_rows_are_counted_before_and_after_simplification(tmp_path: Path):
    blocks = one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])
    two = constraint_of([[0.0, 2.0, 0.0, 2.0], [-1.0, 1.0, -1.0, 0.0]], [-2.0, 0.0], *blocks)
    page = page_of_constraint(tmp_path, two)
    assert "3 inequalities before, 1 after simplification" in page
    assert f"{MINUS}2.00 [source Place] {MINUS} 2.00 [relation Kill] + 3.00 ≥ 0" in page
    many = constraint_of(np.zeros((20, 4)), np.zeros(20), *blocks)
    assert "1,048,575 inequalities" in page_of_constraint(tmp_path, many)


def hostile_document(word: str) -> Document:
    """Every text of every block is `word`."""
    change = Change((word, "x"), (word, "O"), (f"B-{word}", "O"), None, word, word, (), ((0, 1, word),))
    gain_ = Interval(1.0, 0.5, 1.5)
    blocks = (
        Text(word),
        Text(f"`{word}` **{word}**"),
        Listing((word,)),
        Table(word, (word, word), ((word, Figure((1.0,), 2.0)), (word, word)), word, best=True),
        Gains(word, (Gain(word, word, gain_),)),
        Curve(word, word, word, {word: {1.0: 2.0, 3.0: 4.0}}),
        Claims((Claim(word, True, word),)),
        Facts(word, ((word, word),)),
        Sentences(word, (change,)),
    )
    figure = Figure((1.0,), 2.0)
    head = Headline(word, figure, figure, gain_, word, word, figure, word, gain_, word)
    return Document(word, word, word, word, head, (Section(word, blocks),), word, word, {word: word})


def test_hostile_text_stays_text_in_every_block(tmp_path: Path):
    runs = [Run(HOSTILE + str(i), tmp_path, hostile_document(HOSTILE)) for i in range(2)]
    for page in (report_page(runs[:1]), report_page(runs)):
        assert page.count("<script>") == 1
        # Neither markup that slips through could change where links go, nor send anything.
        assert "default-src 'none'; base-uri 'none'; form-action 'none';" in unescape(page)
        assert "<script>alert" not in page
        assert page.count("&lt;script&gt;") > 30


def test_hostile_labels_stay_text_in_every_part_of_a_constraint(tmp_path: Path):
    blocks = one_hot(HOSTILE, [HOSTILE, "q"]), one_hot("b", [HOSTILE, "s"])
    page = page_of_constraint(tmp_path, constraint_of([[2.0, 0.0, 2.0, 0.0]], [-2.0], *blocks))
    assert page.count("<script") == 1
    assert page.count("&lt;script&gt;") > 5


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


def test_the_best_figures_are_bold_where_the_largest_is_best(tmp_path: Path):
    rows = (("a", Figure((1.0,), 3.0)), ("b", Figure((2.0,))))
    assert "<strong>2.00</strong>" in page_of(tmp_path, Table("T", ("", "x"), rows, best=True))
    plain = page_of(tmp_path, Table("T", ("", "x"), rows, "A note with `code`."))
    assert "<strong>" not in plain
    assert "paper 3.00" in plain
    assert "<code>code</code>" in plain


def test_the_sentences_that_changed_come_first(tmp_path: Path):
    still = Change(("still",), ("O",), ("O",), ("O",))
    moved = Change(("moved",), ("O",), ("B-X",), ("B-X",))
    document = Document("T", "t", "", "", None, (Section("S", (Sentences("s", (still, moved)),)),))
    page = to_html(document, tmp_path, Limits(sentences=1))
    assert "moved" in page
    assert ">still<" not in page
    assert "1 sentences are not on this page" in page
    assert (is_changed(moved), gain(moved)) == (True, 1)


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
    assert "(not in gold)" in without
    assert within == '<mark class="c0"><b>NP</b>&nbsp;the <em>dog</em></mark> .'
    assert gold == '<mark class="c0"><b>NP</b>&nbsp;the dog</mark> .'
    assert "+1 correct" in page


def test_the_rule_behind_a_change_is_the_smallest_forbidden_part_of_a_window():
    feature = NgramContext(("B", "I", "O"), ("DT", "NN"), n=2)
    W = np.zeros((1, feature.space.d))
    W[0, feature.space.column("label 1", "O")] = W[0, feature.space.column("label 2", "I")] = 2.0
    constraint = LearnedConstraint(RectifierNetwork(W, [-2.0]), feature.space, feature)
    x = {"word": ("a", "b", "c"), "pos": ("DT", "NN", "NN")}
    before, after = Instance(x, ("B", "O", "I")), Instance(x, ("B", "O", "O"))
    rule, why = reason(before, after, {"ngram": constraint})
    assert rule == "forbidden: label 1 O, label 2 I"
    assert why.endswith("< 0, so it is forbidden")
    strange = Instance({"word": ("a", "b")}, ("Q", "O"))
    for unexplained in (after, strange):
        assert reason(unexplained, unexplained, {"ngram": constraint}) == (NO_WINDOW, "")


def test_gold_parts_leave_out_sentences_with_unknown_labels(tmp_path: Path):
    path = tmp_path / "base-cell.txt"
    path.write_text("a DT B B B\nb NN I I B\n\nc NN Z B B\nd NN B B B\n\n", encoding="utf-8")
    sentences = read_predictions(path)
    feature = NgramLabels(("B", "I"), n=2)
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 4)), [0.0]), feature.space, feature)
    assert gold_parts(constraint, sentences).tolist() == [[0, 1]]
    assert [is_changed(one.change) for one in sentences] == [True, False]
    assert gold_parts(LearnedConstraint(constraint.network, feature.space), sentences) is None
    assert read_predictions(tmp_path / "other.bin") is None


def test_damaged_predictions_are_refused(tmp_path: Path):
    path = tmp_path / "cell.jsonl"
    for content in ('{"id": 1}\n', "[" * 100_000, "3"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InvalidInput):
            read_predictions(path)


def test_what_is_no_run_is_refused(tmp_path: Path):
    folder = tmp_path / "run"
    folder.mkdir()
    for paths in ([folder], [tmp_path / "nowhere"], [folder, folder], []):
        with pytest.raises(InvalidInput):
            read_runs(paths)
    (folder / "results.json").write_text("{}", encoding="utf-8")
    for content in (None, "{}"):
        if content:
            (folder / "document.json").write_text(content)
        with pytest.raises(InvalidInput):
            read_runs([folder])


def test_a_page_is_made_of_the_document_of_a_run(tmp_path: Path):
    (tmp_path / "results.json").write_text("{}", encoding="utf-8")
    for name, constraint in designed().items():
        save(constraint, tmp_path / f"{name}.json")
    sets = tuple(Constraints(name, (f"{name}.json",)) for name in designed())
    write_document(tmp_path, Document("Of boxes", "weaving", "", "", None, (Section("Sets", sets),)))
    page = report_page(read_runs([tmp_path]), Limits(sets=1))
    assert "Of boxes" in page
    assert "This page shows 1 of 3 sets of constraints" in page
    assert page.count("<article") == 1


def test_sections_of_one_name_have_links_of_their_own(tmp_path: Path):
    titles = {"Results of a": (Text("x"),), "Results of b": (Text("y"),), "Size": ()}
    sections = tuple(Section(title, blocks) for title, blocks in titles.items())
    page = report_page([Run("r", tmp_path, Document("T", "t", "", "", None, sections))])
    assert re.findall(r'<section id="(run-1-.*?)"', page) == ["run-1-1", "run-1-2"]
    assert "<h2>Size</h2>" not in page


def test_a_page_of_one_document_leaves_out_what_takes_long(tmp_path: Path):
    large = constraint_of(np.ones((1, 40)), [0.0], binary("z", [f"z{i}" for i in range(40)]))
    save(large, tmp_path / "large.json")
    save(designed()["source-relation"], tmp_path / "small.json")
    sets = Constraints("all", ("large.json", "small.json"))
    document = Document("T", "t", "", "", None, (Section("Sets", (sets,)),))
    quick = to_html(document, tmp_path, Limits(large=0))
    assert quick.count("<summary>In words</summary>") == 1
    assert quick.count("because they take long to compute") == 1
    assert to_html(document, tmp_path).count("<summary>In words</summary>") == 2
