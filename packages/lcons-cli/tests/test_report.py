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
from lcons_tasks.report._document import Constraints

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


def test_the_page_goes_to_stdout_and_headlines_as_json(runs):
    done = report("runs/er", "-o", "-")
    assert done.stdout.startswith("<!DOCTYPE html>")
    make_decoded(runs / "labels.jsonl")
    chunking, own = json.loads(report("runs/chunking", "labels.jsonl", "--json").stdout)["runs"]
    assert chunking["headline"]["without"] == {"values": [85.2, 85.3], "paper": 82.11, "digits": 2}
    assert chunking["headline"]["gain"]["mean"] == 5.4
    assert chunking["paper_corpus"] is None
    assert own["headline"]["measure"] == "span F1, 3 sequences"
    assert own["headline"]["within"]["values"] == [75.0]
    assert own["compared"] == "Constraints changed 2 of 3 sequences and 2 of 8 labels."


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
    assert not (runs / "report.html").exists()


def test_damaged_labels_are_one_sentence_and_write_nothing(runs):
    lines = make_decoded(runs / "labels.jsonl").read_text().splitlines()
    (runs / "labels.jsonl").write_text("\n".join([lines[0], lines[1][:-9]]))
    for spoil in (None, make_decoded(runs / "old.jsonl", "without")):
        done = report("runs/er", "labels.jsonl" if spoil is None else spoil.name)
        assert done.exit_code == 2
        assert "is not from `lcons decode --json`" in done.stderr
        assert not (runs / "report.html").exists()


def test_the_examples_run(runs):
    """As the help states them."""
    text = report("--help").stdout
    examples = re.findall(r"^ *lcons (report .*)$", text, re.MULTILINE)
    assert len(examples) == 4
    save(designed()["source-relation"], runs / "pairs.json")
    save(iob2(["B-NP", "I-NP", "B-VP", "O"]), runs / "bigrams.json")
    make_decoded(runs / "labels.jsonl")
    for example in examples:
        done = CliRunner().invoke(main, example.split())
        assert done.exit_code == 0, done.output
    assert (runs / "er.html").is_file()
