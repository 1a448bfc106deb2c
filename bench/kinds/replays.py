"""Dispatchers as methods of the bench: the replayed workload, the replay in the worker, and its record."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ...instances import Instance, load, read_events
from ...instances.busy import ending_at_walltime
from ...instances.files.own_files import content_of
from ...instances.logs.powers import below_power, powered
from ...instances.report import Report
from ...instances.workload import Workload
from ...models.dispatch.objectives import find_objective
from ...models.dispatch.problem import Dispatch
from ...models.node_states.events import NodeEvent
from ...models.platform import NodeGroup, Platform
from ...models.profiles import DesiredProfile
from ..errors import WrongUse
from ..runs.replay_settings import OFF, ReplaySettings
from ..runs.view import View
from .profiles import desired_of, use_of

if TYPE_CHECKING:
    from ...simulation.engine.progress import Progress
    from ...simulation.engine.simulation import Simulation

Send = Callable[[dict[str, Any]], None]
TRACE_OBJECTIVE = "weighted-wait"
SHOWN = 10  # unreadable lines and left-out jobs that a record lists
NEWS_EVERY = 0.5  # seconds between two events of progress
CAUSE = "dispatcher"  # cause of a failed replay


@dataclass(frozen=True)
class ReplayCase:
    """The workload of a replay, its machine and its objective.

    Parameters
    ----------
    workload
        The jobs.
    platform
        The machine.
    objective
        Name of the objective.
    kill
        Whether jobs are killed at their walltime.
    offline
        Whether offline methods on the same view solve the same problem, so that objectives can be compared.
    events
        The changes of the states of nodes.
    desired
        The desired use of the machine.
    """

    workload: Workload
    platform: Platform
    objective: str
    kill: bool = False
    offline: bool = False
    events: tuple[NodeEvent, ...] = ()
    desired: DesiredProfile | None = None

    def problem(self) -> Dispatch:
        """Return the offline problem of the same jobs, in which the duration of a job is its real runtime."""
        took = np.minimum(self.workload.runtime, self.workload.walltime) if self.kill else self.workload.runtime
        held = ending_at_walltime(self.workload.running) if self.kill else self.workload.running
        return replace(self.workload, runtime=took, running=held).dispatch(self.platform, self.objective, "runtime")

    def weighted_wait(self, start: NDArray[np.int64]) -> float:
        """Return sum_j (start[j] - submit[j]) / ewt[queue of j] [Bridi2018, 4.2]; ``start``: seconds, one value for each job."""
        ewt = np.array([q.ewt for q in self.workload.queues], np.float64)[self.workload.queue]
        return float(((start - self.workload.submit) / ewt).sum())


def replay_case(
    path: str, view: View, replay: ReplaySettings, drop_impossible: bool = False, instance: Instance | None = None
) -> ReplayCase:
    """Read the workload of a replay.

    Jobs that do not fit on the machine are left out and listed in ``workload.report``.

    Parameters
    ----------
    path
        A trace or an instance.
    view
        The part of it that is replayed.
    replay
        Settings of the replay.
    drop_impossible
        Whether jobs of the instance that can never fit are left out.
    instance
        The instance, if it is already loaded.

    Returns
    -------
    ReplayCase
        The workload with its machine and objective.

    Raises
    ------
    ValueError, LookupError
        The trace or instance has faults; the message says which.
    """
    if replay.trace:
        from ...instances.logs.latest_starts import latest_start_rule
        from ...instances.logs.partitions import QUEUE, partition_names
        from ...instances.traces import open_trace

        workload, platform = open_trace(
            path,
            format=replay.format,
            nodes=replay.nodes,
            cores=replay.cores,
            memory=replay.memory,
            window=replay.window,
            load=replay.load,
            first=view.first,
            busy=replay.busy,
            queue_from=replay.queue_from or QUEUE,
            partitions=partition_names(replay.partition),
            dependencies=bool(replay.dependencies),
            latest_start=None if replay.latest_start is None else latest_start_rule(replay.latest_start),
        )
        workload, desired = _with_power(workload, replay), desired_of(replay, platform)
        return ReplayCase(
            workload, platform, TRACE_OBJECTIVE, replay.kill, events=_events(replay, platform), desired=desired
        )
    instance = instance or load(path, drop_impossible=drop_impossible)
    whole = cast(Dispatch, View(durations="runtime", objective=view.objective).of(instance))
    workload = Workload.of(whole, instance.name, Report(dict(instance.repairs)))
    if view.first is not None:
        workload = workload.first(view.first)
    if replay.load is not None:
        workload = workload.at_load(replay.load, whole.platform)
    # dispatchers ignore deadlines; then offline methods solve another problem
    ignored = any(j.deadline is not None for j in whole.jobs)
    events = instance.events if replay.events is None else _events(replay, whole.platform)
    offline = not (ignored or replay.kill or replay.load is not None or events)
    workload, desired = _with_power(workload.on(whole.platform), replay), desired_of(replay, whole.platform)
    return ReplayCase(workload, whole.platform, whole.aim, replay.kill, offline, events, desired)


def _with_power(workload: Workload, replay: ReplaySettings) -> Workload:
    if replay.watts_per_core is not None:
        workload = powered(workload, replay.watts_per_core)
    return workload if replay.most_power is None else below_power(workload, replay.most_power)


def _events(replay: ReplaySettings, platform: Platform) -> tuple[NodeEvent, ...]:
    """Return the events of the file of the settings. Raises ValueError, also if the file has been changed since."""
    if replay.events is None:
        return ()
    if content_of(Path(replay.events)) != replay.events_content:
        raise WrongUse(f"--events {replay.events}: the file was changed after the replay")
    return tuple(read_events(replay.events, platform))


def replay_in_worker(spec: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Perform the replay of a run, send its progress, and return the fields of its record.

    The jobs are written to a Batsim jobs.csv in the folder ``spec["out"]``; its name begins with ``spec["stem"]``.
    """
    from ...simulation.engine.simulation import SimulationError
    from ...simulation.metrics import BSLD_FLOOR, metrics, recorded
    from ...simulation.outputs.attempts import attempts_file, write_attempts
    from ...simulation.outputs.writing import write_jobs

    view, replay = View(**spec["view"]), ReplaySettings(**spec["replay"])
    case = replay_case(spec["path"], view, replay, spec["drop_impossible"])
    with contextlib.suppress(
        SimulationError
    ):  # a replay of two jobs compiles the kernels and imports all modules, which is not part of the measured time
        _simulate(spec, replay, replace(case, workload=case.workload.first(2)), lambda news: None)
    sense = find_objective(case.objective).sense
    send({"event": "begin", "sense": sense, "jobs": len(case.workload)})
    watch = ReplayMonitor(send, spec["time_limit"])
    try:
        simulation: Simulation | None = _simulate(spec, replay, case, watch)
        failure = None
    except SimulationError as e:
        failure, simulation = e, e.partial
    if simulation is None:
        return {"status": "error", "cause": CAUSE, "message": str(failure), "sense": sense}
    done = failure is None and not watch.stopped
    name = f"{spec['stem']}.jobs.csv"
    write_jobs(simulation, Path(spec["out"]) / name)
    floor = replay.bsld_floor or BSLD_FLOOR
    in_log, measured = recorded(case.workload, case.platform, floor), metrics(simulation, floor)
    attempts = attempts_file(Path(spec["out"]) / name)
    has_attempts = write_attempts(simulation, attempts)
    found = {
        "metrics": measured.as_dict(),
        "groups": {by: groups.as_dict() for by, groups in measured.groups.items()},
        "percentiles": {name: list(values) for name, values in measured.percentiles.items()},
        "simulation": {
            **described(simulation, replay),
            "dispatcher": spec["method"],
            "objective": case.objective,
            "offline": case.offline,
            "recorded": None if in_log is None else in_log.as_dict(),
            "attempts_csv": attempts.name if has_attempts else None,
            "use": use_of(simulation),
        },
        "jobs_csv": name,
        "sense": sense,
        "seconds": {"build": None, "lower": None, "solve": None, "total": simulation.seconds},
    }
    if done:
        return {**found, **outcome(case, simulation, with_schedule=not replay.trace)}
    started = int((simulation.start >= 0).sum())
    so_far = f"{started:,} of {len(simulation.workload):,} jobs had started"
    if failure is not None:
        return {**found, "status": "error", "cause": CAUSE, "message": f"{failure} ({so_far})"}
    message = f"stopped at its limit of {spec['time_limit']:g} s: {so_far}"
    return {**found, "status": "unknown", "cause": "timeout", "message": message}


def _simulate(
    spec: Mapping[str, Any], replay: ReplaySettings, case: ReplayCase, on_progress: Callable[[Progress], bool | None]
) -> Simulation:
    from ...backends import backend
    from ...simulation.engine.simulator import simulate
    from ...simulation.policies.registry import parse_dispatcher

    named = parse_dispatcher(spec["method"])
    options: dict[str, Any] = {}
    if named.backend is not None:
        backend(named.backend).availability()  # imports the solver
        options = dispatcher_options(replay, spec["threads"], spec["seed"])
    return simulate(
        case.workload,
        case.platform,
        named.make(**options),
        predictor=named.predictor,
        allocator=replay.allocator,
        seed=spec["seed"],
        kill_at_walltime=replay.kill,
        charge_decisions=replay.charge,
        period=replay.period,
        events=case.events,
        requeue=replay.requeue,
        desired=case.desired,
        power_cap=replay.power_cap,
        on_progress=on_progress,
    )


def dispatcher_options(replay: ReplaySettings, threads: int, seed: int) -> dict[str, Any]:
    """Return the options of a dispatcher with a solver."""
    found: dict[str, Any] = {
        "limit": replay.decision_time,
        "deterministic": replay.deterministic,
        "objective": replay.objective,
        "threads": threads,
        "seed": seed,
    }
    if replay.max_stretch is not None:
        found["max_stretch"] = None if replay.max_stretch == OFF else replay.max_stretch
    return found


def outcome(case: ReplayCase, simulation: Simulation, with_schedule: bool) -> dict[str, Any]:
    """Return the fields of a complete replay: the objective recomputed from the data, and the violations found."""
    broken = list(simulation.violations)
    schedule, value = None, None
    if with_schedule and simulation.history is None:
        problem, schedule = case.problem(), simulation.schedule()
        broken += problem.verify(schedule)
        value = None if broken else problem.objective(schedule)
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


def described(simulation: Simulation, replay: ReplaySettings) -> dict[str, Any]:
    """Return the description of a replay for its record."""
    return {
        "predictor": simulation.predictor,
        "allocator": simulation.allocator,
        "options": replay.fields,
        "jobs": len(simulation.workload),
        "platform": [
            {"name": g.name, "count": g.count, "capacity": dict(g.capacity)} for g in simulation.platform.groups
        ],
        "notes": list(simulation.notes),
        "report": report_as_json(simulation.workload.report),
    }


def report_as_json(report: Report) -> dict[str, Any]:
    """Return what was repaired or left out when a trace was read: counts, the first unreadable lines and left-out jobs."""
    return {
        "repairs": dict(report.repairs),
        "bad_lines": len(report.bad_lines),
        "first_bad_lines": [str(b) for b in report.bad_lines[:SHOWN]],
        "dropped": len(report.dropped),
        "first_dropped": [f"{job}: {why}" for job, why in report.dropped[:SHOWN]],
        "notes": list(report.notes),
    }


def platform_of(groups: list[dict[str, Any]]) -> Platform:
    """Return the platform of a record."""
    return Platform([NodeGroup(g["name"], g["count"], g["capacity"]) for g in groups])


class ReplayMonitor:
    """A progress callback that sends the number of started jobs to the bench and stops a replay at its time limit.

    ``send``: sends an event; ``limit``: time limit in seconds.
    """

    def __init__(self, send: Send, limit: float) -> None:
        self.send, self.limit = send, limit
        self.last = 0.0  # seconds at the last event
        self.stopped = False

    def __call__(self, news: Progress) -> bool | None:
        """Send the progress; return False to stop the replay."""
        if news.seconds - self.last >= NEWS_EVERY:
            self.last = news.seconds
            self.send({"event": "progress", "done": news.started, "total": news.jobs, "seconds": news.seconds})
        self.stopped = news.seconds > self.limit
        return not self.stopped
