"""Build what is committed and test it as users get it: ./tools/venv python tools/release.py [PYTHON ...]

Wheels and sdists of all packages go to dist/release, and twine checks them. For each Python (the one of
.venv where none is named), the wheels are installed into a fresh environment with the versions of
poetry.lock, and the tests of what commands print, learn and read pass there, without the sources.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from bootstrap import PACKAGES, ROOT, TORCH, TORCH_INDEX, requirements

OUT = ROOT / "dist/release"
TESTS = [
    f"tests/golden/test_{name}.py" for name in ("commands", "help", "learned", "public_names", "reading")
]


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run(command, cwd=cwd, check=True)


def environment(folder: Path, interpreter: str) -> Path:
    """The Python of a new environment."""
    run(interpreter, "-m", "venv", folder)
    return folder / "bin/python"


def build(clone: Path, python: Path) -> None:
    run(python, "-m", "pip", "install", "-qq", "build", "twine")
    shutil.rmtree(OUT, ignore_errors=True)
    for package in PACKAGES:
        run(python, "-m", "build", "--outdir", OUT, clone / "packages" / package)
    run(python, "-m", "twine", "check", "--strict", *sorted(OUT.iterdir()))


def test(clone: Path, python: Path) -> None:
    lock = tomllib.loads((clone / "poetry.lock").read_text())
    pinned = python.parent / "requirements.txt"
    pinned.write_text("\n".join(requirements(lock, ["main", "base", "dev"])))
    install: list[str | Path] = [python, "-m", "pip", "install", "-qq", "--no-deps"]
    run(*install, "--retries=0", f"--extra-index-url={TORCH_INDEX}", TORCH)
    run(*install, "--require-hashes", f"--requirement={pinned}")
    run(*install, *sorted(OUT.glob("*.whl")))
    run(python, "-m", "pip", "check")
    run(python, "-m", "pytest", "-q", *TESTS, cwd=clone)


def main(interpreters: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        run("git", "clone", "--quiet", ROOT, clone)
        build(clone, environment(Path(folder) / "build", interpreters[0]))
        shutil.rmtree(clone / "packages")
        for number, interpreter in enumerate(interpreters):
            test(clone, environment(Path(folder) / f"environment-{number}", interpreter))


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
