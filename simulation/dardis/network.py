"""The network between the task manager and the node managers, as text: ``mpi:processes=4:timer=10:lost=0.01``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from .transport import Connect, Transport

if TYPE_CHECKING:
    from .messages import Limits
    from .transports.link import Link

Ints = NDArray[np.int64]
SIMULATE, MPI, DASK = "simulate", "mpi", "dask"
TIMER = 10.0  # seconds


def _local(processes: int) -> Link:
    from .transports.local import LocalLink

    return LocalLink(processes)


def _mpi(processes: int) -> Link:
    from .transports.link import TransportError
    from .transports.mpi import MpiLink

    link = MpiLink()
    if link.processes != processes:
        raise TransportError(f"the MPI job has {link.processes + 1} processes; expected {processes + 1}")
    return link


def _dask(processes: int) -> Link:
    from .transports.dask import DaskLink

    return DaskLink(processes)


LINKS: dict[str, Callable[[int], Link]] = {SIMULATE: _local, MPI: _mpi, DASK: _dask}
"""Engine -> function of the number of processes of node managers, which returns a link to them."""


@dataclass(frozen=True)
class Network:
    """A network.

    Parameters
    ----------
    transport : str
        Name of the engine, in ``LINKS``.
    processes : int
        Number of processes with that of the task manager, at least 2. The nodes are spread over the others in equal ranges.
    timer : float, optional
        Seconds in which a process must answer (phase 4). Not for ``simulate``, in which messages take no time.
    lost : float
        Probability that a message is lost, 0 to 1.
    late : float
        Probability that an answer arrives after the timer, 0 to 1.
    fault : str, optional
        ``PROCESS@PACKET``: this process of node managers, counted from 1, does not answer from this packet on.

    Raises
    ------
    WrongValue
        If a value is not valid.

    Examples
    --------
    >>> Network.parse("mpi:processes=4:lost=0.01").lost
    0.01
    >>> Network("dask", 3, fault="1@500").text
    'dask:processes=3:fault=1@500'
    """

    transport: str = SIMULATE
    processes: int = 4
    timer: float | None = None
    lost: float = 0.0
    late: float = 0.0
    fault: str | None = None

    def __post_init__(self) -> None:
        if self.transport not in LINKS:
            raise WrongValue(f"transport {self.transport}: expected one of {', '.join(LINKS)}")
        if self.processes < 2:
            raise WrongValue(f"processes {self.processes}: expected at least 2, one of them for the task manager")
        if self.timer is not None and self.transport == SIMULATE:
            raise WrongValue(f"timer {self.timer:g}: not for simulate, in which messages take no time; see late")
        if self.timer is not None and not 0 < self.timer < float("inf"):
            raise WrongValue(f"timer {self.timer:g}: expected a number of seconds above 0, such as {TIMER:g}")
        for name, value in (("lost", self.lost), ("late", self.late)):
            if not 0 <= value <= 1:
                raise WrongValue(f"{name} {value:g}: expected a probability, 0 to 1")
        self._faulty()

    def _faulty(self) -> tuple[int, int] | None:
        """Return the process, counted from 0, and the packet of the fault."""
        if self.fault is None:
            return None
        process, at, packet = self.fault.partition("@")
        if not (
            at and process.isdecimal() and packet.isdecimal() and 1 <= int(process) < self.processes and int(packet)
        ):
            raise WrongValue(
                f"fault {self.fault}: expected PROCESS@PACKET such as 1@500, a process of node managers from 1 to "
                f"{self.processes - 1}, and a packet from 1"
            )
        return int(process) - 1, int(packet)

    @property
    def text(self) -> str:
        """The network as text: the transport, the number of processes, and the options that are not the default."""
        given = {
            f.name: getattr(self, f.name) for f in fields(self)[1:] if f.name == "processes" or getattr(self, f.name)
        }
        return ":".join(
            [self.transport, *(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in given.items())]
        )

    @classmethod
    def parse(cls, text: str) -> Network:
        """Return the network of a text. Raises WrongValue."""
        transport, *parts = text.split(":")
        kinds = {"processes": int, "timer": float, "lost": float, "late": float, "fault": str}
        options = {}
        for name, _, value in (part.partition("=") for part in parts):
            if name not in kinds:
                raise WrongValue(f"network {text}: option {name} is not one of {', '.join(kinds)}")
            try:
                options[name] = kinds[name](value)
            except ValueError:
                raise WrongValue(f"network {text}: {name} is {value!r}, expected a number") from None
        return cls(transport, **options)

    @contextmanager
    def link(self) -> Iterator[Link]:
        """Connect with the processes; inside ``mpiexec`` for MPI. They end after the context, or with the MPI job.

        Raises
        ------
        MissingPackage
            If the engine is not installed.
        TransportError
            If the processes cannot be reached.
        """
        found = LINKS[self.transport](self.processes - 1)
        try:
            yield found
        finally:
            found.close()

    def over(self, link: Link, seed: int = 0, faults: bool = True) -> Connect:
        """Return the argument ``connect`` of ``Dardis`` for node managers behind a link.

        Parameters
        ----------
        link : Link
            The processes.
        seed : int
            Seed of the draws of lost and late messages.
        faults : bool
            Whether messages are lost and the fault happens; without, for a replay that only compiles.
        """
        from .transports.processes import Processes
        from .unreliable import unreliable

        def connect(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
            fault = self._faulty() if faults else None
            return Processes(link, capacity, generator, limits, self.timer or TIMER, fault)

        return unreliable(self.lost, self.late, seed, connect) if faults and (self.lost or self.late) else connect
