"""The set-up of the workspace environments: complete or not there, by need, and made by one process."""

import importlib.util
import re
import shutil
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools/bootstrap.py")
bootstrap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bootstrap)

INPUTS = ["poetry.lock", "pyproject.toml", "tools/bootstrap.py", "packages/a/pyproject.toml"]
LCONS, DEV, INTEGRATIONS = (bootstrap.NEEDS[name] for name in ["lcons", "dev", "integrations"])
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace of which only the files that decide the environment exist."""
    monkeypatch.delenv("PYTHON", raising=False)
    for name in INPUTS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


class Installer:
    """Stands in for pip: keeps what it was asked for and makes an environment that looks complete."""

    def __init__(self):
        self.asked = []

    def __call__(self, root, need, lock):
        self.asked.append((need.venv, set(need.groups)))
        for folder in ["bin", f"lib/{PYTHON}"]:
            (root / need.venv / folder).mkdir(parents=True, exist_ok=True)
        (root / need.venv / "bin/python").touch(mode=0o755)
        time.sleep(0.05)


@pytest.mark.parametrize("name", INPUTS)
def test_a_change_of_what_is_installed_makes_the_environment_stale(workspace, name):
    bootstrap.ensure(workspace, DEV, Installer())
    assert bootstrap.is_ready(workspace, DEV)
    (workspace / name).write_text("changed")
    assert not bootstrap.is_ready(workspace, DEV)


@pytest.mark.parametrize(
    ("need", "included", "excluded"),
    [
        (LCONS, set(), {"pytest", "ruff", "mypy", "scikit-learn", "hypothesis", "highspy", "cvxpy"}),
        (DEV, {"pytest", "ruff", "mypy", "scikit-learn"}, {"cvxpy", "pyomo", "ortools"}),
        (INTEGRATIONS, {"pytest", "cvxpy", "pyomo", "ortools"}, {"ruff", "mypy", "pytorch-crf"}),
    ],
)
def test_an_environment_brings_torch_and_its_groups_with_hashes(
    need, included, excluded, monkeypatch, tmp_path
):
    commands = []
    monkeypatch.setattr(bootstrap, "run_all", lambda root, lock, some: commands.extend(some))
    monkeypatch.setattr(bootstrap, "compile_kernels", lambda root, need: None)
    for name in ["poetry.lock", "pyproject.toml"]:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / need.venv).mkdir()
    bootstrap.install(tmp_path, need, 0)
    assert sum(command[-1] == bootstrap.TORCH for command in commands) == 1
    assert sum(word.startswith("--editable=packages/") for word in commands[-1]) == 5
    assert all("--no-deps" in command for command in commands[1:])
    lines = [
        line
        for command in commands
        if "--require-hashes" in command
        for line in Path(command[-1].partition("=")[2]).read_text().splitlines()
    ]
    names = {re.match(r"[\w.-]+", line)[0] for line in lines}
    assert {"numpy", "spacy", "click", "poetry-core", "sympy", *included} <= names
    assert not names & (excluded | {"torch"})
    assert all(" --hash=sha256:" in line for line in lines)


def test_two_set_ups_at_once_install_once(workspace, capsys):
    install = Installer()
    threads = [threading.Thread(target=bootstrap.ensure, args=(workspace, DEV, install)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(install.asked) == 1
    assert "waiting for another set-up" in capsys.readouterr().err


def interrupted(root, need, lock):
    """Stands in for a pip that is stopped halfway."""
    Installer()(root, need, lock)
    (root / need.venv / "half-written").touch()
    raise KeyboardInterrupt


def test_an_interrupted_set_up_is_done_again_from_nothing(workspace):
    bootstrap.ensure(workspace, LCONS, Installer())
    (workspace / "poetry.lock").write_text("changed")
    with pytest.raises(KeyboardInterrupt):
        bootstrap.ensure(workspace, DEV, interrupted)
    assert not bootstrap.is_ready(workspace, DEV)
    bootstrap.ensure(workspace, DEV, Installer())
    assert bootstrap.is_ready(workspace, DEV)
    assert not (workspace / ".venv/half-written").exists()


def test_supported_versions_are_those_the_packages_declare():
    text = (ROOT / "tools/find-python").read_text()
    assert 'supported="3.11 3.12 3.13 3.14"' in text
    for path in [ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")]:
        assert tomllib.loads(path.read_text())["project"]["requires-python"] == ">=3.11,<3.15"
