"""Constraint files: one JSON document per constraint, written atomically and checked when read.

    {"format": "lcons-constraint", "version": 1, "scope", "space", "feature", "provenance",
     "network": {"parts": [{"W": rows, "b": numbers}, ...]}, "sha256": digest of all the rest}

A row of W is a list of d numbers or, if most are zero, {"columns": [...], "values": [...]}. The digest is
that of the canonical JSON, so the layout of a file may change but not its content. A document has exactly
these members; a version of lcons that adds a member also increases the version of the format.

Files are JSON that people can read. Floats are written such that reading returns the same floats, and the
same constraint always has the same bytes. There is no pickle: a file contains only numbers and names, and a
feature kind is found only by its registered name. Reading any invalid file raises `DamagedFile` with one
sentence and never returns a partial object.

Not in the paper.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from lcons_core._atomic import replacing
from lcons_core._blocks import check_numbers
from lcons_core._errors import DamagedFile, InvalidInput, LconsError, TooLarge
from lcons_core._files import open_regular
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._plain import canonical, check_plain, digest, parse, pretty
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats
from lcons_core.features._kinds import feature_from_dict
from lcons_core.features._protocol import ConstraintFeature, Scope

FORMAT = "lcons-constraint"
VERSION = 1
_KEYS = ("format", "version", "scope", "space", "feature", "provenance", "network", "sha256")
MAX_BYTES = 2**26
_LONGEST_SENTENCE = 400

T = TypeVar("T")
Content = tuple[Network, FeatureSpace, ConstraintFeature | None, Mapping[str, Any]]
Made = Callable[[Network, FeatureSpace, ConstraintFeature | None, Mapping[str, Any]], T]


class Storable(Protocol):
    """The members of a constraint that a file stores."""

    @property
    def network(self) -> Network: ...
    @property
    def space(self) -> FeatureSpace: ...
    @property
    def feature(self) -> ConstraintFeature | None: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def provenance(self) -> Mapping[str, Any]: ...


def save(constraint: Storable, path: str | os.PathLike[str]) -> None:
    """Writes the constraint to `path`; if this fails, an existing file stays unchanged."""
    content = dumps(constraint).encode("utf-8")
    if len(content) > MAX_BYTES:
        raise TooLarge(
            f"the file would have {len(content):,} bytes, above the limit of {MAX_BYTES:,} bytes;"
            " use a feature with fewer columns."
        )
    try:
        with replacing(path) as file:
            file.write(content)
    except (OSError, ValueError, TypeError) as error:
        raise LconsError(
            f"cannot write {str(path)!r}: {_reason(error)}; choose a file in an existing, writable directory."
        ) from None


def read_file(path: str | os.PathLike[str], make: Made[T]) -> T:
    """`make` applied to the content of the file at `path`; raises `DamagedFile` if it has no constraint."""
    name = str(path)
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError, TypeError) as error:
        raise DamagedFile(
            f"cannot read {name!r}: {_reason(error)}; pass the path of a constraint file."
        ) from None
    if len(content) > MAX_BYTES:
        raise _damaged(name, f"it is larger than the limit of {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(name, f"it is not UTF-8 text, from byte {error.start} on") from None
    if not text.strip():
        raise _damaged(name, "it is empty")
    return read_text(text, name, make)


def dumps(constraint: Storable) -> str:
    """The text of a constraint file."""
    members = to_document(constraint).items()
    lines = [f"{pretty(name)}: {pretty(value, '  ')}" for name, value in members]
    return "{\n  " + ",\n  ".join(lines) + "\n}\n"


def read_text(text: str, name: str, make: Made[T]) -> T:
    """`make` applied to the content of a text that `dumps` wrote; errors call the text `name`."""
    try:
        return make(*from_document(parse(text)))
    except LconsError as error:
        raise _damaged(name, str(error)) from None
    except (RecursionError, MemoryError):
        raise _damaged(name, "it is nested too deeply or too large") from None


def to_document(constraint: Storable) -> dict[str, Any]:
    """The document of a constraint, header first; raises `InvalidInput` if it could not be read again."""
    if not isinstance(getattr(constraint, "space", None), FeatureSpace) or not hasattr(constraint, "network"):
        raise InvalidInput(f"save needs a LearnedConstraint, found {type(constraint).__name__}.")
    feature = None if constraint.feature is None else constraint.feature.to_dict()
    if feature is not None and feature_from_dict(feature) != constraint.feature:
        raise InvalidInput(
            f"expected a feature that from_dict restores from its to_dict(), found {feature!r:.80}; make"
            " from_dict the inverse of to_dict."
        )
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "scope": None if constraint.feature is None else str(constraint.scope),
        "space": constraint.space.to_dict(),
        "feature": feature,
        "provenance": dict(constraint.provenance),
    }
    for name, value in document.items():
        check_plain(value, name)
    document["network"] = _network_data(constraint.network)
    return {**document, "sha256": digest(document)}


def from_document(document: Any) -> Content:
    """The content of an untrusted document; raises `LconsError` with the first thing that is wrong."""
    _expect(isinstance(document, dict), "it is not a JSON object")
    found = document.get("format")
    _expect(found == FORMAT, f"its format is {found!r:.40} instead of {FORMAT!r}")
    _check_version(document.get("version"))
    _expect_keys(document, _KEYS, "it")
    rest = {key: value for key, value in document.items() if key != "sha256"}
    _expect(
        document["sha256"] == digest(rest),
        "its checksum does not match its content, so it was damaged or edited by hand",
    )
    space = _space(document["space"])
    feature = _feature(document["feature"], space)
    scope = None if feature is None else str(feature.scope)
    _expect(document["scope"] == scope, f"its scope must be {scope!r} for this feature")
    provenance = document["provenance"]
    _expect(isinstance(provenance, dict), "its provenance is not an object")
    check_plain(provenance, "its provenance")
    return _network(document["network"], space.d), space, feature, provenance


def _check_version(version: Any) -> None:
    whole = type(version) is int
    _expect(whole, f"its version must be an integer, found {version!r:.40}")
    if version > VERSION:
        raise DamagedFile(
            f"this file has version {version}; this lcons reads version {VERSION}; upgrade lcons-core"
        )
    _expect(version >= 1, f"its version {version} never existed")


def _space(data: Any) -> FeatureSpace:
    _expect(isinstance(data, dict), "its space is not an object")
    _expect_keys(data, ("blocks", *(["requires"] if "requires" in data else [])), "its space")
    for block in _list(data["blocks"], "its blocks"):
        _expect(isinstance(block, dict), "a block of its space is not an object")
        _names([block.get("name"), block.get("kind")], "the name and kind of a block")
        _names(block.get("values"), "the values of a block")
    for rule in _list(data.get("requires", []), "its requires"):
        _expect(isinstance(rule, list) and len(rule) == 4, "a rule of its requires is not a list of 4")
        _names(rule[:3], "a rule of its requires")
        _names(rule[3], "a rule of its requires")
    check_plain(data, "its space")
    try:
        space = FeatureSpace.from_dict(data)
    except TypeError:
        raise DamagedFile("a block of its space has unknown members") from None
    _expect(canonical(space.to_dict()) == canonical(data), "its space is not as lcons writes it")
    return space


def _feature(data: Any, space: FeatureSpace) -> ConstraintFeature | None:
    if data is None:
        return None
    _expect(isinstance(data, dict), "its feature is not an object")
    _names([data.get("kind")], "the kind of its feature")
    check_plain(data, "its feature")
    try:
        feature = feature_from_dict(data)
        same = canonical(feature.to_dict()) == canonical(data)
        fits = feature.space == space
    except LconsError:
        raise
    except Exception as error:  # the class of a feature may be from another package and raise anything
        raise DamagedFile(
            f"its feature of kind {data['kind']!r:.40} cannot be read ({type(error).__name__}: {error})"
        ) from None
    _expect(same, f"its feature is not as the kind {data['kind']!r:.40} writes it")
    _expect(fits, "its feature has another space than the file")
    return feature


def _network_data(network: Network) -> dict[str, Any]:
    return {
        "parts": [{"W": [_row(w) for w in part.W], "b": _numbers(part.b)} for part in network.parts],
    }


def _network(data: Any, d: int) -> Network:
    _expect(isinstance(data, dict), "its network is not an object")
    _expect_keys(data, ("parts",), "its network")
    described = _list(data["parts"], "the parts of its network")
    for part in described:
        _expect(isinstance(part, dict), "a part of its network is not an object")
        _expect_keys(part, ("W", "b"), "a part of its network")
    units = sum(len(_list(part["W"], "W")) for part in described)
    check_numbers(units * d, f"its {units:,} units of {d:,} columns", "use fewer")
    parts = []
    for part in described:
        b = _array(part["b"], len(part["W"]), "b")
        parts.append(RectifierNetwork(np.stack([_weights(row, d) for row in part["W"]]), b))
    return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))


def _row(w: Floats) -> Any:
    """A list of numbers, or only the nonzero columns and values if that is shorter."""
    columns = np.flatnonzero(w)
    if len(w) < 16 or 2 * len(columns) >= len(w):
        return _numbers(w)
    return {"columns": columns.tolist(), "values": w[columns].tolist()}


def _weights(row: Any, d: int) -> Floats:
    if not isinstance(row, dict):
        return _array(row, d, "a row of W")
    _expect_keys(row, ("columns", "values"), "a row of W")
    columns = row["columns"]
    whole = isinstance(columns, list) and all(type(column) is int for column in columns)
    _expect(whole, "the columns of a row of W are not integers")
    rising = all(i < j for i, j in zip([-1, *columns], [*columns, d], strict=True))
    _expect(rising, f"the columns of a row of W do not rise from 0 to at most {d - 1}")
    w = np.zeros(d)
    w[columns] = _array(row["values"], len(columns), "the values of a row of W")
    return w


def _numbers(array: Floats) -> list[float]:
    numbers: list[float] = (array + 0.0).tolist()
    return numbers


def _array(value: Any, length: int, what: str) -> Floats:
    _expect(isinstance(value, list), f"{what} is not a list")
    _expect(len(value) == length, f"{what} must have {length} numbers, found {len(value)}")
    exact = all(type(x) is float or (type(x) is int and abs(x) <= 2**53) for x in value)
    _expect(exact, f"{what} contains an entry that is not a float")
    return np.array(value, dtype=np.float64)


def _list(value: Any, what: str) -> list[Any]:
    _expect(isinstance(value, list), f"{what} must be a list, found {type(value).__name__}")
    _expect(value or what == "its requires", f"{what} must not be empty")
    checked: list[Any] = value
    return checked


def _names(value: Any, what: str) -> None:
    texts = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
    _expect(texts, f"{what} must be non-empty text")


def _expect_keys(data: dict[str, Any], keys: tuple[str, ...], what: str) -> None:
    missing, extra = set(keys) - set(data), set(data) - set(keys)
    _expect(not missing, f"{what} lacks {', '.join(sorted(missing))}")
    _expect(not extra, f"{what} has unknown members {', '.join(sorted(extra))}")


def _expect(condition: Any, damage: str) -> None:
    if not condition:
        raise DamagedFile(damage)


def _damaged(name: str, damage: str) -> DamagedFile:
    sentence = " ".join(damage.split()).rstrip(".")
    if len(sentence) > _LONGEST_SENTENCE:
        sentence = sentence[:_LONGEST_SENTENCE] + " ..."
    advice = "" if "upgrade" in sentence else "; learn or save it again"
    return DamagedFile(f"{name!r} is no constraint file that lcons can read: {sentence}{advice}.")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
