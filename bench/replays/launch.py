"""How replays of DARDIS over a network are started: the number of processes, the command of the worker, the ranks of MPI.

With MPI, ``mpiexec -n 4 python -m schedlab.bench.replays.launch SPEC`` is the command: rank 0 is the worker of the bench, the
other ranks have node managers.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...models.words import how_many
from ..errors import WrongUse
from ..runs.process import WORKER

if TYPE_CHECKING:
    from ...simulation.dispatchers.dardis.network import Network


RANKS = (sys.executable, "-m", "schedlab.bench.replays.launch")


def check_processes(network: str, nodes: int) -> None:
    """Raise WrongUse if there are more processes of node managers than nodes."""
    from ...simulation.dispatchers.dardis.network import Network

    if Network.parse(network).processes - 1 > nodes:
        raise WrongUse(
            f"--processes {Network.parse(network).processes}: expected at most {nodes + 1}, one for the task manager and one "
            f"for each of the {how_many(nodes, 'node')}"
        )


def worker_command(network: Network) -> Sequence[str]:
    """Return the command of a worker whose replays use a network; for MPI, it begins with mpiexec.

    Raises
    ------
    WrongUse
        If a package or mpiexec is not installed.
    """
    package = {"mpi": "mpi4py", "dask": "distributed"}.get(network.transport)
    if package is None:
        return WORKER
    if find_spec(package) is None:
        raise WrongUse(
            f"--transport {network.transport}: {package} is not installed: pip install 'schedlab[{network.transport}]'"
        )
    return WORKER if network.transport != "mpi" else (mpiexec(), "-n", str(network.processes), *RANKS)


def mpiexec() -> str:
    """Return the path of mpiexec: beside Python, where pip installs that of MPICH, else in the search path."""
    beside = Path(sys.executable).with_name("mpiexec")
    program = str(beside) if beside.exists() else shutil.which("mpiexec")
    if program is None:
        raise WrongUse("--transport mpi: there is no mpiexec: pip install 'schedlab[mpi]'")
    return program


if __name__ == "__main__":
    from ...simulation.dispatchers.dardis.transport import run
    from ..runs.worker import main

    run(main)
