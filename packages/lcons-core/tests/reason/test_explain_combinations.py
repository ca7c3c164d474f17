"""Why a combination is forbidden: values in a few words, their completions, and the inequality by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_tables import RELATION_RELATION, SOURCE_RELATION

from lcons_core import FeatureSpace, InvalidInput, RectifierNetwork, binary, completions, count, one_hot, why
from lcons_core._blocks import Requirement
from lcons_core.reason._rules_text import read_assignment
from lcons_core.testing import constraints, points

LABELS = ["B", "I", "O"]
TRIGRAMS = FeatureSpace([one_hot(f"label {i}", LABELS) for i in (1, 2, 3)])
CONTEXT = FeatureSpace(
    [one_hot("pos 1", ["NN", ","]), one_hot("label 1", LABELS), one_hot("label 2", LABELS)]
)
MIXED = FeatureSpace([binary("exists", ["title", "author"]), count("count", ["author"], high=3)])


@pytest.mark.parametrize(
    ("space", "words", "wanted"),
    [
        (SOURCE_RELATION, ["Location", "Kill"], {"source": "Location", "relation": "Kill"}),
        (SOURCE_RELATION, ["source=Location,relation=Kill"], {"source": "Location", "relation": "Kill"}),
        (SOURCE_RELATION, ["Kill"], {"relation": "Kill"}),
        (RELATION_RELATION, ["relation 2=Kill", "NoRel"], {"relation 1": "NoRel", "relation 2": "Kill"}),
        (TRIGRAMS, ["B", "I", "O"], {"label 1": "B", "label 2": "I", "label 3": "O"}),
        (CONTEXT, ["O", "I"], {"label 1": "O", "label 2": "I"}),
        (CONTEXT, [",", "O", "I"], {"pos 1": ",", "label 1": "O", "label 2": "I"}),
        (MIXED, ["title", "exists author=0"], {"exists": {"title": True, "author": False}}),
        (MIXED, ["exists=author", "count author=3"], {"exists": {"author": True}, "count": {"author": 3}}),
    ],
)
def test_words_name_an_assignment(space, words, wanted):
    assert read_assignment(space, words) == wanted


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (SOURCE_RELATION, ["Foo"]),
        (SOURCE_RELATION, ["sauce=Kill"]),
        (SOURCE_RELATION, ["source=Kill"]),
        (SOURCE_RELATION, ["Kill", "LiveIn"]),
        (MIXED, ["count=3"]),
        (SOURCE_RELATION, ["source=Person", "source=Location"]),
        (SOURCE_RELATION, []),
        (TRIGRAMS, ["B", "I"]),
        (MIXED, ["count author=9"]),
    ],
)
def test_words_that_name_none_are_refused(space, words):
    with pytest.raises(InvalidInput):
        read_assignment(space, words)


@given(st.data())
def test_a_combination_is_forbidden_iff_every_completion_is_rejected(data):
    constraint = data.draw(constraints())
    space = constraint.space
    if space.size > 10**4:
        return
    named = space.describe(data.draw(points(space)))
    kept = data.draw(st.lists(st.sampled_from(sorted(named)), min_size=1, unique=True))
    assignment = {name: named[name] for name in kept}
    every = np.concatenate(list(space.points()))
    described = [space.describe(psi) for psi in space.vectors(every)]
    inside = np.array([all(point[name] == assignment[name] for name in kept) for point in described])
    accepted = constraint.network.verdicts(space, every) & inside
    found = completions(constraint, assignment)
    assert (found.looked, found.allowed) == (inside.sum(), accepted.sum())
    assert found.forbidden == (not accepted.any())
    assert found.example is None or found.example in [
        d for d, a in zip(described, accepted, strict=True) if a
    ]
    if why(constraint, assignment).forbidden:
        assert found.forbidden


def test_of_many_completions_some_are_tried():
    space = FeatureSpace([binary("bit", map(str, range(40)))])
    at_most_two = RectifierNetwork(np.ones((1, 40)), [-1.0])
    found = completions(at_most_two, {"bit": {"0": True}}, space=space)
    assert found.forbidden is False
    assert found.example is not None
    assert "0" in found.example["bit"]
    assert len(found.example["bit"]) <= 2
    nothing = completions(RectifierNetwork(np.zeros((1, 40)), [2.0]), {"bit": {"0": True}}, space=space)
    assert (nothing.forbidden, nothing.looked) == (True, 1)  # all completions are of one kind
    W = np.zeros((3, 40))
    W[:, 0], W[2] = [4.0, -4.0, 0.0], np.arange(40) / 64
    for biases, forbidden in (([-2.5, 1.5, -99.0], None), ([-2.5, 1.5, 2.0], True)):
        # Either of the first two units rejects each point, but no single row all; then the third one does.
        found = completions(RectifierNetwork(W, biases), {"bit": {"1": True}}, space=space)
        assert (found.forbidden, found.allowed, found.example) == (forbidden, 0, None)


def test_what_the_space_excludes_is_no_combination():
    pad = Requirement("label 2", "I", "label 1", ("B",))
    space = FeatureSpace([one_hot("label 1", LABELS), one_hot("label 2", LABELS)], [pad])
    network = RectifierNetwork(np.zeros((1, 6)), [0.0])
    with pytest.raises(InvalidInput):
        completions(network, {"label 1": "O", "label 2": "I"}, space=space)


def test_combinations_of_a_domain_beyond_counting_have_answers():
    space = FeatureSpace([binary("bit", map(str, range(15_000)))])
    found = completions(RectifierNetwork(np.zeros((1, 15_000)), [0.0]), {"bit": {"0": True}}, space=space)
    assert found.forbidden is False
    assert found.to_dict()["total"] is None
