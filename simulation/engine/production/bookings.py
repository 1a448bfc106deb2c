"""The reservations of a replay: their check, what they hold, and what starts beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.events.state import NOW, RUNNING, State
from ....heuristics.kernels.profile import Ints
from ....models.production import Occurrence
from ....models.production.placement import Refusal, Usage, overuse, place
from ....models.production.reserved import Reserved
from ..simulation import SimulationError
from ..states.node_changes import chunk_nodes
from .plan import ProductionPlan
from .record import Booking

if TYPE_CHECKING:
    from ...policies.beside_reservations import Holds
    from ..live_jobs import LiveJobs
    from ..progress import ReplayPlan

Mask = NDArray[np.bool_]
Chunk = tuple[Mapping[str, int], Mapping[str, int]]  # units on each node, request per unit
Use = tuple[Mapping[str, int], Mapping[str, int], int, int]  # those of a chunk, start, end


class Bookings:
    """The repetitions of all reservations of one replay, ``listed`` as in the record; ``holding``: those accepted, and not over."""

    def __init__(self, plan: ReplayPlan, state: State, jobs: LiveJobs, production: ProductionPlan) -> None:
        self.plan, self.state, self.jobs = plan, state, jobs
        self.listed: list[Booking] = production.log.bookings
        self.holding: list[Booking] = []
        self._shown: tuple[Reserved, ...] | None = None
        self._holds: Holds | None = None
        self._number = {name: n for n, name in enumerate(plan.platform.nodes)}

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self.state.clock[NOW])

    def limit(self, j: int) -> int:
        """Return the walltime of job j in seconds, less the work of its earlier attempts, and with its restart."""
        return max(1, int(self.plan.workload.walltime[j]) - self.plan.log.less(j))

    def walltime_end(self, j: int) -> int:
        """Return the time by which running job j ends by its walltime, after now."""
        return max(self.now + 1, int(self.state.start[j]) + self.limit(j))

    def examine(self, k: int, allowed: Mask, kept_free: Iterable[Use] = ()) -> bool:
        """Accept or refuse a reservation that was requested; return whether it was accepted.

        ``allowed``: the nodes that it may have; ``kept_free``: what is kept for others.
        """
        booking = self.listed[k]
        asked = Occurrence(booking.reservation, 1, booking.start, booking.end)
        usage = Usage.of(self.plan.platform, [*self._running(), *self._reserved()])
        for o in overuse(self.plan.platform, usage, self.now, self.now + 1):
            why = f"{o.used} {o.resource} are in use on node {o.node!r}, which has {o.capacity}"
            raise SimulationError(f"at {self.now}: {why}", node=o.node, time=self.now)
        kept = list(kept_free)
        if kept:
            usage = Usage.of(self.plan.platform, [*self._running(), *self._reserved(), *kept])
        found = place(self.plan.platform, usage, asked, allowed)
        if isinstance(found, Refusal):
            booking.outcome = "refused"
            booking.why = str(found).replace(f"{asked.label!r}", f"{booking.label!r}", 1)
            return False
        booking.outcome, booking.nodes, booking.accepted = "accepted", found, self.now
        self.holding.append(booking)
        self._forget()
        return True

    def running(self) -> list[int]:
        """Return the rows of the jobs that run outside of reservations."""
        found: list[int] = self.state.running[: self.state.clock[RUNNING]].tolist()
        return found

    def _chunks(self, j: int, nodes: Sequence[Mapping[str, int]] | None = None) -> list[Chunk]:
        """Return the nodes (those of the running job if None) and the request of each chunk of job j."""
        trace, names = self.plan.trace, self.plan.platform.resources
        further = trace.further_request[trace.first_further[j] : trace.first_further[j + 1]].tolist()
        requests = [dict(zip(names, row, strict=True)) for row in (trace.request[j].tolist(), *further)]
        return list(zip(chunk_nodes(self.plan, self.state, j) if nodes is None else nodes, requests, strict=True))

    def _running(self, without: int = -1) -> Iterator[Use]:
        for j in self.running():
            if j != without:
                for nodes, request in self._chunks(j):
                    yield nodes, request, int(self.state.start[j]), self.walltime_end(j)

    def _reserved(self) -> Iterator[Use]:
        for b in self.holding:
            yield b.nodes, b.reservation.request, b.start, b.end

    def _forget(self) -> None:
        self._shown = self._holds = None

    def begin(self, k: int) -> list[tuple[int, str]]:
        """Start a reservation; return the running jobs that must end now, as they overran their walltimes, and why.

        Raises SimulationError if the nodes of the reservation are in use by other jobs.
        """
        booking = self.listed[k]
        booking.outcome = "started"
        self._forget()
        running = {j: self._chunks(j) for j in self.running()}
        ended: dict[int, str] = {}
        for o in overuse(self.plan.platform, self._usage_now(running), self.now, self.now + 1):
            there = [j for j, chunks in running.items() if any(o.node in nodes for nodes, _ in chunks)]
            late = [(int(self.state.start[j]) + self.limit(j), j) for j in there]
            for _, j in sorted((due, j) for due, j in late if due <= self.now and j not in ended):
                left = self._usage_now({i: chunks for i, chunks in running.items() if i not in ended})
                if any(p.node == o.node for p in overuse(self.plan.platform, left, self.now, self.now + 1)):
                    ended[j] = f"reservation: {booking.label}"
        left = self._usage_now({i: chunks for i, chunks in running.items() if i not in ended})
        for o in overuse(self.plan.platform, left, self.now, self.now + 1):
            why = f"node {o.node!r} has {o.used} {o.resource} in use of {o.capacity}"
            raise SimulationError(f"reservation {booking.label!r} cannot start at {self.now}: {why}", time=self.now)
        return list(ended.items())

    def _usage_now(self, running: Mapping[int, Sequence[Chunk]]) -> Usage:
        now = self.now
        uses: list[Use] = [(nodes, request, now, now + 1) for chunks in running.values() for nodes, request in chunks]
        uses += [(b.nodes, b.reservation.request, now, now + 1) for b in self.holding if b.start <= now]
        return Usage.of(self.plan.platform, uses)

    def end(self, k: int, outcome: str, why: str) -> None:
        """End a reservation now, or give it up before its start."""
        booking = self.listed[k]
        if booking.holds:
            self.holding.remove(booking)
            booking.ended = self.now
        booking.outcome, booking.why = cast("Any", outcome), why
        self._forget()

    def conflict(self, j: int, nodes: Sequence[Mapping[str, int]]) -> str:
        """Return into which reservation job j would run if it started now on these nodes; else an empty text.

        ``nodes``: those of each chunk.
        """
        return self._conflict(j, self._chunks(j, nodes), self.now + self.limit(j))

    def conflict_until(self, j: int, end: int) -> str:
        """Return into which reservation running job j would run if it ran until ``end``; else an empty text."""
        return self._conflict(j, self._chunks(j), end)

    def _conflict(self, j: int, chunks: Sequence[Chunk], end: int) -> str:
        platform, own = self.plan.platform, {n for nodes, _ in chunks for n in nodes}
        near = [b for b in self.holding if b.start < end and not own.isdisjoint(b.nodes)]
        if not near:
            return ""
        touched = {n for b in near for n in b.nodes} & own
        mine = [(nodes, request, self.now, end) for nodes, request in chunks]
        uses = [
            ({n: u for n, u in on.items() if n in touched}, q, lo, hi)
            for on, q, lo, hi in [*self._running(without=j), *self._reserved(), *mine]
            if any(n in touched for n in on)
        ]
        for o in overuse(platform, Usage.of(platform, uses), self.now, end):
            first = next((b for b in near if b.start <= max(o.time, self.now) < b.end and o.node in b.nodes), near[0])
            return (
                f"job {self.plan.workload.ids[j]!r} could run until {end} (its walltime) into reservation {first.label!r}, "
                f"which holds amounts of node {o.node!r} from {first.start} to {first.end}: {o.used - o.capacity} "
                f"{o.resource} lack at {o.time}"
            )
        return ""

    def shown(self) -> tuple[Reserved, ...]:
        """Return the accepted reservations, for dispatchers."""
        if self._shown is None:
            self._shown = tuple(
                Reserved(b.label, b.reservation.queue, b.start, b.end, dict(b.nodes), dict(b.reservation.request))
                for b in sorted(self.holding, key=lambda b: b.start)
            )
        return self._shown

    def held_between(self, start: int, end: int) -> Mask:
        """Return the nodes of which a reservation holds something in [start, end), shape (nodes,)."""
        found = np.zeros(len(self._number), np.bool_)
        for b in self.holding:
            if b.start < end and start < b.end:
                found[[self._number[name] for name in b.nodes]] = True
        return found

    def holds(self) -> Holds:
        """Return the accepted reservations for the compiled policies."""
        if self._holds is None:
            from ...policies.beside_reservations import Holds

            self._holds = Holds(*Usage.of(self.plan.platform, self._reserved()))
        return self._holds

    def held_now(self) -> Ints:
        """Return the amounts that reservations hold now, shape (nodes, resources)."""
        return Usage.of(self.plan.platform, self._reserved()).at(self.now, len(self._number))
