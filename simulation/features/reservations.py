"""The reservations of a replay: their check, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ...heuristics.kernels.events.state import RUNNING
from ...models.production import Occurrence, Reservation, ServerEvent
from ...models.production.placement import Refusal, Usage, overuse, place
from ..records import Booking, Change, PrivateRun, ProductionRecord, RefusedEvent, bookings_of
from ..result import SimulationError
from ..timeline import Hold, Use
from .feature import Replay


def may_use(reservations: Iterable[Reservation], queue: str, user: str) -> bool:
    """Return whether a user may submit jobs to a private queue."""
    return any(r.queue == queue and (not r.users or user in r.users) for r in reservations)


class ProductionLog:
    """The record of a running replay."""

    def __init__(self, reservations: Iterable[Reservation], events: Sequence[ServerEvent]) -> None:
        self.bookings = bookings_of(reservations)
        self.events = tuple(events)
        self.refused: list[RefusedEvent] = []
        self.moves: list[Change] = []
        self.walltimes: list[Change] = []
        self.private: list[PrivateRun] = []

    def record(self, left: Mapping[int, str], left_at: Mapping[int, int]) -> ProductionRecord:
        """Return the record so far; ``left``: row of a job that left without a start -> why, ``left_at``: -> second."""
        return ProductionRecord(
            tuple(self.bookings), self.events, dict(left), tuple(self.refused), tuple(self.moves),
            tuple(self.walltimes), tuple(self.private), dict(left_at),
        )  # fmt: skip


class Bookings:
    """The repetitions of all reservations of one replay, ``listed`` as in the record."""

    def __init__(self, engine: Replay, log: ProductionLog) -> None:
        self._engine = engine
        self.listed: list[Booking] = log.bookings

    def examine(self, k: int) -> bool:
        """Accept or refuse a reservation that was requested; return whether it was accepted."""
        engine, booking = self._engine, self.listed[k]
        timeline, now, platform = engine.timeline, engine.now, engine.platform
        asked = Occurrence(booking.reservation, 1, booking.start, booking.end)
        uses = [*engine.running_uses(), *timeline.reserved_uses()]
        for o in overuse(platform, Usage.of(platform, uses), now, now + 1):
            why = f"{o.used} {o.resource} are in use on node {o.node!r}, which has {o.capacity}"
            raise SimulationError(f"at {now}: {why}", node=o.node, time=now)
        usage = Usage.of(platform, [*uses, *engine.kept_free()])
        found = place(platform, usage, asked, timeline.bookable(booking.start))
        if isinstance(found, Refusal):
            booking.outcome = "refused"
            booking.why = str(found).replace(f"{asked.label!r}", f"{booking.label!r}", 1)
            return False
        booking.outcome, booking.nodes, booking.accepted = "accepted", found, now
        held = Use(found, booking.reservation.request, booking.start, booking.end)
        timeline.hold(k, Hold(booking.label, booking.reservation.queue, held))
        return True

    def begin(self, k: int) -> list[tuple[int, str]]:
        """Start a reservation; return the running jobs that must end now, as they overran their walltimes, and why.

        Raises SimulationError if the nodes of the reservation are in use by other jobs.
        """
        engine, booking = self._engine, self.listed[k]
        booking.outcome = "started"
        now, ledger, platform = engine.now, engine.ledger, engine.platform
        rows = engine.state.running[: engine.state.clock[RUNNING]].tolist()
        running = {j: ledger.uses_of(j, now, now + 1) for j in rows}
        ended: dict[int, str] = {}
        for o in overuse(platform, self._usage_now(running), now, now + 1):
            there = [j for j, uses in running.items() if any(o.node in use.nodes for use in uses)]
            late = [(ledger.start_of(j) + ledger.limit(j), j) for j in there]
            for _, j in sorted((due, j) for due, j in late if due <= now and j not in ended):
                left = self._usage_now({i: uses for i, uses in running.items() if i not in ended})
                if any(p.node == o.node for p in overuse(platform, left, now, now + 1)):
                    ended[j] = f"reservation: {booking.label}"
        left = self._usage_now({i: uses for i, uses in running.items() if i not in ended})
        for o in overuse(platform, left, now, now + 1):
            why = f"node {o.node!r} has {o.used} {o.resource} in use of {o.capacity}"
            raise SimulationError(f"reservation {booking.label!r} cannot start at {now}: {why}", time=now)
        return list(ended.items())

    def _usage_now(self, running: Mapping[int, Sequence[Use]]) -> Usage:
        now, timeline = self._engine.now, self._engine.timeline
        uses = [use for listed in running.values() for use in listed]
        uses += [Use(use.nodes, use.request, now, now + 1) for use in timeline.reserved_uses() if use.start <= now]
        return Usage.of(self._engine.platform, uses)

    def end(self, k: int, outcome: str, why: str) -> None:
        """End a reservation now, or give it up before its start."""
        booking = self.listed[k]
        if booking.holds:
            self._engine.timeline.release(k)
            booking.ended = self._engine.now
        booking.outcome, booking.why = cast("Any", outcome), why
