"""A tagger gives one tag per word, the same on every run, and is trained once."""

import random
import shutil
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput
from lcons_tasks.data.text import _pos as pos_module
from lcons_tasks.data.text import find_pos_tagger

NOUNS, VERBS, PLACES = ("dog", "cat", "bird"), ("sees", "likes", "hears"), ("Rome", "Paris", "Oslo")
TAGS = ("DT", "NN", "VBZ", "DT", "JJ", "NN", "IN", "NNP", ".")
SENTENCES = [
    (("The", noun, verb, "a", adjective, NOUNS[-i], "in", PLACES[i], "."), TAGS)
    for i, noun in enumerate(NOUNS)
    for verb in VERBS
    for adjective in ("small", "old")
]
UNSEEN = ("The", "bird", "likes", "a", "small", "dog", "in", "Rome", ".")


@pytest.fixture(autouse=True)
def no_pipeline(monkeypatch):
    """No pipeline is installed, whatever is."""
    monkeypatch.setattr(pos_module, "PIPELINE", "lcons_no_such_pipeline")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("taggers")


@pytest.fixture(scope="module")
def tagger(cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pos_module, "PIPELINE", "lcons_no_such_pipeline")
        return find_pos_tagger(made_up, cache)


def made_up():
    return "made-up sentences", SENTENCES


def progress_of(folder):
    """Calls of the progress of a search for the tagger: none if it was not trained."""
    calls = []
    found = find_pos_tagger(made_up, folder, lambda *call: calls.append(call))
    return found, calls


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=()), max_size=5), max_size=8), max_size=4))
@settings(deadline=None, max_examples=50)
def test_there_is_one_tag_a_word_whatever_the_words_and_batch_equals_loop(tagger, drawn):
    together = tagger.tags_many(drawn)
    assert [tagger.tags(words) for words in drawn] == together
    assert [len(tags) for tags in together] == [len(words) for words in drawn]
    assert {tag for tags in together for tag in tags} <= set(TAGS)


def test_words_are_tagged_as_given_and_never_tokenised_again(tagger):
    assert len(tagger.tags(["don't stop.", "", " ", "(a)", "x" * 20_000])) == 5
    assert tagger.tags([]) == ()
    with pytest.raises(InvalidInput):
        tagger.tags("The dog")


def test_the_kept_tagger_is_read_and_a_rerun_gives_the_same_one(tagger, cache, tmp_path):
    again, calls = progress_of(cache)
    assert not calls
    random.seed(7), np.random.seed(7)
    expected = random.random(), np.random.random()
    random.seed(7), np.random.seed(7)
    rerun, calls = progress_of(tmp_path)
    assert calls[-1] == (30 * len(SENTENCES),) * 2
    assert (random.random(), np.random.random()) == expected
    assert weights(again) == weights(rerun) == weights(tagger)


def test_a_damaged_tagger_is_trained_again_and_replaced(tagger, cache, tmp_path):
    home = shutil.copytree(cache, tmp_path / "pos")
    (folder,) = home.iterdir()
    model = folder / "tagger" / "model"
    model.write_bytes(model.read_bytes()[:100])
    assert progress_of(home)[1]
    assert not progress_of(home)[1]
    assert list(home.iterdir()) == [folder]


def test_the_installed_pipeline_comes_first(tagger, tmp_path, monkeypatch):
    tagger.pipeline.to_disk(tmp_path / "pipeline")
    code = f"""
        import spacy
        def load(**settings):
            assert "ner" in settings["exclude"]
            return spacy.load({str(tmp_path / "pipeline")!r}, **settings)
        """
    (tmp_path / "lcons_made_up_pipeline.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pos_module, "PIPELINE", "lcons_made_up_pipeline")
    found, calls = progress_of(tmp_path / "pos")
    assert "lcons_made_up_pipeline" in found.name
    assert found.tags(UNSEEN) == tagger.tags(UNSEEN) == TAGS
    assert not calls


def weights(tagger):
    return tagger.pipeline.get_pipe("tagger").model.to_bytes()
