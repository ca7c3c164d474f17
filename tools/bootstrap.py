"""Bring an environment of the workspace up to what a command needs, then run that command in it.

    python bootstrap.py NEED COMMAND [ARGUMENT ...]

Every environment holds the five packages, what they depend on and the group base of pyproject.toml, torch
included. A need may add another group:

    need          environment          adds
    lcons         .venv                nothing: what users of the packages have
    dev           .venv                the group dev: checks, tests, benchmarks
    integrations  .venv-integrations   the group integrations: heavy neighbours and their tests

Some commands of lcons need neither spaCy nor torch, yet there is no smaller environment: packages declare
what they depend on, commands do not, and one environment that runs every command is simpler than several.

Needs only the standard library. pip installs versions from poetry.lock and compares each file with the hashes
there. torch's version is here; there is no hash of it, because its index has other files than others.
tools/GROUP.txt pins packages of a group that depend on torch, with hashes: poetry.lock would lock torch, too.
pip works on one core, so three of them share the packages; byte code is made when a module is first imported.
Debug builds and tests of libraries, a fifth of the bytes, are deleted (`UNUSED`). The stamp lists the groups
that are installed. It is written last, so an interrupted installation is seen and done again, and a file lock
lets one process at a time install.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ["lcons-core", "lcons-decode", "lcons-tasks", "lcons-cli", "lcons-contrib"]

# torch stays out of poetry.lock: Poetry would lock the build that brings 3 GB of CUDA packages.
TORCH = "torch==2.13.0" if sys.platform == "darwin" else "torch==2.13.0+cpu"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"

# Below site-packages: what nothing imports. cbcbox has the solver CBC three times.
UNUSED = ["cbcbox/cbc_dist_debug*", "torch/test", "torch/include", "torch/bin/test_*", "torch/bin/protoc*"]


class Need(NamedTuple):
    """An environment, by the name of its folder, and the dependency groups that it must hold."""

    venv: str
    groups: frozenset[str] = frozenset()


NEEDS = {
    "lcons": Need(".venv"),
    "dev": Need(".venv", frozenset(["dev"])),
    "integrations": Need(".venv-integrations", frozenset(["integrations"])),
}


def fingerprint(root: Path) -> str:
    """Hash of all that decides what the environments hold, and of where they are."""
    inputs = [
        "poetry.lock",
        "pyproject.toml",
        "tools/bootstrap.py",
        "tools/*.txt",
        "packages/*/pyproject.toml",
    ]
    digest = hashlib.sha256(str(root).encode())
    for path in (path for pattern in inputs for path in sorted(root.glob(pattern))):
        # The settings of linters and tests, below the groups in pyproject.toml, install nothing.
        digest.update(path.read_bytes().partition(b"[tool.ruff]")[0])
    return digest.hexdigest()


def is_ready(root: Path, need: Need) -> bool:
    """Whether the environment is complete, up to date, has the groups and, where set, is of $PYTHON."""
    venv = root / need.venv
    installed, groups = read_stamp(venv)
    return (
        os.access(venv / "bin/python", os.X_OK)
        and installed == fingerprint(root)
        and need.groups <= groups
        and (not os.environ.get("PYTHON") or is_of_this_python(venv))
    )


def read_stamp(venv: Path) -> tuple[str | None, frozenset[str]]:
    """The fingerprint and the groups of a complete environment; (None, no groups) where there is none."""
    if not (venv / "stamp").is_file():
        return None, frozenset()
    installed, _, groups = (venv / "stamp").read_text().partition("\n")
    return installed, frozenset(groups.split())


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


def ensure(root: Path, need: Need, install: Callable[[Path, Need, int], None]) -> None:
    """Install unless the environment is ready: one process at a time, the stamp last."""
    if is_ready(root, need):
        return
    with locked(root) as lock:
        if is_ready(root, need):
            return
        venv = root / need.venv
        # What was complete is brought up to date in place and keeps its groups; anything else is made anew.
        if (venv / "stamp").is_file() and is_of_this_python(venv):
            need = need._replace(groups=need.groups | read_stamp(venv)[1])
            (venv / "stamp").unlink()
        else:
            shutil.rmtree(venv, ignore_errors=True)
        installed = fingerprint(root)
        install(root, need, lock)
        (venv / "stamp").write_text("\n".join([installed, *sorted(need.groups)]))


def install(root: Path, need: Need, lock: int) -> None:
    """Fill the environment with the packages of the workspace, editable, all they need, and the groups."""
    import tomllib

    say(f"setting up {need.venv}{''.join(f' with {group}' for group in sorted(need.groups))}, about a minute")
    is_new = not (root / need.venv).exists()
    run_all(root, lock, [[sys.executable, "-m", "venv", need.venv]])
    pip = [f"{need.venv}/bin/python", "-m", "pip", "install", "-qq", "--no-compile", "--no-deps"]
    # torch by itself, so that nothing else is looked up on its index, and in one short try, so that
    # without that index pip soon goes on to the other places it knows.
    commands = [[*pip, "--retries=0", "--timeout=15", f"--extra-index-url={TORCH_INDEX}", TORCH]]
    lock_file = tomllib.loads((root / "poetry.lock").read_text())
    pinned = requirements(lock_file, {"main", "base", *need.groups})
    for half in (0, 1):
        file = root / need.venv / f"requirements-{half + 1}.txt"
        file.write_text("\n".join(pinned[half::2]))
        commands.append([*pip, "--require-hashes", f"--requirement={file}"])
    run_all(root, lock, commands)
    on_torch = [path for group in sorted(need.groups) if (path := root / f"tools/{group}.txt").is_file()]
    run_all(root, lock, [[*pip, "--require-hashes", f"--requirement={path}"] for path in on_torch])
    editable = [f"--editable=packages/{package}" for package in PACKAGES]
    run_all(root, lock, [[*pip, "--no-build-isolation", *editable]])
    say(f"all but {TORCH.partition('=')[0]} was compared with stored hashes", "")
    for path in (
        path for pattern in UNUSED for path in root.glob(f"{need.venv}/lib/*/site-packages/{pattern}")
    ):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if is_new and need.venv == NEEDS["lcons"].venv:
        compile_kernels(root, need)


def run_all(root: Path, lock: int, commands: Iterable[Sequence[str]]) -> None:
    """Run commands at the same time; `CalledProcessError` if one fails."""
    # Whoever is still installing holds the lock, even when this process was killed.
    started = [subprocess.Popen(command, pass_fds=[lock], cwd=root) for command in commands]
    for process, code in [(process, process.wait()) for process in started]:
        if code:
            raise subprocess.CalledProcessError(code, process.args)


def compile_kernels(root: Path, need: Need) -> None:
    """Compile the decoders of lcons into the user's cache. A run that finds none there compiles them itself,
    so nothing is said if this fails."""
    say("compiling the decoders, most of a minute")
    with contextlib.suppress(OSError):
        command = [f"{need.venv}/bin/python", "tools/kernels.py"]
        subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def requirements(lock: dict[str, Any], groups: Iterable[str]) -> list[str]:
    """The requirements, with their hashes, that a poetry.lock states for some groups."""
    wanted = set(groups)
    return [
        f"{package['name']}=={package['version']}"
        + (f" ; {marker}" if (marker := either(package.get("markers", ""), own)) else "")
        + "".join(f" --hash={file['hash']}" for file in package["files"])
        for package in lock["package"]
        if "source" not in package and (own := wanted & set(package["groups"]))
    ]


def either(markers: str | dict[str, str], groups: set[str]) -> str:
    """The marker of a locked package in its groups; where they differ, Poetry states those of some groups,
    and the others have it always."""
    if isinstance(markers, str):
        return markers
    if groups - set(markers):
        return ""
    return " or ".join(f"({markers[group]})" for group in sorted(groups))


def say(message: str, end: str = " ...") -> None:
    print(f"lcons: {message}{end}", file=sys.stderr, flush=True)


def main(name: str, command: str = "python", *arguments: str) -> None:
    need = NEEDS[name]
    try:
        ensure(ROOT, need, install)
    except subprocess.CalledProcessError:
        sys.exit("lcons: error: set-up failed, for the reason above; the next run starts it again")
    except KeyboardInterrupt:
        sys.exit("lcons: error: set-up interrupted; the next run starts it again")
    program = str(ROOT / need.venv / "bin" / command)
    try:
        os.execv(program, [program, *arguments])
    except FileNotFoundError:
        sys.exit(f"lcons: error: the environment has no command {command!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
