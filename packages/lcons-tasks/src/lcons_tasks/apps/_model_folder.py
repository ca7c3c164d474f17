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
from typing import Any, NamedTuple

from lcons_core import DamagedFile, LconsError, LearnedConstraint, save
from lcons_core._files import open_regular, parse
from lcons_tasks.atomic import replacing_folder

FORMAT = 1
MAX_BYTES = 2**20
MODEL, CONSTRAINTS = "model.npz", "constraints"
REPORTS = ("report.md", "report.html")
_SAFE_FILE = re.compile(rf"{CONSTRAINTS}/[A-Za-z0-9][A-Za-z0-9._-]*\.json", re.ASCII)
_LONGEST_STEM = 80


Reports = Callable[[Path], Mapping[str, str]]


class Described(NamedTuple):
    """A constraint with its name, and the keys of its entry in the description besides name and file."""

    name: str
    constraint: LearnedConstraint
    more: Mapping[str, Any]


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder.

    noun: the name of its content, such as `tagger`.
    made_by: the advice in the errors for a missing or unreadable folder.
    keys: the keys of the description besides format and constraints.
    entry_keys: the keys of a constraint in the description besides name and file.
    optional_keys: keys of a constraint that may be missing.
    """

    noun: str
    made_by: str
    keys: tuple[str, ...] = ()
    entry_keys: tuple[str, ...] = ()
    optional_keys: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The name of the file that describes the folder."""
        return f"{self.noun}.json"

    @property
    def _one(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

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
        files = _file_names(one.name for one in constraints)
        pairs = list(zip(constraints, files, strict=True))
        entries = [{"name": one.name, "file": file, **one.more} for one, file in pairs]
        described = {"format": FORMAT, **(more or {}), "constraints": entries}
        try:
            with replacing_folder(self.check_place(folder)) as made:
                if model is not None:
                    model.save(made / MODEL)
                (made / CONSTRAINTS).mkdir()
                for one, file in pairs:
                    save(one.constraint, made / file)
                texts = {self.description: json.dumps(described, indent=2) + "\n"}
                for name, text in {**texts, **(reports(made) if reports else {})}.items():
                    (made / name).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:
            if isinstance(error, LconsError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise LconsError(f"cannot write the folder {os.fspath(folder)!r}: {reason}.") from None

    def check_place(self, folder: str | os.PathLike[str]) -> Path:
        """The folder to write; raises `LconsError` if that is impossible or would delete other files."""
        target = Path(os.path.realpath(folder))
        above = next(path for path in (target, *target.parents) if path.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise LconsError(
                f"cannot write the folder {os.fspath(folder)!r}: {str(above)!r} is not a folder that can be"
                " written to."
            )
        known = {MODEL, CONSTRAINTS, self.description, *REPORTS}
        strange = {path.name for path in target.iterdir()} - known if target.exists() else None
        if strange:
            raise LconsError(
                f"expected nothing or {self._one} to replace at {str(target)!r}, found {min(strange)!r}"
                " there; name another folder."
            )
        return target

    def read(self, folder: Path) -> dict[str, Any]:
        """The description, checked: it has exactly the expected keys, and the file names are safe."""
        try:
            with open_regular(folder / self.description) as file:
                content = file.read(MAX_BYTES + 1)
        except (OSError, ValueError):
            missing = f"no readable {self.description} in it" if folder.is_dir() else "no such folder"
            raise DamagedFile(
                f"expected {self._one} in the folder {os.fspath(folder)!r}, found {missing}; {self.made_by}."
            ) from None
        with self.explained(folder):
            expect(len(content) <= MAX_BYTES, f"its {self.description} has more than {MAX_BYTES:,} bytes")
            described = _parsed(content)
            version = described.get("format")
            known = type(version) is int and version == FORMAT
            expect(known, f"its format is {version!r:.40}, but this lcons reads {FORMAT}; upgrade lcons")
            keys = sorted({"format", "constraints", *self.keys})
            expect(sorted(described) == keys, f"its {self.description} must have {', '.join(keys)} only")
            expect(isinstance(described["constraints"], list), "its constraints are not a list")
            for entry in described["constraints"]:
                self._check_entry(entry)
        return described

    @contextmanager
    def explained(self, folder: str | os.PathLike[str]) -> Iterator[None]:
        """Turns errors of lcons within the block into `DamagedFile`."""
        try:
            yield
        except LconsError as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise DamagedFile(
                f"{os.fspath(folder)!r} is not a readable {self.noun}: {reason}; {self.made_by}."
            ) from None

    def _check_entry(self, entry: Any) -> None:
        keys = ("name", "file", *self.entry_keys)
        whole = isinstance(entry, dict) and set(entry) - set(self.optional_keys) == set(keys)
        expect(whole, f"a constraint must have {', '.join(keys)} only")
        name, file = entry["name"], entry["file"]
        expect(isinstance(name, str) and name, "a constraint has no name")
        safe = isinstance(file, str) and _SAFE_FILE.fullmatch(file)
        expect(safe, f"the file {file!r:.60} of a constraint is not a plain name below {CONSTRAINTS}/")


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        described = parse(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DamagedFile(str(error)) from None
    expect(isinstance(described, dict), "its description is not a JSON object")
    return dict(described)


def expect(condition: Any, damage: str) -> None:
    """Raises `DamagedFile` if the condition is false."""
    if not condition:
        raise DamagedFile(damage)


def _file_names(names: Iterable[str]) -> list[str]:
    """One file name per constraint, made from its name, safe and distinct on any file system."""
    stems: dict[str, str] = {}
    for i, name in enumerate(names, start=1):
        stem = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("._-")[:_LONGEST_STEM] or "constraint"
        while stem.lower() in stems:
            stem += f"-{i}"
        stems[stem.lower()] = stem
    return [f"{CONSTRAINTS}/{stem}.json" for stem in stems.values()]
