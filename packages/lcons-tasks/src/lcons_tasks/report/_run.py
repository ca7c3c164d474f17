"""Reader of the runs of a page: a document, and the folder of its files. Every input is checked.

| input | document |
|---|---|
| the folder of a run | its document.json |
| a constraint file | the constraint and its provenance |
| a file that `lcons decode --json` wrote | the changes, and figures on gold labels |
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from lcons_core import InvalidInput, load
from lcons_tasks.report._decoded import DECODE, decoded_document, is_decoded
from lcons_tasks.report._document import Constraints, Document, Facts, Section
from lcons_tasks.report._storage import read_document

# The name of the task of constraint files.
CONSTRAINT = "constraint"
RESULTS = "results.json"
# Members of a provenance that are printed beside the rules, or not at all.
BESIDE = ("evidence", "bound")

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Run:
    """A document and the folder of its files; each run of a page has a different `name`.

    The run of a single file uses files of other runs: `gold` are decoded labels with gold, which show how
    often the rules of a constraint apply; `constraints` are constraint files, which explain why labels
    changed.
    """

    name: str
    folder: Path
    document: Document
    gold: tuple[Path, ...] = ()
    constraints: tuple[Path, ...] = ()

    def blocks(self, kind: type[Kind]) -> list[Kind]:
        """The blocks of one type of the document, in order."""
        return [block for block in self.document.blocks if isinstance(block, kind)]


def read_runs(paths: Sequence[str | os.PathLike[str]]) -> list[Run]:
    """The runs at some paths; raises `InvalidInput` if a path is not a run."""
    places = [Path(path).resolve() for path in paths]
    if not places or len(set(places)) != len(places):
        raise InvalidInput("a page needs runs, each of them once.")
    names = [path.name for path in places]
    runs = {
        path: _read(path, path.name if names.count(path.name) == 1 else "/".join(path.parts[-2:]))
        for path in places
    }
    tasks = {path: run.document.task for path, run in runs.items()}
    constraints = tuple(path for path in runs if tasks[path] == CONSTRAINT)
    gold = tuple(path for path, run in runs.items() if tasks[path] == DECODE and run.document.headline)
    return [
        replace(
            run,
            gold=gold if tasks[path] == CONSTRAINT else (),
            constraints=constraints if tasks[path] == DECODE else (),
        )
        for path, run in runs.items()
    ]


def _read(path: Path, name: str) -> Run:
    if path.is_file():
        return Run(name, path.parent, _of_file(path))
    # results.json is written last, so a run without it is not complete.
    if not (path / RESULTS).exists():
        raise InvalidInput(
            f"expected {RESULTS} in {str(path)!r}, found none: this is not a run, or a run that did not"
            " finish."
        )
    return Run(name, path, read_document(path))


def _of_file(path: Path) -> Document:
    """The document of decoded labels, or of a constraint; and where the file is from."""
    with path.open("rb") as file:
        facts = [("file sha256", hashlib.file_digest(file, "sha256").hexdigest())]
    if is_decoded(path):
        document = decoded_document(path)
    else:
        constraint = load(path)
        provenance = _without(dict(constraint.provenance))
        versions = provenance.pop("versions", None)
        facts += _facts(provenance, "option ")
        document = Document(
            "Constraint",
            CONSTRAINT,
            "",
            f"A constraint with {constraint.network.K} hidden units over {constraint.space.d:,} columns.",
            sections=(Section("Constraints", (Constraints(path.stem, (path.name,)),)),),
            provenance=dict(_facts(versions)),
        )
    origin = Section("Provenance", (Facts("Origin of the file", tuple(facts)),))
    return replace(document, sections=(*document.sections, origin))


def _without(value: Any) -> Any:
    """Plain data without the members `BESIDE`, also inside joint constraints, which have several
    provenances."""
    if isinstance(value, dict):
        return {key: _without(one) for key, one in value.items() if key not in BESIDE}
    return [_without(one) for one in value] if isinstance(value, list) else value


def _facts(data: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """The members of an object as (name, text); none if the data are not an object.

    >>> list(_facts({"penalty": 0.012345678, "shares": [0.1 + 0.2, 1e-9], "seed": 7}, "option "))
    [('option penalty', '0.01235'), ('option shares', '0.3, 1e-09'), ('option seed', '7')]
    """
    for key, value in data.items() if isinstance(data, dict) else ():
        yield f"{before}{key}", _text(value)


def _text(value: Any) -> str:
    """The text of a value: lists and objects with commas, other values as JSON."""
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(member)}" for key, member in value.items())
    return (
        f"{value:.4g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)
    )
