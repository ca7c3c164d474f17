"""Scores read from models of other libraries are decoded as these libraries decode them."""

from itertools import product

import numpy as np
import pycrfsuite
import pytest
import torch
from torchcrf import CRF

from lcons_contrib.crf_libraries import CrfsuiteScores, from_pytorch_crf
from lcons_core import InvalidInput
from lcons_decode import viterbi


@pytest.mark.parametrize("seed", range(5))
def test_pytorch_crf_decodes_alike(seed):
    torch.manual_seed(seed)
    crf = CRF(4, batch_first=True)
    for T in (1, 2, 4):
        emission = torch.randn(T, 4)
        scores = from_pytorch_crf(crf, emission, "abcd")
        (path,) = crf.decode(emission[None])
        assert scores.ids(viterbi(scores).y).tolist() == path
        y = torch.randint(4, (T,))
        partition = -crf(emission[None], y[None], reduction="sum").item()
        every = [scores.score_ids(np.array(ids)) for ids in product(range(4), repeat=T)]
        margin = np.logaddexp.reduce(every) - scores.score_ids(y.numpy())
        assert margin == pytest.approx(partition, abs=1e-4)


def test_what_is_no_pytorch_crf_is_refused():
    with pytest.raises(InvalidInput, match=r"expected a torchcrf\.CRF, found dict"):
        from_pytorch_crf({}, [[0.0]], "a")


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("crfsuite") / "tiny.crfsuite")
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.1, "max_iterations": 30})
    rng = np.random.default_rng(0)
    for _ in range(30):
        words = rng.choice(["the", "dog", "runs"], 4)
        trainer.append(
            [[f"w={w}", "bias"] for w in words], [{"the": "D", "dog": "N"}.get(w, "V") for w in words]
        )
        trainer.append(
            [{"length": float(len(w)), "caps": 0.5, "word": str(w)} for w in words],
            list(rng.choice(["D", "N", "V"], 4)),
        )
    trainer.train(path)
    opened = pycrfsuite.Tagger()
    opened.open(path)
    return opened


SENTENCES = [
    [["w=the", "bias"], ["w=dog", "bias"], ["w=runs", "bias"]],
    [["w=dog"], ["w=unheard-of"], []],
    [{"length": 3.0, "caps": True}, {"w=the": 2.0}, {"length": 0.25}],
    [["bias"]],
    [["bias", "w=the", "w=the"], ["bias"]],
    [{"word": "the"}, {"word": "dog"}],
]


def assert_scores_alike(tagger, sentence):
    """CRFsuite writes its weights with six digits, so scores agree to about that precision."""
    scores = CrfsuiteScores(tagger).scores(sentence)
    tagger.set(sentence)
    labellings = list(product(scores.labels, repeat=len(sentence)))
    theirs = np.log([tagger.probability(list(y)) for y in labellings])
    ours = np.array([scores.score(y) for y in labellings])
    assert np.allclose(theirs - theirs[0], ours - ours[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_crfsuite_tags_and_scores_alike(tagger, sentence):
    assert list(viterbi(CrfsuiteScores(tagger).scores(sentence)).y) == tagger.tag(sentence)
    assert_scores_alike(tagger, sentence)
