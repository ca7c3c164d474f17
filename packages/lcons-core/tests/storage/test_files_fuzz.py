"""Damaged files with a right checksum: each is refused by `DamagedFile`, or is a constraint that is whole."""

import copy
import json
from functools import reduce
from operator import getitem

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core._blocks import binary, count, one_hot
from lcons_core._constraint import LearnedConstraint
from lcons_core._document import dumps, loads
from lcons_core._errors import DamagedFile
from lcons_core._files import digest
from lcons_core._network import RectifierNetwork
from lcons_core._space import FeatureSpace
from lcons_core.features._kinds import Counts, Existence, Tuples
from lcons_core.features._ngrams import NgramContext, NgramLabels

FEATURES = {
    "ngram": NgramLabels(("A", "B"), n=2, pad=True),
    "context": NgramContext(("A", "B"), ("DT", "NN"), n=2, pad=True),
    "word class": NgramContext(("A",), ("punctuation",), n=1, column="word", word_class="punctuation"),
    "existence": Existence(("A", "B"), n=2),
    "counts": Counts(("A", "B"), high=3),
    "tuples": Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill"))),
    "none": None,
}
MIXED = FeatureSpace([one_hot("o", ["x", "y"], other=True), binary("b", ["x"]), count("c", ["x"], 2)])
NUMBERS = [0, 1, -1, 7, 10**6, 10**18, 10**45, 0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf")]
TEXTS = ["", "x", "(other)", "one-hot", "count", "ngram", "A" * 1000, "\ud800", "é\n"]
LISTS = [
    [],
    {},
    [[]],
    [[[[1.0]]]],
    {"columns": [0], "values": [1.0]},
    {"kind": "tuples"},
    ["A", "B"],
    [1.0, 1.0],
]
VALUES = st.sampled_from([None, True, False, *NUMBERS, *TEXTS, *LISTS])


def written(kind):
    """The file of a constraint of two parts."""
    feature = FEATURES[kind]
    space = MIXED if feature is None else feature.space
    weights = np.random.default_rng(5).integers(-32, 33, (2, space.d)) / 16
    notes = {"seed": 3, "config": {"hidden": 2, "grid": [0.1, 0.01]}, "data": "0a1b"}
    constraint = LearnedConstraint(RectifierNetwork(weights, [0.5, -0.25]), space, feature, notes)
    return dumps(constraint & constraint)


def places(value, path=()):
    """The paths to all values inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


@st.composite
def damaged_files(draw, text):
    """The file with values replaced, dropped, repeated or renamed, and a right checksum."""
    document = json.loads(text)
    del document["sha256"]
    for _ in range(draw(st.integers(1, 3))):
        *path, key = draw(st.sampled_from([place for place in places(document) if place]))
        holder = reduce(getitem, path, document)
        change = draw(st.sampled_from(["replace", "replace", "move", "drop", "change the name or repeat"]))
        if change == "replace":
            holder[key] = copy.deepcopy(draw(VALUES))
        elif change == "move":
            holder[key] = copy.deepcopy(reduce(getitem, draw(st.sampled_from(places(document))), document))
        elif change == "drop" and len(document) > 1:
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(st.sampled_from(["x", "kind", "other", "low", "values", key.upper()]))] = holder.pop(
                key
            )
        else:
            holder.insert(key, copy.deepcopy(holder[key]))
    try:
        sha256 = digest(document)
    except ValueError:  # NaN has no canonical form
        sha256 = "0" * 64
    return json.dumps({**document, "sha256": sha256})


@pytest.mark.parametrize("kind", FEATURES)
@settings(max_examples=200)
@given(data=st.data())
def test_damaged_content_is_refused_or_whole(kind, data):
    try:
        constraint = loads(data.draw(damaged_files(written(kind))), "f.json")
    except DamagedFile as error:
        assert "f.json" in str(error)  # noqa: PT017
    else:
        assert loads(dumps(constraint)) == constraint


@pytest.mark.parametrize("kind", FEATURES)
def test_every_prefix_of_a_file_is_refused(kind):
    text = written(kind)
    for stop in range(0, len(text) - 2, 7):
        with pytest.raises(DamagedFile):
            loads(text[:stop])
