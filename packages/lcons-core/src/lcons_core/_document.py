"""Constraint files: one JSON document per constraint, written atomically and checked when read.

    {"format": "lcons-constraint", "version": 1, "scope", "space", "feature", "provenance",
     "network": {"parts": [{"W": rows, "b": numbers}, ...]}, "sha256": digest of all the rest}

A row of W is a list of d numbers or, if most are zero, {"columns": [...], "values": [...]}. The digest is
that of the canonical JSON, so the layout of a file may change but not its content. A document has exactly
these members; a version of lcons that adds a member also increases the version of the format.

Files are JSON that people can read. Floats are written such that reading returns the same floats, and the
same constraint always has the same bytes. There is no pickle: a file contains only numbers and names, and a
feature kind is found only by its registered name. Reading any invalid file raises `DamagedFile` with one
sentence and never returns a partial object: members are made into objects, which check themselves, and must
be written again exactly as they were read.

The provenance of a constraint (`record`) has versions, seed, settings and a hash of the data, as plain data.
No time, host or path is recorded, so the same run always has the same bytes.

Not in the paper.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcons_core._blocks import check_numbers
from lcons_core._constraint import LearnedConstraint, as_constraint
from lcons_core._errors import DamagedFile, InvalidInput, LconsError, TooLarge
from lcons_core._files import canonical, digest, open_regular, parse, pretty, replacing
from lcons_core._network import Conjunction, Network, RectifierNetwork
from lcons_core._psi import Psi, SparsePsi
from lcons_core._space import FeatureSpace
from lcons_core._types import Floats
from lcons_core.features._feature import ConstraintFeature
from lcons_core.features._kinds import feature_from_dict

FORMAT = "lcons-constraint"
VERSION = 1
_KEYS = {"format", "version", "scope", "space", "feature", "provenance", "network", "sha256"}
MAX_BYTES = 2**26
MAX_DEPTH = 32
LARGEST_INTEGER = 2**128
_LONGEST_SENTENCE = 400


def save(constraint: LearnedConstraint, path: str | os.PathLike[str]) -> None:
    """Writes the constraint to `path`; if this fails, an existing file stays unchanged."""
    content = dumps(constraint).encode("utf-8")
    if len(content) > MAX_BYTES:
        raise TooLarge(f"the file would have {len(content):,} bytes, above the limit of {MAX_BYTES:,} bytes.")
    try:
        with replacing(path) as file:
            file.write(content)
    except (OSError, ValueError, TypeError) as error:
        raise LconsError(f"cannot write {str(path)!r}: {_reason(error)}.") from None


def load(path: str | os.PathLike[str]) -> LearnedConstraint:
    """The constraint in the file at `path`; raises `DamagedFile` if there is none."""
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig") if len(content) <= MAX_BYTES else ""
    except UnicodeDecodeError as error:
        raise _damaged(path, f"it is not UTF-8 text, from byte {error.start} on") from None
    except (OSError, ValueError, TypeError) as error:
        raise DamagedFile(f"cannot read {str(path)!r}: {_reason(error)}.") from None
    if not text.strip():
        raise _damaged(path, f"it is empty or has more than {MAX_BYTES:,} bytes")
    return loads(text, str(path))


def dumps(constraint: LearnedConstraint) -> str:
    """The text of a constraint file; raises `InvalidInput` if it could not be read again."""
    as_constraint(constraint, "save")
    feature = None if constraint.feature is None else constraint.feature.to_dict()
    if feature is not None and feature_from_dict(feature) != constraint.feature:
        raise InvalidInput(f"from_dict does not restore a feature from its to_dict(): {feature!r:.80}.")
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
    parts = [{"W": [_row(w) for w in part.W], "b": _numbers(part.b)} for part in constraint.network.parts]
    document["network"] = {"parts": parts}
    document["sha256"] = digest(document)
    lines = [f"{pretty(name)}: {pretty(value, '  ')}" for name, value in document.items()]
    return "{\n  " + ",\n  ".join(lines) + "\n}\n"


def loads(text: str, name: str = "the text") -> LearnedConstraint:
    """The constraint in a text that `dumps` wrote; errors call the text `name`."""
    try:
        return _constraint(parse(text))
    except LconsError as error:
        raise _damaged(name, str(error)) from None
    except (RecursionError, MemoryError):
        raise _damaged(name, "it is nested too deeply or too large") from None


def _constraint(document: Any) -> LearnedConstraint:
    """The constraint of an untrusted document; raises `LconsError` with the first thing that is wrong."""
    _expect(isinstance(document, dict), "it is not a JSON object")
    _expect(document.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    version = document.get("version")
    newer = type(version) is int and version > VERSION
    _expect(not newer, f"this file has version {version}, and this lcons reads {VERSION}; upgrade lcons-core")
    _expect(type(version) is int and version >= 1, f"its version {version!r:.40} never existed")
    _expect_keys(document, _KEYS, "it")
    rest = {key: value for key, value in document.items() if key != "sha256"}
    intact = document["sha256"] == digest(rest)
    _expect(intact, "its checksum does not match its content, so it was damaged or edited by hand")
    check_plain({key: rest[key] for key in ("space", "feature", "provenance")}, "its content")
    space = _space(document["space"])
    feature = None if document["feature"] is None else _feature(document["feature"], space)
    scope = None if feature is None else str(feature.scope)
    _expect(document["scope"] == scope, f"its scope must be {scope!r} for this feature")
    _expect(isinstance(document["provenance"], dict), "its provenance is not an object")
    network = _network(document["network"], space.d)
    return LearnedConstraint(network, space, feature, document["provenance"])


def _space(data: Any) -> FeatureSpace:
    try:
        space = FeatureSpace.from_dict(data)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        if isinstance(error, LconsError):
            raise
        raise DamagedFile(f"its space is not as lcons writes it ({error!s:.80})") from None
    _expect(canonical(space.to_dict()) == canonical(data), "its space is not as lcons writes it")
    return space


def _feature(data: Any, space: FeatureSpace) -> ConstraintFeature:
    try:
        feature = feature_from_dict(data)
        same = canonical(feature.to_dict()) == canonical(data)
        fits = feature.space == space
    except LconsError:
        raise
    except Exception as error:  # the class of a feature may be from another package and raise anything
        raise DamagedFile(f"its feature cannot be read ({type(error).__name__}: {error})") from None
    _expect(same, "its feature is not as its kind writes it")
    _expect(fits, "its feature has another space than the file")
    return feature


def _network(data: Any, d: int) -> Network:
    _expect_keys(data, {"parts"}, "its network")
    described = _list(data["parts"], "the parts of its network")
    for part in described:
        _expect_keys(part, {"W", "b"}, "a part of its network")
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
    _expect_keys(row, {"columns", "values"}, "a row of W")
    columns = row["columns"]
    whole = isinstance(columns, list) and all(type(column) is int for column in columns)
    rising = whole and all(i < j for i, j in zip([-1, *columns], [*columns, d], strict=True))
    _expect(rising, f"the columns of a row of W are not integers that rise from 0 to at most {d - 1}")
    w = np.zeros(d)
    w[columns] = _array(row["values"], len(columns), "the values of a row of W")
    return w


def _numbers(array: Floats) -> list[float]:
    numbers: list[float] = (array + 0.0).tolist()
    return numbers


def _array(value: Any, length: int, what: str) -> Floats:
    fits = isinstance(value, list) and len(value) == length
    _expect(fits, f"{what} is not a list of {length} numbers")
    exact = all(type(x) is float or (type(x) is int and abs(x) <= 2**53) for x in value)
    _expect(exact, f"{what} contains an entry that is not a float")
    return np.array(value, dtype=np.float64)


def _list(value: Any, what: str) -> list[Any]:
    _expect(isinstance(value, list) and value, f"{what} must be a list that is not empty")
    return list(value)


def _expect_keys(data: Any, keys: set[str], what: str) -> None:
    same = isinstance(data, dict) and set(data) == keys
    _expect(same, f"{what} is not an object with the members {', '.join(sorted(keys))}")


def _expect(condition: Any, damage: str) -> None:
    if not condition:
        raise DamagedFile(damage)


def _damaged(path: str | os.PathLike[str], damage: str) -> DamagedFile:
    sentence = " ".join(damage.split()).rstrip(".")[:_LONGEST_SENTENCE]
    return DamagedFile(f"{str(path)!r} is no constraint file that lcons can read: {sentence}.")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def record(
    *,
    seed: int | None = None,
    config: Mapping[str, Any] | None = None,
    data: str | None = None,
    packages: Iterable[str] = (),
    **fields: Any,
) -> dict[str, Any]:
    """A provenance: `fields`, then seed, config and data hash (if given), then versions; all plain data.

    >>> entry = record(seed=1, config={"hidden": 2}, note="source-relation pairs")
    >>> list(entry)
    ['note', 'seed', 'config', 'versions']
    """
    settings = {"seed": seed, "config": None if config is None else dict(config), "data": data}
    entry = {**fields, **{name: value for name, value in settings.items() if value is not None}}
    entry["versions"] = versions(packages)
    check_plain(entry, "provenance")
    return entry


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """The versions of lcons-core, numpy, Python and the named packages."""
    known = {"lcons-core": _version("lcons-core"), "numpy": np.__version__}
    return {**known, "python": platform.python_version(), **{name: _version(name) for name in packages}}


def hash_psi(psi: Psi, *columns: ArrayLike) -> str:
    """The sha256 of psi (N, d) and of numeric columns (labels, weights); equal for dense and sparse psi."""
    sparse = psi if isinstance(psi, SparsePsi) else SparsePsi.from_dense(np.atleast_2d(psi))
    hashed = hashlib.sha256(f"psi {len(sparse)} {sparse.d}".encode())
    for whole in (sparse.indptr, sparse.indices):
        hashed.update(whole.astype("<i8").tobytes())
    for column in (sparse.values, *columns):
        numbers = np.asarray(column, dtype="<f8") + 0.0
        hashed.update(f"column {numbers.shape}".encode())
        hashed.update(numbers.tobytes())
    return hashed.hexdigest()


def _version(package: str) -> str:
    from importlib import metadata  # slow to import, and rarely needed

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def check_plain(value: Any, what: str, depth: int = MAX_DEPTH) -> None:
    """Raises `InvalidInput` if `value` is not plain data; the message names the place."""
    if depth == 0:
        raise InvalidInput(f"{what} must be at most {MAX_DEPTH} levels deep.")
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidInput(f"{what} must be valid text, found half of a surrogate pair in {value!r}.")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            check_plain(item, f"{what}[{i}]", depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"the keys of {what} must be strings, found {key!r}.")
            check_plain(key, f"a key of {what}", depth)
            check_plain(item, f"{what}[{key!r}]", depth - 1)
    elif isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise InvalidInput(f"{what} must be at most 2^128, found a larger integer.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{what} must be finite, found {value}.")
    elif value is not None:
        raise InvalidInput(f"{what} must be plain data, which JSON can store, found {type(value).__name__}.")
