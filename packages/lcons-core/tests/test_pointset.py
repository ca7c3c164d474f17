"""One set, many forms: all of them answer alike, exactly, at the boundary too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    SparsePsi,
    TooLarge,
    compare,
    explain,
    one_hot,
    simplify,
    to_inequalities,
    why,
)
from lcons_core._pointset import PointSet
from lcons_core._theorem import cut_of, rows_of
from lcons_core.reason._rules import Box
from lcons_core.reason._search import scan
from lcons_core.testing import conjunctions, networks, spaces

PAIR = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
NO_PLACE_KILLS = RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0])


def box(space, point):
    """The box of a single point."""
    return Box(tuple((axis.name, (axis.values[v],)) for axis, v in zip(space.axes, point, strict=True)))


def every_form(network, space) -> list[PointSet]:
    """The points of the space that a network accepts, in every form."""
    points = np.concatenate(list(space.points()))
    accepted = network.verdicts(space, points)
    rows = to_inequalities(network)
    return [
        network,
        LearnedConstraint(network, space),
        rows,
        simplify(network, space),
        simplify(rows, space),
        Rules(space, forbidden=[box(space, point) for point in points[~accepted]]),
        Rules(space, allowed=[box(space, point) for point in points[accepted]]),
    ]


@st.composite
def sets_on_spaces(draw):
    """(network, space): weights in sixteenths, often with a point exactly on the boundary."""
    space = draw(spaces(max_blocks=2, max_values=3))
    network = draw(st.one_of(networks(max_K=3, d=space.d), conjunctions(max_parts=2, max_K=2, d=space.d)))
    if draw(st.booleans()):
        points = np.concatenate(list(space.points()))
        psi = space.vectors(points[draw(st.integers(0, len(points) - 1)) :][:1])[0]
        part = network.parts[0]
        b = part.b.copy()
        b[0] += network.rational_margin(psi) if len(network.parts) == 1 else 0.0
        network = RectifierNetwork(part.W, b)
    return network, space


@settings(max_examples=60)
@given(sets_on_spaces(), st.integers(1, 7))
def test_every_form_gives_the_exact_verdict_of_every_point(case, chunk):
    network, space = case
    points = np.concatenate(list(space.points()))
    psi = space.vectors(points)
    expected = np.array([network.rational_margin(one) >= 0 for one in psi])
    answers = every_form(network, space)
    scanned = list(scan(answers, space, chunk))
    for i, form in enumerate(answers):
        assert isinstance(form, PointSet)
        assert (form.d, form.space) in ((space.d, None), (space.d, space))
        for found in (
            form.verdicts(space, points),
            form.accepts(psi),
            form.accepts(SparsePsi.from_dense(psi)),
            form.margin(psi) >= 0,
            np.concatenate([verdicts[i] for _, verdicts in scanned]),
        ):
            assert np.array_equal(found, expected), type(form)
        for one, wanted in zip(psi[:4], expected, strict=False):
            assert form.accepts(one) is bool(wanted)
            assert isinstance(form.margin(one), float)
            assert (form.margin(one) >= 0) == wanted


@settings(max_examples=40)
@given(sets_on_spaces())
def test_the_other_forms_of_every_form_are_the_same_set(case):
    network, space = case
    points = np.concatenate(list(space.points()))
    psi, expected = space.vectors(points), network.verdicts(space, points)
    counts = any(block.whole for block in space.blocks)
    for form in every_form(network, space):
        if counts and isinstance(form, Rules):
            continue  # a set of counts is not linear
        rows = rows_of(form)
        assert np.array_equal(rows.accepts(psi), expected)
        if form.networks():
            found = np.all([part.accepts(psi) for part in form.networks()], axis=0)
            assert np.array_equal(found, expected)
        if len(rows):
            assert rows_of(form, len(rows)) is not None
            with pytest.raises(TooLarge):
                rows_of(form, 0)
            cuts = [cut_of(form, one).holds(one) for one in psi[:6]]
            assert cuts == expected[:6].tolist()


@pytest.mark.parametrize("form", every_form(NO_PLACE_KILLS, PAIR), ids=lambda form: type(form).__name__)
def test_every_form_can_be_reasoned_about(form):
    assert compare(form, NO_PLACE_KILLS, PAIR).equal
    assert "source Place needs relation NoRel" in str(explain(form, space=PAIR))
    assert why(form, space=PAIR, source="Place", relation="Kill").forbidden
    assert not why(form, space=PAIR, source="Place", relation="NoRel").forbidden
    assert len(simplify(form, PAIR)) == 1
    assert form.width >= 1
