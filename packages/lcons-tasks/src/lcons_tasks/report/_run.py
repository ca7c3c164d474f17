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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from lcons_core import InvalidInput, load
from lcons_tasks.report._decoded import DECODE, decoded_document, is_decoded
from lcons_tasks.report._document import Constraints, Document, Facts, Section
from lcons_tasks.report._rules import without_evidence
from lcons_tasks.report._storage import read_document

# The name of the task of constraint files.
CONSTRAINT = "constraint"
RESULTS = "results.json"
DIGITS = 4

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

    @property
    def task(self) -> str:
        """The task of the document."""
        return self.document.task

    def blocks(self, kind: type[Kind]) -> list[Kind]:
        """The blocks of one type of the document, in order."""
        return [one for part in self.document.sections for one in part.blocks if isinstance(one, kind)]


def read_runs(paths: Sequence[str | os.PathLike[str]]) -> list[Run]:
    """The runs at some paths; raises `InvalidInput` if a path is not a run."""
    if not paths:
        raise InvalidInput("the argument `paths` needs at least one run: got none.")
    places = [Path(path).resolve() for path in paths]
    if len(set(places)) != len(places):
        raise InvalidInput("expected different runs, found the same run twice; name each run once.")
    runs = {path: _read(path, name) for path, name in zip(places, distinct_names(places), strict=True)}
    constraints = tuple(path for path, run in runs.items() if run.task == CONSTRAINT)
    gold = tuple(path for path, run in runs.items() if run.task == DECODE and run.document.headline)
    return [
        replace(
            run,
            gold=gold if run.task == CONSTRAINT else (),
            constraints=constraints if run.task == DECODE else (),
        )
        for run in runs.values()
    ]


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """The shortest different ends of paths.

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


def _read(path: Path, name: str) -> Run:
    if path.is_file():
        document = _of_decoded(path) if is_decoded(path) else _of_constraint(path)
        return Run(name, path.parent, document)
    if not path.exists():
        raise InvalidInput(
            f"expected a run, found no such file or folder: {str(path)!r}; name the output of `lcons run`,"
            " `lcons learn` or `lcons decode --json`."
        )
    # results.json is written last, so a run without it is not complete.
    if not (path / RESULTS).exists():
        raise InvalidInput(
            f"expected {RESULTS} in {str(path)!r}, found none: this is not a run, or a run that did not"
            " finish."
        )
    return Run(name, path, read_document(path))


def _of_constraint(path: Path) -> Document:
    """The document of a constraint file."""
    constraint = load(path)
    # The evidence is printed next to the rules.
    provenance = without_evidence(dict(constraint.provenance))
    versions = provenance.pop("versions", None)
    facts = [("file sha256", digest(path)), *_facts(provenance, "option ")]
    return Document(
        "Constraint",
        CONSTRAINT,
        "",
        f"A constraint with {constraint.network.K} hidden units over {constraint.space.d:,} columns.",
        sections=(
            Section("Constraints", (Constraints(path.stem, (path.name,)),)),
            Section("Provenance", (Facts("Origin of the constraint", tuple(facts)),)),
        ),
        provenance=dict(_facts(versions)),
    )


def _of_decoded(path: Path) -> Document:
    found = decoded_document(path)
    facts = Facts("Origin of the labels", (("file sha256", digest(path)),))
    return replace(found, sections=(*found.sections, Section("Provenance", (facts,))))


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _facts(data: Any, before: str = "") -> list[tuple[str, str]]:
    """The members of an object as (name, text); empty if the data are not an object.

    >>> _facts({"penalty": 0.012345678, "shares": [0.1 + 0.2, 1e-9], "seed": 7}, "option ")
    [('option penalty', '0.01235'), ('option shares', '0.3, 1e-09'), ('option seed', '7')]
    """
    members = data.items() if isinstance(data, dict) else ()
    return [(f"{before}{key}", _text(value)) for key, value in members]


def _text(value: Any) -> str:
    """The text of a value: lists and objects with commas, other values as JSON."""
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(member)}" for key, member in value.items())
    if isinstance(value, float):
        return str(float(f"{value:.{DIGITS}g}"))
    return value if isinstance(value, str) else json.dumps(value)
