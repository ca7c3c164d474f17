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
        time.sleep(0.2)


def test_commands_are_executable():
    for command in [
        "tools/lcons",
        "tools/test",
        "tools/venv",
        "tools/poetry",
        "tools/soak",
        "tools/docs",
        ".ci/run",
    ]:
        assert os.access(ROOT / command, os.X_OK), command


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("need", [LCONS, DEV, INTEGRATIONS])
def test_a_change_of_what_is_installed_makes_the_environment_stale(workspace, need, name):
    bootstrap.ensure(workspace, need, Installer())
    assert bootstrap.is_ready(workspace, need)
    (workspace / name).write_text("changed")
    assert not bootstrap.is_ready(workspace, need)


def test_the_lcons_command_needs_no_group(workspace):
    install = Installer()
    bootstrap.ensure(workspace, LCONS, install)
    assert install.asked == [(".venv", set())]
    assert bootstrap.is_ready(workspace, LCONS)
    assert not bootstrap.is_ready(workspace, DEV)


def test_the_dev_group_is_added_to_the_environment_of_the_lcons_command(workspace):
    install = Installer()
    bootstrap.ensure(workspace, LCONS, install)
    (workspace / ".venv/kept").touch()
    bootstrap.ensure(workspace, DEV, install)
    assert install.asked == [(".venv", set()), (".venv", {"dev"})]
    assert (workspace / ".venv/kept").exists()


def test_the_integrations_have_an_environment_of_their_own(workspace):
    install = Installer()
    bootstrap.ensure(workspace, DEV, install)
    bootstrap.ensure(workspace, INTEGRATIONS, install)
    assert install.asked == [(".venv", {"dev"}), (".venv-integrations", {"integrations"})]
    assert all(bootstrap.is_ready(workspace, need) for need in [LCONS, DEV, INTEGRATIONS])


def commands_of(need, monkeypatch, tmp_path) -> list[list[str]]:
    """The commands that set up an environment of this workspace, none of which is run."""
    commands = []
    monkeypatch.setattr(bootstrap.subprocess, "run", lambda command, **_: commands.append([*command]))
    for name in ["poetry.lock", "pyproject.toml"]:
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / need.venv).mkdir()
    bootstrap.install(tmp_path, need, 0)
    return commands


def pip_commands_of(need, monkeypatch, tmp_path) -> list[list[str]]:
    return [command for command in commands_of(need, monkeypatch, tmp_path) if "pip" in command]


@pytest.mark.parametrize(
    ("need", "with_", "without"),
    [
        (LCONS, set(), {"pytest", "ruff", "mypy", "scikit-learn", "hypothesis", "highspy", "cvxpy"}),
        (
            DEV,
            {"pytest", "ruff", "mypy", "scikit-learn", "hypothesis", "highspy"},
            {"cvxpy", "pyomo", "ortools"},
        ),
        (INTEGRATIONS, {"pytest", "cvxpy", "pyomo", "ortools"}, {"ruff", "mypy", "pytorch-crf"}),
    ],
)
def test_an_environment_brings_the_packages_torch_and_its_groups(need, with_, without, monkeypatch, tmp_path):
    commands = pip_commands_of(need, monkeypatch, tmp_path)
    assert {command[0] for command in commands} == {f"{need.venv}/bin/python"}
    torch, locked, packages = [command[command.index("install") + 1 :] for command in commands]
    assert torch[-1] == bootstrap.TORCH
    assert {"--no-deps", "--require-hashes"} <= set(locked)
    assert sum(word.startswith("--editable=packages/") for word in packages) == 5
    assert "--no-deps" in packages
    lines = (tmp_path / need.venv / "requirements.txt").read_text().splitlines()
    names = {re.match(r"[\w.-]+", line)[0] for line in lines}
    assert {"numpy", "spacy", "click", "poetry-core", "sympy", *with_} <= names
    assert not names & (without | {"torch"})
    assert all(" --hash=sha256:" in line for line in lines)


def test_what_depends_on_torch_is_pinned_by_its_group_and_installed_with_hashes(monkeypatch, tmp_path):
    (tmp_path / "tools").mkdir()
    pinned = tmp_path / "tools/integrations.txt"
    pinned.write_bytes((ROOT / "tools/integrations.txt").read_bytes())
    option = f"--requirement={pinned}"
    assert not any(option in command for command in pip_commands_of(DEV, monkeypatch, tmp_path))
    [command] = [
        command for command in pip_commands_of(INTEGRATIONS, monkeypatch, tmp_path) if option in command
    ]
    assert {"--no-deps", "--require-hashes"} <= set(command)
    assert all(" --hash=sha256:" in line for line in pinned.read_text().splitlines())


@pytest.mark.parametrize(("need", "compiles"), [(LCONS, True), (DEV, True), (INTEGRATIONS, False)])
def test_the_set_up_of_the_commands_ends_with_compiling_the_decoders(need, compiles, monkeypatch, tmp_path):
    last = commands_of(need, monkeypatch, tmp_path)[-1]
    assert (last == [f"{need.venv}/bin/python", "tools/kernels.py"]) == compiles


@pytest.mark.parametrize("python", ["#!/bin/sh\nexit 1\n", None])
def test_a_set_up_does_not_fail_where_the_decoders_cannot_be_compiled(python, tmp_path, capfd):
    if python:
        (tmp_path / ".venv/bin").mkdir(parents=True)
        (tmp_path / ".venv/bin/python").write_text(python)
        (tmp_path / ".venv/bin/python").chmod(0o755)
    bootstrap.compile_kernels(tmp_path, LCONS)
    assert capfd.readouterr().err == "lcons: compiling the decoders, most of a minute ...\n"


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


def test_a_stamp_that_is_empty_or_names_no_groups_is_brought_up_to_date(workspace):
    install = Installer()
    bootstrap.ensure(workspace, DEV, install)
    for text in ["", bootstrap.fingerprint(workspace)]:
        (workspace / ".venv/stamp").write_text(text)
        assert not bootstrap.is_ready(workspace, DEV)
        bootstrap.ensure(workspace, DEV, install)
    assert install.asked == [(".venv", {"dev"})] * 3
    assert bootstrap.is_ready(workspace, DEV)


def interrupted(root, need, lock):
    """Stands in for a pip that is stopped halfway."""
    Installer()(root, need, lock)
    (root / need.venv / "half-written").touch()
    raise KeyboardInterrupt


@pytest.mark.parametrize("need", [LCONS, DEV, INTEGRATIONS])
@pytest.mark.parametrize("before", [[], [LCONS]])
def test_an_interrupted_set_up_is_done_again_from_nothing(workspace, before, need):
    for earlier in before:
        bootstrap.ensure(workspace, earlier, Installer())
    (workspace / "poetry.lock").write_text("changed")
    with pytest.raises(KeyboardInterrupt):
        bootstrap.ensure(workspace, need, interrupted)
    assert not bootstrap.is_ready(workspace, need)
    bootstrap.ensure(workspace, need, Installer())
    assert bootstrap.is_ready(workspace, need)
    assert not (workspace / need.venv / "half-written").exists()


def test_torch_is_not_locked():
    lock = tomllib.loads((ROOT / "poetry.lock").read_text())
    assert "torch" not in {package["name"] for package in lock["package"]}


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


def test_no_python_is_refused_in_one_sentence(tmp_path):
    done = find_python(tmp_path / "absent")
    assert done.returncode == 2
    assert "needs Python 3.11 to 3.14 but found none" in done.stderr


def test_supported_versions_are_those_the_packages_declare():
    text = (ROOT / "tools/find-python").read_text()
    assert 'supported="3.11 3.12 3.13 3.14"' in text
    for path in [ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")]:
        assert tomllib.loads(path.read_text())["project"]["requires-python"] == ">=3.11,<3.15"
