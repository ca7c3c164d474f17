"""A model with its constraints as a folder that holds all it needs; never pickle.

    model.npz               the model (`models._model_file`), if it has one
    constraints/NAME.json   each constraint (`lcons_core.save`)
    report.md, report.html  how it was made, if its maker says so; nothing reads them
    NOUN.json               {"format": 1, ..., "constraints": [{"name", "file", ...}, ...]}

Each `FolderKind` adds its own keys to NOUN.json, the description of the folder. A folder is written
completely or not at all. If anything is wrong with a folder, reading it raises an `LconsError` with one
sentence.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lcons_core import DamagedFile, LconsError, LearnedConstraint, load, save
from lcons_core._files import open_regular
from lcons_decode import Hard, Soft
from lcons_tasks.atomic import replacing_folder

FORMAT = 1
MAX_BYTES = 2**20
MODEL, CONSTRAINTS = "model.npz", "constraints"
REPORTS = ("report.md", "report.html")
_SAFE_FILE = rf"^{CONSTRAINTS}/[A-Za-z0-9][A-Za-z0-9._-]*\.json$"
_LONGEST_STEM = 80


Reports = Callable[[Path], Mapping[str, str]]


class Described(NamedTuple):
    """A constraint with its name, and the keys of its entry in the description besides name and file."""

    name: str
    constraint: LearnedConstraint
    more: Mapping[str, Any]


class Entry(BaseModel):
    """A constraint in a description. A hard one has no weight; the cost of a soft one is `sigmoid` where none
    is written."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: Annotated[str, Field(min_length=1)]
    file: Annotated[str, Field(pattern=_SAFE_FILE)]
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    cost: Literal["sigmoid", "hinge", "standard"] = "sigmoid"


class Description(BaseModel):
    """The description of a folder; the decoder and its beam are those of a tagger."""

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]
    decoder: str = "exact"
    beam: int = 10
    constraints: list[Entry]


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder.

    noun: the name of its content, such as `tagger`.
    made_by: the advice in the errors for a missing or unreadable folder.
    """

    noun: str
    made_by: str

    @property
    def description(self) -> str:
        """The name of the file that describes the folder."""
        return f"{self.noun}.json"

    def write(
        self,
        folder: str | os.PathLike[str],
        model: Any,
        constraints: Sequence[Described],
        more: Mapping[str, Any] | None = None,
        reports: Reports | None = None,
    ) -> None:
        """Writes the folder, which replaces an existing one; if that fails, the old one stays unchanged.
        `reports` returns the text of some of `REPORTS` for the folder that is being made."""
        files = _file_names(item.name for item in constraints)
        pairs = list(zip(constraints, files, strict=True))
        entries = [{"name": item.name, "file": file, **item.more} for item, file in pairs]
        content = json.dumps({"format": FORMAT, **(more or {}), "constraints": entries}, indent=2)
        try:
            with replacing_folder(self.check_place(folder)) as unfinished:
                if model is not None:
                    model.save(unfinished / MODEL)
                (unfinished / CONSTRAINTS).mkdir()
                for item, file in pairs:
                    save(item.constraint, unfinished / file)
                (unfinished / self.description).write_text(content + "\n", encoding="utf-8")
                for name, text in (reports(unfinished) if reports else {}).items():
                    (unfinished / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise LconsError(f"cannot write {os.fspath(folder)!r}: {error.strerror or error}.") from None

    def check_place(self, folder: str | os.PathLike[str]) -> Path:
        """The folder to write; raises `LconsError` if that is impossible or would delete other files."""
        target = Path(os.path.realpath(folder))
        above = next(path for path in (target, *target.parents) if path.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise LconsError(f"cannot write into {str(above)!r}: it is no folder that can be written to.")
        known = {MODEL, CONSTRAINTS, self.description, *REPORTS}
        if target.exists() and (strange := {path.name for path in target.iterdir()} - known):
            problem = f"{str(target)!r} has a file {min(strange)!r}, so it is not only a {self.noun}"
            raise LconsError(f"{problem} to replace; name another folder.")
        return target

    def read(self, folder: Path) -> Description:
        """The description, checked: it has only known keys, and the file names are safe."""
        try:
            with open_regular(folder / self.description) as file:
                content = file.read(MAX_BYTES)
        except (OSError, ValueError):
            missing = f"no readable {self.description} in it" if folder.is_dir() else "no such folder"
            problem = f"no {self.noun} in the folder {os.fspath(folder)!r}: {missing}"
            raise DamagedFile(f"{problem}; {self.made_by}.") from None
        with self.explained(folder):
            return Description.model_validate_json(content)

    @contextmanager
    def explained(self, folder: str | os.PathLike[str]) -> Iterator[None]:
        """Turns errors of lcons and of the description within the block into `DamagedFile`."""
        try:
            yield
        except (LconsError, ValidationError) as error:
            reason = str(error)
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                reason = f"{'.'.join(map(str, first['loc']))} {first['msg']}"
            problem = f"{os.fspath(folder)!r} is not a readable {self.noun}"
            reason = " ".join(reason.split()).rstrip(".")
            raise DamagedFile(f"{problem}: {reason}; {self.made_by}.") from None


def described(use: Hard | Soft) -> Described:
    """A hard or soft constraint as an entry of a description."""
    if isinstance(use, Hard):
        return Described(use.name, use.constraint, {"weight": None})
    cost = {} if use.cost == "sigmoid" else {"cost": use.cost}
    return Described(use.name, use.constraint, {"weight": use.weight, **cost})


def uses_of(folder: Path, description: Description) -> list[Hard | Soft]:
    """The constraints that a folder holds."""
    pairs = [(load(folder / entry.file), entry) for entry in description.constraints]
    return [
        Hard(constraint, entry.name)
        if entry.weight is None
        else Soft(constraint, entry.weight, entry.name, entry.cost)
        for constraint, entry in pairs
    ]


def _file_names(names: Iterable[str]) -> list[str]:
    """One file name per constraint, made from its name, safe and distinct on any file system."""
    stems: dict[str, str] = {}
    for i, name in enumerate(names, start=1):
        stem = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("._-")[:_LONGEST_STEM] or "constraint"
        while stem.lower() in stems:
            stem += f"-{i}"
        stems[stem.lower()] = stem
    return [f"{CONSTRAINTS}/{stem}.json" for stem in stems.values()]
