"""Corpora are found in LCONS_DATA_DIR, then in the cache, and added only when they can be read."""

from pathlib import Path

import pytest

from lcons_core import InvalidInput
from lcons_tasks.data import CATALOG, CorpusNotFound, MalformedCorpus, add, find, require

TRAIN, TEST = "a NN B-NP\n", "b NN B-NP\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    return tmp_path / "cache" / "data"


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "train.txt").write_text(TRAIN)
    (tmp_path / "test.txt").write_text(TEST)
    return tmp_path


def test_the_data_folder_comes_before_the_cache(mine, folder, monkeypatch):
    add("conll2000", [mine / "train.txt", mine / "test.txt"])
    cached = (folder / "conll2000" / "train.txt", folder / "conll2000" / "test.txt")
    assert find("conll2000") == cached
    monkeypatch.setenv("LCONS_DATA_DIR", str(mine / "data"))
    assert find("conll2000") == cached
    (mine / "data" / "conll2000").mkdir(parents=True)
    named = tuple(mine / "data" / "conll2000" / path.name for path in cached)
    for path in named:
        assert find("conll2000") == cached
        path.write_text(TRAIN)
    assert find("conll2000") == named


def test_a_corpus_that_is_nowhere_and_an_unknown_one_are_errors(folder):
    assert find("cora") is None
    with pytest.raises(CorpusNotFound, match=str(folder)):
        require("cora")
    with pytest.raises(InvalidInput):
        find("x")


def test_files_with_known_names_are_added_in_any_order(mine, folder):
    train, test = add("conll2000", [mine / "test.txt", mine / "train.txt"])
    assert (train.path.read_text(), test.path.read_text()) == (TRAIN, TEST)
    assert train.remark == "read without errors; not the published file"


@pytest.mark.parametrize("bad", ["only two\n", "", "\n\n"])
def test_nothing_is_added_when_one_file_is_malformed(mine, folder, bad):
    (mine / "test.txt").write_text(bad)
    with pytest.raises(MalformedCorpus):
        add("conll2000", [mine / "train.txt", mine / "test.txt"])
    assert not folder.exists()


def test_the_catalog_is_well_formed():
    for entry in CATALOG.values():
        assert entry.what
        assert entry.licence
        for file in entry.files:
            assert file.address.startswith("https://")
            assert file.unpack in ("as it is", "gz", "tar.gz", "zip")
            assert bool(file.member) == (file.unpack in ("tar.gz", "zip"))
            assert not Path(file.path).is_absolute()
            assert ".." not in Path(file.path).parts
