"""The sentences of explain and why, as a reader sees them."""

import pytest
from paper_tables import SOURCE_RELATION, printed_network

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    binary,
    count,
    explain,
    one_hot,
    why,
)
from lcons_core._blocks import Requirement
from lcons_core.reason._rules import Box, forbid_boxes

PRINTED = LearnedConstraint(printed_network("source-relation"), SOURCE_RELATION)


def words_of(space, *forbidden):
    boxes = [Box.of(space, assignment) for assignment in forbidden]
    return [rule.words for rule in explain(forbid_boxes(space, boxes), space=space).rules]


def test_the_printed_table_gives_the_designed_constraints_in_words():
    explanation = explain(PRINTED)
    assert explanation.complete
    assert {rule.words for rule in explanation.rules} == {
        "relation Kill, LiveIn or WorkFor needs source Person",
        "relation LocatedAt needs source Location",
        "relation OrgBasedIn needs source Organization",
    }
    assert PRINTED.explain().rules == explanation.rules


def test_why_gives_the_terms_of_the_paper_and_says_what_they_mean():
    reason = why(PRINTED, {"source": "Location", "relation": "Kill"})
    assert reason.rule == "source Location cannot go with relation Kill"
    assert reason.arithmetic == (
        "source Location, relation Kill: -1.90 - 2.84 + 0.32 = -4.42 < 0, so it is forbidden"
    )
    assert reason.inequality.startswith("- 1.98 [source NoEnt] + 3.53 [source Person] - 1.90")
    assert str(why(PRINTED, source="Person", relation="Kill")).endswith(">= 0, so it is allowed")
    partial = why(PRINTED, relation="Kill")
    assert (partial.partial, partial.forbidden) == (True, False)
    assert "source open (Person at best)" in str(partial)


PAIR = FeatureSpace([one_hot("source", "ABCD"), one_hot("relation", "wxyz")])
TRIPLE = FeatureSpace([one_hot(name, "ABCD") for name in ("pos 1", "label 1", "label 2")])
VALUES = [f"v{i:02d}" for i in range(20)]
LONG = FeatureSpace([one_hot("a", VALUES), one_hot("b", VALUES)])
LONG_TRIPLE = FeatureSpace([one_hot("a", VALUES), one_hot("b", VALUES), one_hot("c", "xyz")])
EXISTS = FeatureSpace([binary("exists", ["author", "title"])])
BITS = FeatureSpace([binary("bit", "abc")])


@pytest.mark.parametrize(
    ("space", "box", "words"),
    [
        (PAIR, {"source": "A", "relation": "w"}, "source A cannot go with relation w"),
        (PAIR, {"source": ["A", "B", "C"], "relation": "w"}, "relation w needs source D"),
        (PAIR, {"source": "A", "relation": ["w", "x", "y"]}, "source A needs relation z"),
        (PAIR, {"source": "A"}, "source is never A"),
        (PAIR, {"source": ["A", "B", "C"]}, "source is always D"),
        (
            TRIPLE,
            {"pos 1": "A", "label 1": "B", "label 2": ["A", "B", "C"]},
            "where pos 1 is A and label 1 is B, label 2 must be D",
        ),
        (
            LONG,
            {"a": VALUES[:9], "b": VALUES[:9]},
            "a v00, v01, v02, v03, v04, v05 or 3 others of 20 cannot go with"
            " b v00, v01, v02, v03, v04, v05 or 3 others of 20",
        ),
        (LONG, {"a": VALUES[3:], "b": VALUES[3:5]}, "b v03 or v04 needs a v00, v01 or v02"),
        (
            LONG_TRIPLE,
            {"a": VALUES[2:], "b": "v03", "c": "x"},
            "b v03 cannot go with c x, unless a is v00/v01",
        ),
        (EXISTS, {"exists": {"title": False}}, "title always exists"),
        (EXISTS, {"exists": {"author": True, "title": False}}, "where author exists, title must exist"),
        (
            BITS,
            {"bit": {"a": False, "b": False, "c": True}},
            "bit c never holds, unless bit a or bit b holds",
        ),
    ],
)
def test_the_shortest_sentence_is_chosen(space, box, words):
    assert words_of(space, box) == [words]


def test_impossible_points_are_neither_named_nor_rules():
    space = FeatureSpace(
        [one_hot("label 1", ("A", "(start)")), one_hot("label 2", ("A", "B", "(stop)"))],
        [Requirement("label 2", "(stop)", "label 1", ("A",))],
    )
    assert words_of(space, {"label 1": "(start)", "label 2": "B"}) == ["(start) only before A"]


def test_counts_are_ranges():
    space = FeatureSpace([count("count", ["author", "title"], high=6)])
    words = [rule.words for rule in explain(RectifierNetwork([[1.0, 1.0]], [-3.0]), space=space).rules]
    assert "where count author >= 2, count title must be <= 2" in words
    assert {"count author is always <= 4", "count title is always <= 4"} <= set(words)
