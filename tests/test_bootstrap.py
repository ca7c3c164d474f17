"""The set-up of the workspace environments: complete or not there, by need, and made by one process."""

import importlib.util
import os
import re
import subprocess
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


def test_the_dev_group_is_added_to_the_environment_of_the_lcons_command(workspace):
    install = Installer()
    bootstrap.ensure(workspace, LCONS, install)
    assert bootstrap.is_ready(workspace, LCONS)
    assert not bootstrap.is_ready(workspace, DEV)
    (workspace / ".venv/kept").touch()
    bootstrap.ensure(workspace, DEV, install)
    assert install.asked == [(".venv", set()), (".venv", {"dev"})]
    assert (workspace / ".venv/kept").exists()


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
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
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


def test_the_markers_of_all_groups_count():
    files = [{"hash": "sha256:0"}]
    lock = {
        "package": [
            {"name": "a", "version": "1", "groups": ["main"], "files": files, "markers": "x"},
            {"name": "b", "version": "1", "groups": ["dev", "base"], "files": files, "markers": {"dev": "y"}},
            {"name": "c", "version": "1", "groups": ["dev"], "files": files, "markers": {"dev": "y"}},
            {"name": "d", "version": "1", "groups": ["integrations"], "files": files},
            {"name": "e", "version": "1", "groups": ["main"], "files": [], "source": {}},
        ]
    }
    assert bootstrap.requirements(lock, {"main", "base", "dev"}) == [
        "a==1 ; x --hash=sha256:0",
        "b==1 --hash=sha256:0",
        "c==1 ; (y) --hash=sha256:0",
    ]


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


@pytest.mark.parametrize("before", [[], [LCONS]])
def test_an_interrupted_set_up_is_done_again_from_nothing(workspace, before):
    for earlier in before:
        bootstrap.ensure(workspace, earlier, Installer())
    (workspace / "poetry.lock").write_text("changed")
    with pytest.raises(KeyboardInterrupt):
        bootstrap.ensure(workspace, DEV, interrupted)
    assert not bootstrap.is_ready(workspace, DEV)
    bootstrap.ensure(workspace, DEV, Installer())
    assert bootstrap.is_ready(workspace, DEV)
    assert not (workspace / ".venv/half-written").exists()


def find_python(python: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHON": str(python)}
    return subprocess.run([ROOT / "tools/lcons", "--help"], env=environment, capture_output=True, text=True)


def fake_python(path: Path, version: str) -> Path:
    path.write_text(f"#!/bin/sh\necho '{version} {path}'\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("command", "started"),
    [
        (["lcons", "demo"], ["lcons", "lcons", "demo"]),
        (["venv", "ruff", "format"], ["dev", "ruff", "format"]),
        (["test"], ["dev", "python", f"{ROOT}/tools/check.py"]),
        (["test", "-k", "a b"], ["dev", "python", f"{ROOT}/tools/check.py", "-k", "a b"]),
        (["test", "--integrations"], ["integrations", "python", f"{ROOT}/tools/check.py", "--integrations"]),
    ],
)
def test_each_command_states_its_need(tmp_path, command, started):
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\n[ \"$1\" = -c ] && echo '3.11 {python}' && exit\nshift 2; printf '%s\\n' \"$@\"\n"
    )
    python.chmod(0o755)
    environment = {**os.environ, "PYTHON": str(python)}
    done = subprocess.run(
        [ROOT / "tools" / command[0], *command[1:]], env=environment, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == started


def test_an_unsupported_python_is_refused_in_one_sentence(tmp_path):
    done = find_python(fake_python(tmp_path / "my python", "3.9"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "needs Python 3.11 to 3.14 but found 3.9" in done.stderr


def test_supported_versions_are_those_the_packages_declare():
    text = (ROOT / "tools/find-python").read_text()
    assert 'supported="3.11 3.12 3.13 3.14"' in text
    for path in [ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")]:
        assert tomllib.loads(path.read_text())["project"]["requires-python"] == ">=3.11,<3.15"
