"""The ranks of an MPI job that performs a replay: rank 0 is the worker of the bench, the others have node managers.

``mpiexec -n 4 python -m schedlab.bench.replays.ranks SPEC``, see ``worker_command``.
"""

from __future__ import annotations

from ...simulation.dispatchers.dardis.mpi import run
from ..runs.worker import main

if __name__ == "__main__":
    run(main)
