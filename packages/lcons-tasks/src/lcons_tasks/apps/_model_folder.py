"""A model with its constraints as a folder that holds all it needs; never pickle.

    model.npz               the model (`models.model_file`)
    constraints/NAME.json   each constraint (`lcons_core.save`)
    NOUN.json               {"format": 1, ..., "constraints": [{"name", "file", ...}, ...]}

What a `FolderKind` adds to NOUN.json is its own. A folder is written whole or not at all. Whatever is wrong
with one, reading it raises an `LconsError`, one sentence, and gives nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lcons_core import LearnedConstraint, save
from lcons_core._errors import DamagedFile, LconsError
from lcons_core.storage._plain import parse
from lcons_tasks._atomic import replacing_folder

FORMAT = 1
MAX_BYTES = 2**20
MODEL, CONSTRAINTS = "model.npz", "constraints"
_SAFE_FILE = re.compile(rf"{CONSTRAINTS}/[A-Za-z0-9][A-Za-z0-9._-]*\.json", re.ASCII)
_LONGEST_STEM = 80


class Savable(Protocol):
    """A model that writes itself to a file."""

    def save(self, path: str | os.PathLike[str], /) -> None:
        """Writes the model."""
        ...


class Described(NamedTuple):
    """A constraint under its name, and what the description says of it beside name and file."""

    name: str
    constraint: LearnedConstraint
    more: Mapping[str, Any]


@dataclass(frozen=True)
class FolderKind:
    """`noun` is what the folder holds, `made_by` ends the sentence that there is none; the description has
    `keys` beside format and constraints, and each constraint `entry_keys` beside name and file."""

    noun: str
    made_by: str
    keys: tuple[str, ...] = ()
    entry_keys: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The name of the file that says what is in the folder."""
        return f"{self.noun}.json"

    @property
    def _one(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    def write(
        self,
        folder: str | os.PathLike[str],
        model: Savable,
        constraints: Sequence[Described],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes the folder; one that is there is replaced whole or, on any failure, left as it was."""
        files = _file_names(one.name for one in constraints)
        entries = [
            {"name": one.name, "file": file, **one.more} for one, file in zip(constraints, files, strict=True)
        ]
        described = {"format": FORMAT, **(more or {}), "constraints": entries}
        try:
            target = Path(os.path.realpath(folder))
            self._check_replaceable(target)
            with replacing_folder(target) as made:
                model.save(made / MODEL)
                (made / CONSTRAINTS).mkdir()
                for one, file in zip(constraints, files, strict=True):
                    save(one.constraint, made / file)
                text = json.dumps(described, indent=2) + "\n"
                (made / self.description).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:
            if isinstance(error, LconsError):
                raise
            raise LconsError(
                f"cannot write the folder {os.fspath(folder)!r}: {_reason(error)}; name one that can be"
                " written to."
            ) from None

    def read(self, folder: Path) -> dict[str, Any]:
        """What the description says: it has all keys and no others, and files of constraints are safe."""
        content = self._content(folder)
        with self.explained(folder):
            expect(len(content) <= MAX_BYTES, f"its {self.description} has more than {MAX_BYTES:,} bytes")
            try:
                found = parse(content.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise DamagedFile(str(error)) from None
            expect(isinstance(found, dict), f"its {self.description} is not a JSON object")
            version = found.get("format")
            known = type(version) is int and version == FORMAT
            expect(known, f"its format is {version!r:.40} and this lcons reads {FORMAT}")
            keys = sorted({"format", "constraints", *self.keys})
            expect(sorted(found) == keys, f"its {self.description} must have {', '.join(keys)} only")
            expect(isinstance(found["constraints"], list), "its constraints are not a list")
            for entry in found["constraints"]:
                self._check_entry(entry)
        return found

    @contextmanager
    def explained(self, folder: str | os.PathLike[str]) -> Iterator[None]:
        """Errors of lcons within the block say that the folder is damaged."""
        try:
            yield
        except LconsError as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise DamagedFile(
                f"{os.fspath(folder)!r} is no {self.noun} that lcons can read: {reason}; `lcons run` makes it"
                " again."
            ) from None

    def _content(self, folder: Path) -> bytes:
        try:
            with (folder / self.description).open("rb") as file:
                return file.read(MAX_BYTES + 1)
        except (OSError, ValueError):
            missing = f"no {self.description} that can be read in it" if folder.is_dir() else "no such folder"
            raise DamagedFile(
                f"expected {self._one} in the folder {os.fspath(folder)!r}, found {missing}; {self.made_by}."
            ) from None

    def _check_entry(self, entry: Any) -> None:
        *others, last = ("name", "file", *self.entry_keys)
        whole = isinstance(entry, dict) and set(entry) == {*others, last}
        expect(whole, f"a constraint must have {', '.join(others)} and {last} only")
        name, file = entry["name"], entry["file"]
        expect(isinstance(name, str) and name, "a constraint has no name")
        safe = isinstance(file, str) and _SAFE_FILE.fullmatch(file)
        expect(safe, f"the file {file!r:.60} of a constraint is not a plain name below {CONSTRAINTS}/")

    def _check_replaceable(self, target: Path) -> None:
        """Refuses to replace what is not of this kind: its files would be lost."""
        if not target.exists():
            return
        strange = [] if target.is_dir() else [target.name]
        if not strange:
            own = {MODEL, CONSTRAINTS, self.description}
            strange = sorted({path.name for path in target.iterdir()} - own)
        if strange:
            raise LconsError(
                f"expected {self._one} to replace or nothing at {str(target)!r}, found {strange[0]!r} there;"
                " name another folder."
            )


def is_member(file: str, kind: FolderKind) -> bool:
    """Whether a folder of that kind may hold a file of that name, with no way out of the folder."""
    return file in (MODEL, kind.description) or bool(_SAFE_FILE.fullmatch(file))


def expect(condition: Any, damage: str) -> None:
    """Raises `DamagedFile` where the condition does not hold."""
    if not condition:
        raise DamagedFile(damage)


def _file_names(names: Iterable[str]) -> list[str]:
    """A file a constraint, called after it as far as that is safe and distinct on any file system."""
    stems: dict[str, str] = {}
    for i, name in enumerate(names, start=1):
        stem = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("._-")[:_LONGEST_STEM] or "constraint"
        while stem.lower() in stems:
            stem += f"-{i}"
        stems[stem.lower()] = stem
    return [f"{CONSTRAINTS}/{stem}.json" for stem in stems.values()]


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
