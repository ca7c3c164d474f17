"""Copy the wheel and the sdist of the package that a tag names: python tagged.py TAG BUILT TARGET.

A tag is PACKAGE-vVERSION, as `./tools/bump` prints it. It must name the version that the package has in this
tree, so that a tag on another commit publishes nothing, and the package must state the addresses of the
project ([project.urls]), which are not known yet. Needs only the standard library.
"""

import re
import shutil
import sys
from pathlib import Path

from bump import PACKAGES, project

ROOT = Path(__file__).resolve().parent.parent
# The addresses that the metadata of a published package must have, as an index shows them.
URLS = ("Homepage", "Repository", "Documentation", "Changelog", "Issues")


def missing_urls(root: Path, package: str) -> list[str]:
    """The names of `URLS` for which a package has no address under [project.urls] that begins with https."""
    own = project(root, package).get("urls", {})
    return [name for name in URLS if not own.get(name, "").startswith("https://")]


def tagged(tag: str, built: Path, root: Path = ROOT) -> list[Path]:
    """The two files of the package and version of a tag; `SystemExit` if the tag is not of this tree."""
    found = re.fullmatch(r"(.+)-v([\d.]+)", tag)
    if not found or found[1] not in PACKAGES:
        raise SystemExit(f"expected a tag such as {PACKAGES[0]}-v1.2.3, found {tag!r}.")
    package, version = found[1], project(root, found[1])["version"]
    if version != found[2]:
        raise SystemExit(
            f"expected the tag {package}-v{version}, because that is the version here, found {tag!r}."
        )
    if missing := missing_urls(root, package):
        raise SystemExit(
            f"expected the addresses {', '.join(missing)} under [project.urls] of {package}, found none;"
            " add them and make a new version: nothing is published without them."
        )
    stem = f"{package.replace('-', '_')}-{version}"
    files = [built / f"{stem}-py3-none-any.whl", built / f"{stem}.tar.gz"]
    absent = [path.name for path in files if not path.is_file()]
    if absent:
        raise SystemExit(
            f"expected {', '.join(absent)} in {built}, found none; run ./tools/release-check first."
        )
    return files


def main(arguments: list[str]) -> int:
    tag, built, target = arguments
    Path(target).mkdir(parents=True, exist_ok=True)
    for path in tagged(tag, Path(built)):
        shutil.copy(path, target)
        print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
