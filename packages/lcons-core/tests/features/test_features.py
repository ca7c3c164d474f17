"""psi of every feature kind: valid points, exact groundings, windows, padding, vocabularies, files."""

import importlib.metadata
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_core import (
    Instance,
    InvalidInput,
    LearnedConstraint,
    RectifierNetwork,
    TooLarge,
    Unsupported,
)
from lcons_core._blocks import OTHER
from lcons_core._document import dumps, loads
from lcons_core.features import ConstraintFeature, Counts, Existence, NgramContext, NgramLabels, Scope, Tuples
from lcons_core.features._kinds import feature_from_dict
from lcons_core.features._ngrams import START, STOP
from lcons_core.testing import features, label_sequences, structures


def evaluate(row, y, d):
    """The psi row that a grounded row has where the output is y."""
    psi = np.zeros(d)
    for column, number in row.constant.items():
        psi[column] += number
    for column, variables in row.linear.items():
        psi[column] += sum(y[position] == label for position, label in variables)
    for column, groups in row.any_of.items():
        psi[column] = any(all(y[t] == label for t, label in group) for group in groups)
    return psi


@given(st.data())
def test_psi_rows_are_points_of_the_space(data):
    feature = data.draw(features())
    psi = feature.psi(data.draw(structures(feature)))
    assert psi.d == feature.space.d
    feature.space.check(psi)


@given(st.data())
def test_the_grounding_evaluated_at_a_labelling_is_its_psi(data):
    feature = data.draw(features().filter(lambda f: f.kind != "tuples" and not getattr(f, "spans", 0)))
    instance = data.draw(structures(feature))
    # The grounding may know x and the length, not the labels.
    blank = Instance(instance.x, [feature.labels[0]] * len(instance.y))
    rows = [evaluate(row, instance.y, feature.space.d) for row in feature.ground(blank)]
    expected = feature.psi(instance).dense()
    assert np.array_equal(np.reshape(rows, expected.shape), expected)


@pytest.mark.parametrize("n", [1, 2, 3])
@given(y=label_sequences("AB"))
def test_existence_is_whether_the_ngram_occurs(n, y):
    feature = Existence(("A", "B"), n)
    grams = {" ".join(y[t : t + n]) for t in range(len(y) - n + 1)}
    [named] = [feature.space.describe(row)["exists"] for row in feature.psi(y).dense()]
    assert set(named) == grams


@given(label_sequences("ABC"))
def test_counts_count_tokens_or_spans(y):
    tokens = Counts(("A", "B", "C"), high=8).psi(y).dense()[0]
    spans = Counts(("A", "B", "C"), high=8, spans=True).psi(y).dense()[0]
    starts = [label for t, label in enumerate(y) if t == 0 or y[t - 1] != label]
    assert tokens.tolist() == [y.count(label) for label in "ABC"]
    assert spans.tolist() == [starts.count(label) for label in "ABC"]


def test_span_counts_have_no_grounding_and_large_counts_no_psi():
    with pytest.raises(Unsupported):
        Counts(("A",), spans=True).ground(["A"])
    with pytest.raises(InvalidInput):
        Counts(("A",), high=2).psi(["A"] * 3)


@pytest.mark.parametrize("pad", [False, True])
@given(n=st.integers(2, 4), y=label_sequences("AB"))
def test_windows_are_counted_as_stated(pad, n, y):
    feature = NgramLabels(("A", "B"), n, pad)
    expected = (len(y) + 1 if y else 0) if pad else max(0, len(y) - n + 1)
    assert len(feature.psi(y)) == feature.window_count(len(y)) == expected == len(feature.ground(y))


def test_padding_is_named_in_psi():
    feature = NgramLabels(("A", "B"), n=3, pad=True)
    named = [feature.space.describe(row) for row in feature.psi(["B"]).dense()]
    assert [list(row.values()) for row in named] == [[START, START, "B"], [START, "B", STOP]]
    context = NgramContext(("A", "B"), ("DT",), n=2, pad=True)
    named = [context.space.describe(row) for row in context.psi(({"pos": ["DT"]}, ["B"])).dense()]
    assert [list(row.values()) for row in named] == [[OTHER, "DT", START, "B"], ["DT", OTHER, "B", STOP]]


@pytest.mark.parametrize(
    "feature",
    [NgramLabels(("A",)), NgramContext(("A",), ("DT",)), Existence(("A",)), Counts(("A",))],
)
def test_an_unknown_label_is_an_error_that_names_it_and_the_known_ones(feature):
    for label in ("Z", None, ["A"]):
        with pytest.raises(InvalidInput):
            feature.psi(Instance({"pos": ["DT"] * 3}, ["A", label, "A"]))


def test_an_unknown_context_is_other_and_is_counted():
    feature = NgramContext(("A",), ("DT", "NN"), n=1)
    structure = ({"pos": ["DT", "XX", "NN", "YY"]}, ["A"] * 4)
    named = [feature.space.describe(row)["pos"] for row in feature.psi(structure).dense()]
    assert named == ["DT", OTHER, "NN", OTHER]
    with pytest.raises(InvalidInput):
        feature.psi(["A", "A", "A"])
    with pytest.raises(InvalidInput):
        feature.psi(({"pos": ["DT"] * 3}, ["A"] * 4))


def test_words_are_not_taken_for_pos_tags():
    for use in (NgramContext.from_instances, lambda given: NgramContext(("A",), ("DT",)).psi(given[0])):
        with pytest.raises(InvalidInput):
            use([(["the", "dog"], ["A", "A"])])


def test_shapes_are_read_from_words_and_rare_values_are_other():
    data = [(["Mind", ",", "1950", ",", "59"], ["A", "A", "B", "B", "B"])]
    shapes = NgramContext.from_instances(data, n=1, column="word", word_class="shape")
    assert shapes.contexts == (",", "99", "Aa", "year")
    often = NgramContext.from_instances(data, n=1, column="word", least=2)
    assert often.contexts == (",",)
    with pytest.raises(InvalidInput):
        NgramContext.from_instances(data, n=1, column="word", least=3)


def test_tuples_need_one_value_per_name():
    pairs = Tuples.from_instances([[("Person", "Kill"), ("Person", "NoRel")]], names=("source", "relation"))
    assert pairs.values == (("Person",), ("Kill", "NoRel"))
    assert pairs.psi([("Person", "NoRel")]).dense().tolist() == [[1.0, 0.0, 1.0]]
    for bad in ["PK", ("Person",), ("Person", "Kill", "Kill")]:
        with pytest.raises(InvalidInput):
            pairs.psi([bad])
    with pytest.raises(InvalidInput):
        pairs.psi([("City", "Kill")])
    with pytest.raises(InvalidInput):
        Tuples.from_instances([[("a", "b"), ("a",)]])


def test_vocabularies_are_those_of_the_structures_sorted():
    sentences = [["B", "A"], ["C", "A"]]
    for kind in (NgramLabels, Existence, Counts):
        assert kind.from_instances(sentences).labels == ("A", "B", "C")
    assert Counts.from_instances(sentences).high == 4
    tagged = [({"pos": ["NN", "DT"]}, ["B", "A"])]
    assert NgramContext.from_instances(tagged).contexts == ("DT", "NN")
    for empty in ([], [[]]):
        with pytest.raises(InvalidInput):
            NgramLabels.from_instances(empty)


@given(features())
def test_a_feature_comes_back_from_plain_data(feature):
    again = feature_from_dict(feature.to_dict())
    assert again == feature
    assert type(again) is type(feature)
    assert again.space == feature.space


@pytest.mark.parametrize(
    "make",
    [
        lambda: NgramLabels((), 2),
        lambda: NgramLabels(("A", "A"), 2),
        lambda: NgramLabels(("A", 1), 2),
        lambda: NgramLabels(("A",), 0),
        lambda: NgramLabels(("A",), 33),
        lambda: NgramLabels(("A",), 1, pad=True),
        lambda: NgramLabels(("A",), 2, pad=1),
        lambda: NgramLabels((START,), 2, pad=True),
        lambda: NgramContext(("A",), ("x",), word_class="vowels"),
        lambda: NgramContext(("A",), (OTHER,)).space,
        lambda: Existence(("A", "A A"), 2).space,
        lambda: Counts(("A",), high=0).space,
        lambda: Counts(("A",), spans=None),
        lambda: Tuples((), ()),
        lambda: Tuples(("a", "a"), (("x",), ("x",))),
    ],
)
def test_fields_that_do_not_fit_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_existence_states_its_size_and_refuses_past_the_limit():
    with pytest.raises(TooLarge):
        Existence([f"l{i}" for i in range(22)], n=5)
    assert Existence([f"l{i}" for i in range(22)], n=3).space.d == 10_648
    with pytest.raises(TooLarge):
        Existence(["A" * 1000, "B" * 1000], n=20)
    with pytest.raises(TooLarge):
        NgramLabels([f"l{i}" for i in range(40_000)], n=32).space  # noqa: B018


@dataclass(frozen=True)
class Parity(ConstraintFeature):
    """A kind of another package: is the number of labels even?"""

    kind = "parity"
    scope = Scope.GLOBAL

    @property
    def space(self):
        return Tuples(("parity",), (("even", "odd"),)).space

    def psi(self, structure):
        return Tuples(("parity",), (("even", "odd"),)).psi([(["even", "odd"][len(structure) % 2],)])

    @classmethod
    def from_instances(cls, instances):
        return cls()


class Entry:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind

    def load(self):
        if self.kind is None:
            raise ImportError("another package's trouble")
        return self.kind


def test_a_kind_of_another_package_is_found_by_its_registered_name_beside_a_broken_package(monkeypatch):
    asked = []

    def entry_points(group):
        asked.append(group)
        return [Entry("broken", None), Entry("unknown", Parity), Entry("ngram", Parity)]

    with pytest.raises(InvalidInput):
        feature_from_dict({"kind": "unknown"})
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert feature_from_dict({"kind": "unknown"}) == Parity()
    assert feature_from_dict(NgramLabels(("A",)).to_dict()) == NgramLabels(("A",))
    assert set(asked) == {"lcons.features"}


def test_a_file_holds_a_feature_whose_class_was_defined_here(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry("broken", None)])
    odd = LearnedConstraint(RectifierNetwork([[2.0, 0.0]], [0.0]), Parity().space, Parity())
    again = loads(dumps(odd))
    assert again.satisfied(["A"])
    assert not again.satisfied(["A", "B"])
