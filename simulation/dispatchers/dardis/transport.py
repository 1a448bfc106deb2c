"""What carries messages between the task manager and the node managers: within a process, to several, over MPI, by Dask.

With MPI the node managers are on the ranks from 1 on; rank 0 is the task manager. All processes poll: waiting inside MPI would
keep a core busy. A rank that is silent does not stop the others: at the end of rank 0 they all end, by ``MPI_Abort`` if some rank does not answer, as ``MPI_Finalize`` waits for all ranks. A rank
that ends by itself, such as by SIGKILL, ends the whole job: so MPICH handles it.

With Dask the node managers are actors of ``dask.distributed``, one for each worker process; this process is the task manager.

A network that loses and delays messages is given as a text.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import pickle
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ....errors import MissingPackage, SchedlabError, WrongValue
from ....models.array_types import Ints
from ....models.registry import Registry, Seconds
from ....models.words import how_many
from .messages import Event, Extend, Limits, Offers, Placement, Release, Request, Traffic, joined
from .nodes import Moves, NodeManagers, chances, key_of

# --- What carries messages between the task manager and the node managers.


class Transport(Protocol):
    """The node managers of a machine, as the task manager reaches them.

    A transport has four methods and two attributes. It waits for answers until its timer ends, and goes on without those that have not
    arrived [Bridi2018, 5.3, phase 4]. It never changes a message, and delivers what it sends to one node in order.

    Attributes
    ----------
    silent : ndarray of int64
        The nodes whose managers do not answer any more, ascending; it only grows. They are not asked any more, and the jobs
        that are planned on them are planned anew.
    traffic : Traffic or None
        What is measured between processes; None: there is one process.
    """

    @property
    def silent(self) -> Ints:
        """The nodes whose managers do not answer any more."""

    @property
    def traffic(self) -> Traffic | None:
        """What is measured between processes."""

    def ask(self, request: Request) -> Offers:
        """Send a request to all node managers, or to ``request.nodes``, and collect the offers (phases 1 to 3).

        Offers that arrive after the timer are lost. The entries are in the order of the nodes.
        """

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return the first of the notified jobs from ``first`` on that may have an earlier start on its nodes.

        Node managers in one process answer at once for the jobs that have none. Between processes it is ``first``: each
        job runs the protocol, with the same result.
        """

    def confirm(self, placement: Placement) -> Ints:
        """Send a placement to all node managers, or to ``placement.to`` (phases 5, 6); the chosen ones acknowledge it.

        Returns those of the chosen nodes it was sent to that have not acknowledged it, ascending.
        """

    def post(self, event: Event) -> Ints:
        """Send an event to the node managers that it concerns.

        Returns the nodes that report reservations beyond their capacity because of it, ascending.
        """


class InProcess:
    """Node managers in this process; no message is lost.

    Parameters
    ----------
    managers : sequence of NodeManagers
        The managers of disjoint ranges that together are all nodes.
    """

    silent = np.empty(0, np.int64)
    traffic = None

    def __init__(self, managers: Sequence[NodeManagers]) -> None:
        self._managers = managers

    def ask(self, request: Request) -> Offers:
        """Collect the offers."""
        if len(self._managers) == 1:
            return self._managers[0].answer(request)
        return joined([m.answer(request) for m in self._managers])

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Pass over the jobs whose nodes have no room before their starts."""
        if len(self._managers) == 1:
            return self._managers[0].next_move(moves, first, now)
        return first

    def confirm(self, placement: Placement) -> Ints:
        """Let the chosen nodes reserve; all do."""
        for m in self._managers:
            m.reserve(placement)
        return np.empty(0, np.int64)

    def post(self, event: Event) -> Ints:
        """Deliver an event."""
        full = [m.receive(event) for m in self._managers]
        if len(full) == 1:
            return full[0]
        return np.sort(np.concatenate(full))


Connect = Callable[[Ints, str, Limits | None], Transport]
"""Function of the capacity (nodes, resources), the name of the generator and the desired use, which returns a transport."""


def in_process(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
    """Return all node managers in this process."""
    return InProcess([NodeManagers(capacity, generator, limits)])


# --- What an engine such as MPI provides: one exchange of packets with the processes of the node managers.


class TransportError(SchedlabError, RuntimeError):
    """The processes of the node managers cannot be started, one of them has failed, or none of them answers any more."""


class Link(Protocol):
    """Connection of the task manager with processes, each of which runs one ``Block``; they have numbers from 0.

    An implementation hands each packet to ``Block.handle`` in its process and returns the answer. It neither reads nor
    changes packets, and has at most one packet to a process on its way.

    Attributes
    ----------
    processes : int
        Number of processes, without that of the task manager.
    """

    processes: int

    def exchange(self, packets: Mapping[int, bytes], seconds: float) -> Mapping[int, bytes]:
        """Send packets to processes and return the answers that arrive within a time.

        Parameters
        ----------
        packets : mapping of int to bytes
            Number of the process -> packet.
        seconds : float
            The timer of the protocol. A process that has not answered by then never gets a packet again.

        Returns
        -------
        mapping of int to bytes
            Number of the process -> answer. Processes that are known to have ended may be left out earlier.
        """

    def close(self) -> None:
        """End the processes, if the link has started them."""


# --- The side of the node managers: a process that has those of a range of nodes.

PROTOCOL = 4  # of pickle: 5 makes read-only arrays of some, for which the kernels would be compiled again


class Setup(NamedTuple):
    """The first message of a replay: the nodes of this process, which begin without reservations.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Amounts of each node of the range.
    generator : str
        Name of the generator of starts.
    limits : Limits or None
        The desired use of these nodes.
    first : int
        Number of the first node of the range in the platform.
    fault : int or None
        The packet, counted from 1, from which on this process does not answer any more: an experiment. None: it always does.
    """

    capacity: Ints
    generator: str
    limits: Limits | None
    first: int
    fault: int | None


class Failure(NamedTuple):
    """The answer of a process in which an exception was raised: its traceback."""

    text: str


Message = Setup | Request | Placement | Event
Answer = Offers | Ints | Failure


def packed(what: Message | Answer) -> bytes:
    """Return a message or an answer as bytes; several messages in sequence are a packet."""
    return pickle.dumps(what, PROTOCOL)


def unpacked(answer: bytes) -> Answer:
    """Return an answer."""
    content: Answer = pickle.loads(answer)
    return content


class Block:
    """The node managers of one process, as packets reach them. The first message is a ``Setup``."""

    def __init__(self) -> None:
        self._managers: NodeManagers | None = None
        self._fault: int | None = None
        self._packets = 0

    def handle(self, packet: bytes) -> bytes | None:
        """Carry out the messages of a packet in their order and return the answer to the last one.

        The answer is an ``Offers`` to a ``Request``, the nodes that have reserved to a ``Placement``, the nodes beyond their
        capacity to an event, a ``Failure`` after an exception. None: from now on, this process does not answer.
        """
        self._packets += 1
        if self._fault is not None and self._packets >= self._fault:
            return None
        stream = io.BytesIO(packet)
        answer = np.empty(0, np.int64)
        reply: Answer = answer
        try:
            while stream.tell() < len(packet):
                reply = self._answer(pickle.load(stream))
        except Exception:  # the task manager raises it
            reply = Failure(traceback.format_exc())
        return packed(reply)

    def _answer(self, message: Message) -> Answer:
        if isinstance(message, Setup):
            warm_up(message.generator)
            self._managers = NodeManagers(message.capacity, message.generator, message.limits, message.first)
            self._packets, self._fault = 0, message.fault
            return np.empty(0, np.int64)
        assert self._managers is not None, "the first message is a Setup"
        if isinstance(message, Request):
            return self._managers.answer(message)
        if isinstance(message, Placement):
            self._managers.reserve(message)
            return self._own(message.nodes if message.to is None else np.intersect1d(message.nodes, message.to))
        return self._managers.receive(message)

    def _own(self, nodes: Ints) -> Ints:
        """Return those of these nodes that belong to this process."""
        assert self._managers is not None
        first = self._managers.first
        return np.asarray(nodes[(nodes >= first) & (nodes < first + self._managers.capacity.shape[0])])


def warm_up(generator: str) -> None:
    """Compile or load all that node managers call, before the timer of the first request runs."""
    one = np.ones(1, np.int64)
    none = np.zeros(1, np.int64)
    managers = NodeManagers(np.ones((1, 1), np.int64), generator)
    managers.answer(Request("", 0, 1, one, 1, np.array([[0, 1]]), 1, False, 0))
    managers.reserve(Placement("", 0, 1, none, one, one, 0))
    managers.receive(Extend("", 2))
    managers.receive(Release("", 1))


# --- A transport over processes: the nodes are spread over them in ranges, and each exchange has a timer.

SETUP = 900.0  # seconds for the first answer: a new installation compiles the kernels


class Processes:
    """Node managers in several processes; the same for all engines.

    A packet has the messages to a process since the one before, in their order; its last message is answered. So messages
    that need no answer (releases, placements on other nodes) cost no packet. A process that has not answered when the
    timer ends is silent for the rest of the replay, and so are its nodes.

    Parameters
    ----------
    link : Link
        The connection with the processes.
    capacity : ndarray of int64, shape (nodes, resources)
        Amounts of each node.
    generator : str
        Name of the generator of starts.
    limits : Limits, optional
        The desired use of the nodes. None: up to the capacity.
    timer : float
        Seconds in which a process must answer.
    fault : tuple of int, optional
        A process and the packet from which on it does not answer.

    Attributes
    ----------
    silent : ndarray of int64
        The nodes whose managers do not answer any more, ascending.
    traffic : Traffic
        What was measured.

    Raises
    ------
    WrongValue
        If there are more processes than nodes, or no process to fail.
    TransportError
        If a process cannot be set up.
    """

    def __init__(
        self,
        link: Link,
        capacity: Ints,
        generator: str,
        limits: Limits | None = None,
        timer: float = 10.0,
        fault: tuple[int, int] | None = None,
    ) -> None:
        nodes, count = capacity.shape[0], link.processes
        if count > nodes:
            raise WrongValue(
                f"{how_many(count, 'process')} of node managers for {how_many(nodes, 'node')}; expected at most one for each node"
            )
        if fault is not None and not 0 <= fault[0] < count:
            raise WrongValue(f"process {fault[0]} of node managers cannot fail; expected one from 0 to {count - 1}")
        self._link = link
        self._timer = timer
        self._seconds = SETUP
        self._edges = [k * nodes // count for k in range(count + 1)]
        self._process = np.repeat(np.arange(count), np.diff(self._edges))  # of each node
        self._held: list[list[bytes]] = [[] for _ in range(count)]  # messages that go with the next packet
        self._answers = np.ones(count, np.bool_)
        self.silent = np.empty(0, np.int64)
        self.traffic = Traffic()
        for k in range(count):
            a, b = self._edges[k : k + 2]
            own = None
            if limits is not None:
                own = limits._replace(curve=limits.curve[a:b])
            if fault is None or fault[0] != k:
                last = None
            else:
                last = fault[1]
            self._held[k].append(packed(Setup(capacity[a:b], generator, own, a, last)))
        self._send(None, range(count))
        if self.silent.size:
            raise TransportError(f"processes of node managers did not begin within {SETUP:g} s")
        self._seconds = timer
        self.traffic = Traffic()

    def ask(self, request: Request) -> Offers:
        """Collect the offers that arrive before the timer ends."""
        began = time.perf_counter()
        answers = self._send(request, self._of(request.nodes))
        self.traffic.seconds["wall_offers"] += time.perf_counter() - began
        return joined([offers for offers in answers if isinstance(offers, Offers)])

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return ``first``: the nodes are asked by messages."""
        return first

    def confirm(self, placement: Placement) -> Ints:
        """Confirm a placement; the processes of chosen nodes acknowledge it."""
        began = time.perf_counter()
        if placement.to is None:
            nodes = placement.nodes
        else:
            nodes = np.intersect1d(placement.nodes, placement.to)
        chosen = self._of(nodes)
        self._hold(placement, np.setdiff1d(self._of(placement.to), chosen))
        silent = np.setdiff1d(nodes, _together(self._send(placement, chosen)))
        self.traffic.seconds["wall_reservation"] += time.perf_counter() - began
        return silent

    def post(self, event: Event) -> Ints:
        """Deliver an event; only an extension is answered."""
        if not isinstance(event, Extend):
            self._hold(event, self._of(None))
            return np.empty(0, np.int64)
        began = time.perf_counter()
        full = np.sort(_together(self._send(event, self._of(None))))
        self.traffic.seconds["wall_events"] += time.perf_counter() - began
        return full

    def _of(self, nodes: Ints | None) -> Ints:
        """Return the processes that have any of these nodes, or any node; without silent ones."""
        if nodes is None:
            owners = np.arange(self._answers.size)
        else:
            owners = np.unique(self._process[nodes])
        return np.asarray(owners[self._answers[owners]])

    def _hold(self, message: Message, processes: Iterable[int]) -> None:
        """Keep a message for the next packet to these processes."""
        data = packed(message)
        for k in processes:
            self._held[k].append(data)

    def _send(self, message: Message | None, processes: Iterable[int]) -> list[Answer]:
        """Send a message, with those that were held, and return the answers in the order of the nodes."""
        data = b""
        if message is not None:
            data = packed(message)
        packets = {int(k): b"".join((*self._held[k], data)) for k in processes}
        if not packets:
            return []
        for k in packets:
            self._held[k].clear()
        answers = self._link.exchange(packets, self._seconds)
        self.traffic.packets += len(packets) + len(answers)
        self.traffic.bytes += sum(map(len, packets.values())) + sum(map(len, answers.values()))
        self._drop([k for k in packets if k not in answers])
        replies = [unpacked(answers[k]) for k in sorted(answers)]
        for answer in replies:
            if isinstance(answer, Failure):
                raise TransportError(f"a process of node managers has failed:\n{answer.text}")
        return replies

    def _drop(self, processes: list[int]) -> None:
        """Note that processes are silent."""
        if not processes:
            return
        self._answers[processes] = False
        for k in processes:
            self._held[k].clear()
        self.silent = np.flatnonzero(~self._answers[self._process])
        if not self._answers.any():
            raise TransportError(
                "no process of node managers answers any more; the last ones did not before the timer ended"
            )


def _together(answers: list[Answer]) -> Ints:
    """Return the nodes of several answers."""
    return np.concatenate([np.empty(0, np.int64), *(nodes for nodes in answers if isinstance(nodes, np.ndarray))])


# --- The processes of node managers simulated in this process: the same packets, which no network carries.


class LocalLink:
    """A link to blocks in this process; one that does not answer is silent at once.

    Parameters
    ----------
    processes : int
        Number of blocks.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.simulation.dispatchers.dardis.dispatcher import Dardis
    >>> from schedlab.simulation.dispatchers.dardis.transport import Network
    >>> dispatcher = Dardis("throughput", connect=Network(processes=4).over(LocalLink(3)))
    >>> run = sl.simulate("eurora_99", dispatcher=dispatcher)
    >>> run.schedule() == sl.simulate("eurora_99", dispatcher="dardis:throughput").schedule()
    True
    """

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._blocks = [Block() for _ in range(processes)]

    def exchange(self, packets: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        """Return the answers."""
        answers = {k: self._blocks[k].handle(packet) for k, packet in packets.items()}
        return {k: answer for k, answer in answers.items() if answer is not None}

    def close(self) -> None:
        """Do nothing: there is no process to end."""


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


# --- A network that loses and delays messages, for replays; every loss is drawn from the seed and the message.

REQUEST, OFFER, CONFIRMATION, ACKNOWLEDGEMENT = range(4)


def unreliable(loss: float = 0.0, late: float = 0.0, seed: int = 0, connect: Connect = in_process) -> Connect:
    """Return the argument ``connect`` of ``Dardis`` for a network that loses and delays messages.

    Parameters
    ----------
    loss : float
        Probability that a request, an offer, a confirmation or an acknowledgement is lost, 0 to 1.
    late : float
        Probability that an offer or an acknowledgement arrives after the timer of the task manager.
    seed : int
        Seed of the draws.
    connect : callable
        Makes the transport below.

    Raises
    ------
    WrongValue
        If a probability is not between 0 and 1.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.simulation.dispatchers.dardis.dispatcher import Dardis
    >>> dispatcher = Dardis("throughput", connect=unreliable(loss=0.05, late=0.05))
    >>> sl.simulate("eurora_99", dispatcher=dispatcher).violations, dispatcher.costs.timeouts > 0
    ([], True)
    """
    for name, value in (("loss", loss), ("late", late)):
        if not 0 <= value <= 1:
            raise WrongValue(f"unreliable: {name} is {value}; expected a probability, 0 to 1")

    def made(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
        return Unreliable(connect(capacity, generator, limits), capacity.shape[0], loss, late, seed)

    return made


class Unreliable:
    """A transport that drops some messages of another one.

    Offers that arrive after the timer do not count, like lost ones. A node that gets a confirmation reserves, also if its
    acknowledgement is lost; a node that does not get it keeps what it had. Events always arrive: nodes know themselves
    when jobs end, and the task manager repeats that a reservation is given up until all nodes know it.

    Parameters
    ----------
    below : Transport
        The transport.
    nodes : int
        Number of nodes.
    loss, late : float
        Probabilities that a message is lost, and that an answer is late.
    seed : int
        Seed of the draws.
    """

    def __init__(self, below: Transport, nodes: int, loss: float, late: float, seed: int) -> None:
        self._below = below
        self._nodes = nodes
        self._seed = seed
        self._lost = loss  # of a message
        self._missed = 1 - (1 - loss) * (1 - late)  # of an answer
        self._sent = 0

    @property
    def silent(self) -> Ints:
        """The nodes whose managers do not answer any more."""
        return self._below.silent

    @property
    def traffic(self) -> Traffic | None:
        """What the transport below measures."""
        return self._below.traffic

    def ask(self, request: Request) -> Offers:
        """Collect the offers that are neither lost nor late."""
        if request.nodes is None:
            asked = np.arange(self._nodes)
        else:
            asked = request.nodes
        reached = asked[self._arrives(REQUEST, request.job, asked, self._lost)]
        offers = self._below.ask(request._replace(nodes=reached))
        back = np.zeros(self._nodes, np.bool_)
        back[reached[self._arrives(OFFER, request.job, reached, self._missed)]] = True
        kept = back[offers.node]
        silent = reached.size - int(back.sum())
        return Offers(
            offers.node[kept],
            offers.low[kept],
            offers.high[kept],
            offers.fit[kept],
            offers.seconds,
            max(0, offers.nodes - silent),
        )

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return ``first``: the nodes are asked by messages."""
        return first

    def confirm(self, placement: Placement) -> Ints:
        """Confirm on the nodes that the message reaches; return the chosen nodes whose acknowledgement is missing."""
        if placement.to is None:
            sent = np.arange(self._nodes)
        else:
            sent = placement.to
        reached = sent[self._arrives(CONFIRMATION, placement.job, sent, self._lost)]
        self._below.confirm(placement._replace(to=reached))
        back = reached[self._arrives(ACKNOWLEDGEMENT, placement.job, reached, self._missed)]
        return np.setdiff1d(np.intersect1d(placement.nodes, sent), back)

    def post(self, event: Event) -> Ints:
        """Deliver an event."""
        return self._below.post(event)

    def _arrives(self, kind: int, job: str, nodes: Ints, loss: float) -> NDArray[np.bool_]:
        """Return whether a message of this kind to or from each of the nodes arrives in time."""
        self._sent += 1
        return np.asarray(chances(key_of(self._seed, job, kind, self._sent), nodes) >= loss)


# --- The network between the task manager and the node managers, as text: ``mpi:processes=4:timer=10:lost=0.01``.

SIMULATE = "simulate"
MPI = "mpi"
DASK = "dask"
TIMER = 10.0  # seconds


def _local(processes: int) -> Link:

    return LocalLink(processes)


def _mpi(processes: int) -> Link:

    link = MpiLink()
    if link.processes != processes:
        raise TransportError(f"the MPI job has {how_many(link.processes + 1, 'process')}; expected {processes + 1}")
    return link


def _dask(processes: int) -> Link:

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
    timer: Seconds | None = None
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
        """Return the network of a text. Raises UnknownName, WrongOption."""
        return NETWORKS.make(text)

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
        opened = LINKS[self.transport](self.processes - 1)
        try:
            yield opened
        finally:
            opened.close()

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

        def connect(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
            fault = None
            if faults:
                fault = self._faulty()
            return Processes(link, capacity, generator, limits, self.timer or TIMER, fault)

        if faults and (self.lost or self.late):
            return unreliable(self.lost, self.late, seed, connect)
        return connect


NETWORKS: Registry[Network] = Registry("network", "", {transport: partial(Network, transport) for transport in LINKS})
"""The networks by name."""
