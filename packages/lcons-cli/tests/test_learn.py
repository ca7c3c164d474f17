"""`lcons learn`: labelled data in, a constraint file and what it says out."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import lcons_cli.learn as command
from lcons_cli.main import main
from lcons_core import load
from lcons_core.learn import NEGATIVES
from lcons_tasks.labelled import FORMATS
from lcons_tasks.labelled.settings import OPTIONS

SENTENCES = [
    "Ann NNP B\nLee NNP I\nsings VBZ O\n. . O",
    "Oh UH O\n, , O\nAnn NNP B",
    "Ann NNP B\nAnn NNP B\nLee NNP I\nLee NNP I",
    "Oh UH O\n! . O",
    "sings VBZ O\nAnn NNP B\nLee NNP I",
]
PAIRS = [["Person", "NoRel"], ["Location", "NoRel"], ["Person", "Kill"], ["Location", "LocatedAt"]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data in every format."""
    monkeypatch.chdir(tmp_path)
    text = "\n\n".join(SENTENCES * 4) + "\n"
    for name in ("train.conll", "dev.conll", "plain.txt"):
        (tmp_path / name).write_text(text)
    (tmp_path / "odd.conll").write_text("\n\n".join(SENTENCES * 4) + "\n\nOh UH O\nLee NNP I\n" * 5)
    (tmp_path / "pairs.jsonl").write_text((json.dumps({"tuples": PAIRS}) + "\n") * 10)
    (tmp_path / "psi.csv").write_text("k=a,k=b,m=c,m=d,valid\n" + "1,0,0,1,1\n0,1,1,0,1\n1,0,1,0,0\n" * 5)
    X, names = np.array([[1, 0], [0, 1], [1, 1]] * 5), np.array(["a", "b"])
    np.savez(tmp_path / "psi.npz", X=X, y=np.array([1, 1, 0] * 5), names=names)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["learn", *map(str, arguments)])


def test_the_constraint_is_written_and_said_in_words(folder):
    result = run("train.conll", "-o", "c.json", "-K", 3)
    assert result.exit_code == 0
    assert "label 1 O cannot go with label 2 I" in result.stdout
    assert "learned from the first 80 % of the structures (16 of 20)" in result.stdout
    assert "forbids 0 of 4 valid structures (0.0%)" in result.stdout
    assert "warning" not in result.stderr
    assert "reading CoNLL columns word=1,pos=2,label=-1" in result.stderr
    constraint = load("c.json")
    assert constraint.satisfied(["B", "I", "O"])
    assert not constraint.satisfied(["O", "I"])
    assert constraint.provenance["learned_from"] == "the first 80 % of the structures (16 of 20)"


def test_what_is_forbidden_of_gold_is_said_loudly(folder):
    result = run("odd.conll", "-o", "c.json", "-K", 3, "-q")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: the constraint forbids 5 of 5 gold structures in held-out data (100.0%")
    assert "structure 21 (Oh/O Lee/I): label 1 O, label 2 I" in line
    assert "- 5 x label 1 O, label 2 I (first in 21: Oh/O Lee/I)" in result.stdout
    found = json.loads(run("odd.conll", "-o", "c.json", "-K", 3, "-q", "--json").stdout)
    assert [f"warning: {text}" for text in found["warnings"]] == [line]
    assert found["held_out"]["forbidden_structures"] == 5
    assert found["constraint"] == "c.json"


def test_the_sum_that_forbids_is_shown_when_asked(folder):
    assert "so it is forbidden" in run("odd.conll", "-o", "c.json", "-v").stdout


def test_held_out_data_may_be_a_file_or_none(folder):
    result = run("train.conll", "-o", "c.json", "--dev", "odd.conll", "-K", 3)
    assert "learned from all 20 structures" in result.stdout
    assert "On held-out data (25 structures of odd.conll)" in result.stdout
    assert "warning: the constraint forbids 5 of 25 gold structures in held-out data" in result.stderr
    result = run("train.conll", "-o", "c.json", "--no-held-out", "-K", 3)
    assert "learned from all 20 structures" in result.stdout
    assert "On the data that it learned from (nothing was held out)" in result.stdout


def test_refit_saves_a_constraint_of_everything(folder):
    result = run("odd.conll", "-o", "c.json", "-K", 3, "--refit")
    assert "learned from all 25 structures" in result.stdout
    assert "forbids 5 of 5 valid structures" in result.stdout
    assert load("c.json").satisfied(["O", "I"])
    (warning,) = (line for line in result.stderr.splitlines() if line.startswith("warning"))
    assert warning.startswith(
        "warning: before it was learned again with held-out data, the constraint forbids"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("pairs.jsonl", "--names", "source,relation", "-K", 2),
            "source Location cannot go with relation Kill",
        ),
        (("psi.csv", "-K", 1), "k a needs m d"),
        (("psi.npz", "-K", 1), "psi of 2 columns"),
        (("plain.txt", "--feature", "pos", "-n", 1, "-K", 2, "--context", "pos"), "constraint: pos, n = 1"),
        (("train.conll", "--feature", "existence", "-K", 2), "constraint: existence, n = 1"),
        (("train.conll", "--feature", "counts", "--spans", "-K", 2), "constraint: counts"),
        (("train.conll", "--feature", "shape", "--pad", "-K", 2), "shape, n = 2, padded"),
        (("train.conll", "-K", 2, "--cv", "--folds", 2), "chosen from 9 settings by cross-validation"),
        (("train.conll", "-K", "1,2", "--folds", 2), "chosen from 2 settings by cross-validation"),
        (("train.conll", "--negatives", "relabel", "--many", "all"), "made by `relabel`"),
        (("train.conll", "--min-support", 5, "--caution", 4), "made by `unseen`"),
    ],
)
def test_formats_features_and_settings(folder, arguments, said):
    result = run(*arguments, "-o", "c.json")
    assert result.exit_code == 0, result.stderr
    assert said in result.stdout
    load("c.json")


def test_choices_are_those_of_the_library():
    assert tuple(FORMATS) == command.FORMATS
    assert set(command.NEGATIVES) == set(NEGATIVES)
    assert set(command.FEATURES) == set(OPTIONS) - {"context", "tuples"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-file.conll",), "cannot read 'no-such-file.conll': No such file"),
        (("no-such-file",), "cannot read 'no-such-file': No such file"),
        (("words.txt",), "cannot be told; state it with --format"),
        (("empty.conll",), "found an empty file"),
        (("empty.jsonl",), "expected an object a line, found none"),
        (("empty.csv",), "expected a header and rows"),
        (("words.txt", "--format", "npz"), "expected an npz file"),
        (("train.conll", "--columns", "word,pos,label=7"), "expected at least 7 columns, found 3"),
        (("train.conll", "--columns", "pos"), "name the column of the words"),
        (
            ("train.conll", "--feature", "pos", "--columns", "word,_,label"),
            "expected a column 'pos', found word",
        ),
        (("train.conll", "--feature", "pairs"), "expected a feature of label sequences"),
        (("train.conll", "--feature", "counts", "-n", "2"), "expected no 'n' with the feature 'counts'"),
        (("psi.csv", "--feature", "ngram"), "expected no 'feature' with a table"),
        (("psi.csv", "--columns", "a,b"), "expected no --columns with a table"),
        (("one.conll",), "expected at least two labels to tell apart, found O"),
        (("train.conll", "--dev", "psi.csv"), "of the same kind"),
        (("train.conll", "--dev", "nowhere.conll"), "cannot read 'nowhere.conll'"),
        (("train.conll", "--cv", "--folds", "90"), "cv=90 needs at least 90"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(folder, arguments, message):
    (folder / "words.txt").write_text("Some words.\nAnd some more of them.\n")
    (folder / "one.conll").write_text("a O\nb O\n\n" * 9)
    for name in ("empty.conll", "empty.jsonl", "empty.csv"):
        (folder / name).touch()
    before = sorted(folder.iterdir())
    result = run(*arguments, "-o", "c.json", "-q")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("output", ["nowhere/c.json", "train.conll/c.json", "."])
def test_an_output_that_cannot_be_written_is_told_before_the_work(folder, monkeypatch, output):
    monkeypatch.setattr(command, "_read", None)
    result = run("train.conll", "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"lcons: error: cannot write '{output}'")
    assert result.stderr.count("\n") == 1


def test_data_are_not_replaced(folder):
    before = (folder / "train.conll").read_bytes()
    result = run("train.conll", "-o", "train.conll")
    assert result.exit_code == 2
    assert "would replace the input" in result.stderr
    assert (folder / "train.conll").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [("-K", "0"), ("-K", "x"), ("--many", "0"), ("--no-held-out", "--refit"), ("--caution", "0")],
)
def test_wrong_usage_has_exit_code_2(folder, arguments):
    assert run("train.conll", "-o", "c.json", *arguments).exit_code == 2
    assert not (folder / "c.json").exists()


def test_an_interrupt_leaves_no_file(folder, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("lcons_tasks.labelled.learning.learn_from_examples", interrupt)
    before = sorted(folder.iterdir())
    assert run("train.conll", "-o", "c.json").exit_code != 0
    assert sorted(folder.iterdir()) == before


def test_few_structures_are_all_learned_from(folder):
    (folder / "few.conll").write_text("\n\n".join(SENTENCES[:4]))
    result = run("few.conll", "-o", "c.json", "-K", 2)
    assert "nothing is held out, as there are only 4 structures" in result.stderr
    assert "learned from all 4 structures" in result.stdout


def test_the_same_seed_writes_the_same_file(folder):
    for name in ("a.json", "b.json"):
        assert run("train.conll", "-o", name, "-K", 2, "--seed", 5).exit_code == 0
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()


def test_the_examples_of_the_help_run(folder):
    text = CliRunner().invoke(main, ["learn", "--help"]).stdout
    examples = re.findall(r"^ +lcons (learn .+)$", text, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        result = CliRunner().invoke(main, shlex.split(example))
        assert result.exit_code == 0, result.stderr
        load(shlex.split(example)[3])


def test_the_command_runs_by_itself(folder):
    code = "from lcons_cli.main import main; main()"
    given = [sys.executable, "-c", code, "learn", "train.conll", "-o", "c.json", "-K", "2", "-q"]
    done = subprocess.run(given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "In words:" in done.stdout
