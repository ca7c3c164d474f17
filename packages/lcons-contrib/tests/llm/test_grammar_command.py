"""`lcons grammar`: constraint files in, a grammar out."""

import json

import pytest
from click.testing import CliRunner
from label_constraints import constrained

from lcons_cli.main import main
from lcons_contrib.llm.grammars import write_grammar
from lcons_core import iob2
from lcons_core.features import Existence, NgramContext, Tuples

IOB2 = iob2(["B", "I", "O"])
SOME_B = constrained(Existence(("B", "I", "O")), [[-2.0, 0.0, 0.0]], [2.0])
PAIRS = constrained(Tuples(("a", "b"), (("x", "y"), ("z",))), [[2.0, 0.0, 2.0]], [-2.0])


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context = constrained(NgramContext(("A", "B"), ("DT", "NN")), [[0.0] * 8], [0.0])
    for name, constraint in {"bigrams": IOB2, "fields": SOME_B, "pairs": PAIRS, "pos": context}.items():
        constraint.save(f"{name}.json")
    return lambda *arguments: CliRunner().invoke(main, ["grammar", *arguments])


def test_the_form_is_that_of_the_option_or_the_ending(run, tmp_path):
    for form, ending in (("lark", "lark"), ("regex", "regex"), ("json-schema", "schema")):
        wanted = write_grammar([IOB2, SOME_B], form, separator="/", end="\n") + "\n"
        options = ["bigrams.json", "fields.json", "--separator", "/", "--end", "\\n"]
        assert run(*options, "--to", form).stdout == wanted
        assert run(*options, "-o", f"out.{ending}").exit_code == 0
        assert (tmp_path / f"out.{ending}").read_text() == wanted
    assert json.loads(run("pairs.json", "--to", "json-schema").stdout)["type"] == "array"


def test_what_has_no_grammar_is_refused(run):
    for words in ("pos.json", "missing.json", "pairs.json", "bigrams.json -o bigrams.json"):
        result = run(*words.split())
        assert (result.exit_code, result.stdout) == (2, "")


def test_the_example_of_the_help_runs(run, tmp_path):
    assert "lcons grammar bigrams.json -o bigrams.lark" in run("--help").stdout
    assert run("bigrams.json", "-o", "bigrams.lark").exit_code == 0
    assert (tmp_path / "bigrams.lark").read_text().startswith("start: ")
