"""A new version of one package, or of all: files are changed, and the tags to set are printed.

    python bump.py PACKAGE|all VERSION|major|minor|patch [--date 2026-01-31]

    packages/PACKAGE/pyproject.toml    the version; in packages above it, a range that does not admit it
    packages/PACKAGE/CHANGELOG.md      [Unreleased] becomes a dated section, below a new [Unreleased];
                                       in packages whose range changed, a line under their [Unreleased]
    poetry.lock                        the same versions and ranges
    CITATION.cff                       the version and date of lcons-cli, the command

A range admits what semantic versioning calls compatible: >=0.2,<0.3 before 1.0, then >=1.2,<2. Nothing is
changed if the working tree is not clean, if a package has nothing under [Unreleased], or if the version does
not rise. Commits and tags are made by people. Needs only the standard library and git.
"""

import argparse
import datetime as dt
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli", "lcons-contrib")
# The version of the software as a whole is that of its command.
COMMAND = "lcons-cli"
STEPS = ("major", "minor", "patch")
ALL = "all"


class Refused(Exception):
    """Nothing was changed, and why."""


def project(root: Path, package: str) -> dict[str, Any]:
    """The table [project] of a package."""
    return tomllib.loads((root / "packages" / package / "pyproject.toml").read_text())["project"]


def unreleased(root: Path) -> list[str]:
    """The packages whose changelog has entries under [Unreleased]."""
    texts = {package: (root / "packages" / package / "CHANGELOG.md").read_text() for package in PACKAGES}
    found = {
        package: re.search(r"^## \[Unreleased\]$(.*?)(?=^## |\Z)", t, re.M | re.S)
        for package, t in texts.items()
    }
    return [package for package, match in found.items() if match and re.search(r"^- ", match[1], re.M)]


def numbers(version: str) -> tuple[int, int, int]:
    """The three numbers of a version.

    >>> numbers("0.1.0")
    (0, 1, 0)
    """
    found = re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version)
    if not found:
        raise Refused(f"expected major, minor, patch or a version such as 1.2.3, found {version!r}.")
    return int(found[1]), int(found[2]), int(found[3])


def next_version(now: str, wanted: str) -> str:
    """The version that follows by a step, or the wanted one if it is larger.

    >>> next_version("0.1.4", "minor"), next_version("0.1.4", "1.0.0")
    ('0.2.0', '1.0.0')
    """
    major, minor, patch = numbers(now)
    steps = {
        "major": f"{major + 1}.0.0",
        "minor": f"{major}.{minor + 1}.0",
        "patch": f"{major}.{minor}.{patch + 1}",
    }
    found = steps.get(wanted, wanted)
    if numbers(found) <= numbers(now):
        raise Refused(f"expected a version above {now}, found {found}.")
    return found


def compatible(version: str) -> str:
    """The range of versions that are compatible with a version.

    >>> compatible("0.2.1"), compatible("1.2.0")
    ('>=0.2,<0.3', '>=1.2,<2')
    """
    major, minor, _ = numbers(version)
    return f">={major}.{minor},<{major + 1 if major else f'0.{minor + 1}'}"


def admits(span: str, version: str) -> bool:
    """Whether a range such as >=0.1,<0.2 has a version in it."""
    low, high = (tuple(int(part) for part in end.split(".")) for end in re.findall(r"[\d.]+", span))
    return low <= numbers(version) < high


def substituted(text: str, pattern: str, new: str, where: str) -> str:
    """The text with the only match of a pattern replaced."""
    found, count = re.subn(pattern, lambda match: match[1] + new + match[2], text, flags=re.M)
    if count != 1:
        raise Refused(f"expected one place for {new!r} in {where}, found {count}.")
    return found


def released(changelog: str, version: str, date: str) -> str:
    """A changelog whose [Unreleased] is a dated section, below a new and empty [Unreleased].

    >>> print(released("# Log\\n\\n## [Unreleased]\\n\\n- A.\\n", "0.2.0", "2026-01-31"), end="")
    # Log
    <BLANKLINE>
    ## [Unreleased]
    <BLANKLINE>
    ## [0.2.0] - 2026-01-31
    <BLANKLINE>
    - A.
    """
    return substituted(changelog, r"^(## \[Unreleased\]\n)()", f"\n## [{version}] - {date}\n", "CHANGELOG.md")


def noted(changelog: str, line: str) -> str:
    """A changelog with one more line under `### Changed` of [Unreleased]."""
    section = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if section is None:
        raise Refused("expected a section [Unreleased] in CHANGELOG.md, found none.")
    own = section[1]
    changed = re.search(r"^### Changed\n\n", own, re.M)
    if changed:
        own = f"{own[: changed.end()]}- {line}\n{own[changed.end() :]}"
    else:
        own = (
            f"{own.rstrip()}\n\n### Changed\n\n- {line}\n\n"
            if own.strip()
            else f"\n### Changed\n\n- {line}\n\n"
        )
    return changelog[: section.start(1)] + own + changelog[section.end(1) :]


def bumped(root: Path, chosen: dict[str, str], date: str) -> dict[Path, str]:
    """The files that change, with their new text, if these packages have these versions."""
    files: dict[Path, str] = {}

    def text(path: Path) -> str:
        return files.get(path) or path.read_text(encoding="utf-8")

    lock = root / "poetry.lock"
    for package, version in chosen.items():
        own = root / "packages" / package / "pyproject.toml"
        files[own] = substituted(text(own), r'^(version = ")[\d.]+(")', version, own.name)
        entry = rf'(^name = "{package}"\nversion = ")[\d.]+(")'
        files[lock] = substituted(text(lock), entry, version, lock.name)
    for package, version in chosen.items():
        for above in PACKAGES:
            own, log = (root / "packages" / above / name for name in ("pyproject.toml", "CHANGELOG.md"))
            found = re.search(rf'"{package}(>=[\d.]+,<[\d.]+)"', text(own))
            if not found or admits(found[1], version):
                continue
            span = compatible(version)
            files[own] = substituted(text(own), rf'("{package})>=[\d.]+,<[\d.]+(")', span, own.name)
            entry = rf'(^name = "{above}"\n(?:(?!\[\[).*\n)*?{package} = ")>=[\d.]+,<[\d.]+(")'
            files[lock] = substituted(text(lock), entry, span, lock.name)
            files[log] = noted(text(log), f"Needs {package} {span.replace(',', ', ')}.")
    for package, version in chosen.items():
        log = root / "packages" / package / "CHANGELOG.md"
        files[log] = released(text(log), version, date)
    if COMMAND in chosen:
        cited = root / "CITATION.cff"
        files[cited] = substituted(text(cited), r'^(version: ")[\d.]+(")', chosen[COMMAND], cited.name)
        dated = re.sub(r"^date-released: .*\n", "", files[cited], flags=re.M)
        files[cited] = substituted(dated, r"^(version: .*\n)()", f'date-released: "{date}"\n', cited.name)
    return files


def check(root: Path, chosen: list[str]) -> None:
    """Raises `Refused` if the tree is not clean, or a package has nothing to release."""
    command = ["git", "-c", "safe.directory=*", "status", "--porcelain"]
    changed = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if changed:
        raise Refused(f"expected a clean working tree, found {len(changed)} changes; commit or stash them.")
    for package in chosen:
        if package not in unreleased(root):
            raise Refused(
                f"expected entries under [Unreleased] of {package}, found none: nothing to release."
            )


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("package", choices=[*PACKAGES, ALL])
    parser.add_argument("version", help="major, minor, patch, or a version such as 1.2.3")
    parser.add_argument("--date", type=dt.date.fromisoformat, help="the date of the release; default: today")
    given = parser.parse_args(arguments)
    names = list(PACKAGES) if given.package == ALL else [given.package]
    date = given.date or dt.datetime.now(dt.UTC).date()
    try:
        check(root, names)
        chosen = {name: next_version(project(root, name)["version"], given.version) for name in names}
        files = bumped(root, chosen, date.isoformat())
    except Refused as refused:
        print(f"bump: {refused}", file=sys.stderr)
        return 1
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        print(f"changed {path.relative_to(root)}", file=sys.stderr)
    for name, version in chosen.items():
        print(f"{name}-v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
