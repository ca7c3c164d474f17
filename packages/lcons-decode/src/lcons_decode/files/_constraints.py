"""The constraints that a list of files names, hard or with a weight soft."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lcons_core import InvalidInput, load
from lcons_decode._constraints import Hard, Soft


def load_constraints(names: Sequence[str], soft: float | None = None) -> list[Hard | Soft]:
    """The constraints in files, each `FILE` or, soft, `FILE:WEIGHT`; those without a weight are hard unless
    `soft` gives one for all. They are called as their files are."""
    found: list[tuple[str, float | None]] = [_file_and_weight(name) for name in names]
    stems = [Path(file).stem for file, _ in found]
    uses: list[Hard | Soft] = []
    for (file, own), stem in zip(found, stems, strict=True):
        constraint, weight = load(file), soft if own is None else own
        name = stem if stems.count(stem) == 1 else file
        if any(use.name == name for use in uses):
            raise InvalidInput(f"expected each constraint file once, found {file!r} twice; leave one out.")
        uses.append(Hard(constraint, name) if weight is None else Soft(constraint, weight, name))
    return uses


def _file_and_weight(text: str) -> tuple[str, float | None]:
    """`rules.json:0.5` read as a file and a weight, unless there is a file of just that name."""
    file, colon, number = text.rpartition(":")
    if not colon or not file or Path(text).is_file():
        return text, None
    try:
        return file, float(number)
    except ValueError:
        if Path(file).is_file():
            raise InvalidInput(
                f"expected a number after the colon of {text!r}, the weight of a soft constraint, found"
                f" {number!r}; write `{file}:0.5`, or `{file}` for a hard constraint."
            ) from None
        return text, None
