"""`lcons run`: what it prints and writes, its errors, and a run that is stopped and goes on.

What runs of `citation` and `er` print, write and leave is compared in tests/golden.
"""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from lcons_cli.main import main

QUICK = ["run", "chunking", "--corpus", "bundled", "--ratio", "0.2", "--seed", "1", "--base", "linear"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LCONS_VECTORS", "none")
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    return tmp_path


def lcons(*arguments: str):
    return CliRunner().invoke(main, arguments)


def test_a_run_ends_with_a_summary_that_says_what_was_compared_and_where_the_page_is(cache):
    done = lcons(*QUICK, "--jobs", "1", "--out", str(cache / "run"))
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) <= 25
    said = " ".join(lines)
    assert "A chunker (linear) that reads only words, compared with the same chunker under" in said
    assert "constraints that read POS tags" in said
    assert "chunk F1, linear trained on 20% (42 sentences): " in said
    assert "; gain [95% interval] +" in said
    assert lines[-2] == f"Full report: {cache / 'run/report.html'}"
    assert lines[-1].startswith("Next, with your own data: lcons fit ")
    assert done.stderr.startswith("lcons: about ")
    assert "lcons: filling cells: 1 of 1" in done.stderr
    report = (cache / "run/report.md").read_text()
    assert "bundled, the bundled mini corpus" in report
    assert "soft pos-1+2" in report
    assert done.stderr.splitlines()[-1] == (
        f"lcons: written to {cache / 'run'}: report.html, report.md, results.json, constraints, predictions,"
        " tagger"
    )


def test_without_conll2000_the_bundled_corpus_is_used(cache):
    auto = ["auto" if word == "bundled" else word for word in QUICK]
    done = lcons(*auto, "--decoder", "search", "--jobs", "1", "-q", "--json", "--out", str(cache / "run"))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["corpus"]["name"] == "bundled"
    assert "filling" not in done.stderr


def test_options_choose_constraints_and_decoders(cache):
    done = lcons(
        *QUICK, "--decoder", "constrained-search", "--jobs", "1", "--json", "--out", str(cache / "run")
    )
    assert done.exit_code == 0, done.output
    (cell,) = json.loads(done.stdout)["cells"]
    assert list(cell["rows"]) == ["exact", "pos-3 search", "chosen on dev"]
    assert (cache / "run/constraints/first-20%-seed1/pos-3.json").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--corpus", "nowhere"], "train.txt, dev.txt and test.txt"),
        (["--base", "magic"], "bilstm+pos"),
        (["--decoder", "magic"], "constrained-search"),
        (["--ratio", "7"], "above 0 and at most 1"),
        (["--corpus", "conll2000"], "lcons data fetch conll2000"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_writes_nothing(cache, options, words):
    done = lcons("run", "chunking", *options, "--out", str(cache / "run"))
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (cache / "run").exists()


def test_a_folder_that_cannot_be_written_is_one_sentence(cache):
    (cache / "file").write_text("")
    done = lcons(*QUICK, "--decoder", "search", "--jobs", "1", "-q", "--out", str(cache / "file" / "run"))
    assert done.exit_code == 2
    assert "--out" in done.stderr


STOPPED = """
import os, signal
from lcons_cli.main import main
from lcons_tasks.experiments.engine._kept import Stages

keep = Stages.keep

def keep_and_stop(self, name, *rest):
    keep(self, name, *rest)
    if name == "base":
        os.kill(os.getpid(), signal.SIGINT)

Stages.keep = keep_and_stop
main()
"""


def test_a_run_that_is_stopped_goes_on_and_gives_the_same_result(cache, monkeypatch):
    """Two seeds; the first process gets Ctrl-C when its first stage is kept."""
    brief = ["--decoder", "constrained-search", "--jobs", "1", "-q"]
    options = [*QUICK, "--seed", "2", *brief]
    command = [sys.executable, "-c", STOPPED, *options, "--out", cache / "stopped"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "lcons: interrupted\n")
    assert not (cache / "stopped").exists()
    stages = cache / "cache/stages"
    (kept,) = stages.glob("base-*")
    before = kept.stat().st_mtime_ns

    assert lcons(*options, "--out", str(cache / "stopped")).exit_code == 0
    assert kept.stat().st_mtime_ns == before

    monkeypatch.setenv("LCONS_CACHE_DIR", str(cache / "other-cache"))
    assert lcons(*options, "--out", str(cache / "whole")).exit_code == 0
    for name in ("results.json", "report.md", "report.html", "document.json", "counts.npz"):
        assert (cache / "stopped" / name).read_bytes() == (cache / "whole" / name).read_bytes()


CITATION = ["run", "citation", "--corpus", "bundled", "--seed", "1", "--base", "words-brief"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--corpus", "nowhere"], "a file of tagged references"),
        (["--base", "magic"], "words+pos"),
        (["--decoder", "magic"], "constrained-search"),
    ],
)
def test_a_citation_run_that_cannot_be_is_refused_in_one_sentence(cache, options, words):
    done = lcons(*CITATION, *options, "--out", str(cache / "run"))
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (cache / "run").exists()


ER = ["run", "er", "--corpus", "bundled", "--split", "1", "--jobs", "1"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--corpus", "nowhere"], "`bundled`, `conll04`"),
        (["--corpus", "conll04"], "lcons data fetch conll04"),
        (["--split", "spert"], "a seed, such as 1"),
        (["--size", "0"], "x>=1"),
    ],
)
def test_an_er_run_that_cannot_be_is_refused_in_one_sentence(cache, options, words):
    done = lcons(*ER, *options, "--out", str(cache / "run"))
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (cache / "run").exists()


def test_a_synthetic_run_prints_the_table_and_leaves_constraints(cache, monkeypatch):
    """A tiny recipe; the command is what is looked at."""
    from lcons_tasks.experiments.synthetic._answers import Cell
    from lcons_tasks.experiments.synthetic._corpus import ProgramFamily

    tiny = ProgramFamily(
        variables=9, programs=14, training=10, constraints=5, strictness=0.5, scale=4, largest_cost=20
    )
    monkeypatch.setattr(
        "lcons_tasks.experiments.synthetic._experiment.Cell", lambda *given: Cell(*given, recipe=tiny)
    )
    done = lcons(
        "run",
        "synthetic",
        "--seed",
        "1",
        "-K",
        "2",
        "--jobs",
        "1",
        "--out",
        str(cache / "run"),
    )
    assert done.exit_code == 0, done.output
    assert "correct bits, K = 2: " in done.stdout
    assert (cache / "run/constraints/instance-1/K2.json").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [(["-K", "0"], "0 is not in the range x>=1"), (["--seed", "-1"], "-1 is not in the range x>=0")],
)
def test_a_synthetic_run_that_cannot_be_is_refused_in_one_sentence(cache, options, words):
    done = lcons("run", "synthetic", *options, "--out", str(cache / "run"))
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (cache / "run").exists()


@pytest.mark.parametrize("task", ["chunking", "citation", "er", "synthetic"])
def test_help_of_a_task_imports_no_library_that_is_slow_to_load(task):
    code = (
        "import atexit, sys; from lcons_cli.main import main; "
        f"atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main(['run', {task!r}, '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "--full" in done.stdout
    assert {"torch", "spacy", "numba", "mip", "joblib"} & set(done.stderr.split()) == set()


def test_the_list_of_tasks_imports_no_task():
    code = (
        "import atexit, sys; from lcons_cli.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main(['run', '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "synthetic  Learn hidden constraints of integer programs." in done.stdout
    assert {"numpy", "lcons_core._network", "lcons_core.learn"} & set(done.stderr.split()) == set()
