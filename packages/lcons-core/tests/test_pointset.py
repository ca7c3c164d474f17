"""One set, many forms: all of them answer alike, exactly, at the boundary too."""

from __future__ import annotations

import numpy as np
import pytest
from core_strategies import every_point, sets_on_spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    FeatureSpace,
    LearnedConstraint,
    RectifierNetwork,
    Rules,
    SparsePsi,
    compare,
    explain,
    one_hot,
    simplify,
    to_inequalities,
    why,
)
from lcons_core._pointset import PointSet
from lcons_core.reason._points import scan
from lcons_core.reason._rules import Box

PAIR = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["NoRel", "Kill"])])
NO_PLACE_KILLS = RectifierNetwork([[0.0, 2.0, 0.0, 2.0]], [-2.0])


def box(space, point):
    """The box of a single point."""
    return Box(tuple((axis.name, (axis.values[v],)) for axis, v in zip(space.axes, point, strict=True)))


def every_form(network, space) -> list[PointSet]:
    """The points of the space that a network accepts, in every form."""
    points = every_point(space)
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


@settings(max_examples=60)
@given(sets_on_spaces(("sixteenths", "boundary"), max_blocks=2, max_values=3), st.integers(1, 7))
def test_every_form_gives_the_exact_verdict_of_every_point(case, chunk):
    network, space = case
    points = every_point(space)
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


@pytest.mark.parametrize("form", every_form(NO_PLACE_KILLS, PAIR), ids=lambda form: type(form).__name__)
def test_every_form_can_be_reasoned_about(form):
    assert compare(form, NO_PLACE_KILLS, PAIR).equal
    assert "source Place needs relation NoRel" in str(explain(form, space=PAIR))
    assert why(form, space=PAIR, source="Place", relation="Kill").forbidden
    assert not why(form, space=PAIR, source="Place", relation="NoRel").forbidden
    assert len(simplify(form, PAIR)) == 1
    assert form.width >= 1
