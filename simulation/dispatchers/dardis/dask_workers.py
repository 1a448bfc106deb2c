"""Worker processes of ``dask.distributed`` on this machine that no other machine, and no other user, can reach.

Whoever can connect to a scheduler or a worker of Dask can run code there. So they listen on the loopback interface alone, and take
only connections with a certificate that is made for this cluster and kept in memory, if the package ``cryptography`` is there.
"""

from __future__ import annotations

import logging
from typing import Any

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
