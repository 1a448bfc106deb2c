"""What a replay did with reservations, server events and on-demand jobs as JSON data, for its record; writing and reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NotRequired, cast, get_args

from typing_extensions import TypedDict

from ..instances.workload import Workload
from ..models import Eviction, EvictionCandidate, EvictionPlan
from ..models.json_values import Count, Number, Positive, Whole
from ..models.node_states import NodeStates
from ..models.reservations import Reservation
from ..models.server_events import ServerEvent
from ..models.words import excerpt
from .outputs import JobsError
from .preemption import Preemption, Requeue
from .records import (
    Booking,
    Departure,
    EvictionDecision,
    JobChange,
    Outcome,
    PreemptionRecord,
    PrivateRun,
    ProductionRecord,
    RefusedEvent,
    bookings_of,
)

# --- What a replay did for on-demand jobs as JSON data, for its record; writing and reading.
CANDIDATE = ("id", "nodes", "loss", "system_s", "application_s", "wait_s", "mb_s")


class DecisionJson(TypedDict, closed=True):
    """A decision of an evictor."""

    job: str  # the on-demand job
    time: Whole
    busy: Count
    seconds: Number
    needed: Count | None  # nodes; null, as the deadline and the candidates: the running jobs had too few nodes
    deadline: Count | None
    candidates: list[tuple[str, Positive, Count, Number, Number | None, Number, Number]] | None  # see ``CANDIDATE``
    plan: dict[str, Any] | None  # job -> strategy; null: no job leaves


class DepartureJson(TypedDict, closed=True):
    """A batch job that left its nodes for an on-demand job; see ``Departure``."""

    job: str
    attempt: Positive
    cause: str
    strategy: str
    decided: Whole
    stop: Whole
    write: Whole
    end: Whole


class PreemptionJson(TypedDict, closed=True):
    """The field ``preemption`` of a record."""

    first_start: dict[str, Whole]  # on-demand job -> its first start (s)
    decisions: list[DecisionJson]
    departures: list[DepartureJson]


def preemption_json(record: PreemptionRecord, workload: Workload) -> PreemptionJson:
    """Return a record as JSON data."""
    ids = workload.ids
    return {
        "first_start": {ids[row]: start for row, start in record.first_start.items()},
        "decisions": [decision_json(d) for d in record.decisions],
        "departures": [
            {
                "job": ids[d.row],
                "attempt": d.attempt,
                "cause": d.cause,
                "strategy": d.strategy,
                "decided": d.decided,
                "stop": d.stop,
                "write": d.write,
                "end": d.end,
            }
            for d in record.departures
        ],
    }


def decision_json(decision: EvictionDecision) -> DecisionJson:
    """Return a decision as JSON data; jobs that stay are not part of its plan."""
    p, plan = decision.problem, decision.plan
    chosen = None
    if plan is not None:
        chosen = {job: what for job, what in plan.as_json().items() if plan.strategy[job] != "keep"}
    return {
        "job": decision.job,
        "time": decision.time,
        "busy": decision.busy,
        "seconds": decision.seconds,
        "needed": None if p is None else p.nodes_needed,
        "deadline": None if p is None else p.deadline_s,
        "candidates": None if p is None else [tuple(getattr(c, name) for name in CANDIDATE) for c in p.candidates],
        "plan": chosen,
    }


def read_decision(data: Mapping[str, Any], settings: Preemption) -> EvictionDecision:
    """Read the data of ``decision_json``. Raises ProblemError, WrongValue."""
    problem = plan = None
    needed, deadline = data["needed"], data["deadline"]
    if data["candidates"] is not None and needed is not None and deadline is not None:
        jobs = [
            EvictionCandidate(name, nodes, loss, system_s=system, application_s=application, wait_s=wait, mb_s=speed)
            for name, nodes, loss, system, application, wait, speed in data["candidates"]
        ]
        bandwidth, shared = settings.storage.file_system_mb_s, settings.shared_bandwidth
        problem = Eviction(jobs, needed, deadline, settings.step, data["time"], bandwidth, shared_bandwidth=shared)
    if data["plan"] is not None and problem is not None:
        plan = EvictionPlan.from_json({**dict.fromkeys((c.id for c in problem.candidates), "keep"), **data["plan"]})
    return EvictionDecision(data["job"], data["time"], data["busy"], problem, plan, data["seconds"])


def read_preemption(
    data: PreemptionJson, workload: Workload, settings: Preemption, rows: tuple[int, ...], requeue: Requeue
) -> PreemptionRecord:
    """Read the data of ``preemption_json``.

    Parameters
    ----------
    data : PreemptionJson
    workload : Workload
        The jobs, with the on-demand ones.
    settings : Preemption
        The settings of the replay.
    rows : tuple of int
        The rows of the on-demand jobs.
    requeue : Requeue
        The rule of the replay for jobs whose node fails.

    Raises
    ------
    JobsError
        If a job is unknown.
    ProblemError, WrongValue
        If an eviction problem or a plan is not valid.
    """
    row = {name: k for k, name in enumerate(workload.ids)}
    named = [*data["first_start"], *(d["job"] for d in data["departures"])]
    unknown = next((name for name in named if name not in row), None)
    if unknown is not None:
        raise JobsError(f"preemption: {excerpt(unknown)} is no job of the replay")
    departures = tuple(
        Departure(
            *(row[d["job"]], d["attempt"], d["cause"], d["strategy"]), *(d["decided"], d["stop"], d["write"], d["end"])
        )
        for d in data["departures"]
    )
    decisions = tuple(read_decision(d, settings) for d in data["decisions"])
    first = {row[name]: start for name, start in data["first_start"].items()}
    return PreemptionRecord(settings, rows, decisions, departures, first, requeue)


# --- What a replay did with reservations and server events as JSON data, for its record; writing and reading.


class BookingJson(TypedDict, closed=True):
    """A repetition of a reservation; see ``Booking``."""

    label: str
    reservation: str
    start: Whole
    end: Whole
    outcome: str
    nodes: dict[str, Positive]  # node -> units
    why: str
    accepted: Whole | None
    ended: Whole | None


class EventJson(TypedDict, closed=True):
    """An event of the server."""

    time: Whole
    kind: str
    subject: str
    value: Number | str | None


class RefusedJson(TypedDict, closed=True):
    """An event of the server that was not possible."""

    time: Whole
    kind: str
    subject: str
    value: Number | str | None
    why: str


class MoveJson(TypedDict, closed=True):
    """A job that was moved to another queue."""

    time: Whole
    job: str
    before: str
    after: str


class WalltimeJson(TypedDict, closed=True):
    """A job whose walltime (s) was changed."""

    time: Whole
    job: str
    before: Positive
    after: Positive


class PrivateJson(TypedDict, closed=True):
    """A run inside of a reservation."""

    job: str
    start: Whole
    booking: Count  # index


class ProductionJson(TypedDict, closed=True):
    """The field ``production`` of a record."""

    bookings: list[BookingJson]
    left: dict[str, str]  # job -> why it left without a start
    left_at: NotRequired[dict[str, Whole]]  # job -> the second in which it left; records of earlier versions lack it
    refused: list[RefusedJson]
    moves: list[MoveJson]
    walltimes: list[WalltimeJson]
    private: list[PrivateJson]


class OutageJson(TypedDict, closed=True):
    """A time in which a node takes no starts, of the field ``outages`` of a record."""

    node: str
    state: str
    start: Whole
    end: Whole | None  # null: to the end


def production_json(record: ProductionRecord, workload: Workload) -> ProductionJson:
    """Return a record as JSON data."""
    ids = workload.ids
    queues = [q.name for q in workload.queues]
    return {
        "bookings": [
            {
                "label": b.label, "reservation": b.reservation.name, "start": b.start, "end": b.end, "outcome": b.outcome,
                "nodes": dict(b.nodes), "why": b.why, "accepted": b.accepted, "ended": b.ended,
            }
            for b in record.bookings
        ],
        "left": {ids[row]: why for row, why in record.left.items()},
        "left_at": {ids[row]: time for row, time in record.left_at.items()},
        "refused": [{**_event_json(r.event), "why": r.why} for r in record.refused],
        "moves": [
            {"time": c.time, "job": ids[c.row], "before": queues[c.before], "after": queues[c.after]}
            for c in record.moves
        ],
        "walltimes": [
            {"time": c.time, "job": ids[c.row], "before": c.before, "after": c.after} for c in record.walltimes
        ],
        "private": [{"job": ids[p.row], "start": p.start, "booking": p.booking} for p in record.private],
    }  # fmt: skip


def outages_json(states: NodeStates | None) -> list[OutageJson]:
    """Return when nodes take no starts."""
    if states is None:
        return []
    nodes = states.platform.nodes
    return [{"node": nodes[n], "state": state, "start": start, "end": end} for n, state, start, end in states.outages()]


def _event_json(event: ServerEvent) -> EventJson:
    return {"time": event.time, "kind": event.kind, "subject": event.subject, "value": event.value}


def read_production(
    data: ProductionJson, workload: Workload, reservations: Iterable[Reservation], events: Sequence[ServerEvent]
) -> tuple[Workload, ProductionRecord]:
    """Read the data of ``production_json``.

    Parameters
    ----------
    data : ProductionJson
    workload : Workload
        The jobs as they were submitted.
    reservations : iterable of Reservation
        The reservations of the replay.
    events : sequence of ServerEvent
        The server events of the replay.

    Returns
    -------
    Workload
        The jobs with the queues and walltimes that they have in the end.
    ProductionRecord
        The record.

    Raises
    ------
    JobsError
        If a name is unknown, a value is not valid, or a repetition of a reservation is missing.
    """
    later = tuple(sorted((e for e in events if e.kind != "reserve"), key=lambda e: e.time))
    expected = bookings_of(reservations)
    bookings = _bookings(data["bookings"], expected)
    rows = {name: k for k, name in enumerate(workload.ids)}
    queues = {q.name: k for k, q in enumerate(workload.queues)}
    moves = tuple(
        JobChange(
            *(c["time"], _known(rows, c["job"], "job")),
            *(_known(queues, name, "queue") for name in (c["before"], c["after"])),
        )
        for c in data["moves"]
    )
    walltimes = tuple(
        JobChange(c["time"], _known(rows, c["job"], "job"), c["before"], c["after"]) for c in data["walltimes"]
    )
    changed = replace(workload, queue=workload.queue.copy(), walltime=workload.walltime.copy())
    for column, changes in ((changed.queue, moves), (changed.walltime, walltimes)):
        for c in changes:
            if column[c.row] != c.before:
                raise JobsError(
                    f"production: job {workload.ids[c.row]!r} has another value before its change at {c.time}"
                )
            column[c.row] = c.after
    private = tuple(
        PrivateRun(_known(rows, p["job"], "job"), p["start"], _booking_index(p["booking"], bookings))
        for p in data["private"]
    )
    refused = tuple(RefusedEvent(_event_of(r, later), r["why"]) for r in data["refused"])
    left = {_known(rows, name, "job"): why for name, why in data["left"].items()}
    left_at = {_known(rows, name, "job"): int(time) for name, time in data.get("left_at", {}).items()}
    return changed, ProductionRecord(tuple(bookings), later, left, refused, moves, walltimes, private, left_at)


def _bookings(listed: Sequence[BookingJson], expected: Sequence[Booking]) -> list[Booking]:
    """Return the bookings of the data, which are those of the reservations, in their order."""
    if [b["label"] for b in listed] != [b.label for b in expected]:
        raise JobsError(
            f"production: its {len(listed)} bookings are not those of the reservations, {len(expected)}; "
            "expected one for each repetition, in order"
        )
    for b, plain in zip(listed, expected, strict=True):
        if b["outcome"] not in get_args(Outcome):
            raise JobsError(
                f"production: booking {plain.label!r}: outcome: expected one of {', '.join(get_args(Outcome))}, "
                f"found {excerpt(b['outcome'])}"
            )
        if (b["reservation"], b["start"], b["end"]) != (plain.reservation.name, plain.start, plain.end):
            raise JobsError(f"production: booking {plain.label!r} has not the times of its reservation")
    return [
        replace(
            plain, outcome=cast(Outcome, b["outcome"]), nodes=dict(b["nodes"]), why=b["why"], accepted=b["accepted"],
            ended=b["ended"],
        )
        for b, plain in zip(listed, expected, strict=True)
    ]  # fmt: skip


def _known(numbers: Mapping[str, int], name: str, what: str) -> int:
    if name not in numbers:
        raise JobsError(f"production: {excerpt(name)} is no {what} of the replay")
    return numbers[name]


def _booking_index(index: int, bookings: Sequence[Booking]) -> int:
    if not 0 <= index < len(bookings):
        raise JobsError(f"production: booking {index} of a run; expected 0 to {len(bookings) - 1}")
    return index


def _event_of(data: RefusedJson, events: Sequence[ServerEvent]) -> ServerEvent:
    wanted = {name: value for name, value in data.items() if name != "why"}
    event = next((e for e in events if _event_json(e) == wanted), None)
    if event is None:
        raise JobsError(f"production: refused event {excerpt(wanted)} is no event of the replay")
    return event
