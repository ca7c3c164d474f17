"""The sentences of explain and why, as a reader sees them."""

from __future__ import annotations

import numpy as np
import pytest

from lcons_core._blocks import Requirement, binary, count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._network import RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core.reason import explain, why
from lcons_core.reason._rules import Box, forbid_boxes

SOURCES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
# Paper, Table "source-relation": the first two of the three printed rows, bias last.
SOURCE_RELATION_ROWS = np.array(
    [
        [-1.98, 3.53, -1.90, 0.11, 2.66, -2.84, -2.84, -2.84, 2.58, 0.43, 0.32],
        [-1.61, -1.48, 3.50, 0.92, 1.15, 1.02, 1.02, 1.02, -3.96, -1.38, 1.46],
    ]
)


@pytest.fixture(name="source_relation")
def fixture_source_relation() -> LearnedConstraint:
    space = FeatureSpace([one_hot("source", SOURCES), one_hot("relation", RELATIONS)])
    rows = SOURCE_RELATION_ROWS
    return LearnedConstraint(RectifierNetwork(-rows[:, :-1], 1 - rows[:, -1]), space)


def words_of(space: FeatureSpace, *forbidden: dict) -> list[str]:
    boxes = [Box.of(space, assignment) for assignment in forbidden]
    return [rule.words for rule in explain(forbid_boxes(space, boxes), space=space).rules]


def test_the_printed_table_gives_the_designed_constraints_in_words(source_relation):
    explanation = explain(source_relation)
    assert explanation.complete
    assert {rule.words for rule in explanation.rules} == {
        "relation Kill, LiveIn or WorkFor needs source Person",
        "relation LocatedAt needs source Location",
        "relation OrgBasedIn needs source Organization",
    }
    assert source_relation.explain().rules == explanation.rules


def test_location_cannot_kill_because_the_terms_sum_below_zero(source_relation):
    reason = why(source_relation, {"source": "Location", "relation": "Kill"})
    assert reason.forbidden
    assert abs(reason.value - (-1.90 - 2.84 + 0.32)) < 1e-9
    assert str(reason) == (
        "source Location, relation Kill: -1.90 - 2.84 + 0.32 = -4.42 < 0, so it is forbidden"
    )


def test_why_says_that_an_allowed_pair_is_allowed(source_relation):
    reason = why(source_relation, source="Person", relation="Kill")
    assert not reason.forbidden
    assert str(reason).endswith(">= 0, so it is allowed")


def test_why_of_a_part_is_a_bound(source_relation):
    reason = why(source_relation, relation="Kill")
    assert (reason.partial, reason.forbidden) == (True, False)
    assert "source open (Person at best)" in str(reason)


def test_support_counts_the_positives_with_the_antecedent(source_relation):
    from types import SimpleNamespace

    space = source_relation.space
    pairs = [("Person", "Kill"), ("Person", "WorkFor"), ("Location", "Kill"), ("Person", "NoRel")]
    psi = np.array([space.vector(source=s, relation=r) for s, r in pairs])
    from lcons_core._psi import PsiRows, SparsePsi

    weight = np.array([3.0, 2.0, 1.0, 5.0])
    examples = SimpleNamespace(
        positives=PsiRows.of(SparsePsi.from_dense(psi), weight=weight),
        negatives=PsiRows.of(SparsePsi.from_dense(psi[2:3])),
    )
    explanation = explain(source_relation, examples)
    rule = next(r for r in explanation.rules if "Kill" in r.words)
    assert (rule.support, rule.exceptions, rule.covered) == (6.0, 1.0, 1.0)
    # 6 of 11 have one of the relations, 1 of 11 another source.
    assert rule.expected == pytest.approx(11 * 6 / 11 * 1 / 11)
    text = str(explanation)
    assert "[support 6; expected 0.5 by chance, seen 1]" in text
    assert "support: valid parts" not in text  # 11 in all are a toy
    examples.positives = PsiRows.of(examples.positives.psi, weight=3 * weight)
    text = str(explain(source_relation, examples))
    assert "support: valid parts that the rule's premise covers" in text
    assert text.endswith("Where expected is small, the rule\nrests on little, whatever its support.")
    assert "support" not in str(explain(source_relation))


def test_two_axes_say_needs_or_cannot_whichever_is_shorter():
    space = FeatureSpace([one_hot("source", "ABCD"), one_hot("relation", "wxyz")])
    assert words_of(space, {"source": "A", "relation": "w"}) == ["source A cannot go with relation w"]
    assert words_of(space, {"source": ["A", "B", "C"], "relation": "w"}) == ["relation w needs source D"]
    assert words_of(space, {"source": "A", "relation": ["w", "x", "y"]}) == ["source A needs relation z"]


def test_impossible_points_are_neither_named_nor_rules():
    space = FeatureSpace(
        [one_hot("label 1", ("A", "(start)")), one_hot("label 2", ("A", "B", "(stop)"))],
        [Requirement("label 2", "(stop)", "label 1", ("A",))],
    )
    assert words_of(space, {"label 1": "(start)", "label 2": "B"}) == ["label 1 (start) needs label 2 A"]


def test_three_axes_say_where_and_must():
    space = FeatureSpace([one_hot(name, "ABCD") for name in ("pos 1", "label 1", "label 2")])
    assert words_of(space, {"pos 1": "A", "label 1": "B", "label 2": ["A", "B", "C"]}) == [
        "where pos 1 is A and label 1 is B, label 2 must be D"
    ]
    assert words_of(space, {"pos 1": "A", "label 1": "B", "label 2": ["A"]}) == [
        "where pos 1 is A and label 1 is B, label 2 cannot be A"
    ]


def test_long_lists_are_shortened_in_words_but_not_in_data():
    values = [f"v{i:02d}" for i in range(20)]
    space = FeatureSpace([one_hot("a", values), one_hot("b", values)])
    boxes = [Box.of(space, {"a": values[:9], "b": values[:9]})]
    rule = explain(forbid_boxes(space, boxes), space=space).rules[0]
    assert rule.words == (
        "a v00, v01, v02, v03, v04, v05 or 3 others of 20 cannot go with"
        " b v00, v01, v02, v03, v04, v05 or 3 others of 20"
    )
    assert rule.to_dict()["forbidden"] == {"a": values[:9], "b": values[:9]}
    assert words_of(space, {"a": values[3:], "b": values[3:5]}) == ["b v03 or v04 needs a v00, v01 or v02"]


TAGS = [f"T{i:02d}" for i in range(43)]
LABELS = ("I-VP", "B-NP", "O")


def test_existence_speaks_of_existing_and_missing():
    space = FeatureSpace([binary("exists", ["author", "title"])])
    assert words_of(space, {"exists": {"title": False}}) == ["title always exists"]
    assert words_of(space, {"exists": {"title": True}}) == ["title never exists"]
    assert words_of(space, {"exists": {"author": True, "title": False}}) == [
        "where author exists, title must exist"
    ]
    assert words_of(space, {"exists": {"author": False, "title": True}}) == [
        "where author is missing, title must be missing"
    ]


def test_counts_are_ranges():
    space = FeatureSpace([count("count", ["author", "title"], high=6)])
    at_most_four_together = RectifierNetwork([[1.0, 1.0]], [-3.0])
    words = [rule.words for rule in explain(at_most_four_together, space=space).rules]
    assert "where count author >= 2, count title must be <= 2" in words
    assert "count author is always <= 4" in words
    assert "count title is always <= 4" in words


def test_text_shows_as_many_rules_as_asked_for():
    values = [f"v{i}" for i in range(6)]
    space = FeatureSpace([one_hot("a", values), one_hot("b", values)])
    boxes = [Box.of(space, {"a": v, "b": v}) for v in values]
    explanation = explain(forbid_boxes(space, boxes), space=space, limit=4)
    assert len(explanation) == 6
    assert len(str(explanation).splitlines()) == 5
    assert len(explanation.text(2).splitlines()) == 3
    assert str(explanation).endswith(
        "4 of 6 rules (complete); these cover 66.7% of the rejected points, all that were found 100%."
    )
