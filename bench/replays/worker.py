"""A replay in the worker process, and the fields of its record.

What it did with reservations, server events and on-demand jobs is JSON data there, written and read here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, cast, get_args

from typing_extensions import TypedDict

from ...errors import WrongValue
from ...instances.workload import Workload
from ...models import Eviction, EvictionCandidate, EvictionPlan, ProblemError
from ...models.dispatch.objectives import find_objective
from ...models.node_states import NodeStates
from ...models.reservations import Reservation
from ...models.server_events import ServerEvent
from ...models.words import excerpt, how_many
from ...simulation.outputs import JobsError
from ...simulation.preemption import Preemption, Requeue
from ...simulation.records import (
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
from ..records.record import SHOWN, described
from ..records.store import Count, Number, Positive, Whole
from ..runs.view import View
from .case import TRACE_OBJECTIVE, ReplayCase, replay_case, use_of
from .energy import energy_json, lend_centre, switching_of
from .settings import OFF, USUAL_FLOOR, ReplaySettings

if TYPE_CHECKING:
    from ...simulation.dispatchers.dardis.transport import Connect
    from ...simulation.engine import Progress
    from ...simulation.metrics import Groups
    from ...simulation.result import Simulation


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


# --- Replays of DARDIS over a network: the connection of a worker with the processes of the node managers.

PREFIX = "dardis:"


@contextmanager
def connections(network: str | None, seed: int) -> Iterator[tuple[Connect | None, Connect | None]]:
    """Connect with the processes of a network; yield connections of ``Dardis``: without faults, and with those it asks for.

    Both are None without a network. The processes end with the context, or with the MPI job.
    """
    if network is None:
        yield None, None
        return
    from ...simulation.dispatchers.dardis.transport import Network

    parsed = Network.parse(network)
    with parsed.link() as link:
        yield parsed.over(link, seed, faults=False), parsed.over(link, seed)


def connected(dispatcher: str, connect: Connect) -> Any:
    """Return the dispatcher DARDIS over a connection."""
    from ...simulation.dispatchers.dardis.dispatcher import Dardis

    return Dardis(dispatcher.removeprefix(PREFIX), connect=connect)


Send = Callable[[dict[str, Any]], None]
NEWS_EVERY = 0.5  # seconds between two events of progress
CAUSE = "dispatcher"  # cause of a failed replay


def replay_in_worker(spec: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Perform the replay of a run, send its progress, and return the fields of its record.

    The jobs are written to a Batsim jobs.csv in the folder ``spec["out"]``; its name begins with ``spec["stem"]``.
    """
    from ...simulation.errors import SimulationError

    replay = ReplaySettings(**spec["replay"])
    case = replay_case(spec["path"], View(**spec["view"]), replay, spec["drop_impossible"])
    sense = find_objective(case.objective).sense
    watch = ReplayMonitor(send, spec["time_limit"])
    with connections(replay.network, spec["seed"]) as (harmless, connect):
        # a replay of two jobs compiles the kernels and imports all modules, which is not part of the measured time; a
        # desired profile may begin after them (ProblemError), a boot last longer than they do (WrongValue)
        with contextlib.suppress(SimulationError, ProblemError, WrongValue):
            _simulate(spec, replay, case.first(2), lambda news: None, harmless)
        send({"event": "begin", "sense": sense, "jobs": len(case.workload)})
        try:
            simulation: Simulation | None = _simulate(spec, replay, case, watch, connect)
            failure = None
        except SimulationError as e:
            failure = e
            simulation = e.partial
    if simulation is None:
        return {"status": "error", "cause": CAUSE, "message": str(failure), "sense": sense}
    fields = {**_fields_of_replay(spec, replay, case, simulation), "sense": sense}
    if failure is None and not watch.stopped:
        fields["energy"] = energy_json(case, replay, simulation)
        return {**fields, **outcome(case, simulation, with_schedule=not replay.trace)}
    started = int((simulation.start >= 0).sum())
    so_far = f"{started:,} of {how_many(len(simulation.workload), 'job', ',')} had started"
    if failure is not None:
        return {**fields, "status": "error", "cause": CAUSE, "message": f"{failure} ({so_far})"}
    message = f"stopped at its limit of {spec['time_limit']:g} s: {so_far}"
    return {**fields, "status": "unknown", "cause": "timeout", "message": message}


def _fields_of_replay(
    spec: Mapping[str, Any], replay: ReplaySettings, case: ReplayCase, simulation: Simulation
) -> dict[str, Any]:
    """Write the tables of a replay beside its record, and return the fields that do not depend on how it ended."""
    jobs = Path(spec["out"]) / f"{spec['stem']}.jobs.csv"
    write_tables(simulation, jobs)
    return {
        **fields_of_replay(spec["method"], replay, case, simulation, jobs),
        "energy": None,
        "jobs_csv": jobs.name,
        "seconds": {"build": None, "lower": None, "solve": None, "total": simulation.seconds},
    }


def fields_of_replay(
    dispatcher: str, replay: ReplaySettings, case: ReplayCase, simulation: Simulation, jobs: Path
) -> dict[str, Any]:
    """Return the fields of a record that follow from a replay; ``bench verify`` computes them again from its tables.

    Parameters
    ----------
    dispatcher : str
        Its name.
    replay : ReplaySettings
        The settings.
    case : ReplayCase
        What was replayed, as it was before the replay.
    simulation : Simulation
        The replay.
    jobs : Path
        The jobs file, which gives the other tables their names.
    """
    from ...simulation.metrics import metrics, recorded
    from ...simulation.outputs import attempts_file, node_states_file

    floor = replay.bsld_floor or USUAL_FLOOR
    in_log = recorded(case.workload, case.platform, floor)
    measured = metrics(simulation, floor)
    kept = simulation.production
    evicted = simulation.preemption
    return {
        "metrics": measured.as_dict(),
        "groups": _as_dicts(measured.groups),
        "percentiles": {name: list(values) for name, values in measured.percentiles.items()},
        "simulation": {
            **described(simulation, replay),
            "dispatcher": dispatcher,
            "objective": case.objective,
            "offline": case.offline,
            "recorded": None if in_log is None else in_log.as_dict(),
            "recorded_groups": None if in_log is None else _as_dicts(in_log.groups),
            "attempts_csv": None if simulation.history is None else attempts_file(jobs).name,
            "use": use_of(simulation),
            "node_states_csv": None if simulation.power is None else node_states_file(jobs).name,
        },
        "production": None if kept is None else production_json(kept, simulation.workload),
        "preemption": None if evicted is None else preemption_json(evicted, simulation.workload),
        "outages": outages_json(simulation.states),
    }


def write_tables(simulation: Simulation, jobs: Path) -> list[Path]:
    """Write the jobs of a replay, its attempts and its node states if there are any; return the files."""
    from ...simulation.outputs import attempts_file, node_states_file, write_attempts, write_jobs, write_node_states

    write_jobs(simulation, jobs)
    written = [jobs]
    attempts = attempts_file(jobs)
    if write_attempts(simulation, attempts):
        written.append(attempts)
    if simulation.power is not None:
        states = node_states_file(jobs)
        write_node_states(simulation.power, simulation.platform, states)
        written.append(states)
    return written


def _as_dicts(groups: Mapping[str, Groups]) -> dict[str, Any]:
    return {by: each.as_dict() for by, each in groups.items()}


def _simulate(
    spec: Mapping[str, Any],
    replay: ReplaySettings,
    case: ReplayCase,
    on_progress: Callable[[Progress], bool | None],
    connect: Connect | None,
) -> Simulation:
    from ...backends import backend
    from ...simulation.dispatchers.registry import parse_dispatcher
    from ...simulation.simulator import simulate

    named = parse_dispatcher(spec["method"])
    options: dict[str, Any] = {}
    if named.backend is not None:
        backend(named.backend).availability()  # imports the solver
        options = dispatcher_options(replay, spec["threads"], spec["seed"])
    if connect is None:
        dispatcher = named.make(**options)
    else:
        dispatcher = connected(named.dispatcher, connect)
    lend_centre(dispatcher, case, replay)
    return simulate(
        case.workload,
        None if case.site is not None else case.platform,
        dispatcher,
        predictor=replay.predictor or named.predictor,
        allocator=replay.allocator,
        seed=spec["seed"],
        kill_at_walltime=replay.kill,
        charge_decisions=replay.charge,
        period=replay.period,
        events=case.events,
        reservations=case.reservations,
        requeue=replay.requeue,
        desired=case.desired,
        power_cap=replay.power_cap,
        on_progress=on_progress,
        users=replay.users,
        preemption=case.preemption,
        node_policy=replay.node_policy,
        switching=switching_of(replay, dispatcher),
        features=replay.features or (),
        site=case.site,
    )


def dispatcher_options(replay: ReplaySettings, threads: int, seed: int) -> dict[str, Any]:
    """Return the options of a dispatcher with a solver."""
    options: dict[str, Any] = {
        "limit": replay.decision_time,
        "deterministic": replay.deterministic,
        "objective": replay.objective,
        "threads": threads,
        "seed": seed,
    }
    if replay.max_stretch is not None:
        if replay.max_stretch == OFF:
            options["max_stretch"] = None
        else:
            options["max_stretch"] = replay.max_stretch
    return options


def outcome(case: ReplayCase, simulation: Simulation, with_schedule: bool) -> dict[str, Any]:
    """Return the fields of a complete replay: the objective recomputed from the data, and the violations found."""
    broken = list(simulation.violations)
    schedule = None
    value = None
    plain = simulation.history is None and simulation.production is None and simulation.preemption is None
    if with_schedule and plain:
        problem = case.problem()
        schedule = simulation.schedule()
        broken += problem.verify(schedule)
        value = None
        if not broken:
            value = problem.value(schedule)
    elif not broken and (simulation.start >= 0).all() and case.objective == TRACE_OBJECTIVE:
        workload = simulation.workload
        value = replace(case, workload=workload).weighted_wait(simulation.wait + workload.submit)
    return {
        "status": "error" if broken else "feasible",
        "objective": value,
        "verified": not broken,
        "violations": [{"constraint": v.constraint, "amount": v.amount, "message": v.message} for v in broken[:SHOWN]],
        "message": f"the replay violates the problem: {broken[0].message}" if broken else "",
        "schedule": None if schedule is None else schedule.as_json(),
    }


class ReplayMonitor:
    """A progress callback that sends the number of started jobs to the bench and stops a replay at its time limit.

    ``send``: sends an event; ``limit``: time limit in seconds.
    """

    def __init__(self, send: Send, limit: float) -> None:
        self.send = send
        self.limit = limit
        self.last = 0.0  # seconds at the last event
        self.stopped = False

    def __call__(self, news: Progress) -> bool | None:
        """Send the progress; return False to stop the replay."""
        if news.seconds - self.last >= NEWS_EVERY:
            self.last = news.seconds
            self.send({"event": "progress", "done": news.started, "total": news.jobs, "seconds": news.seconds})
        self.stopped = news.seconds > self.limit
        return not self.stopped
