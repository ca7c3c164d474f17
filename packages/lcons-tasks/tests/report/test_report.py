"""The pieces of the report page: markup, matrices, heat maps, rules, sentences and what runs hold."""

import re
from html import unescape
from itertools import product

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
    count,
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
from lcons_tasks.report._coefficients import heat_maps, inequalities_view, level
from lcons_tasks.report._constraints import constraint_body, described
from lcons_tasks.report._matrix import Combination, Verdicts, matrices, matrix_view, matrix_views
from lcons_tasks.report._predictions import Answered, gold_parts, read_predictions
from lcons_tasks.report._reasons import NO_WINDOW, reason
from lcons_tasks.report._run import Run
from lcons_tasks.report._sentences import chosen, marked, sentence_item
from lcons_tasks.report._spans import gain, is_changed
from lcons_tasks.report._templates import environment
from lcons_tasks.stats import Interval

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


def blocks():
    """The macros of blocks.html."""
    return environment().get_template("blocks.html").module


@given(st.text())
def test_text_is_escaped_and_nothing_else_is_lost(value):
    shown = environment().from_string("{{ value }}").render(value=value)
    assert not set("<>\"'") & set(shown)
    printable = re.sub(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", value)
    assert unescape(shown) == printable


def test_attributes_cannot_be_left():
    shown = environment().from_string('<p title="{{ value }}">').render(value='" onclick="x')
    assert shown == '<p title="&#34; onclick=&#34;x">'


@given(weights(3, THREE.d + 1), st.sampled_from([(0, 1), (0, 2), (1, 2)]))
def test_enumerated_verdicts_are_those_of_every_completion(drawn, pair):
    constraint = LearnedConstraint(network(drawn), THREE)
    codes, shares = Verdicts(constraint).of(*pair)
    points = np.concatenate(list(THREE.points()))
    accepted = constraint.network.verdicts(THREE, points)
    for a, b in product(range(len(THREE.axes[pair[0]])), range(len(THREE.axes[pair[1]]))):
        own = accepted[(points[:, pair[0]] == a) & (points[:, pair[1]] == b)]
        wanted = (
            Combination.ALLOWED if own.all() else Combination.DEPENDS if own.any() else Combination.FORBIDDEN
        )
        assert Combination(codes[a, b]) is wanted
        assert shares[a, b] == pytest.approx(own.mean())


def test_combinations_that_cannot_occur_are_marked():
    everything = LearnedConstraint(RectifierNetwork(np.zeros((1, PADDED.d)), [0.0]), PADDED)
    codes, _ = Verdicts(everything).of(0, 1)
    points = {tuple(point) for point in np.concatenate(list(PADDED.points())).tolist()}
    for pair in product(range(codes.shape[0]), range(codes.shape[1])):
        assert Combination(codes[pair]) is (Combination.ALLOWED if pair in points else Combination.IMPOSSIBLE)
    assert (codes == Combination.IMPOSSIBLE).any()


def test_the_matrices_of_entities_and_relations_are_the_designed_ones():
    constraints = designed()
    for name, side, at in (("source-relation", "source", 0), ("relation-target", "target", 1)):
        (matrix,), pairs = matrices(constraints[name])
        assert pairs == 1
        for entity, relation in product(ENTITIES, RELATIONS):
            good = relation == "NoRel" or DESIGNED[relation][at] == entity
            names = (entity, relation) if side == "source" else (relation, entity)
            assert matrix.code(*names) is (Combination.ALLOWED if good else Combination.FORBIDDEN)
    (matrix,), _ = matrices(constraints["relation-relation"])
    for one, other in product(RELATIONS, RELATIONS):
        good = "NoRel" in (one, other)
        assert matrix.code(one, other) is (Combination.ALLOWED if good else Combination.FORBIDDEN)


def test_binary_blocks_are_shown_by_what_holds_together():
    space = FeatureSpace([binary("exists", ["title", "date", "note"])])
    constraint = LearnedConstraint(RectifierNetwork([[2.0, 2.0, 0.0], [0.0, 0.0, 2.0]], [-2.0, 0.0]), space)
    (matrix,), _ = matrices(constraint)
    assert matrix.code("title", "date") is Combination.FORBIDDEN
    assert matrix.code("note", "note") is Combination.FORBIDDEN
    assert matrix.code("title", "title") is Combination.DEPENDS
    assert matrix.shares[0, 0] == 0.25


def test_counts_are_shown_by_how_often_each_may_be():
    space = FeatureSpace([count("number of", ["title", "note"], high=3)])
    (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork([[2.0, 0.0]], [-2.0]), space))
    assert [matrix.code("title", n).name for n in "0123"] == ["ALLOWED", "ALLOWED", "FORBIDDEN", "FORBIDDEN"]
    assert matrix.code("note", "3") is Combination.DEPENDS


def test_windows_show_the_pairs_that_forbid_most():
    feature = NgramContext(("B", "I", "O"), ("DT", "NN"), n=2)
    W = np.zeros((1, feature.space.d))
    W[0, feature.space.column("label 1", "O")] = W[0, feature.space.column("label 2", "I")] = 2.0
    found, pairs = matrices(LearnedConstraint(RectifierNetwork(W, [-2.0]), feature.space), most=1)
    assert (pairs, len(found)) == (6, 1)
    assert (found[0].down, found[0].across) == ("label 1", "label 2")
    assert found[0].code("O", "I") is Combination.FORBIDDEN


def test_of_many_values_those_with_something_to_say_are_shown_and_o_stays():
    names = [f"v{i}" for i in range(69)] + ["O"]
    space = FeatureSpace([one_hot("a", names), one_hot("b", "xy")])
    W = np.zeros((1, space.d))
    W[0, [3, 5]] = W[0, 71] = 2.0
    (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork(W, [-2.0]), space))
    assert matrix.code("v3", "y") is Combination.FORBIDDEN
    view = matrix_view(matrix)
    assert [names for names, _ in view.rows] == [("v3",), ("v5",), ("O",)]
    assert view.columns == (("x",), ("y",))
    assert "Left out are 67 values with fewer or no forbidden combinations" in view.said


def test_values_that_say_the_same_share_a_row():
    names = [f"v{i}" for i in range(40)]
    space = FeatureSpace([one_hot("a", names), one_hot("b", "xy")])
    W = np.zeros((1, space.d))
    W[0, 10:30] = W[0, 41] = 2.0
    (matrix,), _ = matrices(LearnedConstraint(RectifierNetwork(W, [-2.0]), space))
    view = matrix_view(matrix)
    assert [own for own, _ in view.rows] == [tuple(names[10:30])]
    shown = blocks().matrix(view)
    assert "v10, v11, v12 and 17 more" in shown
    assert "v29" in shown


def test_a_grid_of_crosses_is_a_sentence():
    space = FeatureSpace(
        [one_hot("a", [f"v{i}" for i in range(71)]), one_hot("b", [f"w{i}" for i in range(32)])]
    )
    never = LearnedConstraint(RectifierNetwork(np.zeros((1, space.d)), [2.0]), space)
    (view,), _ = matrix_views(never)
    assert view.rows == ()
    assert view.said.startswith("Of 2,272 combinations, 2,272 forbidden and 0 allowed")
    W = np.zeros((1, space.d))
    W[0, :2] = 2.0
    (always,), _ = matrix_views(LearnedConstraint(RectifierNetwork(W, [0.0]), space))
    assert "Always forbidden: a v0, v1." in always.said
    assert always.rows == ()


def test_pairs_that_forbid_nothing_are_left_out():
    feature = NgramContext(("B", "I", "O"), ("DT", "NN"), n=2)
    W = np.zeros((1, feature.space.d))
    W[0, feature.space.column("label 1", "O")] = W[0, feature.space.column("label 2", "I")] = 2.0
    (view,), note = matrix_views(LearnedConstraint(RectifierNetwork(W, [-2.0]), feature.space))
    assert view.name == "label 1 \N{MULTIPLICATION SIGN} label 2"
    assert note == "Pairs of blocks shown: 1 of 6, which forbid the most combinations by themselves."


def test_a_heat_map_has_every_coefficient_with_its_sign():
    space = FeatureSpace([one_hot("a", ["p", "q"])])
    maps, notes = heat_maps(LearnedConstraint(RectifierNetwork([[2.0, -1.0]], [0.5]), space))
    shown = "".join(blocks().heat_map(one) for one in maps)
    assert f'<td class="f5">{chr(0x2212)}2.00</td>' in shown
    assert '<td class="a3">1.00</td>' in shown
    assert '<td class="a2">0.50</td>' in shown
    assert re.search(r'<th scope="colgroup" colspan="1">unit</th>', shown)
    assert (level(0.0, 1.0), notes) == ("", [])


def hostile_document(word: str) -> Document:
    """Every text of every block is `word`."""
    change = Change((word, "x"), (word, "O"), (f"B-{word}", "O"), None, word, word, (), ((0, 1, word),))
    return Document(
        word,
        word,
        word,
        word,
        Headline(word, Figure((1.0,), 2.0), Figure((2.0,)), Interval(1.0, 0.5, 1.5), word, word),
        (
            Section(
                word,
                (
                    Text(word),
                    Text(f"`{word}` **{word}**"),
                    Listing((word,)),
                    Table(word, (word, word), ((word, Figure((1.0,), 2.0)), (word, word)), word, best=True),
                    Gains(word, (Gain(word, word, Interval(1.0, 0.5, 1.5)),)),
                    Curve(word, word, word, {word: {1.0: 2.0, 3.0: 4.0}}),
                    Claims((Claim(word, True, word),)),
                    Facts(word, ((word, word),)),
                    Sentences(word, (change,)),
                ),
            ),
        ),
        word,
        word,
        {word: word},
    )


def test_hostile_text_stays_text_in_every_block(tmp_path):
    runs = [Run(HOSTILE + str(i), tmp_path, hostile_document(HOSTILE)) for i in range(2)]
    for page in (report_page(runs[:1]), report_page(runs)):
        assert page.count("<script>") == 1
        # Neither markup that slips through could change where links go, nor send anything.
        assert "default-src 'none'; base-uri 'none'; form-action 'none';" in unescape(page)
        assert "<script>alert" not in page
        assert page.count("&lt;script&gt;") > 30
        assert "onclick" not in page


def test_hostile_labels_stay_text_in_every_part_of_a_constraint():
    space = FeatureSpace([one_hot(HOSTILE, [HOSTILE, "q"]), one_hot("b", [HOSTILE, "s"])])
    constraint = LearnedConstraint(RectifierNetwork([[2.0, 0.0, 2.0, 0.0]], [-2.0]), space)
    shown = blocks().constraint_body(constraint_body(constraint, None))
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") > 5


def page_of(tmp_path, head: Headline) -> str:
    return report_page([Run("r", tmp_path, Document("T", "t", "", "", head))])


def headline(*interval: float, paper: float | None = None) -> Headline:
    gain_ = Interval(*interval) if interval else None
    return Headline("accuracy", Figure((60.0,)), Figure((63.0,), paper), gain_)


@pytest.mark.parametrize(
    ("interval", "state", "words"),
    [
        ((3.0, 1.0, 5.0), "better", "better"),
        ((-3.0, -5.0, -1.0), "worse", "worse"),
        ((3.0, -1.0, 5.0), "even", "no clear difference"),
        ((0.0, 0.0, 0.0), "even", "no clear difference"),
    ],
)
def test_a_headline_is_good_or_bad_by_its_interval_in_words_too(tmp_path, interval, state, words):
    shown = page_of(tmp_path, headline(*interval))
    assert f'<span class="to {state}">63.0</span>' in shown
    assert f'<span class="badge {state}">{words}</span>' in shown


def test_a_headline_without_an_interval_is_not_judged(tmp_path):
    shown = page_of(tmp_path, headline())
    assert '<span class="to ">63.0</span>' in shown
    assert 'class="badge' not in shown


def test_the_best_figures_are_bold_where_the_largest_is_best():
    rows = (("a", Figure((1.0,), 3.0)), ("b", Figure((2.0,))))
    assert "<strong>2.00</strong>" in blocks().data_table(Table("T", ("", "x"), rows, best=True))
    plain = blocks().data_table(Table("T", ("", "x"), rows, "A note with `code`."))
    assert "<strong>" not in plain
    assert "paper 3.00" in plain
    assert "<code>code</code>" in plain


def test_a_page_of_constraint_files_is_about_what_was_learned(tmp_path):
    for name, constraint in designed().items():
        save(constraint, tmp_path / f"{name}.json")
    page = report_page(read_runs(sorted(tmp_path.iterdir())))
    assert "<h1>What was learned</h1>" in page
    assert "<select" not in page
    assert "<output" not in page


def test_a_large_domain_has_no_matrix():
    space = FeatureSpace([binary("z", [f"z{i}" for i in range(50)])])
    at_most_half = LearnedConstraint(RectifierNetwork(np.ones((1, 50)), [-24.0]), space)
    views, note = matrix_views(at_most_half)
    assert views == []
    assert note.startswith("There is no matrix of combinations, because the domain is large: ")


def test_a_long_block_has_no_heat_map():
    space = FeatureSpace([one_hot("word", [f"w{i}" for i in range(1000)]), one_hot("label", "BI")])
    maps, notes = heat_maps(LearnedConstraint(RectifierNetwork(np.ones((1, space.d)), [0.0]), space))
    assert [one.name for one in maps] == ["label", "bias"]
    assert notes == ["There is no table of word, because it has 1,000 values."]


def test_a_sentence_that_changed_for_nothing_has_equally_many_correct():
    one = Answered("1", Change(("x",), ("A",), ("B",), ("C",)))
    item = sentence_item(one, {}, 0, {})
    assert (item.badge, item.state) == ("equally many correct", "even")


def test_very_large_counts_are_written_by_their_size():
    space = FeatureSpace([binary("z", [f"z{i}" for i in range(110)])])
    given_ = LearnedConstraint(RectifierNetwork(np.ones((90, 110)), np.zeros(90)), space)
    assert described(given_).endswith("about 10^33 points")
    assert inequalities_view(given_).said.startswith("about 10^27 inequalities")


def test_rows_are_counted_before_and_after_simplification():
    space = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
    two = RectifierNetwork([[0.0, 2.0, 0.0, 2.0], [-1.0, 1.0, -1.0, 0.0]], [-2.0, 0.0])
    found = inequalities_view(LearnedConstraint(two, space))
    assert found.said.startswith("3 inequalities before, 1 after simplification")
    assert "never violated" in str(found.table.rows)
    many = LearnedConstraint(RectifierNetwork(np.zeros((20, 4)), np.zeros(20)), space)
    assert inequalities_view(many).said.startswith("1,048,575 inequalities")


def test_the_sentences_that_changed_come_first():
    still = Change(("a",), ("O",), ("O",), ("O",))
    moved = Change(("a",), ("O",), ("B-X",), ("B-X",))
    assert chosen([still, moved, still], 2) == [0, 1]
    assert chosen([still, still, moved], 1) == [2]
    assert (is_changed(moved), gain(moved)) == (True, 1)


def test_errors_of_relations_are_places_where_gold_differs():
    words = ("Ann", "Lee", "in", "Oslo")
    person, place = (
        ("B-Person", "I-Person", "O", "B-Location"),
        ("B-Location", "I-Location", "O", "B-Location"),
    )
    link = ((0, 3, "LiveIn"),)
    assert gain(Change(words, place, person, person, links_after=link, links_gold=link)) == 2
    assert gain(Change(words, person, person, person, links_before=link, links_after=(), links_gold=())) == 1


def test_spans_are_marked_and_wrong_ones_said_to_be():
    change = Change(("the", "dog", "."), ("B-NP", "O", "O"), ("B-NP", "I-NP", "O"), ("B-NP", "I-NP", "O"))
    right, rest = marked(change, "after", "gold", {"NP": 3})
    assert (right.label, right.colour, right.wrong) == ("NP", 3, False)
    assert right.words == (("the", False), ("dog", True))
    assert rest.words == ((".", False),)
    assert marked(change, "before", "gold", {"NP": 3})[0].wrong
    shown = blocks().sentence(sentence_item(Answered("1", change), {"NP": 3}, 0, {}), True)
    assert 'class="c3 w"' in shown
    assert "(not in gold)" in shown
    assert shown.count("<em>dog</em>") == 2


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
    assert reason(after, after, {"ngram": constraint}) == (NO_WINDOW, "")
    strange = Instance({"word": ("a", "b")}, ("Q", "O"))
    assert reason(strange, strange, {"ngram": constraint}) == (NO_WINDOW, "")


def test_the_rule_behind_a_change_of_relations_is_a_forbidden_pair():
    pair = {"source": "Location", "relation": "Kill", "target": "Person", "reverse": "NoRel"}
    rule, why = reason([pair], [{**pair, "source": "Person"}], designed())
    assert rule == "forbidden: source Location, relation Kill (source-relation)"
    assert why.endswith("so it is forbidden")
    assert reason([{**pair, "source": "Person"}], [pair], designed())[1] == ""


def test_gold_parts_leave_out_sentences_with_unknown_labels(tmp_path):
    path = tmp_path / "base-cell.txt"
    path.write_text("a DT B B B\nb NN I I B\n\nc NN Z B B\nd NN B B B\n\n", encoding="utf-8")
    sentences = read_predictions(path)
    feature = NgramLabels(("B", "I"), n=2)
    constraint = LearnedConstraint(RectifierNetwork(np.zeros((1, 4)), [0.0]), feature.space, feature)
    assert gold_parts(constraint, sentences).tolist() == [[0, 1]]
    assert [is_changed(one.change) for one in sentences] == [True, False]
    assert gold_parts(LearnedConstraint(constraint.network, feature.space), sentences) is None
    assert read_predictions(tmp_path / "other.bin") is None


def test_damaged_predictions_are_one_sentence(tmp_path):
    path = tmp_path / "cell.jsonl"
    path.write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="expected predictions"):
        read_predictions(path)


def test_what_is_no_run_is_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"results\.json"):
        read_runs([tmp_path / "empty"])
    with pytest.raises(InvalidInput, match="no such file or folder"):
        read_runs([tmp_path / "nowhere"])
    with pytest.raises(InvalidInput, match="twice"):
        read_runs([tmp_path / "empty", tmp_path / "empty"])


def test_a_page_is_made_of_the_document_of_a_run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "results.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"document\.json"):
        read_runs([folder])
    files = tuple(f"{name}.json" for name in designed())
    for name, constraint in designed().items():
        save(constraint, folder / f"{name}.json")
    sets = tuple(Constraints(file, (file,)) for file in files)
    write_document(folder, Document("Of boxes", "weaving", "", "", None, (Section("Sets", sets),)))
    page = report_page(read_runs([folder]), Limits(sets=1))
    assert "Of boxes" in page
    assert "This page shows 1 of 3 sets of constraints" in page
    assert page.count("<article") == 1
    (folder / "document.json").write_text("{}")
    with pytest.raises(InvalidInput, match="is not a document"):
        read_runs([folder])


def test_sections_of_one_name_have_links_of_their_own(tmp_path):
    sections = (
        Section("Results of a", (Text("x"),)),
        Section("Results of b", (Text("y"),)),
        Section("Size", ()),
    )
    page = report_page([Run("r", tmp_path, Document("T", "t", "", "", None, sections))])
    assert re.findall(r'<section id="(run-1-.*?)"', page) == ["run-1-section-1", "run-1-section-2"]
    assert "<h2>Size</h2>" not in page


def test_a_page_of_one_document_leaves_out_what_takes_long(tmp_path):
    large = FeatureSpace([binary("z", [f"z{i}" for i in range(40)])])
    save(LearnedConstraint(RectifierNetwork(np.ones((1, 40)), [0.0]), large), tmp_path / "large.json")
    save(designed()["source-relation"], tmp_path / "small.json")
    document = Document(
        "T", "t", "", "", None, (Section("Sets", (Constraints("all", ("large.json", "small.json")),)),)
    )
    quick = to_html(document, tmp_path, Limits(seconds=1.0))
    assert quick.count("<summary>In words</summary>") == 1
    assert quick.count("because they take long to compute") == 1
    assert to_html(document, tmp_path).count("<summary>In words</summary>") == 2
    assert f"<title>lcons: {document.task}</title>" in quick
