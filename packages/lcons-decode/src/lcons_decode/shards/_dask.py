"""Workers of a Dask cluster: one task per piece of work.

Dask does a task again if its worker ends; a few times more tasks than threads are sent ahead, so that a
million shards do not fill the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, as_completed

from lcons_core import LconsError
from lcons_decode.shards._cluster import CONNECT_SECONDS, Do, Lost, unreachable

AHEAD = 3


@contextmanager
def opened(address: str | None, jobs: int) -> Iterator[DaskCluster]:
    """The cluster at an address, or one of this machine for the time of the block."""
    if address is None:
        with (
            LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=50,
            ) as own,
            Client(own) as client,
        ):
            yield DaskCluster(client, "of this machine")
        return
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError) as error:
        raise unreachable("dask", address, error) from None
    with client:
        yield DaskCluster(client, f"at {address}")


class DaskCluster:
    """A cluster by its client."""

    def __init__(self, client: Any, where: str) -> None:
        self._client, self._where = client, where
        self.address = client.scheduler.address
        self.workers = max(1, sum(client.nthreads().values()))

    def results(self, do: Do, pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As in `Cluster`."""
        places: dict[Any, int] = {}
        left = iter(range(len(pieces)))
        running = as_completed()

        def send() -> None:
            i = next(left, None)
            if i is not None:
                # Pure tasks of equal arguments would be done once.
                future = self._client.submit(do, pieces[i], pure=False)
                places[future] = i
                running.add(future)

        for _ in range(AHEAD * self.workers):
            send()
        for future in running:
            i = places.pop(future)
            try:
                result = future.result()
            except KilledWorker as error:
                result = Lost(f"its workers ended early ({type(error).__name__})")
            except (CancelledError, OSError) as error:
                raise LconsError(
                    f"lost the connection to the dask scheduler {self._where} ({type(error).__name__}); run"
                    " the same again: what is finished is skipped."
                ) from None
            yield i, result
            future.release()
            send()
