"""Stages of a run, kept by what they depend on: the same stage with the same inputs runs only once.

The name of a stage's folder contains the sha256 of the stage's name, the module that makes it, its inputs
(plain data: hashes of sentences, settings, seed) and the versions of lcons and of the libraries that it uses.
A change of code between two versions is not seen: set LCONS_CACHE_DIR to an empty folder after one.

A stage is written to a temporary folder that is renamed when it is complete. So an interrupted run leaves no
incomplete stage, and the next run continues where it stopped. A stage that cannot be read is made again, and
so is one whose files differ from the sha256 that were written with them: altered figures are never reported.
If two processes make the same stage at once, the first to end stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from lcons_core import DamagedFile, LconsError
from lcons_core._document import versions
from lcons_tasks.atomic import replacing_folder, write_text
from lcons_tasks.data._catalog import cache_folder

# The file with the sha256 of the other files of a stage.
DIGESTS = "digests.json"
# The libraries whose versions are in results.json.
LIBRARIES = ("torch", "numpy", "numba", "python-crfsuite")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Stages:
    """The folder that holds finished stages."""

    folder: Path

    @classmethod
    def of_user(cls) -> Stages:
        """The stages in the user's cache."""
        return cls(cache_folder().parent / "stages")

    def keep(
        self,
        name: str,
        inputs: Mapping[str, Any],
        make: Callable[[Path], None],
        read: Callable[[Path], Result],
    ) -> Result:
        """The result of `read` on the stage's folder; `make` fills the folder if it is missing or
        unreadable."""
        target = self.folder / f"{name}-{stage_key(name, inputs, make.__module__)[:20]}"
        if target.is_dir():
            try:
                _check_digests(target)
                return read(target)
            except (LconsError, OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                shutil.rmtree(target, ignore_errors=True)
        self._fill(target, make)
        return read(target)

    def _fill(self, target: Path, make: Callable[[Path], None]) -> None:
        try:
            with replacing_folder(target, first_stays=True) as folder:
                make(folder)
                write_text(folder / DIGESTS, json.dumps(_digests(folder), indent=1))
        except OSError as error:
            if isinstance(error, LconsError):
                raise
            raise LconsError(
                f"cannot write a stage into {str(self.folder)!r}: {error.strerror or error}; free some space"
                " there, or set LCONS_CACHE_DIR to another folder."
            ) from error


def _digests(folder: Path) -> dict[str, str]:
    """The sha256 of each file of a stage."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != DIGESTS)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _check_digests(folder: Path) -> None:
    if json.loads((folder / DIGESTS).read_text(encoding="utf-8")) != _digests(folder):
        raise DamagedFile(f"the stage {folder.name!r} was altered")


def stage_key(name: str, inputs: Mapping[str, Any], module: str) -> str:
    """The sha256 in the folder name of a stage that `module` makes."""
    whole = {"stage": name, "inputs": inputs, "module": module, "versions": library_versions()}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def library_versions() -> dict[str, str]:
    """The versions of lcons and of those installed libraries that affect results."""
    found = versions(["lcons-decode", "lcons-tasks"])
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
