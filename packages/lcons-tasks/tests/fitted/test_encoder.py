"""`fit` with vectors of words: of a tiny encoder of `transformers`, or of a file."""

import json
from dataclasses import replace

import numpy as np
import pytest
from made_up_drugs import DRUGS, FOODS, corpus, text

from lcons_core import InvalidInput
from lcons_tasks import FitSettings, fit, load_constrained_tagger
from lcons_tasks.models._encoder import Encoder

TRAIN, TEXT, TEST = corpus(24), text(60), [s.words for s in corpus(20, seed=2)]
QUICK = FitSettings(folds=2, iterations=20, scales=(1.0, 2.0))
ODD = [("\u200b", "aspirin"), ("☃é", "x" * 3000), ("we", "found") * 400, ()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An encoder of two small layers, with a vocabulary of letters."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("encoder")
    letters = [chr(c) for c in range(97, 123)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), "dose"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=40, **sizes)
    transformers.BertModel(config).save_pretrained(folder, safe_serialization=True)
    return folder


@pytest.fixture
def vectors(tmp_path):
    """A file of vectors that tells drugs from foods, with a head, as fastText writes it."""
    lines = [f"{word} {kind} 0.5" for kind, words in ((1, DRUGS), (-1, FOODS)) for word in words]
    path = tmp_path / "some.vec"
    path.write_text(f"{len(lines)} 2\n" + "".join(f"{line} \n" for line in lines))
    return path


def test_every_word_has_a_vector_whatever_it_is(folder):
    source = Encoder(str(folder))
    H = source.vectors([*TEST, *ODD])
    assert H.shape == (sum(map(len, [*TEST, *ODD])), 32)
    assert np.isfinite(H).all()
    again = np.concatenate([source.vectors([words]) for words in TEST])
    assert np.allclose(H[: len(again)], again, atol=1e-5)


def test_the_vector_of_a_word_is_its_first_subwords_hidden_state(folder):
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    words = ["the", "dose", "rose"]
    coded = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        states = model(**coded, output_hidden_states=True).hidden_states
    firsts = [coded.word_ids().index(i) for i in range(3)]
    upper = torch.stack(states[1:]).mean(0)[0, firsts].numpy()
    assert np.allclose(Encoder(str(folder)).vectors([words])[:, :16], upper, atol=1e-5)


@pytest.mark.parametrize("kind", ["encoder", "vectors"])
def test_a_saved_tagger_gives_the_same_answers(kind, request, tmp_path):
    path = str(request.getfixturevalue("folder" if kind == "encoder" else "vectors"))
    found = fit(TRAIN, TEXT, replace(QUICK, **{kind: path}))
    found.save(tmp_path / "tagger")
    for a, b in zip(found.tag(TEST), load_constrained_tagger(tmp_path / "tagger").tag(TEST), strict=True):
        assert a.y == b.y
        assert a.score == pytest.approx(b.score)
    if kind == "vectors":  # the file tells drugs from foods
        assert found.contributions[2].gain.mean > 0
        assert json.loads(json.dumps(found.to_dict()))["chosen"]["vectors"]["name"] == path


def test_vectors_that_are_missing_or_others_are_named(vectors, tmp_path):
    fit(TRAIN, TEXT, replace(QUICK, vectors=str(vectors))).save(tmp_path / "tagger")
    loaded = load_constrained_tagger(tmp_path / "tagger")
    vectors.write_text(vectors.read_text().replace("0.5", "0.6"))
    with pytest.raises(InvalidInput):
        loaded.tag(TEST)
    vectors.unlink()
    with pytest.raises(InvalidInput):
        loaded.tag(TEST)


def test_a_folder_that_is_no_encoder_is_one_sentence(tmp_path):
    pytest.importorskip("transformers")
    for name in (str(tmp_path), "no-such/encoder"):
        with pytest.raises(InvalidInput, match=r"^[^\n]*$"):
            fit(TRAIN, TEXT, replace(QUICK, encoder=name))


def test_vectors_of_two_kinds_or_for_a_bilstm_are_refused():
    for wrong in ({"vectors": "a.vec", "base": "bilstm"}, {"vectors": "a.vec", "encoder": "b"}):
        with pytest.raises(InvalidInput):
            FitSettings(**wrong)
