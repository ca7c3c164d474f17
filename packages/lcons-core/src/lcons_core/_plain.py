"""Plain data, which a JSON file can store: checked strictly when written and when read.

Plain data are None, bool, str, int up to 2^128, finite float, and lists and dicts with string keys of plain
data, at most 32 levels deep. Python's own JSON is less strict: it writes NaN, converts keys to strings, and
keeps only the last of two equal keys.

Not in the paper.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, NoReturn

from lcons_core._errors import InvalidInput

MAX_DEPTH = 32
LARGEST_INTEGER = 2**128
_MOST_DIGITS = 40
_WIDTH = 96


def check_plain(value: Any, what: str, depth: int = MAX_DEPTH) -> None:
    """Raises `InvalidInput` if `value` is not plain data; the message names the place."""
    if depth == 0:
        raise InvalidInput(f"{what} must be at most {MAX_DEPTH} levels deep; flatten it.")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidInput(f"{what} must be valid text, found half of a surrogate pair in {value!r}.")
    elif isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise InvalidInput(f"{what} must be at most 2^128, found a larger integer.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{what} must be finite, found {value}; leave it out or use None.")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            check_plain(item, f"{what}[{i}]", depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"the keys of {what} must be strings, found {key!r}; use str().")
            check_plain(key, f"a key of {what}", depth)
            check_plain(item, f"{what}[{key!r}]", depth - 1)
    else:
        raise InvalidInput(
            f"{what} must be plain data (None, bool, int, float, str, list, dict), found"
            f" {type(value).__name__}; convert it first."
        )


def digest(value: Any) -> str:
    """The sha256 of plain data, which does not depend on the layout of a file.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 1, "b": 2.0})
    True
    """
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def canonical(value: Any) -> str:
    """Plain data as JSON with sorted keys and no spaces; texts are equal iff data and types are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def pretty(value: Any, indent: str = "") -> str:
    """Plain data as JSON for people: values that fit on one line, and all lists of numbers, are on one line.

    >>> print(pretty({"W": [[1.0, 0.5], [0.0, 2.0]]}))
    {"W": [[1.0, 0.5], [0.0, 2.0]]}
    """
    nested = isinstance(value, dict | list | tuple)
    if not nested or (not isinstance(value, dict) and not _holds_containers(value)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + "  "
    if isinstance(value, dict):
        pieces = [f"{pretty(key)}: {pretty(item, inner)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        pieces = [pretty(item, inner) for item in value]
        opening, closing = "[", "]"
    if sum(map(len, pieces)) < _WIDTH and not any("\n" in piece for piece in pieces):
        return opening + ", ".join(pieces) + closing
    separator = ",\n" + inner
    return f"{opening}\n{inner}{separator.join(pieces)}\n{indent}{closing}"


def _holds_containers(value: list[Any] | tuple[Any, ...]) -> bool:
    return any(isinstance(item, dict | list | tuple) for item in value)


def parse(text: str) -> Any:
    """The data of a JSON text; raises `InvalidInput` for equal keys, NaN, infinities and huge integers."""
    try:
        return json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"it is not JSON, from line {error.lineno}, column {error.colno} on ({error.msg})"
        ) from None
    except RecursionError:
        raise InvalidInput("it is nested too deeply") from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The `object_pairs_hook` that refuses an object with a key twice, of which Python keeps the last."""
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidInput(f"it has the key {key[:40]!r} twice in one object")
            seen.add(key)
    return data


def _no_number(token: str) -> NoReturn:
    raise InvalidInput(f"it contains {token}, which is not a number in JSON")


def _finite(token: str) -> float:
    number = float(token)
    if not math.isfinite(number):
        raise InvalidInput(f"it contains {token[:40]}, which is larger than any float")
    return number


def _integer(token: str) -> int:
    if len(token) > _MOST_DIGITS:
        raise InvalidInput(f"it contains an integer of {len(token)} digits")
    return int(token)
