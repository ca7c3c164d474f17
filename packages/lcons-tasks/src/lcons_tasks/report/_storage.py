"""document.json: a document as plain data, and back.

    {"format": 1, "title": ..., "sections": [{"title": ..., "blocks": [{"kind": "Table", ...}, ...]}, ...]}

Members are those of the types in `_document.py`; `kind` tells the members of a union apart. What is read was
perhaps written by someone else: every member is checked against its type, and what is not as it should be is
one sentence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from lcons_core import InvalidInput
from lcons_tasks.atomic import write_text
from lcons_tasks.report._document import Document

DOCUMENT = "document.json"
FORMAT = 1
MAX_BYTES = 2**26
KIND = "kind"


def write_document(folder: Path, document: Document) -> Path:
    """Writes document.json into a folder; the same document gives the same bytes."""
    path = folder / DOCUMENT
    data = {"format": FORMAT, **to_data(document)}
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text.encode("utf-8", "replace").decode("utf-8"))
    return path


def read_document(folder: Path) -> Document:
    """The document of a folder; `InvalidInput` where there is none or it is not as it should be."""
    path = folder / DOCUMENT
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise InvalidInput(
            f"cannot read {str(path)!r}: {error.strerror or error}; name the folder of a run."
        ) from None
    if size > MAX_BYTES:
        raise InvalidInput(f"expected at most {MAX_BYTES:,} bytes in {str(path)!r}, found {size:,}.")
    try:
        return from_data(json.loads(content, parse_constant=_refuse_constant))
    except InvalidInput as error:
        raise InvalidInput(f"{str(path)!r} is no document: {error} Run the task again.") from None
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"expected JSON in {str(path)!r}, found something else; run the task again."
        ) from None


def to_data(value: Any) -> Any:
    """A document, or a part of one, as plain data."""
    if is_dataclass(value):
        members = {field.name: to_data(getattr(value, field.name)) for field in fields(value)}
        return {KIND: type(value).__name__, **members}
    if isinstance(value, Mapping):
        # Names that are numbers are sizes, which may be given as int.
        return {key if isinstance(key, str) else str(float(key)): to_data(one) for key, one in value.items()}
    return [to_data(one) for one in value] if isinstance(value, tuple | list) else value


def from_data(data: Any) -> Document:
    """The document of plain data; `InvalidInput` where it is not as it should be."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else data
        raise InvalidInput(f"expected a document of format {FORMAT}, found {found!r:.40}.")
    document: Document = _dataclass(
        Document, {k: v for k, v in data.items() if k != "format"}, "the document"
    )
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(f"expected finite numbers, found {name}.")


def _read(wanted: Any, value: Any, where: str) -> Any:
    """`value` as the type `wanted`."""
    origin, inside = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return _member(inside, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong("a list", value, where)
        if inside[-1] is Ellipsis:
            return tuple(_read(inside[0], one, f"{where}[{i}]") for i, one in enumerate(value))
        if len(value) != len(inside):
            raise _wrong(f"a list of {len(inside)}", value, where)
        return tuple(_read(kind, one, where) for kind, one in zip(inside, value, strict=True))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise _wrong("an object", value, where)
        return {
            _key(inside[0], key, where): _read(inside[1], one, f"{where}.{key:.40}")
            for key, one in value.items()
        }
    if is_dataclass(wanted):
        return _dataclass(wanted, value, where)
    return _plain(wanted, value, where)


def _member(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """The value as one of several types: dataclasses are told apart by `kind`, plain ones by themselves."""
    if isinstance(value, dict):
        named = {one.__name__: one for one in kinds if is_dataclass(one) and isinstance(one, type)}
        kind = value.get(KIND)
        if not isinstance(kind, str) or kind not in named:
            raise _wrong(f"one of {', '.join(named) or 'no objects'} as `{KIND}`", kind, where)
        return _dataclass(named[kind], value, where)
    if value is None and type(None) in kinds:
        return None
    rest = [one for one in kinds if one is not type(None) and not is_dataclass(one)]
    for kind in rest:
        if get_origin(kind) is not None or type(value) is kind:
            return _read(kind, value, where)
    raise _wrong(f"{' or '.join(getattr(one, '__name__', str(one)) for one in kinds)}", value, where)


def _dataclass(wanted: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(f"an object ({wanted.__name__})", value, where)
    if value.get(KIND, wanted.__name__) != wanted.__name__:
        raise _wrong(f"{wanted.__name__} as `{KIND}`", value[KIND], where)
    hints = get_type_hints(wanted)
    known = {field.name: field for field in fields(wanted)}
    unknown = [key for key in value if key not in known and key != KIND]
    if unknown:
        raise InvalidInput(f"{where} has no member {unknown[0]!r:.40}.")
    members = {}
    for name, field in known.items():
        if name in value:
            members[name] = _read(hints[name], value[name], f"{where}.{name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput(f"{where} needs the member {name!r}.")
    return wanted(**members)


def _key(wanted: Any, key: str, where: str) -> Any:
    if wanted is str:
        return key
    try:
        number = float(key)
    except ValueError:
        raise _wrong("a number as a name", key, where) from None
    if not math.isfinite(number):
        raise _wrong("a finite number as a name", key, where)
    return number


def _plain(wanted: Any, value: Any, where: str) -> Any:
    """str, bool, int and float; an int is a float too, a bool is neither."""
    if wanted is float and type(value) is int and abs(value) < 2**63:
        return float(value)
    if type(value) is not wanted or (wanted is float and not math.isfinite(value)):
        raise _wrong(f"{wanted.__name__}", value, where)
    return value


def _wrong(expected: str, found: Any, where: str) -> InvalidInput:
    return InvalidInput(f"expected {expected} at {where:.80}, found {found!r:.40}.")
