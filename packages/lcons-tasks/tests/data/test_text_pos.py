"""A tagger gives one tag per word, the same on every run, and is trained once."""

import random
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core._errors import InvalidInput, LconsError
from lcons_tasks.data.text import PLANS, SENTENCE_LIMIT, TaggerNotFound, UnusableCache, find_pos_tagger
from lcons_tasks.data.text import _pos as pos_module
from lcons_tasks.data.text._plan import Plan, fingerprint, plan_for

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
    with pytest.raises(InvalidInput, match="tokenise it first"):
        tagger.tags("The dog")


def test_what_was_tagged_is_remembered(tagger):
    first = tagger.tags(["A", "cat"])
    assert tagger.tags_many([["A", "cat"], ("A", "cat")]) == [first, first]
    assert tagger.tags(["A", "cat"]) is first


def test_progress_counts_the_sentences_of_all_epochs(tagger, seen):
    epochs = plan_for(len(SENTENCES)).epochs
    assert [step.done for step in seen] == sorted({step.done for step in seen})
    assert (seen[-1].done, seen[-1].total, seen[-1].epoch) == (epochs * 18, epochs * 18, epochs)
    assert seen[-1].loss < seen[0].loss


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


def test_training_that_fails_leaves_nothing_behind(tmp_path):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_pos_tagger(made_up, cache_dir=tmp_path, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_known_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(pos_module, "train_tagger", no_training)
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableCache, match="name another cache folder"):
        find_pos_tagger(made_up, cache_dir=tmp_path / "file" / "cache")


def test_the_kept_name_changes_with_content_plan_and_spacy():
    plan = PLANS[0]
    names = {
        fingerprint(SENTENCES, plan, "3.8.0"),
        fingerprint(SENTENCES[1:], plan, "3.8.0"),
        fingerprint([(("a", "b"), ("c", "d"))], plan, "3.8.0"),
        fingerprint([(("a",), ("c",)), (("b",), ("d",))], plan, "3.8.0"),
        fingerprint(SENTENCES, Plan(100, 30, 4, 0.4, seed=1), "3.8.0"),
        fingerprint(SENTENCES, plan, "3.8.1"),
    }
    assert len(names) == 6


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


def test_an_installed_pipeline_that_does_not_load_is_an_error_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "lcons_broken_pipeline.py").write_text("raise ValueError('made for\\nspaCy 2')")
    install(monkeypatch, tmp_path, "lcons_broken_pipeline")
    with pytest.raises(TaggerNotFound, match="does not load: ValueError: made for spaCy 2; install"):
        find_pos_tagger(made_up)


def test_without_pipeline_and_corpus_the_error_says_what_to_install():
    with pytest.raises(TaggerNotFound, match="python -m spacy download"):
        find_pos_tagger()
    assert issubclass(TaggerNotFound, LconsError)


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([], "found none"),
        ([((), ())], "found none"),
        ([(("a",), ("DT",)), (("a", "b"), ("DT",))], "found 1 tags for 2 words in sentence 2"),
        ([(("a", " "), ("DT", "NN"))], "expected words that are not blank"),
        ([(("a", "b"), ("DT", ""))], "expected tags that are not blank"),
    ],
)
def test_a_corpus_that_cannot_be_learnt_from_is_refused(sentences, message):
    with pytest.raises(InvalidInput, match=message):
        find_pos_tagger(lambda: ("bad", sentences))


def test_one_tag_and_odd_words_are_a_corpus_too(monkeypatch):
    monkeypatch.setattr(pos_module, "plan_for", lambda _: Plan(10, 1, 4, 0.1))
    odd = [(("\ud800", "a b", "😀", "\x00", "x" * 5_000), ("NN",) * 5)]
    assert find_pos_tagger(lambda: ("odd", odd)).tags(["z", "y"]) == ("NN", "NN")


def test_plans_go_by_size_and_larger_corpora_are_cut(tagger, monkeypatch):
    assert [plan.sentences for plan in PLANS] == sorted(plan.sentences for plan in PLANS)
    assert plan_for(1) == PLANS[0]
    assert plan_for(101) == PLANS[1]
    assert plan_for(10**9) == PLANS[-1]
    monkeypatch.setattr(pos_module, "train_tagger", lambda *_: tagger.pipeline)
    many = [(("a",), ("DT",))] * (SENTENCE_LIMIT + 1)
    assert find_pos_tagger(lambda: ("many", many)).name.endswith(f"on {SENTENCE_LIMIT} sentences of many")


def install(monkeypatch, folder, name):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(pos_module, "PIPELINE", name)
    monkeypatch.delitem(sys.modules, name, raising=False)


def kept_in(folder):
    (kept,) = folder.glob("pos-*")
    return kept


def weights(tagger):
    return tagger.pipeline.get_pipe("tagger").model.to_bytes()
