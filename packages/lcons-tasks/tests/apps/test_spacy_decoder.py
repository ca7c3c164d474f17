"""`lcons_decoder` decodes the spans of another component of spaCy under constraint files."""

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import fix_random_seed

from lcons_core import DamagedFile, InvalidInput, iob2, save
from lcons_decode import ChainScores, Hard, brute
from lcons_tasks.apps._spacy_decoder import FLOOR, LETTERS, token_probabilities

LABELS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
TEXTS = [
    ("Ann Lee saw Oslo .", [(0, 7, "PER"), (12, 16, "LOC")]),
    ("Bo left New York .", [(0, 2, "PER"), (8, 16, "LOC")]),
    ("Oslo saw Bo Hill .", [(0, 4, "LOC"), (9, 16, "PER")]),
]


@pytest.fixture(scope="module", params=["ner", "spancat"])
def pipeline(request):
    """A pipeline of one component, trained for a moment."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    component = nlp.add_pipe(request.param)
    key = None if request.param == "ner" else component.key  # type: ignore[attr-defined]
    examples = []
    for text, spans in TEXTS:
        annotated = {"entities": spans} if key is None else {"spans": {key: spans}}
        examples.append(Example.from_dict(nlp.make_doc(text), annotated))
    nlp.initialize(lambda: examples)
    for _ in range(6):
        nlp.update(examples)
    return nlp


def decoded(nlp, *files, **settings):
    """The pipeline with the component at its end."""
    own = spacy.blank("en")
    [source] = nlp.pipe_names
    own.add_pipe(source, source=nlp)
    own.add_pipe("lcons_decoder", config={"component": source, "constraints": [*files], **settings})
    return own


def labels_of(doc, component):
    spans = doc.ents if component == "ner" else list(doc.spans["sc"])
    labels = ["O"] * len(doc)
    for span in spans:
        for i, letter in zip(range(span.start, span.end), "B" + "I" * len(span), strict=False):
            labels[i] = f"{letter}-{span.label_}"
    return labels


@pytest.fixture
def no_person(tmp_path):
    """A file that forbids any PER, which both components find."""
    save(iob2(LABELS).forbid({"label 1": "B-PER"}), tmp_path / "rules.json")
    return str(tmp_path / "rules.json")


def test_the_result_is_the_best_labelling_under_the_constraints(pipeline, no_person):
    [source] = pipeline.pipe_names
    for files in ([], [no_person], [f"{no_person}:0.7"]):
        nlp = decoded(pipeline, *files)
        decoder = nlp.get_pipe("lcons_decoder")
        for text in (text.removesuffix(" .") for text, _ in TEXTS):  # of four tokens, to be enumerated
            doc = nlp(text)
            [scores] = decoder.span_scores([nlp.make_doc(text)])
            probability = token_probabilities(len(doc), scores, LABELS, LETTERS["iob2"])
            chain = ChainScores(np.log(np.maximum(probability, FLOOR)), labels=LABELS)
            wanted = brute(chain, [*decoder.constraints, Hard(iob2(LABELS))])
            assert labels_of(doc, source) == list(wanted.y)


def test_a_pipeline_on_disk_and_in_bytes_holds_the_constraints(pipeline, no_person, tmp_path):
    [source] = pipeline.pipe_names
    nlp = decoded(pipeline, no_person, beam_width=8)
    nlp.to_disk(tmp_path / "pipeline")
    content = nlp.to_bytes()
    wanted = [labels_of(doc, source) for doc in nlp.pipe(text for text, _ in TEXTS)]
    (tmp_path / "rules.json").unlink()
    for other in (spacy.load(tmp_path / "pipeline"), decoded(pipeline).from_bytes(content)):
        assert [labels_of(doc, source) for doc in other.pipe(text for text, _ in TEXTS)] == wanted
    described = tmp_path / "pipeline/lcons_decoder/decoder.json"
    described.write_text(described.read_text().replace("constraints/", "../"))
    with pytest.raises(DamagedFile):
        spacy.load(tmp_path / "pipeline")


def test_probabilities_of_spans_become_those_of_labels_in_every_scheme():
    for letters in LETTERS.values():
        labels = ["O", *(f"{letter}-X" for letter in dict.fromkeys(letters))]
        scores = {(0, 3, "X"): 0.5, (0, 1, "X"): 0.25, (3, 5, "X"): 0.75, (3, 4, "X"): 0.75}
        found = token_probabilities(6, scores, labels, letters)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert found[0, labels.index("O")] == 0.25
        assert found[1, labels.index(f"{letters[1]}-X")] == 0.5
        assert found[3, labels.index("O")] == 0


def test_a_component_without_scores_is_refused_by_name():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("lcons_decoder", config={"component": "sentencizer"})
    with pytest.raises(InvalidInput):
        nlp("Ann left.")
    nlp.get_pipe("lcons_decoder").component = "ner"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput):
        nlp("Ann left.")
