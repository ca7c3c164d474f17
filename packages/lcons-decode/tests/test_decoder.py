"""A decoder of batches gives the answers of `decode_scored`, whatever the type of columns, and travels."""

import pickle
import threading

import numpy as np
import pytest
from chain_strategies import columns, local_uses, sequences_of_one_model
from hypothesis import given, settings
from hypothesis import strategies as st

import lcons_decode._decoder as module
from lcons_core import InvalidInput, LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import Counts, NgramContext
from lcons_decode import Decoder, Hard, Scored, Status
from lcons_decode._stream import decode_scored

LABELS = ("B-X", "I-X", "O")
EMISSION = [[[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], [], [[0.0, 0.0, -np.inf]]]


@st.composite
def problems(draw):
    """Sequences of one model with contexts, and constraints, some of them soft, perhaps a global one."""
    scores = draw(sequences_of_one_model(max_T=4))
    labels, xs = scores[0].labels, [draw(columns(len(one))) for one in scores]
    uses = draw(local_uses(labels, min_size=0, max_size=2, max_n=3))
    if draw(st.booleans()):
        feature = Counts(labels)
        network = RectifierNetwork(np.ones((1, len(labels))), [-float(draw(st.integers(0, 3)))])
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
@given(problems(), st.sampled_from([None, 2]))
def test_a_batch_is_decoded_as_its_sequences_are(problem, beam):
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
    found = pickle.loads(pickle.dumps(decoder))(batch)
    rows = [
        dict(zip(want[0], cells, strict=True)) for cells in zip(*(found[n] for n in want[0]), strict=True)
    ]
    assert rows == want
    assert found["pos"] == batch["pos"]
    assert "emission" not in found
    assert decoder({**batch, "emission": [one.emission.tolist() for one in scores]}) == found


@pytest.fixture
def decoder():
    return Decoder([iob2(LABELS)], labels=LABELS)


def nested(cell):
    """A cell as pandas and Ray read it from Parquet: an array of arrays."""
    array = np.empty(len(cell), dtype=object)
    array[:] = [np.array(row) for row in cell]
    return array


@pytest.mark.parametrize("kind", [list, np.array, nested])
def test_cells_may_be_lists_arrays_and_arrays_of_arrays(decoder, kind):
    cells = np.empty(3, dtype=object)
    cells[:] = [kind(cell) for cell in EMISSION]
    found = decoder({"emission": cells, "id": np.array([4, 5, 6])})
    assert found["labels"] == [["B-X", "I-X"], [], ["B-X"]]
    assert found["changed"] == [1, 0, 0]
    assert found["status"] == ["optimal"] * 3
    assert list(found["id"]) == [4, 5, 6]
    assert decoder({"emission": [], "id": []}) == {name: [] for name in ("id", *module.ANSWERS)}


def test_constraints_are_compiled_once_per_thread_for_all_copies(decoder, monkeypatch):
    compiled = []
    of = module.ChainConstraints.of  # type: ignore[attr-defined]
    monkeypatch.setattr(
        module.ChainConstraints,  # type: ignore[attr-defined]
        "of",
        lambda uses, labels: compiled.append(uses) or of(uses, labels),  # type: ignore[func-returns-value]
    )
    module._compiled.cache_clear()
    content = pickle.dumps(decoder)

    def count(calls=3):
        before = len([uses for uses in compiled if isinstance(uses, list)])
        for _ in range(calls):
            pickle.loads(content)({"emission": EMISSION[:1]})
        return len([uses for uses in compiled if isinstance(uses, list)]) - before

    assert [count(), count()] == [1, 0]
    counts = []
    thread = threading.Thread(target=lambda: counts.append(count()))
    thread.start()
    thread.join()
    assert counts == [1]


@pytest.mark.parametrize(
    "batch",
    [
        {"words": [["a"]]},
        {"emission": [[[1.0, 2.0]]]},
        {"emission": [[[1.0, 2.0, None]]]},
        {"emission": [3]},
        {"emission": [[[np.nan, 0.0, 0.0]]]},
        {"emission": EMISSION, "labels": [1, 2, 3]},
    ],
)
def test_a_wrong_batch_is_refused(decoder, batch):
    with pytest.raises(InvalidInput):
        decoder(batch)


def test_labels_are_distinct_and_columns_that_constraints_read_must_be_there_and_as_long_as_the_scores():
    feature = NgramContext(LABELS, ("w", "v"), 2)
    network = RectifierNetwork(np.zeros((1, feature.space.d)), [0.0])
    decoder = Decoder([LearnedConstraint(network, feature.space, feature)], labels=LABELS)
    with pytest.raises(InvalidInput, match="pos"):
        decoder({"emission": EMISSION[:1]})
    with pytest.raises(InvalidInput, match="pos"):
        decoder({"emission": EMISSION[:1], "pos": [["w"]]})
    with pytest.raises(InvalidInput):
        Decoder(labels=["a", "a"])
