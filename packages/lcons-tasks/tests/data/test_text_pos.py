"""A tagger gives one tag per word, the same on every run, and is trained once."""

import random
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import InvalidInput, LconsError
from lcons_tasks.data.text import _pos as pos_module
from lcons_tasks.data.text import find_pos_tagger
from lcons_tasks.data.text._plan import TaggerNotFound

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
def seen():
    return []


@pytest.fixture(scope="module")
def tagger(cache, seen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pos_module, "PIPELINE", "lcons_no_such_pipeline")
        return find_pos_tagger(made_up, cache_dir=cache, progress=seen.append)


def made_up():
    return "made-up sentences", SENTENCES


def no_training(*_):
    raise AssertionError("trained again")


def test_it_learns_the_tags_of_its_corpus(tagger):
    assert tagger.tags(UNSEEN) == TAGS


def test_its_name_says_where_it_comes_from(tagger):
    assert tagger.name == "spaCy tagger trained on 18 sentences of made-up sentences"


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=()), max_size=5), max_size=8), max_size=4))
@settings(deadline=None, max_examples=50)
def test_there_is_one_tag_a_word_whatever_the_words_and_batch_equals_loop(tagger, drawn):
    together = tagger.tags_many(drawn)
    tagger._known.clear()
    assert [tagger.tags(words) for words in drawn] == together
    assert [len(tags) for tags in together] == [len(words) for words in drawn]
    assert {tag for tags in together for tag in tags} <= set(TAGS)


def test_words_are_tagged_as_given_and_never_tokenised_again(tagger):
    assert len(tagger.tags(["don't stop.", "", " ", "(a)", "x" * 20_000])) == 5
    assert tagger.tags([]) == ()
    assert tagger.tags_many([]) == []


def test_a_text_in_place_of_words_is_refused(tagger):
    with pytest.raises(InvalidInput):
        tagger.tags("The dog")


def test_the_kept_tagger_is_found_again_and_tags_alike(tagger, cache, monkeypatch):
    monkeypatch.setattr(pos_module, "train_tagger", no_training)
    again = find_pos_tagger(made_up, cache_dir=cache)
    assert again.name == tagger.name
    assert again.tags(UNSEEN) == tagger.tags(UNSEEN)
    assert weights(again) == weights(tagger)
    assert [path.name for path in cache.iterdir()] == [kept_in(cache).name]


def test_a_rerun_gives_the_same_tagger_and_leaves_the_callers_random_numbers(tagger):
    random.seed(7), np.random.seed(7)
    expected = random.random(), np.random.random()
    random.seed(7), np.random.seed(7)
    rerun = find_pos_tagger(made_up)
    assert (random.random(), np.random.random()) == expected
    assert weights(rerun) == weights(tagger)


@pytest.mark.parametrize("damage", ["truncated", "missing", "other tags", "a file"])
def test_a_damaged_tagger_is_trained_again_and_replaced(damage, tagger, tmp_path, monkeypatch):
    monkeypatch.setattr(pos_module, "train_tagger", lambda *_: tagger.pipeline)
    find_pos_tagger(made_up, cache_dir=tmp_path)
    folder = kept_in(tmp_path)
    model, config = folder / "tagger" / "model", folder / "tagger" / "cfg"
    if damage == "truncated":
        model.write_bytes(model.read_bytes()[:100])
    elif damage == "missing":
        model.unlink()
    elif damage == "other tags":
        assert "VBZ" in config.read_text()
        config.write_text(config.read_text().replace("VBZ", "XYZ"))
    else:
        folder.rename(tmp_path.parent / f"{tmp_path.name}-away")
        folder.write_text("not a folder")
    find_pos_tagger(made_up, cache_dir=tmp_path)
    monkeypatch.setattr(pos_module, "train_tagger", no_training)
    assert find_pos_tagger(made_up, cache_dir=tmp_path).tags(UNSEEN) == TAGS
    assert list(tmp_path.iterdir()) == [folder]


def test_the_installed_pipeline_comes_first(tagger, tmp_path, monkeypatch):
    tagger.pipeline.to_disk(tmp_path / "pipeline")
    code = f"""
        import spacy
        def load(**settings):
            assert "ner" in settings["exclude"]
            return spacy.load({str(tmp_path / "pipeline")!r}, **settings)
        """
    (tmp_path / "lcons_made_up_pipeline.py").write_text(textwrap.dedent(code))
    install(monkeypatch, tmp_path, "lcons_made_up_pipeline")
    found = find_pos_tagger(no_training)
    assert found.name == "spaCy pipeline lcons_made_up_pipeline 0.0.0"
    assert found.tags(UNSEEN) == TAGS


def test_without_pipeline_and_corpus_the_error_says_what_to_install():
    with pytest.raises(TaggerNotFound):
        find_pos_tagger()
    assert issubclass(TaggerNotFound, LconsError)


@pytest.mark.parametrize(
    "sentences",
    [
        [],
        [((), ())],
        [(("a",), ("DT",)), (("a", "b"), ("DT",))],
        [(("a", " "), ("DT", "NN"))],
        [(("a", "b"), ("DT", ""))],
    ],
)
def test_a_corpus_that_cannot_be_learnt_from_is_refused(sentences):
    with pytest.raises(InvalidInput):
        find_pos_tagger(lambda: ("bad", sentences))


def install(monkeypatch, folder, name):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(pos_module, "PIPELINE", name)
    monkeypatch.delitem(sys.modules, name, raising=False)


def kept_in(folder):
    (kept,) = folder.glob("pos-*")
    return kept


def weights(tagger):
    return tagger.pipeline.get_pipe("tagger").model.to_bytes()
