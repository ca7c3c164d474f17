"""The parts of the release gate that only read: each finds what it is for, and nothing in this tree."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def gate(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import release_check

    yield release_check
    for name in ("release_check", "bootstrap", "bump", "tagged"):
        sys.modules.pop(name)


@pytest.fixture
def tidy(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import tidy

    yield tidy
    sys.modules.pop("tidy")


@pytest.fixture
def tree(tmp_path, gate):
    """The files of this tree that state versions, to change."""
    for package in gate.PACKAGES:
        own = tmp_path / "packages" / package
        own.mkdir(parents=True)
        for name in ("pyproject.toml", "CHANGELOG.md"):
            shutil.copy(ROOT / "packages" / package / name, own / name)
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    return tmp_path


def test_the_tests_that_the_gate_runs_exist(gate):
    named = [ROOT / "packages" / p / "tests" / name for p, own in gate.QUICK.items() for name in own]
    assert [str(path) for path in named if not path.is_file()] == []


def test_classifiers_are_the_pythons_of_the_gate(gate):
    for package in gate.PACKAGES:
        stated = [line.rpartition(" :: ")[2] for line in gate.project(ROOT, package)["classifiers"]]
        assert [one for one in stated if one.startswith("3.")] == list(gate.PYTHONS)


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_versions_and_changelogs_agree(gate, tree):
    assert gate.wrong_versions(tree) == []
    replace(tree / "packages/lcons-core/pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0"')
    wrong = gate.wrong_versions(tree)
    assert any("lcons-cli needs lcons-core>=0.1,<0.2" in line for line in wrong)
    assert "lcons-core: CHANGELOG.md has no section of version 0.2.0" in wrong
    replace(tree / "packages/lcons-cli/pyproject.toml", 'version = "0.1.0"', 'version = "0.1.1"')
    assert "CITATION.cff has another version than lcons-cli, 0.1.1" in gate.wrong_versions(tree)


def test_a_released_section_needs_a_date(gate, tmp_path):
    path = tmp_path / "CHANGELOG.md"
    for heading, wrong in {
        "## [1.0.0] - 2026-02-01": "",
        "## [1.0.0]": "needs a date",
        "## [0.9.0] - 2026-02-01": "newest section of CHANGELOG.md is 0.9.0",
        "# Changes": "no section",
    }.items():
        path.write_text(f"{heading}\n\n- A change.\n")
        found = gate.wrong_changelog("lcons-core", "1.0.0", path)
        assert [wrong in line for line in found] == ([True] if wrong else [])


def test_hosts_of_registries_are_found_and_private_ones_not_repeated(gate):
    public = "https://" + "pypi." + "org/simple"
    index = "https://" + "download." + "pytorch.org/whl/cpu"
    files = {
        "a.md": f"see\n{public}",
        "b.py": "at packages.corp.example",
        "tools/bootstrap.py": index,
        "c.py": index,
    }
    wrong = gate.wrong_hosts(files, ["packages.corp.example"])
    assert [line.partition(": ")[0] for line in wrong] == ["a.md:2", "b.py:1", "c.py:1"]
    assert "corp" not in wrong[1]


def test_a_wheel_has_its_package_its_licence_and_no_paths(gate, tmp_path):
    wheel = tmp_path / "lcons_core-0.1.0-py3-none-any.whl"
    info = "lcons_core-0.1.0.dist-info"
    files = {
        "lcons_core/py.typed": "",
        f"{info}/licenses/LICENSE": "",
        f"{info}/METADATA": "Name: lcons-core\nVersion: 0.1.0\nRequires-Dist: numpy\n\n# README",
    }

    def wrong(content):
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
        return gate.wrong_wheel(wheel, "0.1.0")

    assert wrong(files) == []
    assert wrong({**files, "tests/a.py": ""}) == [f"{wheel.name} has tests/a.py"]
    path = "Name: lcons-core\nVersion: 0.1.0\nRequires-Dist: x @ file:///x\n\n"
    assert len(wrong({**files, f"{info}/METADATA": path})) == 1
    assert wrong({name: text for name, text in files.items() if "LICENSE" not in name}) == [
        f"{wheel.name} has no licenses/LICENSE"
    ]
