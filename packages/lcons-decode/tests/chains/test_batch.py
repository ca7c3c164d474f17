"""Batch equals loop, cached equals uncached, and a stream is read only as far as needed."""

import threading
import time
import tracemalloc

import numpy as np
import pytest
from chain_strategies import columns, local_uses, sequences_of_one_model
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import CodedColumn, InvalidInput, LearnedConstraint, RectifierNetwork
from lcons_core.features import NgramContext
from lcons_decode import (
    ChainBatch,
    ChainConstraints,
    ChainScores,
    Soft,
    beam_search,
    brute,
    constrained_ids,
    constrained_viterbi,
    constrained_viterbi_batch,
    decode_batch,
    decode_global,
    decode_lagrangian,
    forbidden_ngrams,
    marginals,
    nbest,
    viterbi,
)
from lcons_decode._stream import DECODERS
from lcons_decode.chains._beam import beam_search_batch
from lcons_decode.chains._contributions import MOST_CODES
from lcons_decode.chains._viterbi import viterbi_batch
from lcons_decode.ilp import decode_ilp
from lcons_decode.kernels._arrays import share_rows

quick = settings(max_examples=40, deadline=None)
LOOPS = {
    "viterbi": lambda scores, uses, x: viterbi(scores),
    "exact": constrained_viterbi,
    "beam": beam_search,
    "global": decode_global,
}


@st.composite
def corpora(draw):
    """(sequences of one model, constraints, columns)."""
    sequences = draw(sequences_of_one_model(max_L=3, forbids=False))
    return sequences, draw(local_uses(sequences[0].labels)), [draw(columns(len(one))) for one in sequences]


@quick
@given(corpora())
def test_batch_is_loop(corpus):
    sequences, uses, xs = corpus
    batch = ChainBatch.of(sequences)
    pairs = list(zip(sequences, xs, strict=True))
    for batch_or_list in (batch, sequences):
        assert viterbi_batch(batch_or_list) == [viterbi(s) for s in sequences]
        answers = [constrained_viterbi(s, uses, x) for s, x in pairs]
        assert constrained_viterbi_batch(batch_or_list, uses, xs) == answers
        answers = [beam_search(s, uses, x, width=3) for s, x in pairs]
        assert beam_search_batch(iter(batch_or_list), uses, xs, width=3) == answers


RAW = [[0.0, 1.0]]
AB = forbidden_ngrams("01", ["000", "110"])
DECODES = {
    "viterbi": viterbi,
    "viterbi_batch": viterbi_batch,
    "hard": lambda scores: constrained_viterbi(scores, [AB]),
    "relaxed": lambda scores: constrained_viterbi(scores, [forbidden_ngrams("01", ["00", "01", "10", "11"])]),
    "soft": lambda scores: constrained_viterbi_batch(scores, [Soft(AB, 1.0)]),
    "stream": lambda scores: list(decode_batch([scores])),
    "beam": lambda scores: beam_search(scores, [AB]),
    "beam_batch": beam_search_batch,
    "n-best": lambda scores: nbest(scores, 2, [AB]),
    "global": lambda scores: decode_global(scores, [AB]),
    "lagrangian": lambda scores: decode_lagrangian(scores, []),
    "marginals": marginals,
    "brute": brute,
    "ilp": decode_ilp,
}


@pytest.mark.parametrize("name", DECODES)
def test_what_are_no_chain_scores_is_refused(name):
    with pytest.raises(InvalidInput):
        DECODES[name](RAW)


def test_a_batch_of_one_is_a_list_of_one():
    for one in (ChainScores(RAW), 3):
        with pytest.raises(InvalidInput):
            viterbi_batch(one)


@quick
@given(corpora(), st.sampled_from(sorted(DECODERS)), st.integers(1, 4))
def test_a_stream_is_a_loop_whatever_the_decoder_and_the_chunk(corpus, decoder, chunk):
    sequences, uses, xs = corpus
    options = {"width": chunk} if decoder == "beam" else {}
    streamed = decode_batch(iter(sequences), uses, iter(xs), decoder=decoder, chunk=chunk, **options)
    looped = [LOOPS[decoder](s, uses, x, **options) for s, x in zip(sequences, xs, strict=True)]
    assert list(streamed) == looped
    assert list(decode_batch([], decoder=decoder)) == []


@pytest.mark.parametrize("most_codes", [MOST_CODES, 0])
@quick
@given(corpora())
def test_cached_is_uncached(most_codes, corpus):
    """With the rows of windows in a table, and sorted as they are for many labels."""
    sequences, uses, xs = corpus
    cached = ChainConstraints.of(uses, sequences[0].labels)
    for scores, x in zip(sequences, xs, strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lcons_decode.chains._contributions.MOST_CODES", most_codes)
            answers = constrained_viterbi(scores, cached, x), beam_search(scores, cached, x)
        assert answers == (constrained_viterbi(scores, uses, x), beam_search(scores, uses, x))


@quick
@given(corpora())
def test_packed_arrays_and_columns_are_a_loop(corpus):
    sequences, uses, xs = corpus
    own = ChainBatch.of(sequences)
    model = (own.transition, own.start, own.stop)
    batch = ChainBatch.packed(own.emission, own.offsets, *model, labels=own.labels)
    looped = [constrained_viterbi(s, uses, x) for s, x in zip(sequences, xs, strict=True)]
    flat = [value for x in xs for value in x["pos"]]
    compiled = ChainConstraints.of(uses, batch.labels)
    for column in (flat, CodedColumn.of(flat)):
        assert constrained_viterbi_batch(batch, uses, {"pos": column}) == looped
        assert beam_search_batch(batch, uses, {"pos": column}) == beam_search_batch(batch, uses, xs)
        ids, scores, _ = constrained_ids(batch, compiled, {"pos": column})
        named = [batch.labels[i] for i in ids]
        assert named == [label for found in looped for label in found.y]
        assert scores.tolist() == [found.score for found in looped]
    coded = [{"pos": CodedColumn.of(x["pos"])} for x in xs]
    assert constrained_viterbi_batch(batch, uses, coded) == looped


def test_packed_scores_are_not_copied():
    emission = np.zeros((1000, 50))
    tracemalloc.start()
    batch = ChainBatch.packed(emission, [0, 400, 1000])
    chain = batch.chain()
    again = ChainBatch.of([next(iter(batch))])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all(np.shares_memory(emission, a) for a in (batch.emission, chain.emission, again.emission))
    assert peak < emission.nbytes / 2
    assert emission.flags.writeable
    assert not batch.emission.flags.writeable


@pytest.mark.parametrize("offsets", [[], [1, 3], [0, 2], [0, 2, 1, 3], [0.0, 3.0], [[0, 3]]])
def test_offsets_rise_from_zero_to_the_number_of_tokens(offsets):
    with pytest.raises(InvalidInput):
        ChainBatch.packed(np.zeros((3, 2)), offsets)


@pytest.mark.parametrize("rules", [1, 2])
def test_bounds_that_become_too_large_know_the_last_label_alone(monkeypatch, rules):
    rng = np.random.default_rng(3)
    feature = NgramContext(("a", "b", "c"), ("x", "y", "z"), 3)
    W = rng.integers(-8, 9, (4, feature.space.d)) / 4
    rule = LearnedConstraint(RectifierNetwork(W, np.zeros(4)), feature.space, feature)
    uses = [Soft(rule, 1.0 + i, f"rule {i}") for i in range(rules)]
    xs = [{"pos": rng.choice(list("xyz"), 6).tolist()} for _ in range(6)]
    scores = [ChainScores(rng.normal(size=(6, 3)), labels="abc") for _ in xs]
    expected = [constrained_viterbi(own, uses, x) for own, x in zip(scores, xs, strict=True)]
    compiled = ChainConstraints.of(uses, "abc")
    monkeypatch.setattr("lcons_decode.chains._contributions.MOST_BOUNDS", 8 * 16)
    for own, x, answer in zip(scores, xs, expected, strict=True):
        found = constrained_viterbi(own, compiled, x)
        assert (found.y, found.score) == (answer.y, answer.score)


def test_threads_do_not_change_the_answers():
    rng = np.random.default_rng(0)
    batch = ChainBatch.of([ChainScores(rng.integers(-16, 17, (T % 6, 3)) / 16) for T in range(300)])
    uses = [forbidden_ngrams("012", ["012", "111", "201"])]
    assert constrained_viterbi_batch(batch, uses, threads=2) == constrained_viterbi_batch(
        batch, uses, threads=1
    )
    assert viterbi_batch(batch, threads=2) == viterbi_batch(batch, threads=1)


def test_a_list_of_scores_is_copied_once_to_pack_it():
    emission = np.zeros((200, 64))
    emission.flags.writeable = False
    sequences = [ChainScores(emission) for _ in range(64)]
    few = sequences[:2]

    def peak(given):
        tracemalloc.start()
        for _ in decode_batch(given, decoder="viterbi"):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(few)
    assert peak(sequences) < 1.5 * len(sequences) * emission.nbytes


@pytest.mark.parametrize("caller", [True, False])
def test_an_error_in_shared_rows_is_raised_and_ends_the_work(caller):
    begun = []

    def run(first, last):
        begun.append(first)
        if (threading.current_thread() is threading.main_thread()) == caller:
            raise IndexError("of this piece")
        time.sleep(0.2)

    with pytest.raises(IndexError, match="of this piece"):
        share_rows(run, 64_000, 2)
    assert len(begun) < 4


def test_a_stream_is_read_a_chunk_at_a_time():
    read = 0

    def stream():
        nonlocal read
        while True:
            read += 1
            yield ChainScores([[0.0, 1.0]])

    answers = decode_batch(stream(), chunk=4)
    assert read == 0
    for count in range(1, 10):
        assert next(answers).y == ("1",)
        assert read == 4 * -(-count // 4)


def test_sequences_of_different_models_and_labels_may_follow_each_other():
    sequences = [
        ChainScores([[1.0, 0.0]] * 2, labels="ab"),
        ChainScores([[1.0, 0.0]] * 2, start=[0.0, 9.0], labels="ab"),
        ChainScores([[0.0, 1.0]] * 2, labels="ba"),
        ChainScores(np.zeros((0, 2)), labels="ab"),
        ChainScores([[1.0, 0.0]] * 2, labels="ab"),
    ]
    uses = [forbidden_ngrams("ab", ["aa"])]
    for chunk in (1, 2, 9):
        assert list(decode_batch(sequences, uses, chunk=chunk)) == [
            constrained_viterbi(s, uses) for s in sequences
        ]


def test_unknown_decoders_and_missing_columns_are_refused():
    with pytest.raises(InvalidInput):
        decode_batch([], decoder="best")
    with pytest.raises(InvalidInput):
        decode_batch([], chunk=0)
    scores = ChainScores([[0.0]])
    with pytest.raises(InvalidInput):
        list(decode_batch([scores, scores], (), [{}]))
    with pytest.raises(InvalidInput):
        constrained_viterbi_batch(ChainBatch.of([scores, scores]), [], [{}])
    with pytest.raises(InvalidInput):
        constrained_viterbi_batch(ChainBatch.packed(np.zeros((3, 2)), [0, 3]), [], {"pos": ["x", "y"]})
