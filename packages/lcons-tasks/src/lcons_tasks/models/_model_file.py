"""A model as one file: a JSON header and named arrays in an npz archive; never pickle.

Files are written atomically and with fixed time stamps, so the same model has the same bytes. If anything is
wrong with a file, `read_model` raises `DamagedFile` with one sentence.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcons_core import DamagedFile, LconsError
from lcons_tasks.atomic import replacing

FORMAT = 1
_HEADER = "header.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)

Arrays = dict[str, NDArray[Any]]


def write_model(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Writes a model; if that fails, an existing file stays unchanged."""
    try:
        # Stored without compression: numbers hardly shrink, and compressed bytes depend on the zlib version.
        with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            text = json.dumps({"format": FORMAT, **header}, ensure_ascii=False)
            archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), text)
            for name, array in arrays.items():
                content = io.BytesIO()
                np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), content.getvalue())
    except OSError as error:
        raise LconsError(
            f"cannot write {os.fspath(path)!r}: {error.strerror}; name a file in a folder that exists and can"
            " be written to."
        ) from None


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model file."""
    try:
        with zipfile.ZipFile(Path(path)) as archive:
            header = json.loads(archive.read(_HEADER))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ValueError(f"its format is not {FORMAT}")
            arrays = {
                name.removesuffix(".npy"): _array(archive.read(name))
                for name in archive.namelist()
                if name != _HEADER
            }
    except OSError as error:
        raise DamagedFile(
            f"cannot read {os.fspath(path)!r}: {error.strerror or error}; pass the path of a model file."
        ) from None
    except Exception as error:  # zip, deflate, JSON and npy each have errors of their own
        raise damaged(path, str(error) or type(error).__name__) from None
    return header, arrays


def read_names(value: Any, *, distinct: bool = False) -> tuple[str, ...]:
    """The names in a header's list; raises ValueError if `value` is not a list of names."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("its header has no list of names where one is expected")
    if distinct and len(set(value)) != len(value):
        raise ValueError("its header has a name twice")
    return tuple(value)


def damaged(path: str | os.PathLike[str], why: str) -> DamagedFile:
    """The error for a file that is not a model."""
    reason = " ".join(str(why).split()).rstrip(".")
    return DamagedFile(
        f"{os.fspath(path)!r} is not a model file that lcons can read: {reason}; train it again."
    )


def _array(content: bytes) -> NDArray[Any]:
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
