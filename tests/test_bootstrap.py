"""The set-up of the workspace environment: complete or not there, and made by one process."""

import importlib.util
import os
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
    """Stands in for pip: counts its calls and makes an environment that looks complete."""

    calls = 0

    def __call__(self, root, lock):
        self.calls += 1
        for folder in [".venv/bin", f".venv/lib/{PYTHON}"]:
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / ".venv/bin/python").touch(mode=0o755)
        time.sleep(0.2)


def test_commands_are_executable():
    for command in ["tools/lcons", "tools/test", "tools/venv", "tools/poetry", ".ci/run"]:
        assert os.access(ROOT / command, os.X_OK), command


@pytest.mark.parametrize("name", INPUTS)
def test_a_change_of_what_is_installed_makes_the_environment_stale(workspace, name):
    bootstrap.ensure(workspace, Installer())
    assert bootstrap.is_ready(workspace)
    (workspace / name).write_text("changed")
    assert not bootstrap.is_ready(workspace)


def test_a_copied_workspace_is_set_up_anew(workspace):
    bootstrap.ensure(workspace, Installer())
    copy = workspace.with_name("copy")
    workspace.rename(copy)
    assert not bootstrap.is_ready(copy)


def test_two_set_ups_at_once_install_once(workspace, capsys):
    install = Installer()
    threads = [threading.Thread(target=bootstrap.ensure, args=(workspace, install)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert install.calls == 1
    assert "waiting for another set-up" in capsys.readouterr().err


def test_an_interrupted_set_up_is_done_again_from_nothing(workspace):
    def interrupted(root, lock):
        Installer()(root, lock)
        (root / ".venv/half-written").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bootstrap.ensure(workspace, interrupted)
    assert not bootstrap.is_ready(workspace)
    bootstrap.ensure(workspace, Installer())
    assert bootstrap.is_ready(workspace)
    assert not (workspace / ".venv/half-written").exists()


def test_pins_are_the_locked_versions_and_the_cpu_torch():
    lock = {
        "package": [
            {"name": "a", "version": "1"},
            {"name": "b", "version": "2", "markers": "sys_platform == 'win32'"},
            {"name": "c", "version": "3", "markers": {"main": "os_name == 'nt'", "dev": "extra == 'x'"}},
            {"name": "sibling", "version": "0", "source": {"type": "directory"}},
        ]
    }
    pins = [bootstrap.TORCH, "a==1", "b==2 ; sys_platform == 'win32'"]
    assert bootstrap.pins(lock) == [*pins, "c==3 ; (os_name == 'nt') or (extra == 'x')"]


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
