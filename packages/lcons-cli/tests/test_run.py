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
    assert lcons(*options, "--out", str(cache / "whole")).exit_code == 0
    for name in ("results.json", "report.md", "report.html", "document.json", "counts.npz"):
        assert (cache / "stopped" / name).read_bytes() == (cache / "whole" / name).read_bytes()
