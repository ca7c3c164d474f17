"""Constraints loaded from a list of files: hard, or soft with a weight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lcons_core import InvalidInput, load
from lcons_decode._constraints import Hard, Soft, usual_cost


def load_constraints(
    names: Sequence[str], soft: float | None = None, cost: str | None = None
) -> list[Hard | Soft]:
    """The constraints in files, each `FILE` (hard) or `FILE:WEIGHT` (soft), named after their files. If
    `soft` is a weight, files without a weight are soft with this one. `cost`: the cost of soft constraints;
    None: `usual_cost` of each."""
    weighted: list[tuple[str, float | None]] = [_file_and_weight(name) for name in names]
    stems = [Path(file).stem for file, _ in weighted]
    uses: list[Hard | Soft] = []
    for (file, stated), stem in zip(weighted, stems, strict=True):
        constraint, weight = load(file), soft if stated is None else stated
        name = stem if stems.count(stem) == 1 else file
        if any(use.name == name for use in uses):
            raise InvalidInput(f"expected each constraint file once, found {file!r} twice; leave one out.")
        kind = cost or usual_cost(constraint)
        uses.append(Hard(constraint, name) if weight is None else Soft(constraint, weight, name, kind))
    return uses


def _file_and_weight(text: str) -> tuple[str, float | None]:
    """`rules.json:0.5` read as a file and a weight, unless a file with exactly this name exists."""
    file, colon, number = text.rpartition(":")
    if not colon or not file or Path(text).is_file():
        return text, None
    try:
        return file, float(number)
    except ValueError:
        if Path(file).is_file():
            raise InvalidInput(
                f"expected a weight after the colon of {text!r}, as for a soft constraint, found {number!r};"
                f" write `{file}:0.5`, or `{file}` for a hard constraint."
            ) from None
        return text, None
