"""Constraints for scores of any tagger: those that help are chosen, and a bias of O is exactly a bias."""

import numpy as np
import pytest
from made_up_drugs import corpus

from lcons_core import InvalidInput
from lcons_decode import ChainScores, Hard, Scored, Soft, constrained_viterbi, load_constraints, viterbi
from lcons_tasks import LinearSettings
from lcons_tasks.data import Sentence
from lcons_tasks.fitted import fit_scores
from lcons_tasks.fitted._own_scores import bias_of_outside
from lcons_tasks.models._coded_text import CodedText

TRAIN = corpus(60)
LABELS = ("B-DRUG", "I-DRUG", "O")


def scores(sentences, noise=1.0, outside=0.0, seed=0):
    """Right scores with noise, and too much for O."""
    rng = np.random.default_rng(seed)
    found = []
    for sentence in sentences:
        emission = rng.normal(0, noise, (len(sentence), 3))
        emission[np.arange(len(sentence)), [LABELS.index(label) for label in sentence.labels]] += 2.0
        emission[:, 2] += outside
        found.append(ChainScores(emission, labels=LABELS))
    return found


def test_noisy_tokens_get_the_scheme_and_it_helps_elsewhere():
    found = fit_scores(TRAIN, scores(TRAIN))
    assert found.constraints[0].name == "iob2"
    assert found.figure > found.base + 3
    assert found.gain.low > 0
    assert [one.part for one in found.contributions][:2] == ["scores alone", "label scheme iob2"]


def test_a_bias_of_outside_is_found_and_taken_away():
    found = fit_scores(TRAIN, scores(TRAIN, noise=0.6, outside=2.5))
    soft = found.constraints[-1]
    assert isinstance(soft, Soft)
    assert soft.name == "fewer-O"
    assert soft.weight in (1.0, 1.5, 2.0)
    assert f"O costs {soft.weight:g}" in found.rules
    assert f"bias of O: use it as a soft constraint with the weight {soft.weight:g}" in found.advice[-1]


@pytest.mark.parametrize("bias", [-0.5, 0.5, 1.5])
def test_the_soft_constraint_is_the_bias(bias):
    use = bias_of_outside(LABELS, bias)
    for one in scores(TRAIN[:20], noise=2.0):
        shifted = ChainScores(one.emission - np.array([0, 0, bias]), labels=LABELS)
        assert constrained_viterbi(one, [use]).y == viterbi(shifted).y


def test_right_scores_are_suspicious_and_need_no_bias():
    found = fit_scores(TRAIN, scores(TRAIN, noise=0.01))
    assert found.suspicious
    assert found.base == found.figure == 100
    assert found.constraints[0].name == "iob2"
    assert not any(isinstance(use, Soft) for use in found.constraints)
    assert not fit_scores(TRAIN, scores(TRAIN)).suspicious


def test_a_scheme_that_gold_breaks_is_not_used():
    inside = [Sentence(s.words, tuple("I" + y[1:] if y != "O" else y for y in s.labels)) for s in TRAIN]
    found = fit_scores(inside, scores(inside, noise=0.5))
    assert "iob2" not in {use.name for use in found.constraints}
    assert found.figure >= found.base


def test_a_crf_is_not_made_worse():
    text = CodedText.of([s.x for s in TRAIN])
    model = text.train(
        range(30), [s.labels for s in TRAIN[:30]], LinearSettings(0.1, 0.1, iterations=30), LABELS
    )
    found = fit_scores(TRAIN[30:], list(text.scores(model, 30, 60)))
    assert found.figure >= found.base


def test_what_is_written_is_what_decode_reads(tmp_path):
    found = fit_scores(TRAIN, scores(TRAIN, outside=1.5))
    found.save(tmp_path / "chosen")
    files = [word for word in found.options(tmp_path / "chosen") if word != "-c"]
    loaded = load_constraints(files, None)
    assert [type(use) for use in loaded] == [type(use) for use in found.constraints]
    for use, own in zip(loaded, found.constraints, strict=True):
        assert np.array_equal(use.constraint.network.W, own.constraint.network.W)
        assert isinstance(own, Hard) or use.weight == own.weight


def test_scores_of_other_sentences_are_an_error():
    right = scores(TRAIN)
    strange = [Scored(right[0], {"word": ("x",) * len(right[0])}), *right[1:]]
    other = [Sentence(("one",), ("O",)), *TRAIN[1:]]
    for train, scored in ((TRAIN, right[1:]), (other, right), (TRAIN, strange), (TRAIN[:1], right[:1])):
        with pytest.raises(InvalidInput):
            fit_scores(train, scored)
