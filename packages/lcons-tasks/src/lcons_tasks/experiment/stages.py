"""Stages of a run, kept by content: what was computed from the same inputs by the same code is not computed
again.

A stage's folder is named by the sha256 of its name, its inputs (plain data: corpus hash, settings, seed)
and the source of the modules that compute it. It is filled beside and renamed when complete, so an
interrupted run leaves nothing half-done and the next one goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from lcons_core.errors import LconsError
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.corpus.finding import cache_folder

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
        modules: tuple[str, ...],
        make: Callable[[Path], None],
        read: Callable[[Path], Result],
    ) -> Result:
        """What `read` finds in the stage's folder, which `make` fills where there is none."""
        target = self.folder / f"{name}-{stage_key(name, inputs, modules)[:20]}"
        if not target.is_dir():
            self._fill(target, make)
        return read(target)

    def has(self, name: str, inputs: Mapping[str, Any], modules: tuple[str, ...]) -> bool:
        """Whether a stage is complete."""
        return (self.folder / f"{name}-{stage_key(name, inputs, modules)[:20]}").is_dir()

    def _fill(self, target: Path, make: Callable[[Path], None]) -> None:
        try:
            with replacing_folder(target) as folder:
                make(folder)
        except OSError as error:
            raise LconsError(
                f"cannot keep a stage in {str(self.folder)!r}: {error.strerror or error}; make room there or"
                " name another folder in LCONS_CACHE_DIR."
            ) from error


def stage_key(name: str, inputs: Mapping[str, Any], modules: tuple[str, ...]) -> str:
    """The sha256 that names a stage."""
    text = json.dumps(
        {"stage": name, "inputs": inputs, "code": {module: source_hash(module) for module in modules}},
        sort_keys=True,
        ensure_ascii=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def source_hash(module: str) -> str:
    """The sha256 of the source of a module, or of all modules of a package."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise LconsError(f"there is no module {module!r} to hash.")
    origin = Path(spec.origin)
    files = sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(origin.parent).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
