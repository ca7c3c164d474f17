"""The folder of a run, read with suspicion: results.json, report.md, constraints and predictions.

A constraint file by itself is read as a run that has that constraint and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import load
from lcons_core.errors import InvalidInput
from lcons_tasks.experiment.outputs import FORMAT, REPORT, RESULTS


@dataclass(frozen=True)
class ConstraintSet:
    """The constraint files of one folder, such as those of a split."""

    name: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Run:
    """What a run left behind; `name` tells it from the other runs of a page."""

    name: str
    results: Mapping[str, Any]
    sha256: str
    report: str
    sets: tuple[ConstraintSet, ...]
    predictions: tuple[Path, ...]
    pictures: tuple[Path, ...]

    @property
    def task(self) -> str:
        """The task, as results.json names it."""
        return str(self.results["task"])


def read_runs(folders: Sequence[str | os.PathLike[str]]) -> list[Run]:
    """The runs in the folders; one sentence where one of them is none."""
    if not folders:
        raise InvalidInput("expected the folder of at least one run, found none; name one.")
    paths = [Path(folder).resolve() for folder in folders]
    if len(set(paths)) != len(paths):
        raise InvalidInput("expected different runs, found one folder twice; name each once.")
    return [_read(path, name) for path, name in zip(paths, distinct_names(paths), strict=True)]


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """The ends of paths, as short as they still differ.

    >>> distinct_names([Path("a/er"), Path("b/er"), Path("b/chunking")])
    ['a/er', 'b/er', 'chunking']
    """
    names = []
    for path in paths:
        others = [other.parts for other in paths if other != path]
        size = 1
        while size < len(path.parts) and any(other[-size:] == path.parts[-size:] for other in others):
            size += 1
        names.append("/".join(part.strip("/") for part in path.parts[-size:]))
    return names


def natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in names by size.

    >>> sorted(["seed10", "seed2"], key=natural)
    ['seed2', 'seed10']
    """
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _read(folder: Path, name: str) -> Run:
    if folder.is_file():
        return _of_constraint(folder, name)
    if not folder.is_dir():
        raise InvalidInput(
            f"expected the folder of a run or a constraint file, found {str(folder)!r}, which is none; name"
            " what `lcons run` or `lcons learn` wrote."
        )
    content = _bytes(folder / RESULTS)
    if content is None:
        raise InvalidInput(
            f"expected {RESULTS} in {str(folder)!r}, found none, so it is no run or one that did not end; run"
            " it again."
        )
    report = _bytes(folder / REPORT)
    return Run(
        name,
        _results(folder / RESULTS, content),
        hashlib.sha256(content).hexdigest(),
        "" if report is None else report.decode("utf-8", "replace"),
        tuple(_sets(folder / "constraints")),
        tuple(_files(folder / "predictions")),
        tuple(sorted(folder.glob("*.svg"))),
    )


def _of_constraint(path: Path, name: str) -> Run:
    """A constraint file, with its provenance in place of results."""
    provenance = dict(load(path).provenance)
    results = {"task": "constraint", "versions": provenance.pop("versions", None), "options": provenance}
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Run(name, results, digest, "", (ConstraintSet(path.stem, (path,)),), (), ())


def _results(path: Path, content: bytes) -> dict[str, Any]:
    try:
        results = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"expected JSON in {str(path)!r}, found something else; run the task again."
        ) from None
    if not isinstance(results, dict) or not isinstance(results.get("task"), str):
        raise InvalidInput(
            f"expected the results of a task in {str(path)!r}, found no `task`; name the folder of a run."
        )
    if results.get("format") != FORMAT:
        raise InvalidInput(
            f"expected results of format {FORMAT} in {str(path)!r}, found {results.get('format')!r:.40}; use"
            " the lcons that made the run."
        )
    return results


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(
            f"cannot read {str(path)!r}: {error.strerror or error}; name a run that can be read."
        ) from None


def _sets(folder: Path) -> list[ConstraintSet]:
    found: dict[str, list[Path]] = {}
    for path in _files(folder):
        if path.suffix == ".json":
            found.setdefault(path.parent.relative_to(folder).as_posix(), []).append(path)
    names = sorted(found, key=natural)
    return [ConstraintSet("all" if name == "." else name, tuple(found[name])) for name in names]


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(files, key=lambda path: natural(path.relative_to(folder).as_posix()))
