"""`lcons extract`: text with candidates in, entities and relations out, whatever the text holds."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from texts import make_pos_tags

from lcons_cli.main import main
from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_tasks.apps._extractor import Extractor
from lcons_tasks.data._passage import RELATIONS
from lcons_tasks.experiments.entity_relation._constraints import FEATURES, designed
from lcons_tasks.experiments.entity_relation._corpus import load_corpus
from lcons_tasks.models._relation_model import rules_of
from lcons_tasks.models._relation_svm import train_relations
from lcons_tasks.models._structured_svm import SvmSettings

SENTENCES = load_corpus("bundled").passages[:24]
TAGGED = [(one.passage.words, one.passage.pos) for one in SENTENCES[:12]]
HALIFAX = (
    "[HALIFAX], [Nova Scotia] -- A jury on [Thursday] convicted [Desmond Traill] of murdering his business"
    " partner, [Owen Laskey], aboard the [Grey Widow]."
)
TEXT = f"{HALIFAX}\n\n[Ann]'s house \\[sic\\].\nNobody.\n"
GARBAGE = (
    b"\xef\xbb\xbf[The dog]\r\n\r\n\r\n   \t\n",
    "[😀👨\u200d👩\u200d👧] שלום [עולם] \u202eabc مرحبا. [中文]。\n".encode(),
    b"\x00\x01\x07 [bell]\x1b\\[31m red\x1b\\[0m \x7f\x0b\x0c \xc2\x85 [nul\x00nul]\n",
    b"[caf\xe9] \xff\xfe [\xed\xa0\x80] latin\n",
    "[a\u2028b] \u2029c [\x85d]\x0ce\rf\x1cg\n".encode(),
    b"[" + b"x" * 10_000 + b"]\n" + b"(" * 2_000 + b"\n" + b"a [b] " * 100,
    b"no newline at the [end]",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Extractors by constraints: `designed`, and `unrelated` (there are no relations)."""
    folder = tmp_path_factory.mktemp("extractors")
    model, _ = train_relations(SENTENCES, rules_of(designed()), SvmSettings(C=1.0, passes=5))
    feature = FEATURES["source-relation"]
    network = RectifierNetwork(np.zeros((1, feature.space.d)), [0.0])
    everything = LearnedConstraint(network, feature.space, feature)
    Extractor(model, designed()).save(folder / "designed")
    Extractor(model, {"unrelated": everything.forbid(relation=RELATIONS[1:])}).save(folder / "unrelated")
    return folder


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A spaCy pipeline that finds entities by rules."""
    import spacy

    nlp = spacy.blank("en")
    names = ("HALIFAX", "Nova Scotia", "Desmond Traill", "Owen Laskey")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": name} for name in names])  # type: ignore[attr-defined]
    folder = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(folder)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for all tests, in which a POS tagger is trained once."""
    folder = tmp_path_factory.getbasetemp() / "lcons-extract-cache"
    make_pos_tags(monkeypatch, folder, TAGGED)


@pytest.fixture
def run(folders):
    def extract(*arguments, given=TEXT, model="designed"):
        model = folders / model
        return CliRunner().invoke(main, ["extract", "--model", str(model), *map(str, arguments)], input=given)

    return extract


def lines_of(result):
    assert result.exit_code == 0, result.stderr or result.exception
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n")[:-1]]


def names(line):
    return [entity["text"] for entity in line["entities"]]


def test_marked_candidates_come_out_with_labels_relations_and_offsets(run):
    first, second, third = lines_of(run())
    assert first["text"] == HALIFAX.replace("[", "").replace("]", "")
    assert first["entities"][1] == {"text": "Nova Scotia", "start": 9, "end": 20, "label": "Location"}
    assert first["relations"][1] == {"source": 3, "target": 4, "label": "Kill"}
    assert second["text"] == "Ann's house [sic]."
    assert second["entities"][0] | {"label": ""} == {"text": "Ann", "start": 0, "end": 3, "label": ""}
    assert (third["entities"], third["relations"], third["status"]) == ([], [], "optimal")


def test_constraints_change_what_the_model_alone_says(run):
    first, *others = lines_of(run(model="unrelated"))
    assert (first["relations"], first["changed"]) == ([], True)
    assert [line["changed"] for line in others] == [False, False]


def test_entities_of_a_spacy_pipeline_are_candidates(run, pipeline):
    given = HALIFAX.replace("[", "").replace("]", "") + "\n\n[Owen Laskey]\n"
    first, second = lines_of(run("--candidates", pipeline, given=given))
    assert names(first) == ["HALIFAX", "Nova Scotia", "Desmond Traill", "Owen Laskey"]
    # Brackets are text here.
    assert second["text"] == "[Owen Laskey]"
    assert [(one["start"], one["end"]) for one in second["entities"]] == [(1, 12)]


@pytest.mark.parametrize("candidates", ["marked", "spacy", "names"])
def test_no_text_is_lost_whatever_it_holds(candidates, run, pipeline):
    given = b"".join(GARBAGE)
    result = run("--candidates", pipeline if candidates == "spacy" else candidates, given=given)
    lines = lines_of(result)
    text = given.decode("utf-8-sig", "surrogateescape")
    if candidates == "marked":
        text = text.replace("\\[", "\\").replace("[", "").replace("]", "").replace("\\", "[")
    whole = [line.removesuffix("\r") for line in text.split("\n")]
    assert [line["text"] for line in lines] == [line for line in whole if line.strip()]
    for line in lines:
        for entity in line["entities"]:
            assert line["text"][entity["start"] : entity["end"]] == entity["text"]
    if candidates == "marked":
        assert [len(line["entities"]) for line in lines] == [1, 3, 2, 2, 2, 1, 0, 101]
        assert names(lines[3]) == ["caf\udce9", "\udced\udca0\udc80"]
    # No reader, however it splits lines, sees more of them.
    assert len(result.stdout_bytes.decode("utf-8").splitlines()) == len(lines)
