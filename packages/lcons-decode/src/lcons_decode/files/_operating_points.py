"""Files of operating points, in the JSON that privacy filters ship as viterbi_calibration.json:

    {"operating_points": {"default": {"biases": {"transition_bias_background_stay": 0.0,
                                                 "transition_bias_background_to_start": 0.0,
                                                 "transition_bias_inside_to_continue": 0.0,
                                                 "transition_bias_inside_to_end": 0.0,
                                                 "transition_bias_end_to_background": 0.0,
                                                 "transition_bias_end_to_start": 0.0}}}}

A point has a name and all six biases. If it has a factor of soft weights other than 1, or a guarantee, these
are members `soft_factor` and `guarantee` beside the biases. Other readers may refuse such members: a file for
them has plain biases, `save_operating_points(path, {"default": point.biases})`.

Not in the paper.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from lcons_core import InvalidInput, LconsError
from lcons_core.storage import open_regular, parse, pretty, replacing
from lcons_decode._operating_point import BIASES, Guarantee, OperatingPoint, TransitionBiases

POINTS, MEMBER, PREFIX, FACTOR, GUARANTEE = (
    "operating_points",
    "biases",
    "transition_bias_",
    "soft_factor",
    "guarantee",
)
MAX_BYTES = 2**20


def load_operating_points(path: str | os.PathLike[str]) -> dict[str, OperatingPoint]:
    """The operating points of a file by name; raises `InvalidInput` if it is not such a file."""
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise InvalidInput(f"it is larger than {MAX_BYTES:,} bytes")
        found = parse(content.decode("utf-8-sig"))
        points = _member(found, POINTS, {POINTS}, "the file")
        if not isinstance(points, dict) or not points:
            raise InvalidInput(f"`{POINTS}` has no point")
        return {name: _point(value, name) for name, value in points.items()}
    except (LconsError, OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InvalidInput(
            f"cannot read operating points from {os.fspath(path)!r}: {reason.rstrip('.')}; pass a file such"
            " as viterbi_calibration.json."
        ) from None


def save_operating_points(
    path: str | os.PathLike[str], points: Mapping[str, OperatingPoint | TransitionBiases]
) -> None:
    """Writes operating points by name; if this fails, an existing file stays unchanged."""
    if not points:
        raise InvalidInput("expected operating points by name, found none; pass {'default': point}.")
    content = pretty({POINTS: {name: _members(point) for name, point in points.items()}}) + "\n"
    try:
        with replacing(path) as file:
            file.write(content.encode())
    except OSError as error:
        raise LconsError(
            f"cannot write {os.fspath(path)!r}: {error.strerror or error}; choose a file in an existing,"
            " writable directory."
        ) from None


def _members(point: OperatingPoint | TransitionBiases) -> dict[str, Any]:
    whole = OperatingPoint(point) if isinstance(point, TransitionBiases) else point
    found: dict[str, Any] = {
        MEMBER: {PREFIX + name: float(value) for name, value in asdict(whole.biases).items()}
    }
    if whole.factor != 1:
        found[FACTOR] = float(whole.factor)
    if whole.guarantee is not None:
        found[GUARANTEE] = asdict(whole.guarantee)
    return found


def _point(value: Any, name: str) -> OperatingPoint:
    where = f"the point {name!r:.60}"
    biases = _member(value, MEMBER, {MEMBER, FACTOR, GUARANTEE}, where)
    keys = {PREFIX + bias for bias in BIASES}
    for key in sorted(keys):
        _member(biases, key, keys, f"`{MEMBER}` of {where}")
    given = value.get(GUARANTEE)
    known = None
    if given is not None:
        members = {field.name: field.type for field in fields(Guarantee)}
        for member, kind in members.items():
            found = _member(given, member, set(members), f"`{GUARANTEE}` of {where}")
            if not isinstance(
                found, (int, float) if kind == "float" else {"int": int, "str": str}[str(kind)]
            ):
                raise InvalidInput(f"`{member}` of {where} is {found!r:.60}")
        known = Guarantee(**given)
    return OperatingPoint(
        TransitionBiases(**{key.removeprefix(PREFIX): bias for key, bias in biases.items()}),
        value.get(FACTOR, 1.0),
        known,
    )


def _member(value: Any, name: str, known: set[str], where: str) -> Any:
    """A member of an object that has it, and no members but the known ones."""
    if not isinstance(value, dict) or name not in value:
        raise InvalidInput(f"{where} has no `{name}`")
    unknown = sorted(set(value) - known)
    if unknown:
        raise InvalidInput(f"{where} has an unknown member {unknown[0]!r:.60}")
    return value[name]
