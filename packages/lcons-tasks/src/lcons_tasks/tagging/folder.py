"""A constrained tagger as a folder that holds all it needs; never pickle.

    model.npz               the model (`models.model_file`)
    constraints/NAME.json   each constraint (`lcons_core.save`)
    tagger.json             {"format": 1, "decoder", "beam", "constraints": [{"name", "file", "weight"}, ...]}

The weight of a hard constraint is null. Whatever is wrong with a folder, `read_tagger` raises an
`LconsError`, one sentence, and gives nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lcons_core import load, save
from lcons_core.errors import DamagedFile, InvalidInput, LconsError
from lcons_core.files.plain import parse
from lcons_decode import Hard, Soft
from lcons_tasks.atomic import replacing_folder
from lcons_tasks.models.tagger import load_tagger
from lcons_tasks.tagging.constrained_tagger import ConstrainedTagger

FORMAT = 1
MAX_BYTES = 2**20
MODEL, CONSTRAINTS, DESCRIPTION = "model.npz", "constraints", "tagger.json"
_KEYS = {"format", "decoder", "beam", "constraints"}
_ENTRY_KEYS = {"name", "file", "weight"}
_SAFE_FILE = re.compile(rf"{CONSTRAINTS}/[A-Za-z0-9][A-Za-z0-9._-]*\.json", re.ASCII)
_LONGEST_STEM = 80


def write_tagger(tagger: ConstrainedTagger, folder: str | os.PathLike[str]) -> None:
    """Writes the tagger; a tagger that is there is replaced whole or, on any failure, left as it was."""
    files = _file_names(use.name for use in tagger.constraints)
    entries = [
        {"name": use.name, "file": file, "weight": use.weight if isinstance(use, Soft) else None}
        for use, file in zip(tagger.constraints, files, strict=True)
    ]
    described = {
        "format": FORMAT,
        "decoder": tagger.decoder,
        "beam": tagger.beam,
        "constraints": entries,
    }
    try:
        target = Path(os.path.realpath(folder))
        _check_replaceable(target)
        with replacing_folder(target) as made:
            tagger.model.save(made / MODEL)
            (made / CONSTRAINTS).mkdir()
            for use, file in zip(tagger.constraints, files, strict=True):
                save(use.constraint, made / file)
            (made / DESCRIPTION).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        if isinstance(error, LconsError):
            raise
        raise LconsError(
            f"cannot write the folder {os.fspath(folder)!r}: {_reason(error)}; name one that can be"
            " written to."
        ) from None


def read_tagger(folder: str | os.PathLike[str]) -> ConstrainedTagger:
    """The tagger that `write_tagger` wrote."""
    path = Path(folder)
    described = _description(path)
    model = load_tagger(path / MODEL)
    uses: list[Hard | Soft] = []
    for name, file, weight in described["constraints"]:
        constraint = load(path / file)
        uses.append(Hard(constraint, name) if weight is None else Soft(constraint, weight, name))
    try:
        return ConstrainedTagger(model, tuple(uses), described["decoder"], described["beam"])
    except InvalidInput as error:
        raise _damaged(folder, str(error)) from None


def _description(folder: Path) -> dict[str, Any]:
    """What tagger.json says, checked; its constraints as (name, file, weight)."""
    path = folder / DESCRIPTION
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        reason = f"no {DESCRIPTION} that can be read in it" if folder.is_dir() else "no such folder"
        raise DamagedFile(
            f"expected a tagger in the folder {os.fspath(folder)!r}, found {reason}; `lcons run chunking`"
            " makes one, and `lcons run citation` a parser."
        ) from None
    try:
        _expect(len(content) <= MAX_BYTES, f"its {DESCRIPTION} has more than {MAX_BYTES:,} bytes")
        found = parse(content.decode("utf-8"))
        _expect(isinstance(found, dict), f"its {DESCRIPTION} is not a JSON object")
        version = found.get("format")
        known = type(version) is int and version == FORMAT
        _expect(known, f"its format is {version!r:.40} and this lcons reads {FORMAT}")
        _expect(set(found) == _KEYS, f"its {DESCRIPTION} must have {', '.join(sorted(_KEYS))} only")
        _expect(isinstance(found["decoder"], str), "its decoder is not a name")
        _expect(isinstance(found["constraints"], list), "its constraints are not a list")
        return {**found, "constraints": [_entry(entry) for entry in found["constraints"]]}
    except (LconsError, UnicodeDecodeError) as error:
        raise _damaged(folder, str(error)) from None


def _entry(entry: Any) -> tuple[str, str, float | None]:
    whole = isinstance(entry, dict) and set(entry) == _ENTRY_KEYS
    _expect(whole, "a constraint must have name, file and weight only")
    name, file, weight = entry["name"], entry["file"], entry["weight"]
    _expect(isinstance(name, str) and name, "a constraint has no name")
    safe = isinstance(file, str) and _SAFE_FILE.fullmatch(file)
    _expect(safe, f"the file {file!r:.60} of a constraint is not a plain name below {CONSTRAINTS}/")
    number = weight is None or (type(weight) in (int, float) and weight >= 0)
    _expect(number, f"the weight {weight!r:.40} of a constraint is neither null nor a number from 0")
    return name, file, None if weight is None else float(weight)


def _file_names(names: Iterable[str]) -> list[str]:
    """A file a constraint, called after it as far as that is safe and distinct on any file system."""
    stems: dict[str, str] = {}
    for i, name in enumerate(names, start=1):
        stem = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("._-")[:_LONGEST_STEM] or "constraint"
        while stem.lower() in stems:
            stem += f"-{i}"
        stems[stem.lower()] = stem
    return [f"{CONSTRAINTS}/{stem}.json" for stem in stems.values()]


def _check_replaceable(target: Path) -> None:
    """Refuses to replace what is not a tagger: its files would be lost."""
    if not target.exists():
        return
    strange = [] if target.is_dir() else [target.name]
    if not strange:
        strange = sorted({path.name for path in target.iterdir()} - {MODEL, CONSTRAINTS, DESCRIPTION})
    if strange:
        raise LconsError(
            f"expected a tagger to replace or nothing at {str(target)!r}, found {strange[0]!r} there; name"
            " another folder."
        )


def _damaged(folder: str | os.PathLike[str], why: str) -> DamagedFile:
    reason = " ".join(why.split()).rstrip(".")
    return DamagedFile(
        f"{os.fspath(folder)!r} is no tagger that lcons can read: {reason}; `lcons run` makes it again."
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _expect(condition: Any, damage: str) -> None:
    if not condition:
        raise DamagedFile(damage)
