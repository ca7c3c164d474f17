"""`lcons extract`: text with candidates in, entities and relations out, whatever the text holds."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from asking import ask, leave
from click.testing import CliRunner

import lcons_cli.extract as command
from lcons_cli.main import main
from lcons_core import LearnedConstraint, RectifierNetwork
from lcons_tasks.apps import references as parser
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
    """Extractors by constraints: `designed`, `unrelated` (there are no relations), `nothing` is allowed."""
    folder = tmp_path_factory.mktemp("extractors")
    model, _ = train_relations(SENTENCES, rules_of(designed()), SvmSettings(C=1.0, passes=5))
    feature = FEATURES["source-relation"]
    everything, nothing = (
        LearnedConstraint(RectifierNetwork(np.zeros((1, feature.space.d)), [b]), feature.space, feature)
        for b in (0.0, 2.0)
    )
    Extractor(model, designed()).save(folder / "designed")
    Extractor(model, {"unrelated": everything.forbid(relation=RELATIONS[1:])}).save(folder / "unrelated")
    Extractor(model, {"nothing": nothing}).save(folder / "nothing")
    return folder


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """spaCy pipelines: `rules` finds entities, `none` does not."""
    import spacy

    folder = tmp_path_factory.mktemp("pipelines")
    nlp = spacy.blank("en")
    names = ("HALIFAX", "Nova Scotia", "Desmond Traill", "Owen Laskey")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": name} for name in names])  # type: ignore[attr-defined]
    nlp.to_disk(folder / "rules")
    spacy.blank("en").to_disk(folder / "none")
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for all tests, in which a POS tagger is trained once."""
    folder = tmp_path_factory.getbasetemp() / "lcons-extract-cache"
    monkeypatch.setenv("LCONS_CACHE_DIR", str(folder))
    monkeypatch.setattr(command, "_tagged_corpus", lambda: ("a few sentences", TAGGED))
    monkeypatch.setattr("lcons_tasks.data.text._pos.PIPELINE", "no_such_pipeline")
    return folder


@pytest.fixture
def run(folders):
    def extract(*arguments, given=TEXT, model="designed"):
        model = folders / model
        return CliRunner().invoke(main, ["extract", "--model", str(model), *map(str, arguments)], input=given)

    return extract


def lines_of(result):
    assert result.exit_code == 0, result.stderr or result.exception
    return [json.loads(line) for line in result.stdout_bytes.split(b"\n")[:-1]]


def labels(line):
    return [(entity["text"], entity["label"]) for entity in line["entities"]]


def related(line):
    names = [entity["text"] for entity in line["entities"]]
    return [(names[one["source"]], one["label"], names[one["target"]]) for one in line["relations"]]


def test_marked_candidates_come_out_with_labels_relations_and_offsets(run):
    first, second, third = lines_of(run())
    assert list(first) == ["text", "entities", "relations", "changed", "status"]
    assert first["text"] == HALIFAX.replace("[", "").replace("]", "")
    assert labels(first) == [
        ("HALIFAX", "Location"),
        ("Nova Scotia", "Location"),
        ("Thursday", "NoEnt"),
        ("Desmond Traill", "Person"),
        ("Owen Laskey", "Person"),
        ("Grey Widow", "NoEnt"),
    ]
    assert related(first) == [
        ("HALIFAX", "LocatedAt", "Nova Scotia"),
        ("Desmond Traill", "Kill", "Owen Laskey"),
    ]
    assert first["entities"][1] == {"text": "Nova Scotia", "start": 9, "end": 20, "label": "Location"}
    assert first["relations"][1] == {"source": 3, "target": 4, "label": "Kill"}
    assert first["status"] == "optimal"
    assert second["text"] == "Ann's house [sic]."
    assert second["entities"][0] | {"label": ""} == {"text": "Ann", "start": 0, "end": 3, "label": ""}
    assert third == {
        "text": "Nobody.",
        "entities": [],
        "relations": [],
        "changed": False,
        "status": "optimal",
    }


def test_what_was_done_is_said_on_stderr(run):
    stderr = run().stderr
    assert stderr.startswith("lcons: ")
    assert "lcons: POS tags by the spaCy tagger trained on 12 sentences of a few sentences\n" in stderr
    summary = "lcons: sentences: 3 (7 candidates), relations: 2, changed by the constraints: 0, relaxed: 0\n"
    assert stderr.endswith(summary)
    assert run("-q").stderr == ""


def test_a_file_is_read_like_stdin(run, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert run(path).stdout == run("-").stdout == run().stdout


def test_constraints_change_what_the_model_alone_says(run):
    constrained, alone = (run(*more, model="unrelated") for more in ((), ("--no-constraints",)))
    (first, *others), (free, *_) = lines_of(constrained), lines_of(alone)
    assert related(free) == [
        ("HALIFAX", "LocatedAt", "Nova Scotia"),
        ("Desmond Traill", "Kill", "Owen Laskey"),
    ]
    assert (first["relations"], first["changed"], free["changed"]) == ([], True, False)
    assert [line["changed"] for line in others] == [False, False]
    assert "relations: 0, changed by the constraints: 1, relaxed: 0\n" in constrained.stderr
    assert alone.stderr.endswith("lcons: sentences: 3 (7 candidates), relations: 2\n")


def test_sentences_that_cannot_satisfy_the_constraints_are_counted(run):
    result = run(model="nothing")
    assert [line["status"] for line in lines_of(result)] == ["relaxed", "optimal", "optimal"]
    assert result.stderr.endswith(", relaxed: 1\n")


def test_entities_of_a_spacy_pipeline_are_candidates(run, pipelines):
    given = HALIFAX.replace("[", "").replace("]", "") + "\n\n[Owen Laskey]\n"
    result = run("--candidates", "spacy", "--spacy", pipelines / "rules", given=given)
    first, second = lines_of(result)
    assert [name for name, _ in labels(first)] == ["HALIFAX", "Nova Scotia", "Desmond Traill", "Owen Laskey"]
    # Brackets are text here.
    assert second["text"] == "[Owen Laskey]"
    assert [(one["start"], one["end"]) for one in second["entities"]] == [(1, 12)]
    assert f"lcons: candidates by the spaCy pipeline {pipelines / 'rules'}\n" in result.stderr
    assert "sentences: 2 (5 candidates)" in result.stderr


def test_runs_of_proper_nouns_are_candidates(run):
    (line,) = lines_of(run("--candidates", "names", given=HALIFAX.replace("[", "").replace("]", "")))
    assert {"HALIFAX", "Nova Scotia", "Desmond Traill", "Owen Laskey"} <= {name for name, _ in labels(line)}
    for entity in line["entities"]:
        assert line["text"][entity["start"] : entity["end"]] == entity["text"]


@pytest.mark.parametrize("given", ["", "\n\n \r\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("candidates", ["marked", "names"])
def test_nothing_in_gives_nothing_out(given, candidates, run):
    result = run("--candidates", candidates, given=given)
    assert (result.exit_code, result.stdout) == (0, "")
    zero = "lcons: sentences: 0 (0 candidates), relations: 0, changed by the constraints: 0, relaxed: 0\n"
    assert result.stderr == zero


@pytest.mark.parametrize("candidates", ["marked", "spacy", "names"])
def test_no_text_is_lost_whatever_it_holds(candidates, run, pipelines):
    given = b"".join(GARBAGE)
    more = ["--spacy", pipelines / "rules"] if candidates == "spacy" else []
    result = run("--candidates", candidates, *more, given=given)
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
        assert [name for name, _ in labels(lines[3])] == ["caf\udce9", "\udced\udca0\udc80"]
        assert "long, read in parts: 1" in result.stderr
    assert "not UTF-8, bytes escaped: 1\n" in result.stderr
    # No reader, however it splits lines, sees more of them.
    assert len(result.stdout_bytes.decode("utf-8").splitlines()) == len(lines)


def test_lines_are_read_a_chunk_at_a_time(run, monkeypatch):
    expected = run().stdout
    monkeypatch.setattr(parser, "CHUNK_ITEMS", 1)
    assert run().stdout == expected


@pytest.mark.parametrize(
    ("arguments", "given", "model", "message"),
    [
        ((), TEXT, "none", "found no such folder; make one with `lcons run er`"),
        (("no-such-file",), TEXT, "designed", "cannot read 'no-such-file': No such file or directory"),
        (("a\0b",), TEXT, "designed", "cannot read 'a\\x00b'"),
        ((), "a\n[b\n", "designed", "standard input:2: expected candidates marked as in "),
        ((), "\n\n[b [c]]\n", "designed", "standard input:3: expected candidates marked as in "),
        ((), "[]\n", "designed", "standard input:1: expected candidates marked as in "),
        ((), "]\n", "designed", "found `]` at character 1 that closes nothing"),
        (("--spacy", "x"), TEXT, "designed", "--spacy needs `--candidates spacy`, found"),
        (
            ("--candidates", "spacy", "--spacy", "no_such_pipeline"),
            TEXT,
            "designed",
            "found no 'no_such_pipeline'; run `python -m spacy download en_core_web_sm`",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, given, model, message, run):
    result = run("-q", *arguments, given=given, model=model)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("lcons: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_bad_line_of_a_file_is_named(run, tmp_path):
    (tmp_path / "text.txt").write_text(f"{HALIFAX}\n\n[b\n")
    assert f"{tmp_path / 'text.txt'}:3: expected" in run(tmp_path / "text.txt").stderr


def test_a_pipeline_without_a_recogniser_is_refused(run, pipelines):
    result = run("--candidates", "spacy", "--spacy", pipelines / "none")
    assert result.exit_code == 2
    assert "expected a spaCy pipeline with an entity recogniser, found" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("piece", ["model.npz", "extractor.json", "constraints/source-relation.json"])
def test_a_damaged_extractor_is_one_line(piece, run, folders, tmp_path):
    folder = shutil.copytree(folders / "designed", tmp_path / "damaged")
    (folder / piece).write_bytes((folder / piece).read_bytes()[:100])
    result = run(model=folder)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("lcons: error: ")
    assert result.stderr.count("\n") == 1


def test_help_has_an_example():
    text = CliRunner().invoke(main, ["extract", "--help"]).stdout
    assert '  Example:\n    echo "[Ann Hill] lives in [Oslo], [Norway]." | lcons extract\n' in text


# In a process of its own, with the POS tagger that is kept.

SCRIPT = """
import lcons_cli.extract as command, lcons_tasks.data.text._pos as pos
from lcons_cli.main import main
from lcons_tasks.experiments.entity_relation._corpus import load_corpus

sentences = [(one.passage.words, one.passage.pos) for one in load_corpus("bundled").passages[:12]]
command._tagged_corpus = lambda: ("a few sentences", sentences)
pos.PIPELINE = "no_such_pipeline"
main()
"""
LCONS = [sys.executable, "-c", SCRIPT, "extract"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there")
def test_each_line_is_answered_before_the_next_comes(run, folders):
    lines = [line for line in TEXT.splitlines(keepends=True) if line.strip()]
    answers = list(ask([*LCONS, "-q", "--model", folders / "designed"], lines))
    assert "".join(answers).encode() == run().stdout_bytes


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes it")
def test_a_closed_stdin_is_one_line(folders):
    command = ["sh", "-c", '"$@" <&-', "sh", *LCONS, "-q", "--model", folders / "designed"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "lcons: error: cannot read standard input: it is closed; name a file, or send one to stdin.\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_reader_that_goes_away_is_no_error(folders, tmp_path):
    (tmp_path / "long.txt").write_text(f"{HALIFAX}\n" * 1_000)
    first = leave([*LCONS, "-q", "--model", folders / "designed", tmp_path / "long.txt"])
    assert first.startswith(b'{"text": "HALIFAX, Nova Scotia')


def test_importing_the_command_imports_click_and_nothing_heavy():
    code = "import sys, lcons_cli.extract; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert not {"lcons_core", "lcons_decode", "lcons_tasks", "numpy", "spacy", "rich"} & set(loaded)
    assert "lcons_cli.extract" in loaded
