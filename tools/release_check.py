"""The gate before a release: one line per check, `ok`, `failed` or `not seen`; exit code 1 if one failed.

    python release_check.py [--all] [--python 3.12 ...]

The tree as committed is cloned into two temporary folders, and wheels and sdists are built in both: they must
have the same bytes. The wheels are installed into a fresh environment per Python, with the versions of
poetry.lock, and the tests of each package run there, from a copy without the sources. The SBOM
(CycloneDX, with licences) is that of the first such environment. Reports and wheels go to dist/release.

`not seen` says that this machine cannot answer: there is no such Python, there are no wheels for it, or the
metadata do not state the addresses of the project, without which tools/tagged.py lets nothing be published.
Needs only the standard library, pip and git.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.parse
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bootstrap import TORCH, TORCH_INDEX, requirements
from bump import COMMAND, PACKAGES, admits, project, unreleased
from tagged import URLS, missing_urls

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SBOM_TOOL = "cyclonedx-bom>=7,<8"

# Package registries, by what their addresses have in common. Brackets keep a pattern from matching itself.
REGISTRIES = (
    r"pypi[.](org|python)|pythonhosted[.]|anaconda[.](org|com)|download[.]pytorch[.]|conda-forge[.]org"
    r"|(artifactory|nexus|devpi|jfrog|gemfury|cloudsmith)[a-z0-9-]*[.][a-z]|https?://[^\s\"'<>)]+/simple\b"
)
# The CPU builds of torch are on no other public index.
ALLOWED = ("tools/bootstrap.py", r"download[.]pytorch[.]org")

# What runs in about a minute per Python, and meets each package's files, compiled code, solver and commands.
QUICK = {
    "lcons-core": ["test_theorem1.py", "test_schemes.py", "storage/test_files.py", "learn/test_learn.py"],
    "lcons-decode": ["test_package.py", "test_scores.py", "chains/test_viterbi.py", "ilp/test_ilp_solve.py"],
    "lcons-tasks": ["test_tasks_package.py", "test_stats.py", "models/test_files.py"],
    "lcons-cli": ["test_main.py", "test_scheme.py", "test_explain.py"],
    "lcons-contrib": [],
}
NO_WHEELS = re.compile("No matching distribution found|ResolutionImpossible")

# A module of the copied tests: without torch, a test that comes to import it is skipped.
WITHOUT_TORCH = """
import sys
import pytest

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while frame and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        asker = frame.f_globals.get("__name__", "")
        ours = asker.startswith(("lcons_", "torchcrf")) or "/tests/" in frame.f_code.co_filename
        if name == "torch" and ours:
            pytest.skip("needs torch", allow_module_level=True)

sys.meta_path.insert(0, NoTorch())
"""


class Line(NamedTuple):
    """One check and its outcome."""

    state: str
    check: str
    detail: str

    def __str__(self) -> str:
        return f"{self.state:<9} {self.check:<28} {self.detail}".rstrip()


class Failure(Exception):
    """A command that failed, with the end of what it printed."""


def run(*command: str | Path, cwd: Path | None = None, **variables: str) -> str:
    """The output of a command, run without the variables by which Python would find other sources."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**kept, "OMP_NUM_THREADS": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(done.stdout.strip()[-2000:])
    return done.stdout


def line(check: str, wrong: list[str], fine: str) -> Line:
    return Line("failed", check, "; ".join(wrong)) if wrong else Line("ok", check, fine)


def wrong_versions(root: Path) -> list[str]:
    """Versions that siblings do not admit, that no changelog describes, or that are not in CITATION.cff."""
    versions = {package: project(root, package)["version"] for package in PACKAGES}
    wrong = []
    cited = root / "CITATION.cff"
    if f'\nversion: "{versions[COMMAND]}"\n' not in cited.read_text():
        wrong.append(f"CITATION.cff has another version than {COMMAND}, {versions[COMMAND]}")
    for package in PACKAGES:
        for requirement in project(root, package)["dependencies"]:
            match = re.fullmatch(r"(lcons-\w+)(>=[\d.]+,<[\d.]+)", requirement)
            if match and not admits(match[2], versions[match[1]]):
                wrong.append(
                    f"{package} needs {requirement}, but {match[1]} has version {versions[match[1]]}"
                )
        wrong += wrong_changelog(package, versions[package], (root / "packages" / package / "CHANGELOG.md"))
    return wrong


def wrong_changelog(package: str, version: str, changelog: Path) -> list[str]:
    """Whether the newest section is neither of this version, with a date, nor [Unreleased] above it."""
    headings = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", changelog.read_text(), re.M)
    names = [name for name, _ in headings]
    if not headings:
        return [f"{package}: CHANGELOG.md has no section"]
    newest, date = headings[0]
    if newest == "Unreleased":
        known = version in names or len(names) == 1
        return [] if known else [f"{package}: CHANGELOG.md has no section of version {version}"]
    if newest != version:
        return [f"{package}: the newest section of CHANGELOG.md is {newest}, the version is {version}"]
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        return [f"{package}: section {version} of CHANGELOG.md needs a date, as in [{version}] - 2026-01-31"]
    return []


def wrong_hosts(files: Mapping[str, str], configured: Iterable[str] = ()) -> list[str]:
    """The lines of texts, by path, that name a package registry, or a host that pip uses here (`configured`).
    Such a host is not repeated: it may be private."""
    public = re.compile(REGISTRIES, re.I)
    own = [re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", re.I) for host in configured]
    wrong = []
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if path == ALLOWED[0] and re.search(ALLOWED[1], line):
                continue
            if match := public.search(line):
                wrong.append(f"{path}:{number}: {match[0]}")
            elif any(pattern.search(line) for pattern in own):
                wrong.append(f"{path}:{number}: a host that pip uses on this machine")
    return wrong


def wrong_wheel(wheel: Path, version: str) -> list[str]:
    """What a wheel lacks, or should not have."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(n).decode() for n in names if n.endswith(".dist-info/METADATA"))
    package = wheel.name.partition("-")[0]
    wrong = [
        f"{wheel.name} has no {end}"
        for end in ("py.typed", "licenses/LICENSE")
        if not any(name.endswith(f"/{end}") for name in names)
    ]
    wrong += [
        f"{wheel.name} has {name}"
        for name in names
        if not name.startswith((f"{package}/", f"{package}-{version}.dist-info/")) or "__pycache__" in name
    ]
    head = metadata.partition("\n\n")[0]
    if f"\nVersion: {version}\n" not in head:
        wrong.append(f"{wheel.name} is not of version {version}")
    return wrong + [f"{wheel.name}: {line}" for line in head.splitlines() if " @ " in line or "file:" in line]


def build(work: Path, epoch: str) -> list[dict[str, bytes]]:
    """The wheels and sdists of two clones at different paths, by file name, each built for itself."""
    builder = work / "builder"
    run(sys.executable, "-m", "venv", builder)
    install_locked(builder / "bin/python", "base")
    code = "import poetry.core.masonry.api as b, sys; b.build_wheel(sys.argv[1]); b.build_sdist(sys.argv[1])"
    built = []
    for clone in (work / "clone", work / "another" / "clone"):
        run("git", "clone", "--quiet", "--no-hardlinks", ROOT, clone)
        out = clone.parent / "built"
        out.mkdir()
        for package in PACKAGES:
            own = clone / "packages" / package
            run(
                builder / "bin/python",
                "-c",
                code,
                out,
                cwd=own,
                SOURCE_DATE_EPOCH=epoch,
                PYTHONHASHSEED="random",
            )
        built.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    return built


def pythons() -> dict[str, Path]:
    """The interpreter of each supported version: those on PATH, of pyenv, of uv, of the system."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [Path(sys.executable)]
    for version in PYTHONS:
        candidates += [Path(found) for found in [shutil.which(f"python{version}")] if found]
        candidates += sorted(home.glob(f"versions/{version}.*/bin/python"))
        candidates += sorted(
            Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/python{version}")
        )
        candidates += [Path(f"/usr/bin/python{version}"), Path(f"/usr/local/bin/python{version}")]
    found: dict[str, Path] = {}
    for path in candidates:
        code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        try:
            version = run(path, "-c", code).strip()
        except (Failure, OSError):  # pyenv's command of a version that is not switched on, or no venv
            continue
        if version in PYTHONS:
            found.setdefault(version, path)
    return found


class Environment(NamedTuple):
    """A fresh environment with the wheels, before anything of the tests is added."""

    python: Path
    torch: bool


def install(interpreter: Path, venv: Path, wheels: Path, versions: dict[str, str]) -> Environment:
    """The four wheels and what they require, as poetry.lock has it; torch where there is a CPU build."""
    run(interpreter, "-m", "venv", venv)
    python = venv / "bin/python"

    def pip(*options: str) -> None:
        run(python, "-m", "pip", "install", "-qq", "--only-binary=:all:", *options)

    try:
        pip("--no-deps", "--retries=0", "--timeout=15", f"--extra-index-url={TORCH_INDEX}", TORCH)
        torch = True
    except Failure as failure:
        if not NO_WHEELS.search(str(failure)):
            raise
        torch = False
    # The group base holds what torch needs, and what builds packages, which nobody needs here.
    install_locked(python, "main", *(["base"] if torch else []), leave="poetry-core")
    # From the folder alone, so that no index can put something else in their place.
    own = [f"{package}=={version}" for package, version in versions.items()]
    pip("--no-index", "--no-deps", f"--find-links={wheels}", *own)
    run(python, "-m", "pip", "check")
    return Environment(python, torch)


def install_locked(python: Path, *groups: str, leave: str = "-") -> None:
    """Install groups of poetry.lock, by the hashes there, and `leave` one distribution out."""
    lock = tomllib.loads((ROOT / "poetry.lock").read_text())
    wanted = python.parent.parent / "requirements.txt"
    lines = [line for line in requirements(lock, groups) if not line.startswith(f"{leave}==")]
    wanted.write_text("\n".join(lines))
    options = ["--no-deps", "--require-hashes", "--only-binary=:all:", f"--requirement={wanted}"]
    run(python, "-m", "pip", "install", "-qq", *options)


def prepare(environment: Environment, clone: Path, copy: Path) -> list[str]:
    """Copy the tests without the sources, install what they need, and return the options of pytest."""
    install_locked(environment.python, "dev")
    for part in ["tests/golden", *(f"packages/{package}/tests" for package in PACKAGES)]:
        shutil.copytree(clone / part, copy / part)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(clone / name, copy / name)
    shutil.copytree(clone / "tools", copy / "tools")  # read by a test of lcons-tasks
    code = (
        "import lcons_core, lcons_decode, lcons_tasks, lcons_cli as c; print(lcons_core.__file__, c.__file__)"
    )
    for found in run(environment.python, "-c", code, cwd=copy).split():
        if not Path(found).is_relative_to(environment.python.parent.parent):
            raise Failure(f"the tests would import {found}, which is not of the wheel")
    if environment.torch:
        return ["-q", "-p", "no:cacheprovider"]
    (copy / "without_torch.py").write_text(WITHOUT_TORCH)
    return ["-q", "-p", "no:cacheprovider", "-p", "without_torch"]


def check_tests(
    environment: Environment, python: str, clone: Path, copy: Path, everything: bool
) -> Iterator[Line]:
    """The tests of each package, run from the copy; `everything`, or those of QUICK."""
    options = prepare(environment, clone, copy)
    torch = "" if environment.torch else ", without torch"
    for package in PACKAGES:
        own = f"packages/{package}/tests"
        if not QUICK[package]:
            continue
        chosen = [own] if everything else [f"{own}/{name}" for name in QUICK[package]]
        if package == "lcons-core":
            chosen.append("tests/golden/test_reading.py")  # files of earlier releases
        try:
            out = run(environment.python, "-m", "pytest", *options, *chosen, cwd=copy)
            yield Line("ok", f"{package} on {python}", out.strip().splitlines()[-1].strip("= ") + torch)
        except Failure as failure:
            yield Line("failed", f"{package} on {python}", str(failure))


def describe(environment: Environment, work: Path, reports: Path) -> Line:
    """The SBOM of an environment, with licences, by cyclonedx-bom, which checks it against the schema."""
    venv, out = work / "sbom", reports / "sbom.cdx.json"
    try:
        run(sys.executable, "-m", "venv", venv)
        run(venv / "bin/python", "-m", "pip", "install", "-qq", SBOM_TOOL)
        options: list[str | Path] = ["--of", "JSON", "--output-reproducible", "--validate", "-o", out]
        run(venv / "bin/cyclonedx-py", "environment", *options, environment.python)
    except Failure as failure:
        return Line("not seen" if NO_WHEELS.search(str(failure)) else "failed", "SBOM", str(failure))
    components = json.loads(out.read_text())["components"]
    unknown = [f"the licence of {part['name']} is unknown" for part in components if not part.get("licenses")]
    return line("SBOM and licences", unknown, f"{len(components)} components, none without a licence")


def pip_hosts() -> list[str]:
    """The hosts that pip is set up to use here, the public index aside."""
    code = (
        "from pip._internal.commands import create_command;"
        "o = create_command('download').parser.get_default_values();"
        "print(*[o.index_url or '', *o.extra_index_urls, *o.find_links], sep='\\n')"
    )
    hosts = {urllib.parse.urlsplit(url).hostname for url in run(sys.executable, "-c", code).splitlines()}
    return sorted(host for host in hosts if host and host not in ("localhost", "127.0.0.1"))


def texts(clone: Path) -> dict[str, str]:
    """The text files of the repository, by path."""
    names = run("git", "ls-files", "-z", cwd=clone).split("\0")[:-1]
    found = {}
    for name in names:
        raw = (clone / name).read_bytes()
        if b"\0" not in raw:
            found[name] = raw.decode(errors="replace")
    return found


def check(work: Path, reports: Path, everything: bool, wanted: Iterable[str]) -> Iterator[Line]:
    """Every check, in order, as it ends."""
    if changed := run("git", "status", "--porcelain", cwd=ROOT).splitlines():
        yield Line("not seen", "the working tree", f"{len(changed)} changes that are not committed")
    first, second = build(work, run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip())
    clone = work / "clone"
    versions = {package: project(ROOT, package)["version"] for package in PACKAGES}
    for name, content in first.items():
        (reports / name).write_bytes(content)
    digests = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in first.items()]
    (reports / "SHA256SUMS").write_text("".join(digests))
    differ = [f"{name} differs between two builds" for name in first if first[name] != second.get(name)]
    yield line("reproducible builds", differ, f"{len(first)} files, built twice with the same bytes")
    wheels = sorted(reports.glob("*.whl"))
    wrong = [
        found
        for wheel in wheels
        for found in wrong_wheel(wheel, versions[wheel.name.partition("-")[0].replace("_", "-")])
    ]
    yield line("content of the wheels", wrong, ", ".join(wheel.name for wheel in wheels))
    pending = unreleased(clone)
    stated = ", ".join(dict.fromkeys(versions.values()))
    note = f", with entries under Unreleased in {', '.join(pending)}" if pending else ""
    yield line("versions and changelogs", wrong_versions(clone), stated + note)
    yield addresses(clone)
    files = texts(clone)
    wrong = wrong_hosts(files, pip_hosts())
    yield line(
        "no hosts of registries", wrong, f"{len(files)} files, the index of torch in {ALLOWED[0]} aside"
    )
    interpreters, described = pythons(), False
    for python in wanted:
        if python not in interpreters:
            yield Line("not seen", f"Python {python}", "no interpreter with venv and pip")
            continue
        try:
            environment = install(interpreters[python], work / f"venv-{python}", reports, versions)
        except Failure as failure:
            state = "not seen" if NO_WHEELS.search(str(failure)) else "failed"
            yield Line(state, f"Python {python}", str(failure))
            continue
        yield Line("ok", f"Python {python}", "the wheels and what they require are installed")
        if not described:
            yield describe(environment, work, reports)
            described = True
        yield from check_tests(environment, python, clone, work / f"copy-{python}", everything)
        shutil.rmtree(work / f"venv-{python}")


def addresses(clone: Path) -> Line:
    """Whether each package states the addresses of the project; tools/tagged.py publishes none without."""
    missing = {package: missing_urls(clone, package) for package in PACKAGES}
    wrong = [f"{package} lacks {', '.join(names)}" for package, names in missing.items() if names]
    check = "addresses of the project"
    return Line("not seen", check, "; ".join(wrong)) if wrong else Line("ok", check, ", ".join(URLS))


def main() -> int:
    parser = argparse.ArgumentParser(description="Check whether the packages can be released.")
    parser.add_argument(
        "--all", action="store_true", help="Run all tests of each package, not a quick choice."
    )
    parser.add_argument("--python", action="append", choices=PYTHONS, help="Only this version; repeatable.")
    options = parser.parse_args()
    reports = ROOT / "dist" / "release"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    lines = []
    with tempfile.TemporaryDirectory(prefix="lcons-release-") as work:
        try:
            for found in check(Path(work), reports, options.all, options.python or PYTHONS):
                lines.append(found)
                print(found, flush=True)
        except Failure as failure:
            lines.append(Line("failed", "the check itself", str(failure)))
            print(lines[-1], flush=True)
    (reports / "report.txt").write_text("".join(f"{found}\n" for found in lines))
    return int(any(found.state == "failed" for found in lines))


if __name__ == "__main__":
    sys.exit(main())
