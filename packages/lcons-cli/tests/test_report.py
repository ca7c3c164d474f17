"""`lcons report`: the page it writes, what it says, and its errors."""

import json
import re
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from made_runs import (
    er_document,
    er_sentence,
    make_chunking,
    make_decoded,
    make_er,
    make_synthetic,
    write_run,
)

from lcons_cli.main import main
from lcons_core import FeatureSpace, LearnedConstraint, Rules, iob2, one_hot, save
from lcons_tasks.experiments.entity_relation._constraints import designed
from lcons_tasks.report import Constraints

HOSTILE = "<img src=x onerror=alert(1)>\"'"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_er(tmp_path / "runs/er")
    make_chunking(tmp_path / "runs/chunking")
    return tmp_path


def report(*arguments: str):
    return CliRunner().invoke(main, ["report", *arguments])


class Page(HTMLParser):
    """The elements of a page, checked to be closed as they were opened."""

    VOID = ("br", "img", "input", "meta")

    def __init__(self, source: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(source)
        assert self.opened == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.words += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for own, attributes in self.tags if own == tag]


def test_the_page_stands_by_itself(runs):
    make_synthetic(runs / "runs/synthetic")
    make_decoded(runs / "labels.jsonl")
    given = [f"runs/{name}" for name in ("er", "chunking", "synthetic")]
    done = report(*given, "labels.jsonl", "-o", "page.html")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "written to page.html: 4 runs" in done.stderr
    source = (runs / "page.html").read_text(encoding="utf-8")
    page = Page(source)
    for _, attributes in page.tags:
        for name in ("href", "src"):
            assert re.match(r"#|data:|$", attributes.get(name) or "")
    assert len(page.all("script")) == 1
    assert page.all("link") == []
    assert "url(" not in source
    assert str(runs) not in source


def test_the_page_has_every_part(runs):
    assert report("runs/er", "runs/chunking").exit_code == 0
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    for words in (
        "82.11",  # the paper's
        "Token accuracy by training sentences",
        "A chunker that reads words, under constraints that read POS tags.",
        "not held",
        "relation Kill, LiveIn or WorkFor needs source Person",
        "before, ",
        "forbidden: source Person, relation OrgBasedIn",
        "52faba3e4e887b175e5ff01b087407ef7e753ab9cf08608223d96d8872ff61fb",
        "option seeds",
        "lcons-core",
    ):
        assert words in page.words, words
    assert len(page.all("svg")) > 1
    assert "Nothing to say" not in page.words
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = [a["href"][1:] for a in page.all("a")]
    assert set(links) <= set(ids)


def test_several_runs_follow_one_another(runs):
    make_er(runs / "other/er")
    assert report("runs/er", "other/er", "runs/chunking", "--sets", "0", "--sentences", "0").exit_code == 0
    source = (runs / "report.html").read_text(encoding="utf-8")
    assert re.findall('<section id="(.*?)" class="run">\\n<h2>(.*?)</h2>', source) == [
        ("run-1", "runs/er"),
        ("run-2", "other/er"),
        ("run-3", "chunking"),
    ]
    assert "<article" not in source
    assert "<li data-file" not in source


def test_the_page_goes_to_stdout_and_headlines_as_json(runs):
    done = report("runs/er", "-o", "-", "-q")
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stderr == ""
    make_decoded(runs / "labels.jsonl")
    chunking, own = json.loads(report("runs/chunking", "labels.jsonl", "-q", "--json").stdout)["runs"]
    assert chunking["without constraints"] == {"values": [85.2, 85.3], "paper": 82.11}
    assert chunking["gain"]["mean"] == 5.4
    assert chunking["paper's corpus"]
    assert own["measure"] == "span F1, 3 sequences"
    assert own["with constraints"] == {"values": [75.0], "paper": None}
    assert own["said"] == "Constraints changed 2 of 3 sequences and 2 of 8 labels"
    assert not own["paper's corpus"]


def test_hostile_names_do_nothing(runs):
    """Labels, words, folders and figures of a run that someone else has written."""
    folder = runs / "<b>runs"
    target = folder / "constraints" / "<i>set"
    target.mkdir(parents=True)
    space = FeatureSpace([one_hot(HOSTILE, [HOSTILE, "q"]), one_hot("b", [HOSTILE, "s"])])
    save(LearnedConstraint(Rules(space, [{"b": "s"}]).network(), space), target / "<u>c.json")
    (folder / "predictions").mkdir()
    answer = ([HOSTILE], [])
    sentence = er_sentence(HOSTILE, "x", [[0, 1]], answer, (["NoEnt"], []), answer)
    sentence["words"] = [HOSTILE + "\ud800\0"]
    (folder / "predictions/split-1-100percent.jsonl").write_text(json.dumps(sentence) + "\n")
    write_run(folder, er_document(Constraints(HOSTILE, ("constraints/<i>set/<u>c.json",)), corpus=HOSTILE))
    done = report(str(folder))
    assert done.exit_code == 0, done.output
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    assert page.all("img") == page.all("u") == page.all("i") == []
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert page.words.count(HOSTILE) > 10


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda run: (run / "results.json").unlink(), "not a run, or a run that did not finish"),
        (lambda run: (run / "document.json").write_text("{"), "is not a document"),
        (lambda run: (run / "document.json").write_text("{}"), "is not a document"),
        (lambda run: next(run.rglob("source-relation.json")).write_text("{}"), "no constraint file"),
        (lambda run: next(run.rglob("*.jsonl")).write_text("{}\n"), "expected predictions"),
    ],
)
def test_a_damaged_run_is_one_sentence_and_writes_nothing(runs, spoil, words):
    spoil(runs / "runs/er")
    done = report("runs/er", "runs/chunking")
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (runs / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.json"], "found no such file or folder"),
        (["runs/er", "runs/er"], "found the same run twice"),
        (["runs/er", "-o", "nowhere/page.html"], "cannot write"),
        (["runs/er", "-o", "runs"], "cannot write"),
        (["runs/er", "-o", "-", "--json"], "one output on stdout"),
    ],
)
def test_what_cannot_be_is_one_sentence(runs, arguments, words):
    before = sorted(runs.rglob("*"))
    done = report(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(runs.rglob("*")) == before


def test_a_constraint_file_is_shown_by_itself(runs):
    given = LearnedConstraint(
        designed()["source-relation"].network,
        designed()["source-relation"].space,
        provenance={
            "seed": 7,
            "accuracy": 0.98517111985,
            "data": "0" * 64,
            "versions": {"lcons-core": "9.9"},
        },
    )
    save(given, runs / "own.json")
    assert report("own.json").exit_code == 0
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    for words in (
        "own.json",
        "relation Kill, LiveIn or WorkFor needs source Person",
        "option seed",
        "9.9",
        "option accuracy0.9852",
    ):
        assert words in page.words, words
    assert len(page.all("article")) == 1
    done = report("own.json", "-o", "own.json")
    assert done.exit_code == 2
    assert "would replace the input" in done.stderr
    (runs / "own.json").write_text("{}")
    assert "no constraint file" in report("own.json").stderr


def test_a_synthetic_run_has_its_figures_and_its_curve(runs):
    make_synthetic(runs / "runs/synthetic")
    assert report("runs/synthetic").exit_code == 0
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    for words in (
        "60.0 →  to 86.5",
        "in the paper, 56.8 → 83.5",
        "86.50 ± 0.71",
        "Right bits of test solutions by hidden units",
        "more bits are right",
        "where z z1 holds, z z3 must not hold",
    ):
        assert words in page.words, words
    assert len(page.all("article")) == 4


def test_labels_of_ones_own_are_shown_before_and_after(runs):
    """Learned, decoded and reported as a user would, here with a designed constraint."""
    labels = ["B-NP", "I-NP", "O"]
    save(iob2(labels), runs / "iob2.json")
    scores = [
        {"labels": labels},
        {
            "emission": [[0, 0, 1], [0, 3, 1]],
            "words": ["New", "York"],
            "gold": ["B-NP", "I-NP"],
            "id": "ny",
        },
        {"emission": [[1, 0, 0]], "words": ["Rome"], "gold": ["B-NP"]},
    ]
    (runs / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in scores))
    decoded = CliRunner().invoke(main, ["decode", "scores.jsonl", "-c", "iob2.json", "--json", "-q"])
    (runs / "labels.jsonl").write_text(decoded.stdout, encoding="utf-8")
    done = report("iob2.json", "labels.jsonl", "-v")
    assert done.exit_code == 0, done.output
    assert "labels.jsonl: labels: 1 of 2 sentences changed" in done.stderr
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    for words in (
        "50.0 →  to 100.0",
        "forbidden: label 1 O, label 2 I-NP",
        "Constraints changed 1 of 2 sequences and 1 of 3 labels",
        "span F1",
        "with over without constraints, token accuracy",
        "Sentence ny",
        "+1 correct",
        "file sha256",
    ):
        assert words in page.words, words
    assert len(page.all("article")) == 1
    classes = [mark["class"] for mark in page.all("mark")]
    assert classes == ["c0 w", "c0", "c0", "c0", "c0"]
    assert report("labels.jsonl", "-o", "labels.jsonl").exit_code == 2


def test_damaged_labels_are_one_sentence_and_write_nothing(runs):
    lines = make_decoded(runs / "labels.jsonl").read_text().splitlines()
    (runs / "labels.jsonl").write_text("\n".join([lines[0], lines[1][:-9]]))
    for spoil in (None, make_decoded(runs / "old.jsonl", "without")):
        done = report("runs/er", "labels.jsonl" if spoil is None else spoil.name)
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
        assert "is not from `lcons decode --json`" in done.stderr
        assert not (runs / "report.html").exists()


def test_no_run_is_wrong_usage():
    assert report().exit_code == 2


def test_the_examples_run(runs):
    """As the help states them."""
    help_text = main.commands["report"].help
    examples = re.findall(r"^ *lcons (report .*)$", help_text, re.MULTILINE)
    assert len(examples) == 4
    save(designed()["source-relation"], runs / "pairs.json")
    save(iob2(["B-NP", "I-NP", "B-VP", "O"]), runs / "bigrams.json")
    make_decoded(runs / "labels.jsonl")
    for example in examples:
        done = CliRunner().invoke(main, example.split())
        assert done.exit_code == 0, done.output
    assert (runs / "er.html").is_file()


def test_figures_of_another_corpus_are_said_to_be_so(runs):
    make_chunking(runs / "runs/mini", corpus="bundled")
    assert report("runs/mini").exit_code == 0
    assert "figures were measured on CoNLL-2000, not on" in (runs / "report.html").read_text(encoding="utf-8")
    assert report("runs/chunking").exit_code == 0
    assert "another corpus" not in (runs / "report.html").read_text(encoding="utf-8")
