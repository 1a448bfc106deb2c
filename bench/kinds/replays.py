"""Dispatchers as methods of the bench: what they replay, a replay in the worker, and its record."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...instances import Instance, load
from ...instances.report import Report
from ...instances.workload import Workload
from ...models.dispatch.problem import Dispatch
from ...models.platform import NodeGroup, Platform
from ..runs.replay_settings import OFF, ReplaySettings
from ..runs.view import View

if TYPE_CHECKING:
    from ...simulation.engine.progress import Progress
    from ...simulation.engine.simulation import Simulation

Tell = Callable[[dict[str, Any]], None]
TRACE_OBJECTIVE = "weighted-wait"
SHOWN = 10  # bad lines and jobs left out that a record names
NEWS_EVERY = 0.5  # seconds between two events of progress
CAUSE = "dispatcher"


@dataclass(frozen=True)
class Scene:
    """What is replayed, and the objective that it is judged by.

    ``offline``: whether the offline methods of the bench, on the same view, solve the same problem.
    """

    workload: Workload
    platform: Platform
    objective: str
    kill: bool = False
    offline: bool = False

    def problem(self) -> Dispatch:
        """The clairvoyant's problem of the same jobs: every job takes what it took."""
        took = np.minimum(self.workload.runtime, self.workload.walltime) if self.kill else self.workload.runtime
        return replace(self.workload, runtime=took).dispatch(self.platform, self.objective, "runtime")

    def weighted_wait(self, start: NDArray[np.int64]) -> float:
        """The weighted wait of starts, one per job: sum of (s - q) / ewt (thesis 4.2), from the data alone."""
        ewt = np.array([q.ewt for q in self.workload.queues], np.float64)[self.workload.queue]
        return float(((start - self.workload.submit) / ewt).sum())


def scene_of(
    path: str, view: View, replay: ReplaySettings, drop_impossible: bool = False, instance: Instance | None = None
) -> Scene:
    """The workload that a view and a replay ask for. Raises ValueError or LookupError, which say what is wrong.

    Jobs that the machine cannot hold are left out, and stand in ``workload.report``. ``instance``: if it is loaded
    already.
    """
    if replay.trace:
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
        )
        return Scene(workload, platform, TRACE_OBJECTIVE, replay.kill)
    instance = instance or load(path, drop_impossible=drop_impossible)
    whole = View(durations="runtime", objective=view.objective).of(instance)
    assert isinstance(whole, Dispatch)
    workload = Workload.of(whole, instance.name, Report(dict(instance.repairs)))
    if view.first is not None:
        workload = workload.first(view.first)
    if replay.load is not None:
        workload = workload.at_load(replay.load, whole.platform)
    own = any(j.deadline is not None for j in whole.jobs) or bool(whole.running)  # what no dispatcher is held to
    offline = not (own or replay.kill or replay.load is not None)
    return Scene(workload.on(whole.platform), whole.platform, whole.aim, replay.kill, offline)


def replay_in_worker(spec: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """ReplaySettings what a run says, tell of the progress, and return what its record needs.

    The jobs go to a Batsim jobs.csv in the folder ``spec["out"]``, under the name ``spec["stem"]``.
    """
    from ...simulation.engine.simulation import SimulationError
    from ...simulation.metrics import metrics, recorded
    from ...simulation.outputs.writing import write_jobs

    view, replay = View(**spec["view"]), ReplaySettings(**spec["replay"])
    scene = scene_of(spec["path"], view, replay, spec["drop_impossible"])
    with contextlib.suppress(SimulationError):  # the kernels' compilation and the imports are no part of any time
        _simulate(spec, replay, replace(scene, workload=scene.workload.first(2)), lambda news: None)
    tell({"event": "begin", "sense": "minimize", "jobs": len(scene.workload)})
    watch = ReplayMonitor(tell, spec["time_limit"])
    try:
        simulation: Simulation | None = _simulate(spec, replay, scene, watch)
        failure = None
    except SimulationError as e:
        failure, simulation = e, e.partial
    if simulation is None:
        return {"status": "error", "cause": CAUSE, "message": str(failure), "sense": "minimize"}
    done = failure is None and not watch.stopped
    name = f"{spec['stem']}.jobs.csv"
    write_jobs(simulation, Path(spec["out"]) / name)
    real = recorded(scene.workload, scene.platform)
    found = {
        "metrics": metrics(simulation).as_dict(),
        "simulation": {
            **described(simulation, replay),
            "dispatcher": spec["method"],
            "objective": scene.objective,
            "offline": scene.offline,
            "recorded": None if real is None else real.as_dict(),
        },
        "jobs_csv": name,
        "sense": "minimize",
        "seconds": {"build": None, "lower": None, "solve": None, "total": simulation.seconds},
    }
    if done:
        return {**found, **outcome(scene, simulation, with_schedule=not replay.trace)}
    started = int((simulation.start >= 0).sum())
    so_far = f"{started:,} of {len(simulation.workload):,} jobs had started"
    if failure is not None:
        return {**found, "status": "error", "cause": CAUSE, "message": f"{failure} ({so_far})"}
    message = f"stopped at its limit of {spec['time_limit']:g} s: {so_far}"
    return {**found, "status": "unknown", "cause": "timeout", "message": message}


def _simulate(
    spec: Mapping[str, Any], replay: ReplaySettings, scene: Scene, told: Callable[[Progress], bool | None]
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
        scene.workload,
        scene.platform,
        named.make(**options),
        predictor=named.predictor,
        allocator=replay.allocator,
        seed=spec["seed"],
        kill_at_walltime=replay.kill,
        charge_decisions=replay.charge,
        period=replay.period,
        on_progress=told,
    )


def dispatcher_options(replay: ReplaySettings, threads: int, seed: int) -> dict[str, Any]:
    """The options of a dispatcher that asks a solver, as a run gives them."""
    found: dict[str, Any] = {
        "limit": replay.decision_time,
        "deterministic": bool(replay.deterministic),
        "threads": threads,
        "seed": seed,
    }
    if replay.max_stretch is not None:
        found["max_stretch"] = None if replay.max_stretch == OFF else replay.max_stretch
    return found


def outcome(scene: Scene, simulation: Simulation, with_schedule: bool) -> dict[str, Any]:
    """What a replay is worth: the objective recomputed from the data, and everything that the sweeps found."""
    broken = list(simulation.violations)
    schedule, value = None, None
    if with_schedule:
        problem, schedule = scene.problem(), simulation.schedule()
        broken += problem.verify(schedule)
        value = None if broken else problem.objective(schedule)
    elif not broken and (simulation.start >= 0).all():
        value = scene.weighted_wait(simulation.start)
    return {
        "status": "error" if broken else "feasible",
        "objective": value,
        "verified": not broken,
        "violations": [{"constraint": v.constraint, "amount": v.amount, "message": v.message} for v in broken[:SHOWN]],
        "message": f"the replay violates the problem: {broken[0].message}" if broken else "",
        "schedule": None if schedule is None else schedule.as_json(),
    }


def described(simulation: Simulation, replay: ReplaySettings) -> dict[str, Any]:
    """What a record says of a replay beside its figures."""
    return {
        "predictor": simulation.predictor,
        "allocator": simulation.allocator,
        "options": asdict(replay),
        "jobs": len(simulation.workload),
        "platform": [
            {"name": g.name, "count": g.count, "capacity": dict(g.capacity)} for g in simulation.platform.groups
        ],
        "notes": list(simulation.notes),
        "report": report_as_json(simulation.workload.report),
    }


def report_as_json(report: Report) -> dict[str, Any]:
    """What was done to a trace: counts, and the first bad lines and jobs left out."""
    return {
        "repairs": dict(report.repairs),
        "bad_lines": len(report.bad_lines),
        "first_bad_lines": [str(b) for b in report.bad_lines[:SHOWN]],
        "dropped": len(report.dropped),
        "first_dropped": [f"{job}: {why}" for job, why in report.dropped[:SHOWN]],
        "notes": list(report.notes),
    }


def platform_of(groups: list[dict[str, Any]]) -> Platform:
    """The platform that a record names."""
    return Platform([NodeGroup(g["name"], g["count"], g["capacity"]) for g in groups])


class ReplayMonitor:
    """Tells how many jobs have started, a few times a second at most, and stops a replay at its limit."""

    def __init__(self, tell: Tell, limit: float) -> None:
        self.tell, self.limit = tell, limit
        self.last = 0.0
        self.stopped = False

    def __call__(self, news: Progress) -> bool | None:
        """False: stop."""
        if news.seconds - self.last >= NEWS_EVERY:
            self.last = news.seconds
            self.tell({"event": "progress", "done": news.started, "total": news.jobs, "seconds": news.seconds})
        self.stopped = news.seconds > self.limit
        return not self.stopped
