"""`fit` with a file of word vectors: they help where they tell, and the tagger needs the same file."""

from dataclasses import replace

import pytest
from made_up_drugs import DRUGS, FOODS, corpus, text

from lcons_core import InvalidInput
from lcons_tasks import FitSettings, fit, load_constrained_tagger

TRAIN, TEXT, TEST = corpus(24), text(60), [s.words for s in corpus(20, seed=2)]
QUICK = FitSettings(folds=2, iterations=20, scales=(1.0, 2.0))


@pytest.fixture
def vectors(tmp_path):
    """A file of vectors that tells drugs from foods, with a head, as fastText writes it."""
    lines = [f"{word} {kind} 0.5" for kind, words in ((1, DRUGS), (-1, FOODS)) for word in words]
    path = tmp_path / "some.vec"
    path.write_text(f"{len(lines)} 2\n" + "".join(f"{line} \n" for line in lines))
    return path


@pytest.fixture
def tagger(vectors, tmp_path):
    """What `fit` makes with these vectors, and the same tagger from its folder."""
    found = fit(TRAIN, TEXT, replace(QUICK, vectors=str(vectors)))
    found.save(tmp_path / "tagger")
    return found, load_constrained_tagger(tmp_path / "tagger")


def test_vectors_that_tell_the_labels_help_and_a_saved_tagger_reads_them(tagger, vectors):
    found, loaded = tagger
    assert found.contributions[2].gain.mean > 0
    assert found.to_dict()["chosen"]["vectors"]["name"] == str(vectors)
    for a, b in zip(found.tag(TEST), loaded.tag(TEST), strict=True):
        assert (a.y, a.score) == (b.y, pytest.approx(b.score))


@pytest.mark.parametrize("change", [lambda file: file.write_text("dog 1 2\n"), lambda file: file.unlink()])
def test_vectors_that_are_others_or_missing_are_refused(change, tagger, vectors):
    change(vectors)
    with pytest.raises(InvalidInput):
        tagger[1].tag(TEST)
