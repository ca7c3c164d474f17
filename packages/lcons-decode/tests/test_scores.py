"""Chain scores: their sums, the errors that they raise, and degenerate sequences."""

import numpy as np
import pytest
import torch
from chain_strategies import LABELS, chains, exact_score, sequences_of_one_model
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_core.testing import label_sequences
from lcons_decode import ChainBatch, ChainScores, RelationScores, forbidden_ngrams, nbest
from lcons_decode.ilp import Variable


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_score_is_the_sum_of_the_parts_in_exact_arithmetic(data):
    scores = data.draw(chains())
    y = data.draw(label_sequences(scores.labels, len(scores), len(scores)))
    assert scores.score(y) == exact_score(scores, scores.ids(y))
    assert scores.names(scores.ids(y)) == tuple(y)


def test_lists_numpy_and_torch_read_alike():
    rows = [[1.0, 0.5], [0.0, -2.0]]
    given_as = [rows, np.array(rows), torch.tensor(rows, requires_grad=True)]
    assert [ChainScores(r, r, r[0], r[1]).score("01") for r in given_as] == [
        -2.0 + 0.5 + 1.0 + 1.0 - 2.0 + 0.5 - 0.5
    ] * 3


def test_scores_are_copied_and_cannot_be_written():
    emission = np.zeros((1, 2))
    scores = ChainScores(emission)
    emission[0, 0] = 7.0
    assert scores.emission[0, 0] == 0.0
    for array in (scores.emission, scores.transition, scores.start, scores.stop):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0


@pytest.mark.parametrize("name", ["emission", "transition", "start", "stop"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_plus_infinity_are_refused_wherever_they_stand(name, bad):
    arrays = {
        "emission": np.zeros((2, 2)),
        "transition": np.zeros((2, 2)),
        "start": np.zeros(2),
        "stop": np.zeros(2),
    }
    arrays[name].flat[1] = bad
    with pytest.raises(InvalidInput):
        ChainScores(**arrays)


@pytest.mark.parametrize(
    "arguments",
    [
        ([1.0, 2.0],),
        ([],),
        (np.zeros((2, 0)),),
        ("words",),
        (np.zeros((2, 2)), np.zeros((3, 3))),
        (np.zeros((2, 2)), None, np.zeros(3)),
        (np.zeros((2, 2)), None, None, np.zeros(1)),
    ],
)
def test_arrays_of_another_shape_are_refused(arguments):
    with pytest.raises(InvalidInput):
        ChainScores(*arguments)


@pytest.mark.parametrize(
    "labels", ["a", "abc", "aa", {"a": 0, "b": 1}, {0: "a", 1: "b"}, {"a", "b"}, np.array([0, 1])]
)
def test_labels_are_distinct_names_in_the_order_of_columns(labels):
    with pytest.raises(InvalidInput):
        ChainScores(np.zeros((1, 2)), labels=labels)


def test_an_unknown_label_and_a_wrong_length_are_refused():
    scores = ChainScores(np.zeros((1, 2)), labels="ab")
    with pytest.raises(InvalidInput):
        scores.score("q")
    with pytest.raises(InvalidInput):
        scores.score("ab")


@settings(max_examples=30, deadline=None)
@given(sequences_of_one_model())
def test_a_batch_holds_its_sequences(sequences):
    batch = ChainBatch.of(sequences)
    assert len(batch) == len(sequences)
    for one, other in zip(sequences, batch, strict=True):
        assert one.labels == other.labels
        for name in ("emission", "transition", "start", "stop"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


def test_a_batch_of_none_or_of_different_models_is_refused():
    with pytest.raises(InvalidInput):
        ChainBatch.of([])
    a, b = ChainScores(np.zeros((1, 2))), ChainScores(np.zeros((1, 2)), start=[0, 1])
    with pytest.raises(InvalidInput):
        ChainBatch.of([a, b])
    with pytest.raises(InvalidInput):
        ChainBatch.of([a, ChainScores(np.zeros((1, 2)), labels="ab")])


@pytest.mark.parametrize("count", [0, -1, 1.5, "3"])
def test_nbest_of_none_is_refused(count):
    scores = ChainScores(np.zeros((1, 4)), labels=LABELS)
    with pytest.raises(InvalidInput):
        nbest(scores, count, [forbidden_ngrams(LABELS, ["ab"])])


@pytest.mark.parametrize("size", [1e61, -1e300, 1.7e308])
def test_scores_whose_sums_could_overflow_are_refused(size):
    with pytest.raises(InvalidInput):
        ChainScores([[size, 0.0], [-np.inf, 1.0]])
    with pytest.raises(InvalidInput):
        ChainScores([[1.0, 0.0]], [[size, 0.0], [0.0, 0.0]])
    with pytest.raises(InvalidInput):
        RelationScores([[size]], np.zeros((1, 1, 1)), entity_labels=["A"], relation_labels=["B"])
    with pytest.raises(InvalidInput):
        Variable("x", objective=size)
    # The least float32, which masks often use, is a score.
    assert ChainScores([[float(np.finfo(np.float32).min), 0.0]]).score(["1"]) == 0.0


@pytest.mark.parametrize("kind", ["U4", "S4", "complex128", "datetime64[D]"])
def test_arrays_of_text_complex_numbers_or_dates_are_no_scores(kind):
    array = np.zeros((1, 2), dtype=kind)
    for make in (ChainScores, lambda rows: ChainScores(rows.tolist())):
        with pytest.raises(InvalidInput):
            make(array)


def test_labels_may_be_an_array_of_names():
    assert ChainScores([[0.0, 1.0]], labels=np.array(["a", "b"])).labels == ("a", "b")
