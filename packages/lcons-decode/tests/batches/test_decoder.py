"""A decoder of batches gives the answers of `decode_scored`, whatever the type of the batch, and travels."""

import pickle
import threading

import numpy as np
import pytest
from chain_strategies import chains, columns, learned, sequence_features
from hypothesis import given, settings
from hypothesis import strategies as st

import lcons_decode.batches._decoder as module
from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import Counts
from lcons_decode import ChainScores, Decoder, Hard, Scored, Soft, Status, decode_scored

LABELS = ("B-X", "I-X", "O")
EMISSION = [[[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], [], [[0.0, 0.0, -np.inf]]]


@st.composite
def problems(draw):
    """Sequences of one model with contexts, and constraints, some of them soft, perhaps a global one."""
    first = draw(chains(max_T=4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    shared = (first.transition, first.start, first.stop)
    sizes = draw(st.lists(st.integers(0, 4), max_size=4))
    scores = [first] + [
        ChainScores(rng.integers(-16, 17, (T, first.L)) / 16, *shared, labels=first.labels) for T in sizes
    ]
    xs = [draw(columns(len(one))) for one in scores]
    uses = []
    for i in range(draw(st.integers(0, 2))):
        constraint = draw(learned(draw(sequence_features(first.labels, max_n=3))))
        weight = draw(st.sampled_from([None, 0.5, 2.0]))
        uses.append(
            Hard(constraint, f"c{i}") if weight is None else Soft(constraint, weight, f"c{i}", "hinge")
        )
    if draw(st.booleans()):
        feature = Counts(first.labels)
        network = RectifierNetwork(np.ones((1, len(first.labels))), [-float(draw(st.integers(0, 3)))])
        uses.append(Hard(LearnedConstraint(network, feature.space, feature), "counts"))
    return scores, xs, uses


def expected(scores, xs, uses, **options):
    sequences = [Scored(one, x) for one, x in zip(scores, xs, strict=True)]
    for _, answer in decode_scored(sequences, uses, **options):
        found = answer.status is not Status.INFEASIBLE
        yield {
            "labels": list(answer.y) if found else None,
            "score": answer.score if found else None,
            "status": str(answer.status),
            "changed": answer.stats["changed"] if found else 0,
        }


@settings(max_examples=25)
@given(problems(), st.sampled_from([None, 2]), st.sampled_from([1, 3, 2**16]))
def test_a_batch_is_decoded_as_its_sequences_are(problem, beam, together):
    scores, xs, uses = problem
    model = scores[0]
    decoder = Decoder(
        uses,
        labels=model.labels,
        transition=model.transition,
        start=model.start,
        stop=model.stop,
        beam=beam,
        budget=50,
    )
    batch = {"emission": [one.emission for one in scores], "pos": [x["pos"] for x in xs]}
    want = list(expected(scores, xs, uses, beam=beam, budget=50))
    before, module.MOST_TOKENS = module.MOST_TOKENS, together
    try:
        found = pickle.loads(pickle.dumps(decoder))(batch)
    finally:
        module.MOST_TOKENS = before
    rows = [
        dict(zip(want[0], cells, strict=True)) for cells in zip(*(found[n] for n in want[0]), strict=True)
    ]
    assert rows == want
    assert found["pos"] == batch["pos"]
    assert "emission" not in found
    records = [{"emission": one.emission.tolist(), **x} for one, x in zip(scores, xs, strict=True)]
    assert decoder(records) == [x | answer for x, answer in zip(xs, want, strict=True)]


@pytest.fixture
def decoder(tmp_path):
    iob2(LABELS).save(tmp_path / "iob2.json")
    return Decoder([str(tmp_path / "iob2.json")], labels=LABELS)


def test_columns_of_arrays_are_answered_with_arrays(decoder):
    cells = np.empty(2, dtype=object)
    cells[:] = [np.array(EMISSION[0]), np.zeros((0, 3))]
    found = decoder({"emission": cells, "id": np.array([4, 5])})
    assert [list(row) for row in found["labels"]] == [["B-X", "I-X"], []]
    assert found["changed"].tolist() == [1, 0]
    assert all(isinstance(column, np.ndarray) for column in found.values())
    assert decoder({"emission": [], "id": []})["labels"] == []


def test_a_decoder_holds_the_constraints_and_not_the_files(decoder, tmp_path):
    (tmp_path / "iob2.json").unlink()
    found = pickle.loads(pickle.dumps(decoder))({"emission": EMISSION[:1]})
    assert found["labels"] == [["B-X", "I-X"]]
    assert "iob2" in repr(decoder)


def test_settings_change_with_all_that_answers_depend_on(decoder, tmp_path):
    iob2(LABELS).save(tmp_path / "iob2.json")
    file = str(tmp_path / "iob2.json")
    others = [
        Decoder([file], labels=LABELS),
        Decoder([file], labels=LABELS[::-1]),
        Decoder([f"{file}:0.5"], labels=LABELS),
        Decoder([file], labels=LABELS, transition=np.eye(3)),
        Decoder([file], labels=LABELS, beam=2),
        Decoder([file]),
        Decoder(labels=LABELS),
    ]
    settings_of = [str(other.settings()) for other in others]
    assert settings_of[0] == str(decoder.settings())
    assert len(set(settings_of)) == len(others)


def test_constraints_are_compiled_once_per_thread_for_all_copies(decoder, monkeypatch):
    compiled = []
    of = module.ChainConstraints.of  # type: ignore[attr-defined]
    monkeypatch.setattr(
        module.ChainConstraints,  # type: ignore[attr-defined]
        "of",
        lambda uses, labels: compiled.append(uses) or of(uses, labels),  # type: ignore[func-returns-value]
    )
    module._OF_THREAD.__dict__.clear()
    content = pickle.dumps(decoder)

    def work():
        for _ in range(3):
            pickle.loads(content)({"emission": EMISSION[:1]})

    work()
    assert len(compiled) == 1
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(compiled) == 2


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"words": [["a"]]}, "row 0 of the batch: expected 'emission', the scores, found words"),
        ({"emission": [[[1.0, 2.0]]]}, r"row 0 of the batch: expected emission of shape \(tokens, 3\)"),
        ({"emission": [[[1.0, 2.0, None]]]}, "expected numbers for token 1, found null"),
        ({"emission": [[[np.nan, 0.0, 0.0]]]}, "must not contain NaN"),
        ({"emission": EMISSION, "labels": [1, 2, 3]}, "expected no column 'labels'"),
        ([{"emission": EMISSION[0], "score": 1}], "expected no column 'score'"),
        ([3], "expected records"),
        ("text", "expected a batch"),
        (3, "expected a batch"),
    ],
)
def test_a_wrong_batch_is_one_sentence(decoder, batch, message):
    with pytest.raises(InvalidInput, match=message):
        decoder(batch)


def test_wrong_settings_are_refused_before_the_work(tmp_path):
    with pytest.raises(InvalidInput, match="pass `labels=`"):
        Decoder(transition=np.eye(2))
    with pytest.raises(InvalidInput, match="beam"):
        Decoder(labels=LABELS, beam=0)
    with pytest.raises(InvalidInput, match="found none; pass `labels=`"):
        Decoder()({"emission": EMISSION})
    with pytest.raises(InvalidInput, match="distinct names"):
        Decoder(labels=["a", "a"])
