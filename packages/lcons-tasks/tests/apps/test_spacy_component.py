"""`lcons_tagger` in spaCy pipelines: found without an import, labels as the tagger gives them, kept whole."""

import itertools
import pickle
import shutil
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import raise_error

from lcons_core import DamagedFile, InvalidInput, iob2, learn_constraints
from lcons_decode import Hard, Soft, forbidden_ngrams
from lcons_tasks.apps import ConstrainedTagger, load_constrained_tagger
from lcons_tasks.data import Sentence
from lcons_tasks.models._linear_crf import LinearSettings, train_linear

TEXT = "The dog barked. The small bird saw a cat."
LABELS = ["B-NP", "I-NP", "B-VP", "O", "B-NP", "I-NP", "I-NP", "B-VP", "B-NP", "I-NP", "O"]
TAGS = {"The": "DT", "a": "DT", "small": "JJ", "barked": "VBD", "saw": "VBD", ".": "."}


def made_up():
    for noun, verb, other in itertools.product(("dog", "cat", "bird"), ("saw", "barked"), ("cat", "birds")):
        words = ("the", noun, verb, "a", "small", other, ".")
        labels = ("B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "I-NP", "O")
        yield Sentence(words, labels, {"pos": ("DT", "NN", "VBD", "DT", "JJ", "NN", ".")})


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Taggers by what they read: `word`, `pos`, or nothing that is allowed."""
    folder = tmp_path_factory.mktemp("taggers")
    sentences = list(made_up())
    model = train_linear(sentences, LinearSettings(iterations=5))
    scheme = Hard(iob2(model.labels), "iob2")
    pos = learn_constraints([s.instance for s in sentences], "pos", n=2, hidden=3)
    ConstrainedTagger(model, (scheme,)).save(folder / "word")
    ConstrainedTagger(model, (scheme, Soft(pos, 8.0, "pos"))).save(folder / "pos")
    nothing = forbidden_ngrams(model.labels, itertools.product(model.labels, repeat=2))
    ConstrainedTagger(model, (Hard(nothing, "nothing"),)).save(folder / "nothing")
    return folder


@pytest.fixture
def pipeline(folders):
    def make(model="word", **config):
        nlp = spacy.blank("en")
        nlp.add_pipe("lcons_tagger", config={"model": str(folders / model), **config})
        return nlp

    return make


def labels(doc):
    return [token._.lcons_label for token in doc]


def spans(doc, key="lcons"):
    return [(span.label_, span.text) for span in doc.spans[key]]


def tagged(vocab, words):
    return Doc(vocab, words=words, tags=[TAGS.get(word, "NN") for word in words])


def test_spacy_finds_the_component_without_an_import(folders):
    code = f"""
import spacy, sys
nlp = spacy.blank("en")
assert "numba" not in sys.modules and "lcons_decode" not in sys.modules
nlp.add_pipe("lcons_tagger", config={{"model": {str(folders / "word")!r}}})
doc = nlp("The dog barked.")
print([span.label_ for span in doc.spans["lcons"]])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "['NP', 'VP']\n"), done.stderr


def test_chunks_are_spans_and_labels_are_on_tokens(pipeline):
    doc = pipeline()(TEXT)
    assert labels(doc) == LABELS
    assert spans(doc) == [
        ("NP", "The dog"),
        ("VP", "barked"),
        ("NP", "The small bird"),
        ("VP", "saw"),
        ("NP", "a cat"),
    ]
    assert doc.spans["lcons"].attrs == {"changed": 0, "relaxed": 0}


def test_white_space_has_no_label_and_may_be_inside_a_chunk(pipeline):
    doc = pipeline()("  The \n dog\tbarked.\n\nThe cat ")
    assert [label for label in labels(doc) if label] == ["B-NP", "I-NP", "B-VP", "O", "B-NP", "I-NP"]
    assert all(bool(token._.lcons_label) != token.is_space for token in doc)
    assert spans(doc) == [("NP", "The \n dog"), ("VP", "barked"), ("NP", "The cat")]
    assert labels(pipeline()("")) == []
    assert spans(pipeline()(" \n ")) == []


@pytest.mark.parametrize("model", ["word", "pos"])
def test_labels_are_the_taggers_own(model, pipeline, folders):
    nlp = pipeline(model)
    words = ["small", "The", "small", "barked", "The", "cat", "."]
    doc = nlp(tagged(nlp.vocab, words))
    tagger = load_constrained_tagger(folders / model)
    (answer,) = tagger.tag([{"word": words, "pos": [TAGS.get(word, "NN") for word in words]}])
    assert tuple(labels(doc)) == answer.y
    assert doc.spans["lcons"].attrs["changed"] == answer.stats["changed"]


def test_sentences_of_the_doc_are_used(pipeline):
    nlp = pipeline("nothing")
    whole = Doc(nlp.vocab, words=["The", "dog", ".", "A", "cat"], sent_starts=[True, *[False] * 4])
    assert nlp(whole).spans["lcons"].attrs["relaxed"] == 1
    cut = Doc(nlp.vocab, words=["The", "dog", ".", "A", "cat"], sent_starts=[True] * 5)
    assert nlp(cut).spans["lcons"].attrs["relaxed"] == 0


class OwnTagger:
    def __init__(self):
        self.asked = []
        self.pipeline = spacy.blank("en")

    def tags_many(self, sentences):
        own = [list(words) for words in sentences]
        self.asked += own
        return [tuple(TAGS.get(word, "NN") for word in words) for words in own]


def test_pos_tags_of_the_doc_are_used_and_lacking_ones_found(pipeline, monkeypatch):
    own = OwnTagger()
    monkeypatch.setattr("lcons_tasks.data.text._pos.find_pos_tagger", lambda: own)
    assert labels(pipeline()(TEXT)) == LABELS
    assert own.asked == []
    nlp = pipeline("pos")
    words = TEXT.replace(".", " .").split()
    assert labels(nlp(tagged(nlp.vocab, words))) == LABELS
    assert own.asked == []
    assert labels(nlp(TEXT)) == LABELS
    assert own.asked == [["The", "dog", "barked", "."], ["The", "small", "bird", "saw", "a", "cat", "."]]


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_a_stream_of_docs_is_tagged_as_each_is(batch_size, pipeline):
    nlp = pipeline(spans_key="chunks")
    texts = [TEXT, "", "The cat", "small small the . dog", TEXT]
    streamed = list(nlp.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in streamed] == texts
    assert [(labels(d), spans(d, "chunks")) for d in streamed] == [
        (labels(d), spans(d, "chunks")) for d in map(nlp, texts)
    ]


def test_other_processes_are_handed_the_tagger(pipeline):
    component = pipeline(spans_key="chunks").get_pipe("lcons_tagger")
    component.set_error_handler(raise_error)
    again = pickle.loads(pickle.dumps(component))
    assert (again.name, again.spans_key, again.get_error_handler()) == ("lcons_tagger", "chunks", raise_error)
    nlp = spacy.blank("en")
    assert labels(again(nlp(TEXT))) == LABELS


def test_a_pipeline_on_disk_holds_the_tagger(folders, tmp_path):
    shutil.copytree(folders / "word", tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("lcons_tagger", config={"model": str(tmp_path / "model"), "spans_key": "chunks"})
    nlp.to_disk(tmp_path / "pipeline")
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(tmp_path / "model")
    again = spacy.load(tmp_path / "pipeline")
    assert spans(again(TEXT), "chunks") == spans(nlp(TEXT), "chunks")
    assert again.pipe_labels["lcons_tagger"] == ["B-NP", "B-VP", "I-NP", "O"]
    assert load_constrained_tagger(tmp_path / "pipeline/lcons_tagger").constraints[0].name == "iob2"


def test_a_pipeline_in_bytes_holds_the_tagger_without_pickle(pipeline):
    nlp = pipeline()
    other = spacy.blank("en")
    other.add_pipe("lcons_tagger")
    other.from_bytes(nlp.to_bytes())
    assert labels(other(TEXT)) == LABELS
    component = nlp.get_pipe("lcons_tagger")
    content = component.to_bytes()
    assert content == component.from_bytes(content).to_bytes()
    for wrong in (b"", b"no bytes", content[:-9], content.replace(b"model.npz", b"../el.npz")):
        with pytest.raises(DamagedFile):
            component.from_bytes(wrong)


def test_a_tagger_that_is_not_there_is_one_sentence():
    nlp = spacy.blank("en")
    nlp.add_pipe("lcons_tagger", config={"model": "no-such-folder"})
    with pytest.raises(DamagedFile):
        nlp.initialize()
    with pytest.raises(DamagedFile):
        list(nlp.pipe([TEXT]))
    nameless = spacy.blank("en")
    nameless.add_pipe("lcons_tagger")
    with pytest.raises(InvalidInput):
        nameless(TEXT)
