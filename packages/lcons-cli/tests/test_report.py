"""`lcons report`: the page it writes, what it says, and its errors."""

import json
import re
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from made_runs import chunking_results, er_results, er_sentence, make_chunking, make_er, make_unknown

from lcons_cli.main import main
from lcons_core import LearnedConstraint, Rules, save
from lcons_core.space import FeatureSpace, one_hot
from lcons_tasks.er.constraints import designed
from lcons_tasks.experiment.outputs import write_results

HOSTILE = "<img src=x onerror=alert(1)>\"'"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_er(tmp_path / "runs/er")
    make_chunking(tmp_path / "runs/chunking")
    make_unknown(tmp_path / "runs/synthetic")
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
    done = report("runs/er", "runs/chunking", "runs/synthetic", "-o", "page.html")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "written to page.html: 3 runs" in done.stderr
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
        "relation Kill, LiveIn or WorkFor needs source Person",
        "before, ",
        "forbidden: source Person, relation OrgBasedIn",
        "52faba3e4e887b175e5ff01b087407ef7e753ab9cf08608223d96d8872ff61fb",
        "option seeds",
        "lcons-core",
    ):
        assert words in page.words, words
    assert len(page.all("svg")) > 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    links = [a["href"][1:] for a in page.all("a")]
    assert set(links) <= set(ids)


def test_tables_have_captions_and_scopes_and_scroll_by_keyboard(runs):
    assert report("runs/er", "runs/chunking").exit_code == 0
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in head for head in page.all("th"))
    around = [div for div in page.all("div") if div.get("class") == "scroll"]
    assert len(around) == len(page.all("table"))
    assert all(div["tabindex"] == "0" and div["aria-label"] for div in around)


def test_runs_of_one_task_are_side_by_side(runs):
    make_er(runs / "other/er")
    assert report("runs/er", "other/er", "runs/chunking", "--sets", "0", "--sentences", "0").exit_code == 0
    source = (runs / "report.html").read_text(encoding="utf-8")
    assert "Entities and relations, runs side by side" in source
    assert "runs/er" in source
    assert "other/er" in source
    assert "Chunking, runs side by side" not in source
    assert "<article" not in source
    assert "<li data-file" not in source


def test_the_same_runs_give_the_same_bytes(runs):
    assert report("runs/er", "-o", "one.html").exit_code == 0
    assert report("runs/er", "-o", "two.html").exit_code == 0
    assert (runs / "one.html").read_bytes() == (runs / "two.html").read_bytes()


def test_the_page_goes_to_stdout_and_headlines_as_json(runs):
    done = report("runs/er", "-o", "-", "-q")
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stderr == ""
    found = json.loads(report("runs/chunking", "-q", "--json").stdout)["runs"][0]
    assert found["without constraints"] == {"values": [85.19999999999999, 85.3], "paper": 82.11}
    assert found["gain"]["mean"] == 5.4


def test_limits_are_kept_and_said(runs):
    folder = runs / "runs/er"
    space = FeatureSpace([one_hot("a", "pq"), one_hot("b", "rs")])
    for split in ("split-2-100percent", "split-10-100percent"):
        (folder / "constraints" / split).mkdir()
        constraint = LearnedConstraint(Rules(space, [{"a": "p", "b": "r"}]).network(), space)
        save(constraint, folder / "constraints" / split / "pairs.json")
    assert report("runs/er", "--sentences", "1").exit_code == 0
    source = (runs / "report.html").read_text(encoding="utf-8")
    assert "2 of 3 sets of constraints are on this page" in source
    assert "split-2-100percent" in source
    assert "split-10-100percent" not in source
    assert "3 sentences are not on this page" in source
    assert source.count("<li data-file") == 1


def test_hostile_names_do_nothing(runs):
    """Labels, words, folders and figures of a run that someone else has written."""
    folder = runs / "<b>runs"
    target = folder / "constraints/split-1-100percent" / "<i>set"
    target.mkdir(parents=True)
    space = FeatureSpace([one_hot(HOSTILE, [HOSTILE, "q"]), one_hot("b", [HOSTILE, "s"])])
    save(LearnedConstraint(Rules(space, [{"b": "s"}]).network(), space), target / "<u>c.json")
    (folder / "predictions").mkdir()
    answer = ([HOSTILE], [])
    sentence = er_sentence(HOSTILE, "x", [[0, 1]], answer, (["NoEnt"], []), answer)
    sentence["words"] = [HOSTILE + "\ud800\0"]
    (folder / "predictions/split-1-100percent.jsonl").write_text(json.dumps(sentence) + "\n")
    results = er_results(HOSTILE)
    results["options"][HOSTILE] = {HOSTILE: [HOSTILE]}
    write_results(folder, f"# {HOSTILE}\n\n{HOSTILE}\n", "er", results, {})
    done = report(str(folder))
    assert done.exit_code == 0, done.output
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    assert page.all("img") == page.all("u") == page.all("i") == []
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert page.words.count(HOSTILE) > 10


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda run: (run / "results.json").unlink(), "no run or one that did not end"),
        (lambda run: (run / "results.json").write_text("{"), "expected JSON"),
        (lambda run: (run / "results.json").write_text('{"format": 1, "task": "er"}'), "results of er"),
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
        (["nowhere"], "which is none"),
        (["runs/er", "runs/er"], "one folder twice"),
        (["runs/er", "-o", "nowhere/page.html"], "cannot write"),
        (["runs/er", "-o", "runs"], "cannot write"),
        (["runs/er", "-o", "-", "--json"], "one thing on stdout"),
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
        provenance={"seed": 7, "data": "0" * 64, "versions": {"lcons-core": "9.9"}},
    )
    save(given, runs / "own.json")
    assert report("own.json").exit_code == 0
    page = Page((runs / "report.html").read_text(encoding="utf-8"))
    for words in ("own.json", "relation Kill, LiveIn or WorkFor needs source Person", "option seed", "9.9"):
        assert words in page.words
    assert len(page.all("article")) == 1
    done = report("own.json", "-o", "own.json")
    assert done.exit_code == 2
    assert "would replace the input" in done.stderr
    (runs / "own.json").write_text("{}")
    assert "no constraint file" in report("own.json").stderr


def test_no_run_is_wrong_usage():
    assert report().exit_code == 2


def test_the_examples_run(runs):
    """As the help states them."""
    help_text = main.commands["report"].help
    examples = re.findall(r"^ *lcons (report .*)$", help_text, re.MULTILINE)
    assert len(examples) == 3
    save(designed()["source-relation"], runs / "pairs.json")
    for example in examples:
        done = CliRunner().invoke(main, example.split())
        assert done.exit_code == 0, done.output
    assert (runs / "er.html").is_file()


def test_figures_of_another_corpus_are_said_to_be_so(runs):
    make_chunking(runs / "runs/mini", corpus="bundled")
    assert chunking_results("bundled")["corpus"]["name"] == "bundled"
    assert report("runs/mini").exit_code == 0
    assert "figures are on CoNLL-2000, another corpus" in (runs / "report.html").read_text(encoding="utf-8")
    assert report("runs/chunking").exit_code == 0
    assert "another corpus" not in (runs / "report.html").read_text(encoding="utf-8")
