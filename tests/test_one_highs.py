"""OR-Tools and highspy never share a process: the guard in conftest.py, tried on stand-ins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

TEST = """
import contextlib

def test_of_a_tool_that_looks_for_its_solvers():
    with contextlib.suppress(ImportError):
        import {}
"""


def run(folder: Path, *imports: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest with the guard, each of whose files imports one module."""
    for name in ["highspy", "ortools/linear_solver"]:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").touch()
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    for number, name in enumerate(imports):
        (folder / f"test_{number}.py").write_text(TEST.format(name))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize(
    ("first", "second"), [("highspy", "ortools.linear_solver"), ("ortools.linear_solver", "highspy")]
)
def test_a_test_that_imports_the_second_fails_even_if_the_error_is_swallowed(tmp_path, first, second):
    done = run(tmp_path, first, second)
    assert done.returncode == 1
    assert "2 passed, 1 error" in done.stdout
    assert f"{second} was imported in a process that has {first.partition('.')[0]}" in done.stdout


@pytest.mark.parametrize("imports", [["highspy", "highspy"], ["highspy", "ortools"]])
def test_one_of_them_alone_passes(tmp_path, imports):
    assert run(tmp_path, *imports).returncode == 0
