"""The workflow files for a public forge parse, name the Pythons of the gate, and run commands that exist."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.integrations

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
# By major version: the commit behind each could not be looked up when these were written.
ACTIONS = {
    "actions/checkout@v4",
    "actions/setup-python@v5",
    "actions/upload-artifact@v4",
    "actions/download-artifact@v4",
    "pypa/gh-action-pypi-publish@release/v1",
}


@pytest.fixture
def gate(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import release_check

    yield release_check
    for name in ("release_check", "bump", "tagged", "bootstrap"):
        sys.modules.pop(name, None)


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text())


def steps(path: Path) -> list[dict]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def test_both_workflows_are_there_and_are_marked_as_not_seen():
    assert [path.stem for path in WORKFLOWS] == ["ci", "release"]
    assert all(path.read_text().startswith("# Not yet seen to run") for path in WORKFLOWS)


def test_the_matrix_has_the_pythons_and_systems_of_the_gate(gate):
    jobs = read(ROOT / ".github/workflows/ci.yml")["jobs"]
    for job in ("test", "windows"):
        assert jobs[job]["strategy"]["matrix"]["python"] == list(gate.PYTHONS)
    assert jobs["test"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"]
    assert jobs["windows"]["runs-on"] == "windows-latest"
    (setup,) = [one for one in steps(WORKFLOWS[1]) if "setup-python" in one.get("uses", "")]
    assert sorted(setup["with"]["python-version"].split()) == list(gate.PYTHONS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_exists(path, gate):
    commands = [shlex.split(step["run"]) for step in steps(path) if "run" in step]
    assert commands
    for program, *arguments in commands:
        if program == "python" and arguments[0] != "-m":
            assert (ROOT / arguments[0]).is_file()
        elif program == "python":
            assert arguments[1] in ("pip", "pytest")
        else:
            assert program.startswith("./tools/")
            assert (ROOT / program).stat().st_mode & 0o100
        for argument in arguments:
            if re.match("packages/", argument):
                assert (ROOT / argument / "pyproject.toml").is_file()
    built = {Path(word).name for words in commands for word in words if word.startswith("packages/")}
    assert built <= set(gate.PACKAGES)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_known_and_rights_are_the_least(path):
    found = read(path)
    assert {step["uses"] for step in steps(path) if "uses" in step} <= ACTIONS
    assert found["permissions"] == {"contents": "read"}
    rights = {name: job["permissions"] for name, job in found["jobs"].items() if "permissions" in job}
    assert rights == ({"publish": {"id-token": "write"}} if path.stem == "release" else {})
    assert all(job["timeout-minutes"] <= 90 for job in found["jobs"].values())


def test_a_release_is_published_only_after_the_gate():
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["environment"] == "release"
    assert next(step["run"] for step in jobs["build"]["steps"] if "run" in step) == "./tools/release-check"
