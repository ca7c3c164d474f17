"""`fit` with vectors of words of a tiny encoder of `transformers`."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_drugs import corpus, text

from lcons_core import InvalidInput
from lcons_tasks import FitSettings, fit, load_constrained_tagger
from lcons_tasks.models._encoder import Encoder

pytestmark = pytest.mark.integrations
torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")

TRAIN, TEXT, TEST = corpus(24), text(60), [s.words for s in corpus(20, seed=2)]
QUICK = FitSettings(folds=2, iterations=20, scales=(1.0, 2.0))
ODD = [("\u200b", "aspirin"), ("☃é", "x" * 3000), ("we", "found") * 400, ()]


@pytest.fixture(scope="module", params=["bert", "byt5"])
def folder(request, tmp_path_factory):
    """An encoder of two small layers: with a vocabulary of letters, or a slow tokenizer and a decoder."""
    folder = tmp_path_factory.mktemp(request.param)
    torch.manual_seed(0)
    if request.param == "byt5":
        transformers.ByT5Tokenizer().save_pretrained(folder)
        sizes = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 2, "num_heads": 2}
        model = transformers.T5Model(transformers.T5Config(vocab_size=384, **sizes))
    else:
        letters = [chr(c) for c in range(97, 123)]
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), "dose"]
        (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
        transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
        config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=40, **sizes)
        model = transformers.BertModel(config)
    model.save_pretrained(folder)
    return folder


def test_every_word_has_a_vector_whatever_it_is(folder):
    source = Encoder(str(folder))
    H = source.vectors([*TEST, *ODD])
    assert H.shape == (sum(map(len, [*TEST, *ODD])), 32)
    assert np.isfinite(H).all()
    again = np.concatenate([source.vectors([words]) for words in TEST])
    assert np.allclose(H[: len(again)], again, atol=1e-5)


def test_the_vector_of_a_word_is_its_first_subwords_hidden_state(folder):
    if folder.name.startswith("byt5"):
        pytest.skip("words and subwords of a slow tokenizer are not aligned by transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    words = ["the", "dose", "rose"]
    coded = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        states = model(**coded, output_hidden_states=True).hidden_states
    firsts = [coded.word_ids().index(i) for i in range(3)]
    upper = torch.stack(states[1:]).mean(0)[0, firsts].numpy()
    assert np.allclose(Encoder(str(folder)).vectors([words])[:, :16], upper, atol=1e-5)


def test_a_saved_tagger_gives_the_same_answers(folder, tmp_path):
    found = fit(TRAIN, TEXT, replace(QUICK, encoder=str(folder)))
    found.save(tmp_path / "tagger")
    for a, b in zip(found.tag(TEST), load_constrained_tagger(tmp_path / "tagger").tag(TEST), strict=True):
        assert a.y == b.y
        assert a.score == pytest.approx(b.score)


def test_a_folder_that_is_no_encoder_is_one_sentence(tmp_path):
    for name in (str(tmp_path), "no-such/encoder"):
        with pytest.raises(InvalidInput, match=r"^[^\n]*$"):
            fit(TRAIN, TEXT, replace(QUICK, encoder=name))
