"""Composition and editing are exact set operations, recorded and checked."""

import re

import numpy as np
import pytest
from core_strategies import every_point, partial_assignments, satisfies
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    binary,
    why,
)
from lcons_core.features import NgramLabels, Tuples
from lcons_core.testing import check_theorem1, constraints, networks, structures

LABELS = NgramLabels(("A", "B"), n=2)
NO_AB = RectifierNetwork([[2.0, 0.0, 0.0, 2.0]], [-2.0])
PAIRS = Tuples(("one", "two"), (("A", "B"), ("A", "B")))
BIGRAMS = LearnedConstraint(NO_AB, LABELS.space, LABELS, {"seed": 1})


def small_constraints(**options):
    """Constraints whose domain can be enumerated."""
    return constraints(**options).filter(lambda constraint: constraint.space.size <= 5000)


@given(st.data())
def test_forbid_removes_exactly_the_box(data):
    old = data.draw(small_constraints(counts=False))
    chosen = data.draw(partial_assignments(old.space))
    psi = old.space.vectors(every_point(old.space))
    held = np.array([satisfies(old.space, chosen, old.space.describe(one)) for one in psi])
    assert np.array_equal(old.forbid(chosen).accepts(psi), old.accepts(psi) & ~held)


@given(st.data())
def test_and_is_the_intersection(data):
    a = data.draw(small_constraints())
    b = LearnedConstraint(data.draw(networks(max_K=2, d=a.space.d)), a.space, a.feature, {"seed": 2})
    points = a.space.vectors(every_point(a.space))
    both = a & b
    assert np.array_equal(both.accepts(points), a.accepts(points) & b.accepts(points))
    assert np.array_equal(both.margin(points), np.minimum(a.margin(points), b.margin(points)))
    assert both.provenance == {"all_of": [a.provenance, b.provenance]}


def test_edits_keep_every_form_exact_and_are_recorded_in_order():
    edited = BIGRAMS.forbid({"label 1": "B", "label 2": "B"}).forbid({"label 1": "A"})
    check_theorem1(edited.network)
    assert BIGRAMS.inequalities().coefficients.tolist() == [[-2.0, 0.0, 0.0, -2.0]]
    assert [y for y in ("AA", "AB", "BA", "BB") if edited.satisfied(list(y))] == ["BA"]
    edits = [{"forbid": {"label 1": ["B"], "label 2": ["B"]}}, {"forbid": {"label 1": ["A"]}}]
    assert edited.provenance == {"seed": 1, "edits": edits}
    assert BIGRAMS.provenance == {"seed": 1}


def test_an_edit_changes_nothing_else_for_weights_that_are_no_dyadic_numbers():
    rng = np.random.default_rng(0)
    space = FeatureSpace([binary("x", [f"x{j}" for j in range(23)])])
    for _ in range(20):
        W, b = np.round(rng.normal(0, 2, (2, 23)), 1), np.round(rng.normal(-1, 2, 2), 1)
        old = LearnedConstraint(RectifierNetwork(W, b), space)
        psi = rng.integers(0, 2, (500, 23)) * 1.0
        new = old.forbid({"x": {"x0": True, "x1": False}})
        inside = (psi[:, 0] == 1) & (psi[:, 1] == 0)
        assert np.array_equal(new.accepts(psi), old.accepts(psi) & ~inside)


def test_constraints_of_different_spaces_do_not_mix():
    other = NgramLabels(("A", "C"), n=2)
    for stranger in (
        LearnedConstraint(NO_AB, other.space, other),
        LearnedConstraint(NO_AB, LABELS.space, None),
    ):
        with pytest.raises(InvalidInput):
            BIGRAMS & stranger
    with pytest.raises(TypeError):
        BIGRAMS & NO_AB


@given(st.data())
def test_violations_are_the_rejected_rows(data):
    constraint = data.draw(constraints(feature=True))
    structure = data.draw(structures(constraint.feature))
    accepted = constraint.accepts(constraint.feature.psi(structure))
    assert constraint.violations(structure).tolist() == np.flatnonzero(~accepted).tolist()
    assert constraint.satisfied(structure) == accepted.all()


def test_without_a_feature_only_psi_can_be_asked_about():
    bare = LearnedConstraint(NO_AB, LABELS.space)
    assert not bare.accepts(LABELS.space.vector({"label 1": "A", "label 2": "B"}))
    for ask in (lambda: bare.scope, lambda: bare.satisfied(["A", "B"])):
        with pytest.raises(InvalidInput):
            ask()


def test_a_constraint_is_shown_by_its_kind_its_size_and_its_labels():
    assert BIGRAMS.labels == LABELS.labels
    assert LearnedConstraint(NO_AB, LABELS.space).labels == ()
    for constraint, kind in ((BIGRAMS, "ngram"), (LearnedConstraint(NO_AB, LABELS.space), "psi")):
        assert {kind, "1", "4"} <= set(re.findall(r"\w+", repr(constraint)))


def test_parts_that_do_not_fit_together_are_refused():
    with pytest.raises(InvalidInput):
        LearnedConstraint(NO_AB, NgramLabels(("A", "B", "C")).space)
    with pytest.raises(InvalidInput):
        LearnedConstraint(NO_AB, FeatureSpace([binary("b", "wxyz")]), LABELS)


def test_equal_networks_have_equal_hashes_whatever_the_sign_of_their_zeros():
    plus, minus = RectifierNetwork([[0.0]], [1.0]), RectifierNetwork([[-0.0]], [1.0])
    assert plus == minus
    assert len({plus, minus}) == 1


@pytest.mark.parametrize(
    ("constraint", "forms"),
    [
        (BIGRAMS, [("A", "B"), ["A", "B"], {"label 1": "A", "label 2": "B"}, ["B", "B", "A", "B"]]),
        (
            LearnedConstraint(NO_AB, PAIRS.space, PAIRS),
            [("A", "B"), ["A", "B"], {"one": "A", "two": "B"}, [("B", "B"), ("A", "B")]],
        ),
    ],
)
def test_satisfied_accepts_and_why_read_the_same_forms_of_a_structure(constraint, forms):
    for structure in forms:
        assert constraint.satisfied(structure) is constraint.accepts(structure) is False
        assert why(constraint, structure).forbidden
    assert constraint.accepts(("B", "A")) is constraint.satisfied(["B", "A"]) is True
    assert constraint.accepts([[1, 0, 0, 1], [0, 1, 1, 0]]).tolist() == [False, True]
