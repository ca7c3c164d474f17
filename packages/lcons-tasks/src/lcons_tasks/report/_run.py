"""The folder of a run, read with suspicion: results.json, report.md, constraints and predictions.

A file by itself is a run too, told by its content: a constraint file one that has that constraint and nothing
else, what `lcons decode --json` wrote one that has these predictions.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lcons_core import load
from lcons_core._errors import DamagedFile, InvalidInput
from lcons_core.storage._document import FORMAT as CONSTRAINT_FORMAT
from lcons_tasks.report._decoded import is_decoded, read_decoded
from lcons_tasks.report._evidence import without_evidence
from lcons_tasks.report._measures import measured
from lcons_tasks.report._outputs import FORMAT, REPORT, RESULTS

# The tasks of runs that are single files.
CONSTRAINT, DECODE = "constraint", "decode"


@dataclass(frozen=True)
class ConstraintSet:
    """The constraint files of one folder, such as those of a split."""

    name: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Run:
    """What a run left behind; `name` tells it from the other runs of a page.

    `gold` are decoded labels of other runs that tell a constraint file what gold labels are.
    """

    name: str
    results: Mapping[str, Any]
    sha256: str
    report: str
    sets: tuple[ConstraintSet, ...]
    predictions: tuple[Path, ...]
    pictures: tuple[Path, ...]
    gold: tuple[Path, ...] = ()

    @property
    def task(self) -> str:
        """The task, as results.json names it."""
        return str(self.results["task"])

    @property
    def is_file(self) -> bool:
        """Whether it is a file and no folder."""
        return self.task in (CONSTRAINT, DECODE)


def read_runs(folders: Sequence[str | os.PathLike[str]]) -> list[Run]:
    """The runs in the folders; one sentence where one of them is none."""
    if not folders:
        raise InvalidInput("expected the folder of at least one run, found none; name one.")
    paths = [Path(folder).resolve() for folder in folders]
    if len(set(paths)) != len(paths):
        raise InvalidInput("expected different runs, found one twice; name each once.")
    runs = [_read(path, name) for path, name in zip(paths, distinct_names(paths), strict=True)]
    gold = tuple(
        path for run in runs if run.task == DECODE and run.results["gold"] for path in run.predictions
    )
    return [replace(run, gold=gold) if run.task == CONSTRAINT else run for run in runs]


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
        return _of_decoded(folder, name) if is_decoded(folder) else _of_constraint(folder, name)
    if not folder.exists():
        raise InvalidInput(
            f"expected a run, found no such file or folder: {str(folder)!r}; name what `lcons run`, `lcons"
            " learn` or `lcons decode --json` wrote."
        )
    if not folder.is_dir():
        raise InvalidInput(
            f"expected the folder of a run, a constraint file or decoded labels, found {str(folder)!r}, which"
            " is none; name what `lcons run`, `lcons learn` or `lcons decode --json` wrote."
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
    try:
        constraint = load(path)
    except DamagedFile as error:
        if CONSTRAINT_FORMAT.encode() in _beginning(path):
            raise
        raise InvalidInput(
            f"{str(error).partition(';')[0].rstrip('.')}; and it is not what `lcons decode --json` writes."
        ) from None
    # What rules rest on stands beside them.
    provenance = without_evidence(dict(constraint.provenance))
    results = {"task": CONSTRAINT, "versions": provenance.pop("versions", None), "options": provenance}
    results["size"] = f"{constraint.network.K} hidden units over {constraint.space.d:,} columns"
    return Run(name, results, _digest(path), "", (ConstraintSet(path.stem, (path,)),), (), ())


def _of_decoded(path: Path, name: str) -> Run:
    """Decoded labels, measured."""
    results = {"task": DECODE, **measured(read_decoded(path))}
    return Run(name, results, _digest(path), "", (), (path,), ())


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        # `load` has said that already.
        return CONSTRAINT_FORMAT.encode()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
