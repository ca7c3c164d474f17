"""Checks of a release that only read: versions and changelogs, hosts, wheels, licences, the SBOM.

Each returns what is wrong, one sentence per item; an empty list is the answer "ok".
"""

import re
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli")
# The version of the software as a whole is that of its command.
COMMAND = "lcons-cli"
# The addresses that the metadata of a published package must have, as an index shows them.
URLS = ("Homepage", "Repository", "Documentation", "Changelog", "Issues")

# Package registries, by what their addresses have in common. Brackets keep a pattern from matching itself.
REGISTRIES = (
    r"pypi[.](org|python)|pythonhosted[.]|anaconda[.](org|com)|download[.]pytorch[.]|conda-forge[.]org"
    r"|(artifactory|nexus|devpi|jfrog|gemfury|cloudsmith)[a-z0-9-]*[.][a-z]|https?://[^\s\"'<>)]+/simple\b"
)
# The CPU builds of torch are on no other public index.
ALLOWED = ("tools/bootstrap.py", r"download[.]pytorch[.]org")

# The texts that authors write instead of an SPDX expression, and the classifiers that say nothing.
VAGUE = {"", "UNKNOWN", "OSI Approved", "Other/Proprietary License", "Dual License"}


class Distribution(NamedTuple):
    """An installed distribution, as its metadata describe it."""

    name: str
    version: str
    licence: str


def project(root: Path, package: str) -> dict[str, Any]:
    """The table [project] of a package."""
    return tomllib.loads((root / "packages" / package / "pyproject.toml").read_text())["project"]


def wrong_versions(root: Path) -> list[str]:
    """Versions that siblings do not admit, that no changelog describes, or that are not in CITATION.cff."""
    versions = {package: project(root, package)["version"] for package in PACKAGES}
    wrong = []
    cited = root / "CITATION.cff"
    if f'\nversion: "{versions[COMMAND]}"\n' not in cited.read_text():
        wrong.append(f"CITATION.cff has another version than {COMMAND}, {versions[COMMAND]}")
    for package in PACKAGES:
        for requirement in project(root, package)["dependencies"]:
            match = re.fullmatch(r"(lcons-\w+)>=([\d.]+),<([\d.]+)", requirement)
            if match and not _numbers(match[2]) <= _numbers(versions[match[1]]) < _numbers(match[3]):
                wrong.append(
                    f"{package} needs {requirement}, but {match[1]} has version {versions[match[1]]}"
                )
        wrong += wrong_changelog(package, versions[package], (root / "packages" / package / "CHANGELOG.md"))
    return wrong


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


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


def missing_urls(root: Path, package: str) -> list[str]:
    """The names of `URLS` for which a package has no address under [project.urls] that begins with https."""
    own = project(root, package).get("urls", {})
    return [name for name in URLS if not own.get(name, "").startswith("https://")]


def unreleased(root: Path) -> list[str]:
    """The packages whose changelog has entries under [Unreleased]."""
    texts = {package: (root / "packages" / package / "CHANGELOG.md").read_text() for package in PACKAGES}
    found = {
        package: re.search(r"^## \[Unreleased\]$(.*?)(?=^## |\Z)", t, re.M | re.S)
        for package, t in texts.items()
    }
    return [package for package, match in found.items() if match and re.search(r"^- ", match[1], re.M)]


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
    wrong = [f"{wheel.name} has no {end}" for end in ("py.typed", "licenses/LICENSE") if not _has(names, end)]
    wrong += [
        f"{wheel.name} has {name}"
        for name in names
        if not name.startswith((f"{package}/", f"{package}-{version}.dist-info/")) or "__pycache__" in name
    ]
    head = metadata.partition("\n\n")[0]
    if f"\nVersion: {version}\n" not in head:
        wrong.append(f"{wheel.name} is not of version {version}")
    return wrong + [f"{wheel.name}: {line}" for line in head.splitlines() if " @ " in line or "file:" in line]


def _has(names: Iterable[str], end: str) -> bool:
    return any(name.endswith(f"/{end}") for name in names)


def licence_of(fields: Mapping[str, list[str]]) -> str:
    """The licence that metadata state: the SPDX expression, else a short text, else classifiers; or ''."""
    (expression, text) = ((fields.get(key) or [""])[0].strip() for key in ("License-Expression", "License"))
    if expression:
        return expression
    classifiers = [
        name
        for line in fields.get("Classifier", [])
        if line.startswith("License ::") and (name := line.split(" :: ")[-1].strip()) not in VAGUE
    ]
    # Some put the whole licence there, which begins with a title or a copyright.
    if text in VAGUE or "\n" in text or text.lower().startswith("copyright"):
        return " AND ".join(classifiers)
    return text


def wrong_sbom(sbom: Mapping[str, Any], installed: Iterable[Distribution]) -> list[str]:
    """The fields that CycloneDX needs and the SBOM lacks, and the distributions that it leaves out."""
    wrong = []
    if sbom.get("bomFormat") != "CycloneDX":
        wrong.append(f"bomFormat must be CycloneDX, found {sbom.get('bomFormat')!r}")
    if not re.fullmatch(r"1\.[4-9]", str(sbom.get("specVersion"))):
        wrong.append(f"specVersion must be 1.4 or later, found {sbom.get('specVersion')!r}")
    components = sbom.get("components", [])
    wrong += [
        f"component {component.get('name', number)} has no {field}"
        for number, component in enumerate(components)
        for field in ("type", "name", "version", "bom-ref", "purl")
        if not component.get(field)
    ]
    listed = {(normal(str(c.get("name"))), c.get("version")) for c in components}
    wrong += [
        f"{item.name} {item.version} is not in it"
        for item in installed
        if (normal(item.name), item.version) not in listed
    ]
    main = sbom.get("metadata", {}).get("component", {})
    known = {component.get("bom-ref") for component in [main, *components]}
    for entry in sbom.get("dependencies", []):
        for ref in [entry["ref"], *entry.get("dependsOn", [])]:
            if ref not in known:
                wrong.append(f"dependencies name {ref}, which is no component")
    return wrong


def normal(name: str) -> str:
    """The name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def made_sbom(installed: Iterable[Distribution], needs: Mapping[str, list[str]]) -> dict[str, Any]:
    """A CycloneDX SBOM from metadata alone; `needs` has the names of what each distribution requires."""
    refs = {normal(item.name): f"{normal(item.name)}=={item.version}" for item in installed}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [
            {
                "type": "library",
                "bom-ref": refs[normal(item.name)],
                "name": item.name,
                "version": item.version,
                "purl": f"pkg:pypi/{normal(item.name)}@{item.version}",
                "licenses": [{"license": {"name": item.licence or "unknown"}}],
            }
            for item in installed
        ],
        "dependencies": [
            {
                "ref": ref,
                "dependsOn": sorted({refs[normal(n)] for n in needs.get(name, []) if normal(n) in refs}),
            }
            for name, ref in sorted(refs.items())
        ],
    }
