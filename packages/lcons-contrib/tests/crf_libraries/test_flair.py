"""Saved transitions of a flair tagger score as flair does, with [to, from] turned round."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from lcons_contrib.crf_libraries import FlairScores
from lcons_core import InvalidInput
from lcons_decode import viterbi

TAGS = ["O", "<START>", "B-X", "E-X", "<STOP>"]


def drawn(seed: int = 0):
    """Transitions as flair makes them: nothing leads to <START> or away from <STOP>."""
    rng = np.random.default_rng(seed)
    transitions = rng.normal(0, 2, (5, 5)).astype(np.float32)
    transitions[TAGS.index("<START>"), :] = -10000
    transitions[:, TAGS.index("<STOP>")] = -10000
    return transitions, rng.normal(0, 2, (4, 5)).astype(np.float32)


def score_by_definition(transitions, emission, path):
    """Each step adds transitions[to, from], from <START> and to <STOP>, and the emission of the tag."""
    whole = [TAGS.index("<START>"), *path, TAGS.index("<STOP>")]
    steps = sum(float(transitions[to, source]) for source, to in pairwise(whole))
    return steps + sum(float(emission[t, tag]) for t, tag in enumerate(path))


def test_labellings_have_the_scores_of_the_definition_and_the_best_is_found():
    transitions, emission = drawn()
    scores = FlairScores(transitions, TAGS).scores(emission)
    assert scores.labels == ("O", "B-X", "E-X")
    found = {}
    for path in product([0, 2, 3], repeat=4):
        y = tuple(TAGS[i] for i in path)
        found[y] = score_by_definition(transitions, emission, path)
        assert scores.score(y) == pytest.approx(found[y], abs=1e-9)
    assert viterbi(scores).y == max(found, key=found.get)


def test_the_arrays_are_read_from_a_file(tmp_path):
    transitions, emission = drawn(1)
    np.savez(tmp_path / "tagger.npz", transitions=transitions, tags=np.array(TAGS))
    found = FlairScores.load(tmp_path / "tagger.npz")
    np.testing.assert_array_equal(
        found.scores(emission).transition, transitions[np.ix_([0, 2, 3], [0, 2, 3])].T
    )


@pytest.mark.parametrize("tags", [None, np.array(TAGS), np.array(["O", "B"]), np.array([{}, {}])])
def test_a_file_that_is_no_tagger_is_refused(tmp_path, tags):
    np.savez(
        tmp_path / "tagger.npz", transitions=np.zeros((2, 2)), **({} if tags is None else {"tags": tags})
    )
    for name in ("tagger.npz", "none.npz"):
        with pytest.raises(InvalidInput):
            FlairScores.load(tmp_path / name)
