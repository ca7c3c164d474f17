"""Workers of a Ray cluster: one task of one CPU per piece of work.

Ray does a task again if its worker ends; a few times more tasks than CPUs are sent ahead, so that a million
shards do not fill its store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, WorkerCrashedError

from lcons_core import LconsError
from lcons_decode.shards._cluster import MOST_DEATHS, Do, Lost, unreachable

AHEAD = 3


@contextmanager
def opened(address: str | None, jobs: int) -> Iterator[RayCluster]:
    """The cluster at an address, or one of this machine for the time of the block; a session that is there
    already is used, and stays."""
    if ray.is_initialized():
        yield RayCluster("that is running")
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
    if address is None:
        options |= {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(address=address or "local", **options)
    except (ConnectionError, TimeoutError, RuntimeError, ValueError) as error:
        raise unreachable("ray", address or "this machine", error) from None
    try:
        yield RayCluster("of this machine" if address is None else f"at {address}")
    finally:
        ray.shutdown()


class RayCluster:
    """The cluster of the running session."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def results(self, do: Do, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As in `Cluster`."""
        kept = ray.put(do)
        task = ray.remote(num_cpus=1, max_retries=MOST_DEATHS)(_call)
        left = iter(range(len(pieces)))
        running = {task.remote(kept, pieces[i]): i for i in islice(left, AHEAD * self.workers)}
        while running:
            (ready,), _ = ray.wait(list(running), num_returns=1)
            i = running.pop(ready)
            try:
                result = ray.get(ready)
            except RayTaskError as error:
                raise error.as_instanceof_cause() from None
            except WorkerCrashedError as error:
                result = Lost(f"its workers ended early ({type(error).__name__})")
            except RayError as error:
                raise LconsError(
                    f"lost the connection to the ray cluster {self._where} ({type(error).__name__}); run the"
                    " same again: what is finished is skipped."
                ) from None
            yield i, result
            following = next(left, None)
            if following is not None:
                running[task.remote(kept, pieces[following])] = following


def _call(do: Do, piece: Any) -> Any:
    return do(piece)
