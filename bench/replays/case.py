"""The workload and the machine of a replay with everything that happens to them: events, reservations, on-demand jobs, desired use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ...instances import Instance, load, read_events
from ...instances.files.dispatch_folder import DESIRED
from ...instances.files.folder import content_of
from ...instances.files.profile_file import read_profile, read_wishes
from ...instances.log_preparation import below_power, cancellations, powered
from ...instances.registry import folder_of
from ...instances.sites import read_site
from ...instances.workload import Report, Workload, ending_at_walltime
from ...models.dispatch.problem import Dispatch, with_durations
from ...models.node_states import NodeEvent, NodeStates
from ...models.platform import Platform
from ...models.profiles import power_cap
from ...models.profit.problem import Profit
from ...models.reservations import Reservation
from ...models.server_events import ServerEvent, server_event_kinds
from ...models.site import Site
from ..errors import WrongUse
from ..missing_files import check_file, question
from ..runs.view import View, scenarios_of
from .settings import SETTINGS, ReplaySettings

if TYPE_CHECKING:
    from ...simulation.features.batch_server import Event
    from ...simulation.preemption import Preemption
    from ...simulation.records import ReplayData
    from ...simulation.result import Simulation


# --- Reservations and server events of replays: the part of them that a replay has, and their form in records.


def server_events(events: Sequence[Event]) -> list[ServerEvent]:
    """Return the events of the batch server."""
    return [e for e in events if isinstance(e, ServerEvent)]


def node_events(events: Sequence[Event]) -> list[NodeEvent]:
    """Return the events of nodes."""
    return [e for e in events if isinstance(e, NodeEvent)]


def of_part(events: Sequence[Event], workload: Workload) -> tuple[Event, ...]:
    """Return the events without those of jobs that are not in this part of a workload."""
    kinds = server_event_kinds()
    jobs = {*workload.ids, *(name for name, _ in workload.report.dropped)}
    return tuple(e for e in events if isinstance(e, NodeEvent) or kinds[e.kind].subject != "job" or e.subject in jobs)


def with_production(
    workload: Workload,
    platform: Platform,
    events: Sequence[Event],
    reservations: Sequence[Reservation],
    replay: ReplaySettings,
) -> Workload:
    """Return the workload without jobs whose users may not use their private queue; check events and reservations.

    Raises
    ------
    WrongUse
        If they contradict the jobs, the machine or the settings of the replay.
    """
    server = server_events(events)
    if not server and not reservations:
        return workload
    from ...simulation.errors import OTHER_TIMES
    from ...simulation.features.batch_server import batch_server

    if replay.load is not None:
        raise WrongUse(f"--load {replay.load:g}: {OTHER_TIMES}; leave it out")
    try:
        made = batch_server(server, reservations, workload, platform, False)
        assert made is not None
        return made.jobs(workload, platform)
    except ValueError as e:
        raise WrongUse(str(e)) from e


# --- The site of a replay, from its settings.


def _files_of(text: str) -> list[Path]:
    return [Path(part.strip()) for part in text.split(",") if part.strip()]


def content_of_site(text: str) -> str:
    """Return the hash of the files of --site."""
    return "+".join(content_of(path) for path in _files_of(text))


def check_site(replay: ReplaySettings) -> None:
    """Raise WrongUse if --site has no files, or other options describe the machine, too; SiteError for a faulty file."""
    taken = ("nodes", "cores", "memory", "per_node", "batch")
    other = next((name for name in taken if getattr(replay, name) is not None), None)
    if other is not None:
        raise WrongUse(f"--site {replay.site}: the site has nodes of its own; leave --{other.replace('_', '-')} out")
    if not replay.trace:
        raise WrongUse(f"--site {replay.site}: it is for logs; an instance has a machine of its own")
    missing = next((path for path in _files_of(replay.site or "") if not path.exists()), None)
    if missing is not None or not _files_of(replay.site or ""):
        raise WrongUse(
            f"--site {replay.site}: there is no file {str(missing or '')!r}{question(missing) if missing else ''}"
        )
    _read_site(replay)


def _read_site(replay: ReplaySettings) -> Site:
    from .open_log import time_zone

    return read_site(*_files_of(replay.site or ""), zone=time_zone(replay.zone) or UTC)


def required_site(replay: ReplaySettings, command: str) -> Site:
    """Return the site of the settings of a command that needs one. Raises WrongUse, SiteError."""
    if replay.site is None:
        raise WrongUse(
            f"{command}: expected --site FILES, such as slurm.conf,dump.cfg, a folder of such files, or site.toml (from a log "
            "alone: bench import site --from-log)"
        )
    check_site(replay)
    return _read_site(replay)


def site_of(replay: ReplaySettings) -> Site | None:
    """Return the site of the settings; None if they have none. Raises WrongUse if its files have been changed since."""
    if replay.site is None:
        return None
    if content_of_site(replay.site) != replay.site_content:
        raise WrongUse(f"--site {replay.site}: a file was changed after the replay")
    return _read_site(replay)


# --- The desired use and the power cap of a replay, from its settings: reading, and the check of a record.


def own_desired(path: str) -> str | None:
    """Return the file of the desired use in the folder of an instance; None if there is none."""
    file = folder_of(path) / DESIRED
    return str(file) if isfile(file) else None


def check_desired(replay: ReplaySettings) -> str | None:
    """Return the hash of the file of --desired, None without one. Raises InstanceError, WorkloadError for a faulty file."""
    if replay.desired is None:
        return None
    read_wishes(replay.desired)
    return content_of(Path(replay.desired))


def desired_of(replay: ReplaySettings, platform: Platform) -> DesiredProfile | None:
    """Return the desired use of the settings. Raises ValueError, also if the file has been changed since."""
    if replay.desired is None:
        return None
    if content_of(Path(replay.desired)) != replay.desired_content:
        raise WrongUse(f"--desired {replay.desired}: the file was changed after the replay")
    return read_profile(replay.desired, platform)


def limits_of(replay: ReplaySettings, platform: Platform, dispatcher: str) -> tuple[DesiredProfile, ...]:
    """Return the profiles to which the starts of a dispatcher must keep, for the check of a record."""
    from ...simulation.dispatchers.registry import parse_dispatcher

    profiles = []
    desired = desired_of(replay, platform)
    if desired is not None and parse_dispatcher(dispatcher).within_profile:
        profiles.append(desired)
    if replay.power_cap is not None:
        profiles.append(power_cap(platform, replay.power_cap))
    return tuple(profiles)


def limits_each_node(dispatcher: str) -> bool:
    """Return whether a dispatcher takes a desired use as an amount of each node, also where nodes can be counted."""
    from ...simulation.dispatchers.registry import parse_dispatcher

    return parse_dispatcher(dispatcher).backend is not None


def check_limits(case: ReplayCase, caps: Sequence[float]) -> None:
    """Check the desired use and the power caps against the workload, before any replay.

    Raises
    ------
    WrongUse
        If the desired use covers nothing of the workload, or a cap cannot be enforced; the message says why.
    """
    from ...simulation.features import limits

    if case.desired is None and not caps:
        return
    workload = case.workload
    platform = case.platform
    try:
        limits.desired_of(case.desired, platform, workload)
        for cap in caps:
            limits.check_power(workload, power_cap(platform, cap))
    except ValueError as e:
        raise WrongUse(f"{'--power-cap' if caps else '--desired'}: {e}") from e


def figures_of(replay: ReplayData, desired: DesiredProfile | None) -> dict[str, float | None]:
    """Return the figures of a replay beside its desired use, and its greatest power, by their names in records."""
    from ...simulation.desired_use import desired_figures, power_peak

    by_resource = desired_figures(replay, desired)
    flat = {f"desired_{what}_{name}": value for what, of in by_resource.items() for name, value in of.items()}
    return {**flat, "power_peak": power_peak(replay)}


def use_of(simulation: Simulation) -> Mapping[str, Any] | None:
    """Return the use and the desired use of the machine over time, for the plots of a record; None without a profile.

    The curves have at most ``MOST`` steps: means over equal intervals.
    """
    from ...simulation.desired_use import mean_curves

    curves = mean_curves(simulation, MOST)
    return curves or None


MOST = 400  # steps of a curve in a record


# --- On-demand jobs, checkpoints and failures of replays, from their settings; the form of their part of a record.

STREAM = "stream"
LOG = "log"
USUAL_EVICTOR = "dp"
USUAL_CHECKPOINTS = "fixed:3600"


def preemption_settings(given: Mapping[str, Any], evictors: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings of on-demand jobs, checkpoints and failures, and the evictors. Raises WrongUse.

    Parameters
    ----------
    given
        The settings that a user gives, by name.
    evictors
        The evictors that a user gives.
    """
    on_demand = given.get("on_demand")
    failures = given.get("failures")
    names = tuple(evictors)
    if not (on_demand or failures):
        others = {"evictor": names} | {name: given.get(name) for name in ("checkpoints", "restart", "shared_bandwidth")}
        unused = next((name for name, value in others.items() if value not in (None, False, ())), None)
        if unused:
            raise WrongUse(f"{SETTINGS[unused].flag}: only with --on-demand or --failures; give one of them")
        return {}, ()
    if names and not on_demand:
        raise WrongUse(f"--evictor {names[0]}: only with --on-demand")
    values: dict[str, Any] = {
        "on_demand": on_demand,
        "on_demand_content": None if on_demand is None or _is_stream(on_demand) else _content("--on-demand", on_demand),
        "checkpoints": given.get("checkpoints") or USUAL_CHECKPOINTS,
        "failures": failures,
        "restart": given.get("restart") or 0,
        "shared_bandwidth": bool(given.get("shared_bandwidth")),
    }
    values["checkpoints_content"] = _of_log(values["checkpoints"])
    values["failures_content"] = None if failures is None else _of_failures(failures)
    names = (names or (USUAL_EVICTOR,)) if on_demand else ("none",)
    _check(values, names)
    return values, names


def _check(values: dict[str, Any], evictors: Sequence[str]) -> None:
    """Raise WrongUse, UnknownName or PluginError for values that no replay can have."""
    from ...simulation.on_demand_jobs import STREAMS, read_on_demand
    from ...simulation.preemption import checkpoints_of, evictor_of

    for text in evictors:
        evictor_of(text)
    checkpoints_of(values["checkpoints"])
    if values["on_demand"] is not None:
        if _is_stream(values["on_demand"]):
            STREAMS.make(values["on_demand"])
        else:
            read_on_demand(values["on_demand"])


def _is_stream(text: str) -> bool:
    return text.partition(":")[0] == STREAM


def _content(option: str, path: str) -> str:
    check_file(Path(path), option)
    if not Path(path).is_file():
        raise WrongUse(f"{option} {path}: it is a folder; expected a file")
    return content_of(Path(path))


def _of_log(text: str) -> str | None:
    name, _, path = text.partition(":")
    return _content("--checkpoints", path) if name == LOG else None


def _of_failures(text: str) -> str | None:
    from ...simulation.on_demand_jobs import rate_of

    return None if rate_of(text) is not None else _content("--failures", text)


def preemption_of(replay: ReplaySettings, workload: Workload, platform: Platform) -> Preemption | None:
    """Return the on-demand jobs, checkpoints and failures of a replay; None without any. Raises WrongUse, InstanceError."""
    from ...simulation.on_demand_jobs import STREAMS, failures_of, read_on_demand
    from ...simulation.preemption import Preemption

    if replay.on_demand is None and replay.failures is None:
        return None
    _check_contents(replay)
    begin = int(workload.submit.min())
    end = int(workload.submit.max())
    jobs: Sequence[Any] = ()
    if replay.on_demand is not None and _is_stream(replay.on_demand):
        jobs = STREAMS.make(replay.on_demand).draw(begin, end, len(platform.nodes))
    elif replay.on_demand is not None:
        jobs = read_on_demand(replay.on_demand, platform)
    if replay.watts_per_core is not None:
        cores = next(iter(platform.groups)).capacity.get("cores", 0)
        watts = {n: float(replay.watts_per_core * cores * n) for n in {j.nodes for j in jobs}}
        jobs = [j if j.power is not None else replace(j, power=watts[j.nodes]) for j in jobs]
    failures = () if replay.failures is None else failures_of(replay.failures, platform, begin, 2 * end - begin)
    return Preemption(
        tuple(jobs),
        replay.evictor or "none",  # type: ignore[arg-type]
        replay.checkpoints or USUAL_CHECKPOINTS,  # type: ignore[arg-type]
        restart=replay.restart or 0,
        shared_bandwidth=bool(replay.shared_bandwidth),
        failures=failures,
    )


def _check_contents(replay: ReplaySettings) -> None:
    """Raise WrongUse if a file was changed since the replay."""
    log = (replay.checkpoints or "").partition(":")[2]
    pairs = (
        ("--on-demand", replay.on_demand, replay.on_demand_content),
        ("--failures", replay.failures, replay.failures_content),
        ("--checkpoints", log, replay.checkpoints_content),
    )
    for option, path, content in pairs:
        if content is not None and path and content_of(Path(path)) != content:
            raise WrongUse(f"{option} {path}: the file was changed after the replay")


def with_jobs(workload: Workload, platform: Platform, preemption: Preemption) -> tuple[Workload, tuple[int, ...]]:
    """Return the workload of a replay with its on-demand jobs, and their rows. Raises WrongUse."""
    from ...errors import WrongValue
    from ...simulation.features.on_demand import OnDemand

    made = OnDemand(preemption)
    try:
        whole = made.jobs(workload, platform)
        return whole, tuple(made.absent(whole))
    except WrongValue as e:
        raise WrongUse(f"--on-demand: {e}") from e


def settings_of_each(replay: ReplaySettings, evictors: Sequence[str]) -> list[ReplaySettings]:
    """Return the settings of the replays: one for each evictor."""
    return [replace(replay, evictor=name) for name in evictors] or [replay]


def check_preemption(path: str, case: ReplayCase, settings: Sequence[ReplaySettings]) -> None:
    """Check before any replay that on-demand jobs, evictors, jobs and machine fit together. Raises WrongUse."""
    if case.preemption is None:
        return
    for one in settings:
        made = preemption_of(one, case.workload, case.platform)
        assert made is not None
        with_jobs(case.workload, case.platform, made)


# --- The workload and the machine of a replay, with its objective.

TRACE_OBJECTIVE = "weighted-wait"


@dataclass(frozen=True, eq=False)
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
        The changes of the states of nodes, and the events of the batch server.
    reservations
        The reservations of the machine.
    desired
        The desired use of the machine.
    preemption
        On-demand jobs, checkpoints and failures; the on-demand jobs are not part of the workload.
    centre
        The profit problem of the scenario, with cooling, weather and prices.
    site
        The site, of which the platform has the nodes.
    """

    workload: Workload
    platform: Platform
    objective: str
    kill: bool = False
    offline: bool = False
    events: tuple[Event, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    desired: DesiredProfile | None = None
    preemption: Preemption | None = None
    centre: Profit | None = None
    site: Site | None = None

    @property
    def states(self) -> NodeStates | None:
        """The states of the nodes over time; None without events of nodes."""
        failures = () if self.preemption is None else self.preemption.failures
        return NodeStates(self.platform, node_events(self.events), failures) or None

    def first(self, n: int) -> ReplayCase:
        """Return the case of the first n jobs, with the events that concern them."""
        workload = self.workload.first(n)
        return replace(self, workload=workload, events=of_part(self.events, workload))

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
    if replay.trace and replay.scenario is not None:
        raise WrongUse(f"--scenario {replay.scenario}: only profit instances have scenarios; a log has none")
    if replay.trace:
        from ...simulation.features.site_limits import node_events_of
        from .open_log import open_log

        site = site_of(replay)
        _, workload, platform, site = open_log(path, replay, view.first, site)
        workload = _with_power(workload, replay)
        desired = desired_of(replay, platform)
        events = () if site is None else node_events_of(site, platform)
        case = ReplayCase(workload, platform, TRACE_OBJECTIVE, replay.kill, events=events, desired=desired, site=site)
        return _with_events(case, view, replay)
    instance = instance or load(path, drop_impossible=drop_impossible)
    centre = None
    if replay.scenario is not None:
        centre = instance.scenario(scenarios_of(instance, [replay.scenario])[0])
    if instance.centre is None:
        whole = cast(Dispatch, View(durations="runtime", objective=view.objective).of(instance))
    else:  # the jobs of a profit problem
        whole = with_durations(instance.profit.dispatch, "runtime")
    workload = Workload.of(whole, instance.name, Report(dict(instance.repairs)))
    if view.first is not None:
        workload = workload.first(view.first)
    if replay.load is not None:
        workload = workload.at_load(replay.load, whole.platform)
    # dispatchers ignore deadlines; then offline methods solve another problem
    ignored = any(j.deadline is not None for j in whole.jobs)
    offline = not (ignored or replay.kill or replay.load is not None or replay.users is not None)
    workload = _with_power(workload.on(whole.platform), replay)
    desired = desired_of(replay, whole.platform)
    case = ReplayCase(
        workload,
        whole.platform,
        whole.objective,
        replay.kill,
        offline,
        instance.events,
        instance.reservations,
        desired,
        centre=centre,
    )
    return _with_events(case, view, replay)


def _with_power(workload: Workload, replay: ReplaySettings) -> Workload:
    if replay.watts_per_core is not None:
        workload = powered(workload, replay.watts_per_core)
    return workload if replay.most_power is None else below_power(workload, replay.most_power)


def _with_events(case: ReplayCase, view: View, replay: ReplaySettings) -> ReplayCase:
    """Return a case with the events of the settings, if there are any, and without jobs that its reservations exclude.

    Raises ValueError, also if the file of the events has been changed since.
    """
    events = case.events
    if replay.events is not None:
        if content_of(Path(replay.events)) != replay.events_content:
            raise WrongUse(f"--events {replay.events}: the file was changed after the replay")
        events = tuple(read_events(replay.events, case.platform))
    if replay.cancelled:
        events = (*events, *cancellations(case.workload))
    if view.first is not None or replay.window is not None:
        events = of_part(events, case.workload)
    workload = with_production(case.workload, case.platform, events, case.reservations, replay)
    preemption = preemption_of(replay, workload, case.platform)
    offline = case.offline and not (events or case.reservations or preemption)
    return replace(case, workload=workload, events=events, offline=offline, preemption=preemption)
