"""`tools/bump` changes what a new version touches and nothing else, and refuses what is not ready."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import bump
    import release_check
    import tagged

    yield bump, release_check, tagged
    for name in ("bump", "release_check", "bootstrap", "tagged"):
        sys.modules.pop(name)


def git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *own, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def clone(tmp_path, tools):
    """The files that a version touches, committed in a repository of their own, with something to release."""
    _, gate, _ = tools
    for package in gate.PACKAGES:
        own = tmp_path / "packages" / package
        own.mkdir(parents=True)
        shutil.copy(ROOT / "packages" / package / "pyproject.toml", own)
        (own / "CHANGELOG.md").write_text(
            "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- News.\n\n## [0.1.0]\n\n- First.\n"
        )
        text = re.sub(
            '^version = ".*"$', 'version = "0.1.0"', (own / "pyproject.toml").read_text(), flags=re.M
        )
        (own / "pyproject.toml").write_text(text)
    for name in ("poetry.lock", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "start")
    return tmp_path


def changed(clone: Path) -> set[str]:
    return {line[3:] for line in git(clone, "status", "--porcelain").splitlines()}


def test_a_patch_changes_one_package(tools, clone, capsys):
    bump, gate, _ = tools
    assert bump.main(["lcons-decode", "patch", "--date", "2026-01-31"], clone) == 0
    assert capsys.readouterr().out == "lcons-decode-v0.1.1\n"
    own = {f"packages/lcons-decode/{name}" for name in ("pyproject.toml", "CHANGELOG.md")}
    assert changed(clone) == {*own, "poetry.lock"}
    log = (clone / "packages/lcons-decode/CHANGELOG.md").read_text()
    assert log.startswith(
        "# Changelog\n\n## [Unreleased]\n\n## [0.1.1] - 2026-01-31\n\n### Added\n\n- News.\n\n## [0.1.0]\n"
    )
    assert gate.wrong_versions(clone) == []
    assert "lcons-decode" not in gate.unreleased(clone)
    assert 'name = "lcons-decode"\nversion = "0.1.1"' in (clone / "poetry.lock").read_text()


def test_a_minor_version_moves_the_ranges_of_the_packages_above(tools, clone, capsys):
    bump, gate, _ = tools
    assert bump.main(["lcons-core", "minor"], clone) == 0
    assert capsys.readouterr().out == "lcons-core-v0.2.0\n"
    assert gate.wrong_versions(clone) == []
    for package in ("lcons-decode", "lcons-tasks", "lcons-cli"):
        project = gate.project(clone, package)
        assert "lcons-core>=0.2,<0.3" in project["dependencies"]
        assert project["version"] == "0.1.0"
        log = (clone / f"packages/{package}/CHANGELOG.md").read_text()
        assert "### Changed\n\n- Needs lcons-core >=0.2, <0.3.\n\n## [0.1.0]" in log
    lock = (clone / "poetry.lock").read_text()
    assert lock.count('lcons-core = ">=0.2,<0.3"') == 4
    assert 'lcons-core = ">=0.1,<0.2"' not in lock


def test_all_packages_at_once_and_the_citation(tools, clone, capsys):
    bump, gate, _ = tools
    assert bump.main(["all", "1.0.0", "--date", "2026-01-31"], clone) == 0
    assert capsys.readouterr().out.split() == [f"{package}-v1.0.0" for package in gate.PACKAGES]
    assert gate.wrong_versions(clone) == gate.unreleased(clone) == []
    assert "lcons-tasks>=1.0,<2" in gate.project(clone, "lcons-cli")["dependencies"]
    cited = (clone / "CITATION.cff").read_text()
    assert 'version: "1.0.0"\ndate-released: "2026-01-31"\n' in cited
    git(clone, "commit", "-qam", "release")
    log = clone / "packages/lcons-cli/CHANGELOG.md"
    log.write_text(log.read_text().replace("## [Unreleased]\n", "## [Unreleased]\n\n- More.\n"))
    git(clone, "commit", "-qam", "more")
    assert bump.main(["lcons-cli", "patch", "--date", "2026-02-28"], clone) == 0
    assert (clone / "CITATION.cff").read_text().count("date-released") == 1


def test_it_refuses_a_dirty_tree_nothing_new_and_versions_that_do_not_rise(tools, clone, capsys):
    bump, _, _ = tools

    def refused(*words):
        assert bump.main([*words], clone) == 1
        return capsys.readouterr().err

    assert "expected a version above 0.1.0, found 0.1.0" in refused("lcons-core", "0.1.0")
    assert "expected major, minor, patch or a version" in refused("lcons-core", "1.0")
    (clone / "new.txt").write_text("new")
    assert "expected a clean working tree, found 1 changes" in refused("lcons-core", "patch")
    (clone / "new.txt").unlink()
    log = clone / "packages/lcons-core/CHANGELOG.md"
    log.write_text(log.read_text().replace("- News.\n", ""))
    git(clone, "commit", "-qam", "nothing new")
    assert "found none: nothing to release" in refused("all", "minor")
    assert changed(clone) == set()


def state_urls(clone: Path, package: str, names: tuple[str, ...]) -> None:
    own = clone / "packages" / package / "pyproject.toml"
    without = re.sub(r"\n\[project\.urls\]\n(?:.+\n)*", "", own.read_text())
    table = "".join(f'{name} = "https://example.org/{name}"\n' for name in names)
    own.write_text(f"{without}\n[project.urls]\n{table}")


def test_nothing_is_published_without_the_addresses_of_the_project(tools, clone, tmp_path):
    _, gate, tagged = tools
    state_urls(clone, "lcons-core", ())
    assert gate.missing_urls(clone, "lcons-core") == list(gate.URLS)
    state_urls(clone, "lcons-core", gate.URLS[:-1])
    with pytest.raises(SystemExit, match="expected the addresses Issues under"):
        tagged.tagged("lcons-core-v0.1.0", tmp_path, clone)


def test_a_tag_names_the_version_of_the_tree(tools, clone, tmp_path):
    _, gate, tagged = tools
    for package in ("lcons-core", "lcons-cli"):
        state_urls(clone, package, gate.URLS)
    for end in ("-py3-none-any.whl", ".tar.gz"):
        (tmp_path / f"lcons_core-0.1.0{end}").write_text("")
    names = [path.name for path in tagged.tagged("lcons-core-v0.1.0", tmp_path, clone)]
    assert names == ["lcons_core-0.1.0-py3-none-any.whl", "lcons_core-0.1.0.tar.gz"]
    for tag, wrong in {
        "v0.1.0": "expected a tag such as",
        "lcons-core-v0.2.0": "expected the tag lcons-core-v0.1.0",
        "lcons-cli-v0.1.0": "run ./tools/release-check first",
    }.items():
        with pytest.raises(SystemExit, match=wrong):
            tagged.tagged(tag, tmp_path, clone)


def test_the_command_runs_and_refuses_in_one_line():
    done = subprocess.run([ROOT / "tools/bump", "lcons-core", "0.0.1"], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"bump: expected .*\n", done.stderr)
