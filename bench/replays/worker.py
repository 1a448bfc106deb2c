"""A replay in the worker process, and the fields of its record."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import WrongValue
from ...models import ProblemError
from ...models.dispatch.objectives import find_objective
from ...models.words import how_many
from ..records.record import SHOWN, described
from ..runs.view import View
from .case import TRACE_OBJECTIVE, ReplayCase, replay_case, use_of
from .energy import energy_json, lend_centre, switching_of
from .settings import OFF, ReplaySettings

if TYPE_CHECKING:
    from ...simulation.dispatchers.dardis.transport import Connect
    from ...simulation.engine import Progress
    from ...simulation.metrics import Groups
    from ...simulation.result import Simulation


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
    from ...simulation.dispatchers.dardis.network import Network

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
    from ...simulation.metrics import BSLD_FLOOR, metrics, recorded
    from ...simulation.record_data import outages_json, preemption_json, production_json

    jobs = Path(spec["out"]) / f"{spec['stem']}.jobs.csv"
    attempts_csv, node_states_csv = _write_tables(simulation, jobs)
    floor = replay.bsld_floor or BSLD_FLOOR
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
            "dispatcher": spec["method"],
            "objective": case.objective,
            "offline": case.offline,
            "recorded": None if in_log is None else in_log.as_dict(),
            "recorded_groups": None if in_log is None else _as_dicts(in_log.groups),
            "attempts_csv": attempts_csv,
            "use": use_of(simulation),
            "node_states_csv": node_states_csv,
        },
        "production": None if kept is None else production_json(kept, simulation.workload),
        "preemption": None if evicted is None else preemption_json(evicted, simulation.workload),
        "outages": outages_json(simulation.states),
        "energy": None,
        "jobs_csv": jobs.name,
        "seconds": {"build": None, "lower": None, "solve": None, "total": simulation.seconds},
    }


def _write_tables(simulation: Simulation, jobs: Path) -> tuple[str | None, str | None]:
    """Write the jobs of a replay, its attempts and its node states; return the names of the last two, None without one."""
    from ...simulation.outputs import attempts_file, node_states_file, write_attempts, write_jobs, write_node_states

    write_jobs(simulation, jobs)
    attempts = attempts_file(jobs)
    has_attempts = write_attempts(simulation, attempts)
    attempts_csv = attempts.name if has_attempts else None
    if simulation.power is None:
        return attempts_csv, None
    states = node_states_file(jobs)
    write_node_states(simulation.power, simulation.platform, states)
    return attempts_csv, states.name


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
    dispatcher = named.make(**options) if connect is None else connected(named.dispatcher, connect)
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
        options["max_stretch"] = None if replay.max_stretch == OFF else replay.max_stretch
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
        value = None if broken else problem.value(schedule)
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
