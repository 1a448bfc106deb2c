"""Node managers on the ranks of an MPI job from 1 on; rank 0 is the task manager.

All processes poll: waiting inside MPI would keep a core busy. A rank that is silent does not stop the others: at the end
of rank 0 they all end, by ``MPI_Abort`` if some rank does not answer, as ``MPI_Finalize`` waits for all ranks. A rank
that ends by itself, such as by SIGKILL, ends the whole job: so MPICH handles it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ....errors import MissingPackage
from .transport import Block, TransportError

PACKET = 1  # tags of messages
ANSWER = 2
STOPPED = 3
LONGEST = 1e-3  # seconds between two looks for a message
PATIENCE = 5.0  # seconds for a rank to answer that it ends


def mpi() -> Any:
    """Return the module ``mpi4py.MPI``, which initializes MPI when it is imported. Raises MissingPackage."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as e:  # RuntimeError: there is no MPI library
        raise MissingPackage(f"the transport mpi needs mpi4py and MPICH: pip install 'schedlab[mpi]' ({e})") from e
    return MPI


class MpiLink:
    """The link of rank 0 to the other ranks; process k is rank k + 1. They must run ``serve``.

    Raises
    ------
    MissingPackage
        If mpi4py or MPI is not installed.
    TransportError
        If this is not rank 0 of at least two.
    """

    def __init__(self) -> None:
        self._mpi = mpi()
        self._comm = self._mpi.COMM_WORLD
        self.processes = self._comm.Get_size() - 1
        self._lost: list[Any] = []  # sends to silent ranks, which must outlive the replay
        if self.processes < 1 or self._comm.Get_rank() != 0:
            raise TransportError("the transport mpi needs at least 2 processes: mpiexec -n 4 python -m ...")

    def exchange(self, packets: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        """Send the packets and poll for the answers until the timer ends."""
        deadline = time.monotonic() + seconds
        pause = Pause()
        sent = {k: self._comm.Isend([packet, self._mpi.BYTE], k + 1, PACKET) for k, packet in packets.items()}
        answers: dict[int, bytes] = {}
        while len(answers) < len(packets):
            arrived = [k for k in packets.keys() - answers.keys() if self._comm.Iprobe(k + 1, ANSWER)]
            for k in arrived:
                answers[k] = received(self._comm, k + 1, ANSWER)
                sent[k].Wait()
            if arrived:
                pause = Pause()
            elif time.monotonic() > deadline:
                break
            else:
                pause()
        self._lost += [(sent[k], packets[k]) for k in packets.keys() - answers.keys()]
        return answers

    def close(self) -> None:
        """Do nothing: the ranks end with the job, see ``run``."""


class Pause:
    """Sleeps between two looks for a message: twice as long each time, up to ``LONGEST``."""

    def __init__(self) -> None:
        self._seconds = 1e-5

    def __call__(self) -> None:
        """Sleep."""
        time.sleep(self._seconds)
        self._seconds = min(LONGEST, 2 * self._seconds)


def received(comm: Any, rank: int, tag: int) -> bytes:
    """Wait for a message of a rank without keeping the core busy, and return it."""
    module = mpi()
    pause = Pause()
    status = module.Status()
    while not comm.Iprobe(rank, tag, status):
        pause()
    data = bytearray(status.Get_count(module.BYTE))
    comm.Recv([data, module.BYTE], rank, tag)
    return bytes(data)


def serve() -> None:
    """Answer the packets of rank 0 until it ends the job; the main function of the ranks of node managers."""
    module = mpi()
    block = Block()
    comm = module.COMM_WORLD
    while True:
        packet = received(comm, 0, PACKET)
        if not packet:
            comm.Send([b"", module.BYTE], 0, STOPPED)
            return
        answer = block.handle(packet)
        while answer is None:
            time.sleep(1)  # silent, until rank 0 aborts the job
        comm.Send([answer, module.BYTE], 0, ANSWER)


def run(task_manager: Callable[[], object]) -> None:
    """Run a function on rank 0 and node managers on the other ranks, to the end of the MPI job.

    Parameters
    ----------
    task_manager : callable
        Function without arguments, which may use ``MpiLink``. If it raises, the job is aborted with exit code 1.
    """
    module = mpi()
    comm = module.COMM_WORLD
    if comm.Get_rank() != 0:
        serve()
        return
    try:
        task_manager()
    except BaseException:
        import traceback

        traceback.print_exc()
        comm.Abort(1)
    others = range(1, comm.Get_size())
    ends = [comm.Isend([b"", module.BYTE], rank, PACKET) for rank in others]
    deadline = time.monotonic() + PATIENCE
    left = set(others)
    while left and time.monotonic() < deadline:
        left -= {rank for rank in left if comm.Iprobe(rank, STOPPED)}
        time.sleep(LONGEST)
    if left:
        comm.Abort(0)
    for rank, end in zip(others, ends, strict=True):
        received(comm, rank, STOPPED)
        end.Wait()
