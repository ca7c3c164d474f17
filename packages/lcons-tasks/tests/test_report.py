"""The pieces of the report page: markup, matrices, heat maps, rules, sentences and what runs hold."""

import json
import re
from html import unescape
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import LearnedConstraint, RectifierNetwork, save
from lcons_core._blocks import binary, count, one_hot
from lcons_core._errors import InvalidInput
from lcons_core._space import FeatureSpace
from lcons_core.features import NgramContext, NgramLabels
from lcons_core.reason._points import verdicts
from lcons_tasks.data._passage import ENTITIES, RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import DESIGNED, designed
from lcons_tasks.report import Limits, estimate, read_runs, report_page
from lcons_tasks.report import _of_chunking as of_chunking
from lcons_tasks.report import _of_citation as of_citation
from lcons_tasks.report import _of_er as of_er
from lcons_tasks.report._constraints import described
from lcons_tasks.report._figures import Figure, Gain, Headline, ResultTable, View
from lcons_tasks.report._heatmap import heat_map, level
from lcons_tasks.report._html import element, text
from lcons_tasks.report._inequalities import inequalities_view
from lcons_tasks.report._matrix import matrices, matrix_table, matrix_view
from lcons_tasks.report._old_markdown import render_markdown
from lcons_tasks.report._predictions import Answer, Sentence, gold_parts, read_predictions
from lcons_tasks.report._results import card, gains_table, overview, result_table
from lcons_tasks.report._rules import rules_view
from lcons_tasks.report._sentences import badge, chosen, colours, marked, sentence_item
from lcons_tasks.report._verdicts import Enumeration, RowBounds, UnitBounds, Verdict
from lcons_tasks.stats import Interval

REPORT = "# X\n\n## X\n\nX\n\n| X |\n|---|\n| `X` |\n\n- X\n"
HOSTILE = "</td><script>alert(1)</script>\"'&"


def weights(rows: int, columns: int):
    number = st.integers(-6, 6).map(lambda n: n / 2)
    return st.lists(st.lists(number, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def network(drawn: list[list[float]]) -> RectifierNetwork:
    """The last column of what was drawn is b."""
    table = np.array(drawn)
    return RectifierNetwork(table[:, :-1], table[:, -1])


THREE = FeatureSpace([one_hot("a", "pqr"), one_hot("b", "st", other=True), one_hot("c", "uv")])
PADDED = NgramLabels(("B", "I"), n=2, pad=True).space


@given(st.text())
def test_text_is_escaped_and_nothing_else_is_lost(value):
    shown = text(value)
    assert not set("<>\"'") & set(shown)
    printable = re.sub(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", value)
    assert unescape(shown) == printable


def test_attributes_cannot_be_left():
    assert element("p", title='" onclick="x') == '<p title="&quot; onclick=&quot;x"></p>'


@given(weights(3, THREE.d + 1), st.sampled_from([(0, 1), (0, 2), (1, 2)]))
def test_enumerated_verdicts_are_those_of_every_completion(drawn, pair):
    constraint = LearnedConstraint(network(drawn), THREE)
    found = Enumeration(constraint).pair(*pair)
    points = np.concatenate(list(THREE.points()))
    accepted = verdicts(constraint.network, THREE, points)
    for a, b in product(range(len(THREE.axes[pair[0]])), range(len(THREE.axes[pair[1]]))):
        own = accepted[(points[:, pair[0]] == a) & (points[:, pair[1]] == b)]
        wanted = Verdict.ALLOWED if own.all() else Verdict.DEPENDS if own.any() else Verdict.FORBIDDEN
        assert Verdict(found.codes[a, b]) is wanted
        assert found.shares[a, b] == pytest.approx(own.mean())


@pytest.mark.parametrize("bounds", [RowBounds, UnitBounds])
@given(drawn=weights(2, THREE.d + 1), i=st.integers(0, 2), j=st.integers(0, 2))
def test_what_bounds_prove_is_so(bounds, drawn, i, j):
    constraint = LearnedConstraint(network(drawn), THREE)
    sure, exact = (
        source(constraint).single(i) if i == j else source(constraint).pair(i, j)
        for source in (bounds, Enumeration)
    )
    proved = sure.codes != Verdict.DEPENDS
    np.testing.assert_array_equal(sure.codes[proved], exact.codes[proved])


@given(weights(1, THREE.d + 1))
def test_bounds_of_a_single_row_leave_nothing_open(drawn):
    constraint = LearnedConstraint(network(drawn), THREE)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        np.testing.assert_array_equal(
            RowBounds(constraint).pair(i, j).codes, Enumeration(constraint).pair(i, j).codes
        )


@pytest.mark.parametrize("source", [Enumeration, RowBounds, UnitBounds])
def test_combinations_that_cannot_occur_are_marked(source):
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, PADDED.d)), [0.0]), PADDED)
    codes = source(everything).pair(0, 1).codes
    points = {tuple(point) for point in np.concatenate(list(PADDED.points())).tolist()}
    for pair in product(range(codes.shape[0]), range(codes.shape[1])):
        assert Verdict(codes[pair]) is (Verdict.ALLOWED if pair in points else Verdict.IMPOSSIBLE)
    assert (codes == Verdict.IMPOSSIBLE).any()


def test_the_matrices_of_entities_and_relations_are_the_designed_ones():
    constraints = designed()
    for name, side, at in (("source-relation", "source", 0), ("relation-target", "target", 1)):
        (matrix,), pairs = matrices(constraints[name])
        assert pairs == 1
        for entity, relation in product(ENTITIES, RELATIONS):
            good = relation == "NoRel" or DESIGNED[relation][at] == entity
            names = (entity, relation) if side == "source" else (relation, entity)
            assert matrix.code(*names) is (Verdict.ALLOWED if good else Verdict.FORBIDDEN)
    (matrix,), _ = matrices(constraints["relation-relation"])
    for one, other in product(RELATIONS, RELATIONS):
        good = "NoRel" in (one, other)
        assert matrix.code(one, other) is (Verdict.ALLOWED if good else Verdict.FORBIDDEN)


def test_binary_blocks_are_shown_by_what_holds_together():
    space = FeatureSpace([binary("exists", ["title", "date", "note"])])
    constraint = LearnedConstraint(RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 0.0, 2.0]], [-2.0, 0.0]), space)
    (matrix,), _ = matrices(constraint)
    assert matrix.code("title", "date") is Verdict.FORBIDDEN
    assert matrix.code("note", "note") is Verdict.FORBIDDEN
    assert matrix.code("title", "title") is Verdict.DEPENDS
    assert matrix.shares[0, 0] == 0.25


def test_counts_are_shown_by_how_often_each_may_be():
    space = FeatureSpace([count("number of", ["title", "note"], high=3)])
    (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork([[2.0, 0.0]], [-2.0]), space))
    assert [matrix.code("title", n).name for n in "0123"] == ["ALLOWED", "ALLOWED", "FORBIDDEN", "FORBIDDEN"]
    assert matrix.code("note", "3") is Verdict.DEPENDS


def test_windows_show_the_pairs_that_forbid_most():
    feature = NgramContext(("B", "I", "O"), ("DT", "NN"), n=2)
    W = np.zeros((1, feature.space.d))
    W[0, feature.space.column("label 1", "O")] = W[0, feature.space.column("label 2", "I")] = 2.0
    found, pairs = matrices(LearnedConstraint(RectifierNetwork(W, [-2.0]), feature.space), most=1)
    assert (pairs, len(found)) == (6, 1)
    assert (found[0].down, found[0].across) == ("label 1", "label 2")
    assert found[0].code("O", "I") is Verdict.FORBIDDEN


def test_many_values_are_cut_to_those_that_are_forbidden():
    names = [f"v{i}" for i in range(70)]
    space = FeatureSpace([one_hot("a", names), one_hot("b", "xy")])
    W = np.zeros((1, space.d))
    W[0, 69] = W[0, 71] = 2.0
    (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork(W, [-2.0]), space))
    assert (len(matrix.rows), matrix.left_out) == (48, 22)
    assert matrix.code("v69", "y") is Verdict.FORBIDDEN
    assert "22 values" in matrix_table(matrix)


def test_a_heat_map_has_every_coefficient_with_its_sign():
    space = FeatureSpace([one_hot("a", ["p", "q"])])
    shown = heat_map(LearnedConstraint(RectifierNetwork([[2.0, -1.0]], [0.5]), space))
    assert f'<td class="f5">{chr(0x2212)}2.00</td>' in shown
    assert '<td class="a3">1.00</td>' in shown
    assert '<td class="a2">0.50</td>' in shown
    assert level(0.0, 1.0) == ""


def test_hostile_labels_stay_text_everywhere():
    space = FeatureSpace([one_hot(HOSTILE, [HOSTILE, "q"]), one_hot("b", [HOSTILE, "s"])])
    constraint = LearnedConstraint(RectifierNetwork([[2.0, 0.0, 2.0, 0.0]], [-2.0]), space)
    (matrix,), _ = matrices(constraint)
    answer = Answer(((HOSTILE, 0, 1),), ((HOSTILE, HOSTILE, HOSTILE),), (HOSTILE,))
    sentence = Sentence(HOSTILE, (HOSTILE,), Answer((), (), ("O",)), answer, answer, None)
    figures = {(HOSTILE, HOSTILE): Figure((1.0,), 2.0)}
    shown = [
        matrix_table(matrix),
        heat_map(constraint),
        rules_view(constraint, None),
        inequalities_view(constraint),
        sentence_item(sentence, colours([sentence]), 0, None),
        result_table(ResultTable(HOSTILE, HOSTILE, (HOSTILE,), (HOSTILE,), figures)),
        gains_table([Gain(HOSTILE, HOSTILE, Interval(1.0, 0.5, 1.5))]),
        render_markdown(REPORT.replace("X", HOSTILE)),
    ]
    for part in shown:
        assert "<script" not in part
        assert "&lt;script&gt;" in part


def headline(*interval: float, paper: float | None = None) -> Headline:
    gain = Interval(*interval) if interval else None
    return Headline("accuracy", Figure((60.0,)), Figure((63.0,), paper), gain)


@pytest.mark.parametrize(
    ("interval", "state", "words"),
    [
        ((3.0, 1.0, 5.0), "better", "better"),
        ((-3.0, -5.0, -1.0), "worse", "worse"),
        ((3.0, -1.0, 5.0), "even", "no clear difference"),
        ((0.0, 0.0, 0.0), "even", "no clear difference"),
    ],
)
def test_a_headline_is_good_or_bad_by_its_interval_in_words_too(interval, state, words):
    shown = card(headline(*interval), with_paper=True)
    assert f'<span class="to {state}">63.0</span>' in shown
    assert f'<span class="badge {state}">{words}</span>' in shown


def test_a_headline_without_an_interval_is_not_judged():
    shown = card(headline(), with_paper=True)
    assert '<span class="to">63.0</span>' in shown
    assert "badge" not in shown


def test_the_overview_has_the_columns_that_runs_fill():
    def heads(*views):
        named = {f"run{i}": view for i, view in enumerate(views)}
        return re.findall(r'<th scope="col">(.*?)</th>', overview(named, dict.fromkeys(named, "")))

    assert heads(View("Constraint", said="3 units"), View("Constraint")) == ["run", "task", "in short"]
    measured = View("Decoded", headline(paper=38.2))
    assert heads(measured) == ["run", "task", "measure", "without", "with constraints", "paper"]
    assert '<td class="n paper">with 38.2</td>' in overview({"run": measured}, {"run": ""})


def test_a_page_of_constraint_files_is_about_what_was_learned(tmp_path):
    save(designed()["source-relation"], tmp_path / "pairs.json")
    page = report_page(read_runs([tmp_path / "pairs.json"]))
    assert "<h1>What was learned</h1>" in page
    assert "seeds or splits" not in page
    assert "<select" not in page
    assert "<output" not in page
    assert re.search(r'<th scope="colgroup" colspan="\d+">unit</th>', page)


def test_a_matrix_of_nothing_but_dots_is_a_sentence():
    space = FeatureSpace([binary("z", [f"z{i}" for i in range(50)])])
    at_most_half = LearnedConstraint(RectifierNetwork(np.ones((1, 50)), [-24.0]), space)
    shown = matrix_view(at_most_half)
    assert "<table" not in shown
    assert "0 forbidden, 0 allowed of 2,304" in shown


def test_a_sentence_that_changed_for_nothing_has_as_many_right():
    a, b, gold = (Answer((), (), (label,)) for label in "ABC")
    assert badge(Sentence("1", ("x",), gold, a, b, None)) == '<span class="badge even">as many right</span>'


def test_very_large_counts_are_written_by_their_size(tmp_path):
    space = FeatureSpace([binary("z", [f"z{i}" for i in range(110)])])
    given_ = LearnedConstraint(RectifierNetwork(np.ones((90, 110)), np.zeros(90)), space)
    assert described(given_).endswith("about 10^33 points")
    assert inequalities_view(given_).startswith("<p>about 10^27 inequalities")


def test_rows_are_counted_before_and_after_simplification():
    space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
    two = RectifierNetwork([[0.0, 2.0, 0.0, 2.0], [-1.0, 1.0, -1.0, 0.0]], [-2.0, 0.0])
    shown = inequalities_view(LearnedConstraint(two, space))
    assert "3 before, 1 after simplification" in shown
    assert "never violated" in shown
    many = LearnedConstraint(RectifierNetwork(np.zeros((20, 4)), np.zeros(20)), space)
    assert "1,048,575 inequalities" in inequalities_view(many)


def test_the_sentences_that_changed_come_first():
    same, other = Answer((), (), ("O",)), Answer((("X", 0, 1),), (), ("B-X",))
    still = Sentence("1", ("a",), same, same, same, None)
    moved = Sentence("2", ("a",), same, other, other, None)
    assert chosen([still, moved, still], 2) == [0, 1]
    assert chosen([still, still, moved], 1) == [2]
    assert (moved.changed, moved.gain) == (True, 1)


def test_spans_are_marked_and_wrong_ones_said_to_be():
    gold = Answer((("NP", 0, 2),), (), ("B-NP", "I-NP", "O"))
    found = Answer((("NP", 0, 1),), (), ("B-NP", "O", "O"))
    assert 'class="c3"' in marked(("the", "dog", "."), gold, gold, {"NP": 3})
    shown = marked(("the", "dog", "."), found, gold, {"NP": 3})
    assert 'class="c3 w"' in shown
    assert "(not in gold)" in shown


def test_gold_parts_leave_out_sentences_with_unknown_labels(tmp_path):
    path = tmp_path / "base-cell.txt"
    path.write_text("a DT B B B\nb NN I I B\n\nc NN Z B B\nd NN B B B\n\n", encoding="utf-8")
    sentences = read_predictions(path)
    feature = NgramLabels(("B", "I"), n=2)
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 4)), [0.0]), feature.space, feature)
    assert gold_parts(constraint, sentences).tolist() == [[0, 1]]
    assert [one.changed for one in sentences] == [True, False]
    assert gold_parts(LearnedConstraint(constraint.network, feature.space), sentences) is None
    assert read_predictions(tmp_path / "other.bin") is None


def test_damaged_predictions_are_one_sentence(tmp_path):
    path = tmp_path / "cell.jsonl"
    path.write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="expected predictions"):
        read_predictions(path)


def er_cell(share: float, size: int) -> dict:
    figures = {"entity f1": 80.0, "relation f1": 50.0 + share}
    sets = ("designed|designed", "learned|learned", "none|learned", "none|none")
    return {
        "split": "1",
        "share": share,
        "sentences": {"train": size},
        "grid": {own: {**figures, "entity f1": 80.0 + i} for i, own in enumerate(sets)},
    }


def test_er_figures_stand_beside_the_papers():
    results = {
        "corpus": {"name": "conll04"},
        "options": {"splits": ["1"]},
        "cells": [er_cell(1.0, 100), er_cell(0.25, 25)],
        "gains": [],
        "claims": [],
    }
    view = of_er.view(results)
    assert view.tables[0].cells["learned / learned", "relation F1"].paper == 38.2
    assert view.tables[0].cells["none / none", "relation F1"].paper is None
    assert view.curve.lines["no constraints"] == {25.0: 50.25, 100.0: 51.0}
    assert view.cells == ("split-1-100percent", "split-1-25percent")
    assert view.paper_corpus is None


def test_chunking_figures_stand_beside_the_papers():
    def cell(ratio, seed):
        rows = {"exact": {"test": 80.0 + seed}, "chosen on dev": {"test": 90.0}}
        base = {"name": "bilstm"}
        return {
            "subset": "first", "ratio": ratio, "seed": seed, "base": base, "sentences": 89, "rows": rows,
        }  # fmt: skip

    results = {
        "corpus": {"name": "bundled"},
        "options": {"seeds": [1, 2]},
        "cells": [cell(0.01, 1), cell(0.01, 2)],
        "gains": [],
        "claims": [],
    }
    view = of_chunking.view(results)
    figure = view.tables[0].cells["exact", "1% (89 sentences)"]
    assert (figure.values, figure.paper) == ((81.0, 82.0), 82.11)
    assert view.headline.within.mean == 90.0
    assert view.curve is None
    assert view.paper_corpus == "CoNLL-2000"
    shown = result_table(view.tables[0])
    assert "81.50 ± 0.71" in shown
    assert '<td class="n paper">82.11</td>' in shown


def test_citation_figures_stand_beside_the_papers():
    def cell(size, train):
        rows = {"exact": {"test": 86.0}, "chosen on dev": {"test": 93.0}}
        return {
            "seed": 1,
            "size": size,
            "base": {"name": "words"},
            "references": {"train": train},
            "rows": rows,
        }

    results = {
        "corpus": {"name": "cora"},
        "options": {"seeds": [1]},
        "cells": [cell(None, 300), cell(50, 50)],
        "gains": [],
        "claims": {"words": [{"text": "it helps", "held": True, "figures": "+7"}]},
    }
    view = of_citation.view(results)
    assert view.tables[0].cells["exact", "words"].paper == 86.2
    assert set(view.curve.lines["words, exact"]) == {50, 300}
    assert view.claims == (("words: it helps", True, "+7"),)


def test_reports_are_rendered_with_their_tables():
    source = "# T\n\n## Sizes\n\n| a | b |\n|---|--:|\n| 1 | `x` |\n\n- one\n  two\n"
    shown = render_markdown(source)
    assert "<h4>Sizes</h4>" in shown
    assert "<caption><div>Sizes</div></caption>" in shown
    assert "<code>x</code>" in shown
    assert "<li>one\ntwo</li>" in shown


def write_run(folder, results, report="# A title\n\nText.\n"):
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / "report.md").write_text(report, encoding="utf-8")
    return folder


def test_an_unknown_task_is_shown_as_its_report(tmp_path):
    folder = write_run(tmp_path / "run", {"format": 1, "task": "weaving"})
    runs = read_runs([folder])
    page = report_page(runs)
    assert "A title" in page
    assert "<p>Text.</p>" in page
    assert report_page(runs) == page
    assert estimate(runs, Limits()).constraints == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "expected JSON"),
        ("[1]", "found no `task`"),
        ('{"format": 2, "task": "er"}', "format 1"),
        ('{"format": 1, "task": "er"}', "expected the results of er"),
    ],
)
def test_damaged_results_are_one_sentence(tmp_path, content, words):
    folder = write_run(tmp_path / "run", {})
    (folder / "results.json").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=words):
        report_page(read_runs([folder]))


def test_what_is_no_run_is_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"results\.json"):
        read_runs([tmp_path / "empty"])
    with pytest.raises(InvalidInput, match="no such file or folder"):
        read_runs([tmp_path / "nowhere"])
    with pytest.raises(InvalidInput, match="twice"):
        read_runs([tmp_path / "empty", tmp_path / "empty"])
