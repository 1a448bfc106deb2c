"""Node managers as actors of ``dask.distributed``, one for each worker process; this process is the task manager."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Mapping
from typing import Any

from ....errors import MissingPackage
from .transport import Block


class BlockActor:
    """A block as an actor; its process is killed when the block falls silent."""

    def __init__(self) -> None:
        self._block = Block()

    def handle(self, packet: bytes) -> bytes:
        """Return the answer to a packet."""
        answer = self._block.handle(packet)
        if answer is None:
            os.kill(os.getpid(), signal.SIGKILL)  # this process ends here
        return answer or b""


class DaskLink:
    """A link to actors on a cluster of worker processes on this machine, which ends with the link.

    Parameters
    ----------
    processes : int
        Number of workers.

    Raises
    ------
    MissingPackage
        If ``distributed`` is not installed.
    """

    def __init__(self, processes: int) -> None:
        try:
            from distributed import Client
        except ImportError as e:
            raise MissingPackage(f"the transport dask needs distributed: pip install 'schedlab[dask]' ({e})") from e
        self.processes = processes
        self._cluster: Any = local_cluster(processes, 1)
        self._client: Any = Client(self._cluster, direct_to_workers=True)
        workers = sorted(self._client.nthreads())
        made = [self._client.submit(BlockActor, actor=True, workers=[w], pure=False) for w in workers]
        self._actors = [future.result() for future in made]

    def exchange(self, packets: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        """Call the actors and return the answers that arrive before the timer ends."""
        answers: dict[int, bytes] = self._client.sync(self._exchange, packets, seconds)
        return answers

    async def _exchange(self, packets: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        calls = {k: asyncio.ensure_future(self._call(k, packet)) for k, packet in packets.items()}
        done, late = await asyncio.wait(calls.values(), timeout=seconds)
        for call in late:
            call.cancel()
        answers = {k: call.result() for k, call in calls.items() if call in done}
        return {k: answer for k, answer in answers.items() if answer is not None}

    async def _call(self, process: int, packet: bytes) -> bytes | None:
        """Return the answer of an actor; None if its worker was lost."""
        try:
            answer: bytes = await self._actors[process].handle(packet)
        except (OSError, RuntimeError):  # what Dask raises for a lost worker; a block returns its own exceptions
            return None
        return answer

    def close(self) -> None:
        """End the workers."""
        self._client.close()
        self._cluster.close()


# --- Worker processes of ``dask.distributed`` on this machine that no other machine, and no other user, can reach.
#
# Whoever can connect to a scheduler or a worker of Dask can run code there. So they listen on the loopback interface alone, and take
# only connections with a certificate that is made for this cluster and kept in memory, if the package ``cryptography`` is there.


LOOPBACK = "127.0.0.1"
OPEN = (
    "other users of this machine can send commands to the Dask workers, as the package cryptography is missing: "
    "pip install 'schedlab[dask]'"
)


def temporary_security() -> Any:
    """Return the certificates of one cluster; None if the package ``cryptography`` is missing."""
    from distributed.security import Security

    try:
        return Security.temporary()
    except ImportError:
        return None


def local_cluster(workers: int, threads: int) -> Any:
    """Return a cluster of worker processes on this machine, without a dashboard.

    Parameters
    ----------
    workers : int
        Number of processes.
    threads : int
        Threads of each.

    Returns
    -------
    distributed.LocalCluster
        Its attribute ``security`` has ``require_encryption`` if connections are encrypted.
    """
    from dask import config
    from distributed import LocalCluster

    # also without a dashboard they would serve pages about their tasks, without authentication
    with config.set({f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            host=LOOPBACK,
            security=temporary_security(),
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
