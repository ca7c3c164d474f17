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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from lcons_core import InvalidInput, load
from lcons_tasks.report._decoded import DECODE, decoded_document
from lcons_tasks.report._document import Constraints, Document, Facts, Section, read_document
from lcons_tasks.report._predictions import is_decoded

# The name of the task of constraint files.
CONSTRAINT = "constraint"
RESULTS = "results.json"
# Members of a provenance that are printed beside the rules, or not at all.
BESIDE = ("evidence", "bound", "versions")

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
    documents = {path: _document(path) for path in places}
    tasks = {path: document.task for path, document in documents.items()}
    constraints = tuple(path for path, task in tasks.items() if task == CONSTRAINT)
    gold = tuple(path for path, task in tasks.items() if task == DECODE and documents[path].headline)
    names = [path.name for path in places]
    return [
        Run(
            path.name if names.count(path.name) == 1 else "/".join(path.parts[-2:]),
            path.parent if path.is_file() else path,
            document,
            gold if document.task == CONSTRAINT else (),
            constraints if document.task == DECODE else (),
        )
        for path, document in documents.items()
    ]


def _document(path: Path) -> Document:
    """The document of a run, of decoded labels or of a constraint; of a file, with where it is from."""
    if not path.is_file():
        # results.json is written last, so a run without it is not complete.
        if not (path / RESULTS).exists():
            raise InvalidInput(f"{str(path)!r} is not a run, or a run that did not finish: no {RESULTS}.")
        return read_document(path)
    with path.open("rb") as file:
        facts = [("file sha256", hashlib.file_digest(file, "sha256").hexdigest())]
    if is_decoded(path):
        document = decoded_document(path)
    else:
        constraint = load(path)
        facts += [(f"option {name}", text) for name, text in _facts(constraint.provenance)]
        versions = constraint.provenance.get("versions")
        document = Document(
            "Constraint",
            CONSTRAINT,
            "",
            f"A constraint with {constraint.network.K} hidden units over {constraint.space.d:,} columns.",
            sections=(Section("Constraints", (Constraints(path.stem, (path.name,)),)),),
            provenance=dict(_facts(versions)) if isinstance(versions, dict) else {},
        )
    origin = Section("Provenance", (Facts("Origin of the file", tuple(facts)),))
    return replace(document, sections=(*document.sections, origin))


def _facts(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The members of an object as (name, text).

    >>> _facts({"penalty": 0.012345678, "shares": [0.1 + 0.2, 1e-9], "recipe": {"seed": 7, "bound": 1}})
    [('penalty', '0.01235'), ('shares', '0.3, 1e-09'), ('recipe', 'seed 7')]
    """
    return [(name, _text(value)) for name, value in data.items() if name not in BESIDE]


def _text(value: Any) -> str:
    """The text of a value: lists and objects with commas, other values as JSON."""
    match value:
        case list():
            return ", ".join(map(_text, value)) or "none"
        case dict():
            return ", ".join(f"{name} {text}" for name, text in _facts(value))
        case float():
            return f"{value:.4g}"
        case str():
            return value
    return json.dumps(value)
