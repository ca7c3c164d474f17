"""Stages of a run, kept by content: what the same code made of the same inputs is not made again.

A stage's folder is named by the sha256 of its name, its inputs (plain data: hashes of sentences, settings,
seed) and the code that makes it: the source of the module in which its `make` is defined and of all modules
that this one imports, and the versions of the libraries beneath (`_imports.py`). So a stage is as
fine-grained as its module: what trains a model stands in a module that does nothing else.

A stage is filled beside its place and renamed when complete, so an interrupted run leaves nothing half-done
and the next one goes on where it stopped. A stage that cannot be read is made again.
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

from lcons_core import LconsError
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.data._catalog import cache_folder
from lcons_tasks.experiments.engine._imports import code_of

# What results.json says of the environment.
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
        """What `read` finds in the stage's folder; `make` fills it where there is none that can be read."""
        target = self.folder / f"{name}-{stage_key(name, inputs, make.__module__)[:20]}"
        if target.is_dir():
            try:
                return read(target)
            except (LconsError, OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                shutil.rmtree(target, ignore_errors=True)
        self._fill(target, make)
        return read(target)

    def _fill(self, target: Path, make: Callable[[Path], None]) -> None:
        try:
            with replacing_folder(target, first_stays=True) as folder:
                make(folder)
        except OSError as error:
            if isinstance(error, LconsError):
                raise
            raise LconsError(
                f"cannot keep a stage in {str(self.folder)!r}: {error.strerror or error}; make room there or"
                " name another folder in LCONS_CACHE_DIR."
            ) from error


def stage_key(name: str, inputs: Mapping[str, Any], module: str) -> str:
    """The sha256 that names a stage that a module makes."""
    whole = {"stage": name, "inputs": inputs, "code": code_of(module).to_dict()}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def library_versions() -> dict[str, str]:
    """The versions of the libraries that decide what training and decoding give; those that are installed."""
    found = {}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
