"""Word vectors are found where they are said to be, and a file of anything else is one sentence."""

import io
import random

import numpy as np
import pytest

from lcons_core import InvalidInput
from lcons_tasks.models._word_vectors import WordVectors, find_vectors, load_vectors

WORDS, VECTORS = np.array(["the", "dog"]), np.array([[1, 2, 3], [4, 5, 6]], np.float32)


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Data and cache folders that are empty, and no variable set."""
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"LCONS_{name.upper()}_DIR", str(tmp_path / name))
    monkeypatch.delenv("LCONS_VECTORS", raising=False)
    return tmp_path


@pytest.fixture
def named(folders, monkeypatch):
    """What is found where LCONS_VECTORS names a file of these bytes, or of these arrays."""

    def find(name, content=None, **arrays):
        path = folders / name
        if arrays:
            out = io.BytesIO()
            np.savez_compressed(out, **arrays)
            content = out.getvalue()
        if content is not None:
            path.write_bytes(content)
        monkeypatch.setenv("LCONS_VECTORS", str(path))
        return find_vectors()

    return find


def test_npz_files_and_gloves_text_are_read(named):
    files = named("some.npz", words=WORDS, vectors=VECTORS), named("glove.txt", b"the 1 2 3\ndog 4 5 6\n")
    for vectors in files:
        assert (vectors.words, vectors.dimension, vectors.vectors.dtype) == (("the", "dog"), 3, np.float32)
        assert np.array_equal(vectors.vectors, VECTORS)


def test_the_data_folder_goes_before_the_cache_and_the_variable_before_both(folders, named, monkeypatch):
    assert find_vectors() is None
    for name, where in (("cached", folders / "cache" / "data"), ("given", folders / "data")):
        (where / "vectors").mkdir(parents=True)
        np.savez(where / "vectors" / f"{name}.npz", words=WORDS, vectors=VECTORS)
        assert find_vectors().name == f"{name}.npz"
    assert named("own.npz", words=WORDS, vectors=VECTORS).name == "own.npz"
    monkeypatch.setenv("LCONS_VECTORS", "none")
    assert find_vectors() is None


def test_words_are_looked_up_in_lower_case_and_unknown_ones_are_zero():
    vectors = WordVectors("toy", ("the", "dog"), VECTORS)
    rows = vectors.rows(["Dog", "THE", "zebra", "dog"])
    assert rows.tolist() == [2, 1, 0, 2]
    assert np.array_equal(vectors.table[rows], [VECTORS[1], VECTORS[0], [0, 0, 0], VECTORS[1]])
    assert vectors.rows([]).shape == (0,)


@pytest.mark.parametrize(
    "arrays",
    [
        {"words": WORDS},
        {"vectors": VECTORS},
        {"words": WORDS, "vectors": VECTORS[:1]},
        {"words": WORDS, "vectors": VECTORS[0]},
        {"words": WORDS, "vectors": np.array([["a"], ["b"]])},
        {"words": WORDS, "vectors": VECTORS * np.nan},
        {"words": np.array(["the", "dog"], dtype=object), "vectors": VECTORS},
        {"words": WORDS[:0], "vectors": VECTORS[:0]},
    ],
)
def test_arrays_that_are_no_word_vectors_are_refused_in_a_sentence(named, arrays):
    with pytest.raises(InvalidInput, match=r"other\.npz"):
        named("other.npz", **arrays)


def test_a_damaged_npz_file_raises_nothing_else(folders):
    rng, path, out = random.Random(0), folders / "damaged.npz", io.BytesIO()
    np.savez_compressed(out, words=np.repeat(WORDS, 40), vectors=rng.random() * np.repeat(VECTORS, 40, 0))
    for _ in range(300):
        content = bytearray(out.getvalue()[: rng.choice((None, rng.randrange(len(out.getvalue()))))])
        for _ in range(rng.choice((1, 3)) if content else 0):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content)
        try:
            load_vectors(path)
        except InvalidInput as error:
            assert "\n" not in str(error)  # noqa: PT017
