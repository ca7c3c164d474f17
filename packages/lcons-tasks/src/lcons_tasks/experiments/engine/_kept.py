"""Stages of a run, kept by what they depend on: the same stage with the same inputs runs only once.

The name of a stage's file contains the sha256 of the stage's name, its inputs (plain data: hashes of
sentences, settings, seed) and the versions of lcons and of the libraries that it uses. A change of code
between two versions is not seen: set LCONS_CACHE_DIR to an empty folder after one.

A file appears when it is complete. So an interrupted run leaves no incomplete stage, and the next run
continues where it stopped. A stage that cannot be read is made again. Stages are pickles: nobody else may
write into their folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from lcons_core import LconsError
from lcons_core._document import versions
from lcons_tasks.atomic import replacing
from lcons_tasks.data._catalog import cache_folder

# The libraries whose versions are in results.json.
LIBRARIES = ("torch", "numpy", "numba", "python-crfsuite")

STAGES_ELSEWHERE = "set LCONS_CACHE_DIR to another folder"

Result = TypeVar("Result")


@dataclass(frozen=True)
class Stages:
    """The folder that holds finished stages."""

    folder: Path

    @classmethod
    def of_user(cls) -> Stages:
        """The stages in the user's cache, in a folder that nobody else may write into."""
        folder = cache_folder().parent / "stages"
        with writable(folder, STAGES_ELSEWHERE):
            folder.chmod(0o700)
        return cls(folder)

    def keep(self, name: str, inputs: Mapping[str, Any], make: Callable[[], Result]) -> Result:
        """The result of `make`, made now or read from its stage."""
        import joblib

        whole = {"stage": name, "inputs": inputs, "versions": library_versions()}
        key = hashlib.sha256(json.dumps(whole, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        path = self.folder / f"{name}-{key[:20]}.joblib"
        # A damaged pickle can raise anything.
        with contextlib.suppress(Exception):
            stage: Result = joblib.load(path)
            return stage
        result = make()
        with writable(self.folder, STAGES_ELSEWHERE), replacing(path) as file:
            joblib.dump(result, file)
        return result


@contextlib.contextmanager
def writable(folder: Path, remedy: str) -> Iterator[None]:
    """Makes a folder; an error there or in the block names the folder and the remedy."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except LconsError:
        raise
    except OSError as error:
        raise LconsError(f"cannot write into {str(folder)!r}: {error.strerror or error}; {remedy}.") from None


@cache
def library_versions() -> dict[str, str]:
    """The versions of lcons and of those installed libraries that affect results."""
    installed = versions(["lcons-decode", "lcons-tasks"])
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed
