"""The nodes that a replay keeps free: for on-demand jobs that wait, and the reserve of ``reserve:NODES``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..preemption.jobs import OnDemandJob
from ..timeline import Use
from .feature import Replay
from .limits import power_of_jobs

Mask = NDArray[np.bool_]


@dataclass(eq=False)
class WaitingJob:
    """An on-demand job that has been announced and has not started.

    ``row``: in the workload. ``due``: the time in seconds by which it should start. ``claimed``: numbers of the nodes
    that are kept free for it. ``power``: milliwatts that are kept for it, in replays with a power cap.
    """

    row: int
    job: OnDemandJob
    due: int
    claimed: list[int] = field(default_factory=list)
    power: int = 0

    @property
    def missing(self) -> int:
        """The number of nodes that it still lacks."""
        return self.job.nodes - len(self.claimed)


@dataclass(eq=False)
class Leaving:
    """A running job that is to leave; times in seconds as in ``records.Departure``."""

    row: int
    owner: WaitingJob
    strategy: str
    decided: int
    stop: int
    write: int
    end: int


class Claims:
    """The free nodes that no batch job may use.

    ``waiting``: the on-demand jobs that wait, in the order of their announcement; each has its own nodes (``claimed``).
    ``reserve``: mask of the reserved nodes. Nodes of reservations are claimed only if the on-demand job is over, or can
    be over, before they begin.

    Parameters
    ----------
    engine
        The replay.
    reserved
        The number of reserved nodes, the last ones of the machine.
    """

    def __init__(self, engine: Replay, reserved: int) -> None:
        self._engine, self._state, self._timeline = engine, engine.state, engine.timeline
        self._names, self._request = engine.platform.nodes, next(iter(engine.platform.groups)).capacity
        self.waiting: list[WaitingJob] = []
        self.power = power_of_jobs(engine.trace, len(self._names))
        nodes = len(self._names)
        self._reserved = reserved
        self.reserve: Mask = np.arange(nodes) >= nodes - reserved
        self._idle = np.zeros(nodes, np.bool_)  # the reserved nodes that are free
        self.to_reserve(np.flatnonzero(self.reserve & self._timeline.empty()).tolist())

    @property
    def now(self) -> int:
        """The time in seconds."""
        return self._engine.now

    def to_reserve(self, nodes: Sequence[int]) -> None:
        """Withdraw the reserved ones of these free nodes from the batch jobs."""
        if not self._reserved:
            return
        claimed = {n for waits in self.waiting for n in waits.claimed}
        for n in nodes:
            if self.reserve[n] and not self._idle[n] and n not in claimed:
                self._timeline.take([n])
                self._idle[n] = True

    def take(self, waits: WaitingJob) -> None:
        """Keep free nodes for an on-demand job: all that it lacks if it can start with them now, else those for later."""
        self.give_back(waits, self._held(self.now, self.now + waits.job.duration))
        self._keep_power(waits)
        if not waits.missing:
            return
        free = self._free()
        at_once = self._beside(free, self.now + waits.job.duration)
        if self.now < waits.job.submit or len(at_once) < waits.missing:
            at_once = self._beside(free, self.over(waits))
        self._keep(waits, at_once)

    def can_start(self, waits: WaitingJob) -> bool:
        """Return whether an on-demand job has been submitted, and has its nodes and its power."""
        return waits.missing == 0 and self.now >= waits.job.submit and self.lacking_power(waits, ()) <= 0

    def lacking_power(self, waits: WaitingJob, leaving: Iterable[int]) -> int:
        """Return the milliwatts that an on-demand job lacks when some jobs (rows) have left."""
        if self.power is None:
            return 0
        free = min(0, int(self._state.free[-1, -1]))  # below 0 when the cap has fallen below what is in use and kept
        return int(self.power[waits.row]) - waits.power - free - sum(int(self.power[row]) for row in leaving)

    def release(self, waits: WaitingJob) -> list[int]:
        """Return the nodes of an on-demand job that starts now, sorted; it waits no more, its nodes and power are free."""
        nodes = sorted(waits.claimed)
        self._timeline.give(nodes)
        self._state.free[-1, -1] += waits.power
        self.waiting.remove(waits)
        return nodes

    def take_of(self, waits: WaitingJob, nodes: Sequence[int]) -> None:
        """Keep nodes that a job has left for the on-demand job for which it left; none if that has started."""
        if waits in self.waiting:
            self._keep_power(waits)
            left = [n for n in nodes if self._timeline.open[n]]
            self._keep(waits, self._beside(left, self.over(waits)))

    def over(self, waits: WaitingJob) -> int:
        """Return the time in seconds by which a waiting job is over if it starts when it is due, or now."""
        return max(self.now, waits.due, waits.job.submit) + waits.job.duration

    def give_back(self, waits: WaitingJob, barred: Mask | None) -> list[int]:
        """Give up the barred ones of the nodes that are kept for a job, and return them; ``barred``: mask, None: none."""
        lost = [] if barred is None else [n for n in waits.claimed if barred[n]]
        if lost:
            waits.claimed = [n for n in waits.claimed if not barred[n]]  # type: ignore[index]
            self._timeline.give(lost)
            self.to_reserve(lost)
        return lost

    def reserved_before(self, waits: WaitingJob) -> Mask | None:
        """Return the nodes of which a reservation holds something before the job would be over; None: of no node."""
        return self._held(self.now, self.over(waits))

    def uses(self) -> Iterator[Use]:
        """Yield what is kept for on-demand jobs, as uses of nodes beside which reservations must fit."""
        for waits in self.waiting:
            yield Use({self._names[n]: 1 for n in waits.claimed}, self._request, self.now, self.over(waits))

    def _held(self, start: int, end: int) -> Mask | None:
        return self._timeline.held_between(start, end) if self._timeline.holds else None

    def _beside(self, nodes: list[int], end: int) -> list[int]:
        """Return the nodes of which no reservation holds anything from now to ``end``."""
        held = self._held(self.now, end)
        return nodes if held is None else [n for n in nodes if not held[n]]

    def _free(self) -> list[int]:
        """Return the free nodes, the reserved ones first."""
        own = np.flatnonzero(self._idle & self._timeline.open)
        return [*own.tolist(), *np.flatnonzero(self._timeline.empty()).tolist()]

    def _keep_power(self, waits: WaitingJob) -> None:
        """Keep free power for an on-demand job, as much as it lacks."""
        if self.power is not None:
            got = max(0, min(int(self.power[waits.row]) - waits.power, int(self._state.free[-1, -1])))
            self._state.free[-1, -1] -= got
            waits.power += got

    def _keep(self, waits: WaitingJob, nodes: list[int]) -> None:
        for n in nodes[: waits.missing]:
            if self._idle[n]:
                self._idle[n] = False
            else:
                self._timeline.take([n])
            waits.claimed.append(n)
