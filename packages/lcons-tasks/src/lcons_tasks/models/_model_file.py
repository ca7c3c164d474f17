"""A model as one file: a JSON header and named arrays in an npz archive; never pickle.

Files are written atomically and with fixed time stamps, so the same model has the same bytes. The header has
the names of the arrays and the sha256 of everything else, so an altered file is refused; files of version 0.1
have neither. Numbers are finite and at most 2^200, so that their sums are finite. If anything is wrong with a
file, `read_model` raises `DamagedFile` with one sentence.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import DamagedFile, LconsError
from lcons_core._arithmetic import LARGEST_MAGNITUDE
from lcons_core._files import canonical, parse
from lcons_core.storage._archive import opened_archive
from lcons_tasks.atomic import replacing

FORMAT = 1
_HEADER = "header.json"
_LARGEST_HEADER = 2**28
_EPOCH = (1980, 1, 1, 0, 0, 0)

Arrays = dict[str, NDArray[Any]]


def write_model(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Writes a model; if that fails, an existing file stays unchanged."""
    try:
        # Stored without compression: numbers hardly shrink, and compressed bytes depend on the zlib version.
        with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            whole = {"format": FORMAT, **header, "arrays": list(arrays)}
            text = json.dumps({**whole, "sha256": _digest(whole, arrays)}, ensure_ascii=False)
            archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), text)
            for name, array in arrays.items():
                content = io.BytesIO()
                np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content.getvalue())
    except OSError as error:
        raise LconsError(f"cannot write {os.fspath(path)!r}: {error.strerror}.") from None


class Saved:
    """A model that is written by its `contents`."""

    @property
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the model's file."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model."""
        write_model(path, *self.contents)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model file."""
    try:
        with opened_archive(path) as archive:
            header = parse(archive.content(_HEADER, _LARGEST_HEADER).decode("utf-8"))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise DamagedFile(f"its format is not {FORMAT}")
            digest = header.pop("sha256", None)
            names = archive.names if digest is None else read_names(header["arrays"], distinct=True)
            arrays = {name: archive.array(name) for name in names}
        if digest is not None and digest != _digest(header, arrays):
            raise DamagedFile("its checksum does not match its content, so it was damaged or altered")
        for name, array in arrays.items():
            # Sums of numbers up to 2^200 are finite, too. No comparison with NaN holds.
            largest = float(np.abs(array).max(initial=0.0)) if array.dtype.kind in "fc" else 0.0
            if not largest <= LARGEST_MAGNITUDE:
                raise DamagedFile(f"its array {name!r:.60} has numbers that are not finite or above 2^200")
    except OSError as error:
        raise DamagedFile(f"cannot read {os.fspath(path)!r}: {error.strerror or error}.") from None
    except (LconsError, ValueError) as error:
        raise damaged(path, str(error)) from None
    header.pop("arrays", None)
    return header, arrays


def read_names(value: Any, *, distinct: bool = False) -> tuple[str, ...]:
    """The names in a header's list; raises ValueError if `value` is not a list of names."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("its header has no list of names where one is expected")
    if distinct and len(set(value)) != len(value):
        raise ValueError("its header has a name twice")
    return tuple(value)


def checked_floats(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]]) -> list[NDArray[np.float64]]:
    """The arrays of these names; raises ValueError unless they are float64 and of these shapes."""
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype != np.float64:
            raise ValueError(f"its {name} are {arrays[name].dtype} of shape {arrays[name].shape}")
    return [arrays[name] for name in shapes]


def damaged(path: str | os.PathLike[str], why: str) -> DamagedFile:
    """The error for a file that is not a model."""
    reason = " ".join(str(why).split()).rstrip(".")
    return DamagedFile(f"{os.fspath(path)!r} is not a readable model file: {reason}; train it again.")


def _digest(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> str:
    """The sha256 of a header and of the arrays that it names."""
    hashed = hashlib.sha256(canonical(header).encode("ascii"))
    for name, array in arrays.items():
        whole = np.ascontiguousarray(array)
        hashed.update(f"{name} {whole.dtype.str} {whole.shape}".encode())
        hashed.update(whole.data if whole.size else b"")
    return hashed.hexdigest()
