"""Make the workspace environment `.venv` where it is missing or stale, then run a command of it.

Needs only the standard library. Versions come from poetry.lock, torch's from here; pip installs.
The stamp is written last, so an interrupted installation is seen and done again, and a file lock
lets one process at a time install.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# pip resolves a sibling with extras only where it is named before those that need it.
PACKAGES = ["lcons-core[test,torch]", "lcons-decode", "lcons-tasks", "lcons-cli"]

# torch stays out of poetry.lock: Poetry would lock the build that brings 3 GB of CUDA packages.
TORCH = "torch==2.13.0" if sys.platform == "darwin" else "torch==2.13.0+cpu"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def fingerprint(root: Path) -> str:
    """Hash of all that decides what the environment holds, and of where it is."""
    inputs = ["poetry.lock", "pyproject.toml", "tools/bootstrap.py", "packages/*/pyproject.toml"]
    digest = hashlib.sha256(str(root).encode())
    for path in (path for pattern in inputs for path in sorted(root.glob(pattern))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_ready(root: Path) -> bool:
    """Whether `.venv` is complete, up to date and, where $PYTHON is set, of that Python."""
    venv = root / ".venv"
    stamp = venv / "stamp"
    return (
        os.access(venv / "bin/python", os.X_OK)
        and stamp.is_file()
        and stamp.read_text() == fingerprint(root)
        and (not os.environ.get("PYTHON") or is_of_this_python(venv))
    )


def is_of_this_python(venv: Path) -> bool:
    return (venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}").is_dir()


@contextlib.contextmanager
def locked(root: Path) -> Iterator[int]:
    """Hold the set-up lock of the workspace, whose file descriptor is given."""
    with (root / ".venv.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up to finish")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def ensure(root: Path, install: Callable[[Path, int], None]) -> None:
    """Install unless the environment is ready: one process at a time, the stamp last."""
    if is_ready(root):
        return
    with locked(root) as lock:
        if is_ready(root):
            return
        venv = root / ".venv"
        # What was complete is brought up to date in place; anything else is made anew.
        if (venv / "stamp").is_file() and is_of_this_python(venv):
            (venv / "stamp").unlink()
        else:
            shutil.rmtree(venv, ignore_errors=True)
        installed = fingerprint(root)
        install(root, lock)
        (venv / "stamp").write_text(installed)


def install(root: Path, lock: int) -> None:
    """Fill `.venv` with the packages of the workspace, editable, and all they need."""
    import tomllib

    def run(*command: str) -> None:
        # Whoever is still installing holds the lock, even when this process was killed.
        subprocess.run(command, check=True, pass_fds=[lock], cwd=root)

    def pip(*options: str) -> None:
        run(".venv/bin/python", "-m", "pip", "install", "-qq", *options)

    say("setting up .venv, about a minute")
    run(sys.executable, "-m", "venv", ".venv")
    constraints = root / ".venv/constraints.txt"
    constraints.write_text("\n".join(pins(tomllib.loads((root / "poetry.lock").read_text()))))
    dev = tomllib.loads((root / "pyproject.toml").read_text())["dependency-groups"]["dev"]

    # torch by itself, so that nothing else is looked up on its index, and in one short try, so that
    # without that index pip soon goes on to the other places it knows.
    quick = ["--no-deps", "--retries=0", "--timeout=15"]
    pip(*quick, f"--extra-index-url={TORCH_INDEX}", TORCH)
    pip(f"--constraint={constraints}", "poetry-core")
    editable = [f"--editable=packages/{package}" for package in PACKAGES]
    pip(f"--constraint={constraints}", "--no-build-isolation", *dev, *editable)


def pins(lock: dict[str, Any]) -> list[str]:
    """The pip constraints that a poetry.lock states, and torch's."""
    published = [package for package in lock["package"] if "source" not in package]
    return [TORCH] + [
        f"{package['name']}=={package['version']}"
        + (f" ; {either(package['markers'])}" if "markers" in package else "")
        for package in published
    ]


def either(markers: str | dict[str, str]) -> str:
    """The marker of a locked package; Poetry states one a group where the groups differ."""
    return markers if isinstance(markers, str) else " or ".join(f"({m})" for m in markers.values())


def say(message: str) -> None:
    print(f"lcons: {message} ...", file=sys.stderr, flush=True)


def main(command: str = "python", *arguments: str) -> None:
    try:
        ensure(ROOT, install)
    except subprocess.CalledProcessError:
        sys.exit("lcons: error: set-up failed, for the reason above; the next run starts it again")
    except KeyboardInterrupt:
        sys.exit("lcons: error: set-up interrupted; the next run starts it again")
    program = str(ROOT / ".venv/bin" / command)
    try:
        os.execv(program, [program, *arguments])
    except FileNotFoundError:
        sys.exit(f"lcons: error: the environment has no command {command!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
