"""`lcons run`: what it prints and writes, its errors, and a run that is stopped and goes on.

What runs of `citation` and `er` print, write and leave is compared in tests/golden.
"""

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
    brief = ["--decoder", "constrained-search", "--jobs", "1"]
    options = [*QUICK, "--seed", "2", *brief]
    command = [sys.executable, "-c", STOPPED, *options, "--out", cache / "stopped"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130
    assert not (cache / "stopped").exists()
    stages = cache / "cache/stages"
    (kept,) = stages.glob("base-*")
    before = kept.stat().st_mtime_ns

    assert lcons(*options, "--out", str(cache / "stopped")).exit_code == 0
    assert kept.stat().st_mtime_ns == before

    monkeypatch.setenv("LCONS_CACHE_DIR", str(cache / "other-cache"))
    whole = lcons(*options, "--out", str(cache / "whole"))
    check_summary(whole, cache / "whole")
    for name in ("results.json", "report.md", "report.html", "document.json", "counts.npz"):
        assert (cache / "stopped" / name).read_bytes() == (cache / "whole" / name).read_bytes()


def check_summary(done, folder):
    """A run ends with what was compared, where the page is, and what to do next."""
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) <= 25
    said = " ".join(lines)
    assert "A chunker (linear) that reads only words, compared with the same chunker under" in said
    assert "chunk F1, linear trained on 20% (42 sentences): " in said
    assert lines[-2] == f"Full report: {folder / 'report.html'}"
    assert lines[-1].startswith("Next, with your own data: lcons fit ")
    assert done.stderr.startswith("lcons: about ")
    assert "bundled, the bundled mini corpus" in (folder / "report.md").read_text()
    assert done.stderr.splitlines()[-1].startswith(f"lcons: written to {folder}: report.html, report.md, ")


def test_help_of_a_task_imports_no_library_that_is_slow_to_load():
    code = (
        "import atexit, sys; from lcons_cli.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main(['run', 'chunking', '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "--full" in done.stdout
    assert {"torch", "spacy", "numba", "mip", "joblib"} & set(done.stderr.split()) == set()


@pytest.mark.parametrize(
    "option", [("--base", "magic"), ("--ratio", "2"), ("--seed", "-1"), ("--decoder", "")]
)
def test_values_that_no_run_has_are_refused(cache, option):
    done = lcons("run", "chunking", *option, "--out", str(cache / "run"))
    assert done.exit_code == 2
    assert not (cache / "run").exists()
