"""The provenance of a constraint: versions, seed, settings and a hash of the data, as plain data.

No time, host or path is recorded, so the same run always has the same bytes.

Not in the paper.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcons_core._files import check_plain
from lcons_core._psi import Psi, SparsePsi


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
    given = {"seed": seed, "config": None if config is None else dict(config), "data": data}
    entry = {**fields, **{name: value for name, value in given.items() if value is not None}}
    entry["versions"] = versions(packages)
    check_plain(entry, "provenance")
    return entry


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """The versions of lcons-core, numpy, Python and the named packages."""
    found = {"lcons-core": _version("lcons-core"), "numpy": np.__version__}
    found["python"] = platform.python_version()
    return {**found, **{name: _version(name) for name in packages}}


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
