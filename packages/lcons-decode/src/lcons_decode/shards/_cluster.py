"""Engines: the cores of this machine, Dask and Ray; each runs pieces of work in any order.

A piece whose worker ended early is done again by another worker, `MOST_DEATHS` times at most. Without an
address, Dask and Ray are started on this machine for the time of the work, without a dashboard and for
programs of this machine only.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import urlsplit

from lcons_core import InvalidInput, LconsError, MissingExtra

MOST_DEATHS = 3
CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Lost:
    """A piece of work without a result, because its workers ended early."""

    why: str


Do = Callable[[Any], Any]


class Cluster(Protocol):
    """Workers that are there for the time of a block."""

    workers: int

    def results(self, do: Do, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """`(i, do(piece))` for each piece and its index, as they come; `(i, Lost)` if its workers ended
        early."""
        ...


# The module of each engine, and what it needs besides lcons.
BACKENDS = {"local": "", "dask": "distributed", "ray": "ray"}
# Variables that Ray reads when it is imported: without the first one, its ports are open to the network.
_OF_THIS_MACHINE = {"ray": {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}}
_MODULES = {"local": "_local", "dask": "_dask", "ray": "_ray"}


@contextmanager
def cluster(backend: str = "local", address: str | None = None, jobs: int | None = None) -> Iterator[Cluster]:
    """The workers of a backend: those at an address, or `jobs` processes of this machine (default: one per
    core)."""
    if backend not in BACKENDS:
        raise InvalidInput(f"unknown `backend` {backend!r}; it is one of {', '.join(BACKENDS)}.")
    if address is not None and backend == "local":
        raise InvalidInput(
            "the backend 'local' has no address; leave `address=` out, or use another backend."
        )
    library = BACKENDS[backend]
    if address is None:
        for name, value in _OF_THIS_MACHINE.get(backend, {}).items():
            os.environ.setdefault(name, value)
    if library:
        try:
            import_module(library)
        except ModuleNotFoundError:
            raise MissingExtra(
                f"the backend {backend!r} needs {library}, which is not installed; run `pip install"
                f" lcons-decode[{backend}]`."
            ) from None
    if address is not None:
        _check_reachable(backend, address)
    opened: Callable[[str | None, int], AbstractContextManager[Cluster]]
    opened = import_module(f"lcons_decode.shards.{_MODULES[backend]}").opened
    with opened(address, jobs or cores()) as found:
        yield found


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_reachable(backend: str, address: str) -> None:
    """Raises an error at once if nobody listens at an address; the engines would try for long."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None:
        if backend == "ray" and address in ("auto", "local"):
            return
        raise InvalidInput(
            f"expected the address of a {backend} cluster as HOST:PORT, found {address!r}; see what its"
            " scheduler prints."
        )
    try:
        with socket.create_connection((host, port), timeout=CONNECT_SECONDS):
            return
    except OSError as error:
        raise unreachable(backend, address, error) from None


def unreachable(backend: str, address: str, error: Exception) -> LconsError:
    """The error for a scheduler that does not answer."""
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0] if str(error) else "no answer"
    return LconsError(
        f"cannot reach the {backend} scheduler at {address}: {reason}; start it, or correct `address=`."
    )
