"""Baselines of soft constraints: their decoder against enumeration, their tables, and the CRF's gradient."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_core.features import NgramContext
from lcons_decode import ChainBatch
from lcons_decode.chains._viterbi import viterbi_ids
from lcons_tasks.data import Sentence
from lcons_tasks.experiments.engine._baselines import unseen_tokens
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._recipes import once
from lcons_tasks.experiments.engine._window_crf import _Likelihood, window_crf
from lcons_tasks.experiments.engine._window_decoder import decode_windows
from lcons_tasks.experiments.engine._window_tables import (
    WindowTable,
    counts_table,
    learn_penalties,
    seen_table,
    windows_of,
)

LABELS = ("A", "B", "C")


def sentence(tags, labels):
    return Sentence(tuple("w" * len(tags)), tuple(labels), {"pos": tuple(tags)})


TRAIN = [sentence("XYX", "ABA"), sentence("XXYY", "AABC"), sentence("YX", "CA")]


def batch_of(rng, lengths, L=3):
    offsets = np.cumsum([0, *lengths])
    emission = rng.integers(-8, 9, (offsets[-1], L)) / 4
    transition, start, stop = (rng.integers(-4, 5, shape) / 4 for shape in ((L, L), (L,), (L,)))
    return ChainBatch(emission, offsets, transition, start, stop, LABELS[:L])


def decoded(batch, used, xs):
    return decode_windows(batch, [(one.prepare(xs, tuple(batch.labels)), weight) for one, weight in used])


def total(batch, i, y, tables, x):
    """The score of a labelling, window by window."""
    ids = [LABELS.index(label) for label in y]
    emission = batch.emission[batch.offsets[i] : batch.offsets[i + 1]]
    score = batch.start[ids[0]] + batch.stop[ids[-1]] + emission[np.arange(len(ids)), ids].sum()
    score += sum(batch.transition[a, b] for a, b in pairwise(ids))
    for table, weight in tables:
        n = table.feature.n
        for first in range(len(y) - n + 1):
            part = slice(first, first + n)
            if set(y[part]) <= set(table.feature.labels):
                one = Sentence(x["word"][part], tuple(y[part]), {"pos": x["pos"][part]})
                [(contexts, labels)] = windows_of(table.feature, [one])
                own = table.scores.get(contexts)
                missing = table.unknown if own is None else table.missing.get(contexts, table.unknown)
                score += weight * (own or {}).get(labels, missing)
    return score


@given(
    st.integers(0, 2**31),
    st.lists(st.text("XYZ", min_size=1, max_size=5), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from([LABELS, LABELS[:2]])), max_size=4),
)
@settings(max_examples=80, deadline=None)
@example(0, ["XYXYZ"], [(3, LABELS), (3, LABELS)])
@example(0, ["XYXYZ"], [(3, LABELS[:2]), (2, LABELS)])
def test_the_decoder_finds_the_best_labelling_under_any_tables(seed, texts, kinds):
    """Several tables of the same length, and tables that do not know a label, are among them."""
    rng = np.random.default_rng(seed)
    tables = []
    for n, labels in kinds:
        feature, L = NgramContext(labels, ("X", "Y"), n=n), len(labels)
        scores = {
            int(context): {int(code): float(rng.integers(-8, 9)) / 4 for code in rng.integers(0, L**n, 4)}
            for context in rng.integers(0, 3**n, 3)
        }
        missing = {context: float(rng.integers(-4, 1)) for context in scores}
        tables.append((WindowTable(feature, scores, missing, -0.5), float(rng.integers(0, 3))))
    batch = batch_of(rng, [*map(len, texts)])
    xs = [{"word": tuple(text), "pos": tuple(text)} for text in texts]
    found = decoded(batch, tables, xs)
    for i, x in enumerate(xs):
        own = found[batch.offsets[i] : batch.offsets[i + 1]]
        best = max(total(batch, i, y, tables, x) for y in product(LABELS, repeat=len(own)))
        assert total(batch, i, [LABELS[k] for k in own], tables, x) == best


def test_without_tables_the_decoder_is_viterbi():
    batch = batch_of(np.random.default_rng(0), [5, 1, 40, 0, 3])
    xs = [{"word": ("w",) * n} for n in (5, 1, 40, 0, 3)]
    assert decoded(batch, [], xs).tolist() == viterbi_ids(batch)[0].tolist()


def test_labels_that_a_table_does_not_know_are_free():
    table = seen_table(once("pos", 2), [sentence("XX", "AB")])
    batch = ChainBatch(
        np.zeros((2, 2)), np.array([0, 2]), np.zeros((2, 2)), np.zeros(2), np.zeros(2), ("A", "D")
    )
    assert decoded(batch, [(table, 1.0)], [{"pos": ("X", "X")}]).tolist() == [0, 1]


def test_a_table_charges_what_was_not_seen_and_support_counts():
    table = seen_table(once("pos", 1), TRAIN)
    assert table.parameters == 3  # (X, A), (Y, B), (Y, C)
    often = seen_table(once("pos", 1, min_support=3), TRAIN)
    assert often.parameters == 1  # X with A, five times
    assert (table.unknown, set(table.scores[0].values())) == (-1.0, {0.0})


def test_counts_are_smoothed_probabilities():
    table = counts_table(once("pos", 1), TRAIN, smoothing=1.0)
    y = table.scores[1]  # Y: B, B, C, C
    assert sorted(np.exp(list(y.values()))) == pytest.approx([3 / 7, 3 / 7])
    assert np.exp(table.missing[1]) == pytest.approx(1 / 7)


def test_tables_refuse_windows_that_their_decoder_does_not_have():
    with pytest.raises(InvalidInput, match="at most 3 labels"):
        seen_table(once("pos", 4), TRAIN)
    with pytest.raises(InvalidInput, match="windows with contexts"):
        seen_table(once("ngram", 2), TRAIN)


def test_penalties_correct_the_errors_they_were_learned_from():
    """The base model prefers B everywhere; only the context shows where that is wrong."""
    emission = np.tile([0.0, 0.4, 0.0], (9, 1))
    batch = ChainBatch(emission, np.array([0, 3, 7, 9]), np.zeros((3, 3)), np.zeros(3), np.zeros(3), LABELS)
    tables = learn_penalties([once("pos", 1), once("pos", 2)], TRAIN, batch, TRAIN)
    found = decoded(batch, [(table, 1.0) for table in tables], [s.x for s in TRAIN])
    gold = [LABELS.index(label) for s in TRAIN for label in s.labels]
    assert (found == gold).sum() > (np.ones(9) == gold).sum()
    assert all(value <= 0 for table in tables for own in table.scores.values() for value in own.values())


def test_the_gradient_of_the_crf_is_that_of_its_likelihood():
    features = [NgramContext(LABELS, ("X", "Y"), n=2)]
    problem = _Likelihood(features, TRAIN, l2=0.1)
    w = np.random.default_rng(0).normal(size=problem.size)
    slope = problem(w)[1]
    for k in range(problem.size):
        step = 1e-5 * np.eye(1, problem.size, k)[0]
        numeric = (problem(w + step)[0] - problem(w - step)[0]) / 2e-5
        assert slope[k] == pytest.approx(numeric, abs=1e-6)


def test_the_crf_alone_labels_what_it_was_trained_on(tmp_path: Path):
    kept = Stages(tmp_path)
    crf = window_crf([once("pos", 1), once("pos", 2)], TRAIN, kept)
    assert [feature.n for feature in crf.features] == [2]
    flat = ChainBatch(
        np.zeros((9, 3)), np.array([0, 3, 7, 9]), np.zeros((3, 3)), np.zeros(3), np.zeros(3), LABELS
    )
    found = decoded(flat, [(crf, 1.0)], [s.x for s in TRAIN])
    assert "".join(LABELS[i] for i in found) == "ABAAABCCA"
    again = window_crf([once("pos", 2)], TRAIN, kept)
    assert np.array_equal(again.E, crf.E)


def test_tokens_are_unseen_if_one_of_their_windows_is():
    recipe = once("pos", 2)
    new = [sentence("XYXX", "ABAA"), sentence("XXY", "ADB"), sentence("YY", "BB")]
    assert unseen_tokens(recipe, TRAIN, new).tolist() == [False] * 4 + [True] * 5
