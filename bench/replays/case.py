"""The workload and the machine of a replay, from an instance or a log, with everything that happens to them.

Logs are read the same way for ``bench show``, ``import``, ``simulate`` and ``dardis``.

A log and a site may not fit: the log has names that the site does not have, or times outside of those of the site. What happens
to jobs that name them is up to the caller: they go on as far as they can (``keep``), are left out (``skip``), or the first of
them end the replay with an error that lists them (``stop``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...instances import Instance, UnknownInstance, load, names, read_events
from ...instances.files.dispatch_folder import DESIRED
from ...instances.files.profile_file import read_profile, read_wishes
from ...instances.files.reading import WorkloadError, content_of
from ...instances.formats.eurora import BATCHES, batch_of, eurora_platform, on_recorded_nodes, recorded_nodes
from ...instances.log_preparation import (
    QUEUE,
    below_power,
    cancellations,
    latest_start_rule,
    partition_names,
    powered,
    with_partition_limits,
)
from ...instances.logged import SEVERAL_NODES, SEVERAL_NODES_UNTOLD, Trace
from ...instances.registry import folder_of
from ...instances.sites import read_site
from ...instances.sites.of_log import shows_nodes, site_of_trace, without_nodes
from ...instances.traces import open_trace, read_trace
from ...instances.workload import Report, Workload, ending_at_walltime
from ...models.array_types import Ints
from ...models.desired_profile import DesiredProfile
from ...models.dispatch.problem import Dispatch, with_durations
from ...models.node_states import NodeEvent, NodeStates
from ...models.platform import MOST_CAPACITY, Platform
from ...models.profiles import power_cap
from ...models.profit.problem import Profit
from ...models.reservations import Reservation
from ...models.server_events import ServerEvent, server_event_kinds
from ...models.site import PBSSettings, Site
from ...models.words import excerpt, hint, how_many
from ...simulation.features.site_limits import hosts_in, licences_in, names_of_reservations, partitions_of_jobs
from ..errors import WrongUse, check_file, near_files, question
from ..runs.view import View, scenarios_of
from .settings import SETTINGS, ReplaySettings

if TYPE_CHECKING:
    from ...simulation.features.batch_server import Event
    from ...simulation.preemption import Preemption
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
    if isfile(file):
        return str(file)
    return None


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


def use_of(simulation: Simulation) -> Mapping[str, Any] | None:
    """Return the use and the desired use of the machine over time, for the plots of a record; None without a profile.

    The curves have at most ``MOST`` steps: means over equal intervals.
    """
    from ...simulation.curves import mean_curves

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
    if failures is None:
        values["failures_content"] = None
    else:
        values["failures_content"] = _of_failures(failures)
    if on_demand:
        names = names or (USUAL_EVICTOR,)
    else:
        names = ("none",)
    _check(values, names)
    return values, names


def _check(values: dict[str, Any], evictors: Sequence[str]) -> None:
    """Raise WrongUse, UnknownName or PluginError for values that no replay can have."""
    from ...simulation.preemption import STREAMS, checkpoints_of, evictor_of, read_on_demand

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
    if name == LOG:
        return _content("--checkpoints", path)
    return None


def _of_failures(text: str) -> str | None:
    from ...simulation.preemption import rate_of

    if rate_of(text) is not None:
        return None
    return _content("--failures", text)


def preemption_of(replay: ReplaySettings, workload: Workload, platform: Platform) -> Preemption | None:
    """Return the on-demand jobs, checkpoints and failures of a replay; None without any. Raises WrongUse, InstanceError."""
    from ...simulation.preemption import STREAMS, Preemption, failures_of, read_on_demand

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
    if replay.failures is not None:
        failures = failures_of(replay.failures, platform, begin, 2 * end - begin)
    else:
        failures = ()
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
        if self.preemption is not None:
            failures = self.preemption.failures
        else:
            failures = ()
        return NodeStates(self.platform, node_events(self.events), failures) or None

    def first(self, n: int) -> ReplayCase:
        """Return the case of the first n jobs, with the events that concern them."""
        workload = self.workload.first(n)
        return replace(self, workload=workload, events=of_part(self.events, workload))

    def problem(self) -> Dispatch:
        """Return the offline problem of the same jobs, in which the duration of a job is its real runtime."""
        if self.kill:
            took = np.minimum(self.workload.runtime, self.workload.walltime)
            held = ending_at_walltime(self.workload.running)
        else:
            took = self.workload.runtime
            held = self.workload.running
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

        site = site_of(replay)
        _, workload, platform, site = open_log(path, replay, view.first, site)
        workload = _with_power(workload, replay)
        desired = desired_of(replay, platform)
        if site is not None:
            events = node_events_of(site, workload, platform)
        else:
            events = ()
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
    if replay.most_power is None:
        return workload
    return below_power(workload, replay.most_power)


def _with_events(case: ReplayCase, view: View, replay: ReplaySettings) -> ReplayCase:
    """Return a case with the events of the settings, if there are any, and without jobs that its reservations exclude.

    Raises ValueError, also if the file of the events has been changed since.
    """
    events = case.events
    if replay.events is not None:
        if content_of(Path(replay.events)) != replay.events_content:
            raise WrongUse(f"--events {replay.events}: the file was changed after the replay")
        events = tuple(read_events(replay.events, case.platform))
    _check_load(case, replay)
    if replay.cancelled:
        events = (*events, *cancellations(case.workload))
    if view.first is not None or replay.window is not None:
        events = of_part(events, case.workload)
    workload = with_production(case.workload, case.platform, events, case.reservations, replay)
    preemption = preemption_of(replay, workload, case.platform)
    offline = case.offline and not (events or case.reservations or preemption)
    return replace(case, workload=workload, events=events, offline=offline, preemption=preemption)


def _check_load(case: ReplayCase, replay: ReplaySettings) -> None:
    """Raise WrongUse for an offered load beside cancelled jobs, or beside times of the site that are not over when the jobs come."""
    from ...simulation.errors import OTHER_TIMES
    from ...simulation.features.site_reservations import site_reservations

    if replay.load is None:
        return
    if replay.cancelled:
        raise WrongUse(f"--load {replay.load:g} beside --cancelled: {OTHER_TIMES}; leave one of them out")
    site = case.site
    if site is None:
        return
    outages = replay.events is None and bool(case.events)
    reserved = site_reservations(site, case.workload, case.platform) is not None
    if outages or reserved:
        what = " and ".join(["outages"] * outages + ["reservations"] * reserved)
        without = " and ".join(["[[events]]"] * outages + ["[[reservations]]"] * reserved)
        raise WrongUse(
            f"--load {replay.load:g} beside {what} of the site {site.name!r}: {OTHER_TIMES}; leave --load out, or give a site.toml "
            f"without {without}"
        )


# --- A log as the settings of a replay describe it: how it is read, which of its jobs are taken, and on which machine.


MOST_NAMED = 5  # jobs in a message
BEYOND_NODES = "more CPUs than their nodes have, left out"


def trace_name(path: str) -> str:
    """Return the name of a trace: its file name without the extensions of its format.

    Examples
    --------
    >>> trace_name("logs/CEA-Curie-2011-2.1-cln.swf.gz")
    'CEA-Curie-2011-2.1-cln'
    >>> trace_name("jobs")
    'jobs'
    """
    name = Path(path).name
    for ending in (".gz", ".swf", ".json", ".csv", ".txt", ".log", ".parquet"):
        name = name.removesuffix(ending)
    return name or Path(path).name


class OpenedLog(NamedTuple):
    """A log: as it was read, its jobs or some of them, the machine, and the site that it is of; None: without partitions."""

    trace: Trace
    workload: Workload
    platform: Platform
    site: Site | None = None


def open_log(path: str | Path, replay: ReplaySettings, first: int | None = None, site: Site | None = None) -> OpenedLog:
    """Read a log and prepare it for its machine.

    Parameters
    ----------
    path
        The file.
    replay
        Settings of a replay, of which those of logs count, and the offered load.
    first
        Number of jobs, the first by submit time; None: all.
    site
        The machine with its partitions. None: that of the settings or, if they have none, that of the nodes of the jobs.

    Raises
    ------
    WorkloadError, WrongUse
        The log or a setting has faults; the message says which.
    """
    if replay.batch is not None:
        trace = read_trace(path, "eurora")
        workload, platform = eurora_batch(trace, path, replay.batch)
        return OpenedLog(trace, workload if first is None else workload.first(first), platform)
    trace = read_log(path, replay)
    machine: dict[str, Any] = {
        "nodes": replay.nodes,
        "cores": replay.cores,
        "memory": replay.memory,
        "others": resources_per_node(replay.per_node),
    }
    shown = site is None and _is_without_machine(trace, replay)
    if shown:
        site = site_of_trace(trace)
    if site is not None:
        machine = _without_bounds(site.platform())
        trace = with_partition_limits(trace, time_limits(site))
    workload, platform = open_trace(
        trace,
        **machine,
        window=replay.window,
        load=replay.load if site is None else None,
        first=first,
        busy=replay.busy,
        queue_from=replay.queue_from or QUEUE,
        partitions=partition_names(replay.partition),
        dependencies=bool(replay.dependencies),
        cancelled=bool(replay.cancelled),
        latest_start=None if replay.latest_start is None else latest_start_rule(replay.latest_start),
    )
    if site is not None:
        from ...simulation.features.site_limits import on_site

        if shown:
            workload = without_reservations(without_features(workload))
        workload = fitted(workload, site, replay.on_unknown or "keep")
        workload, platform = on_site(workload, site)
        workload = on_nodes_asked_for(workload).noted(*notes_on_times(trace, site))
        if replay.load is not None:
            workload = workload.at_load(replay.load, platform)
        if shown:
            workload = workload.noted(*notes_on_shown(trace, site))
    return OpenedLog(trace, workload, platform, site)


def time_limits(site: Site) -> dict[str, float]:
    """Return the time limit in s of jobs that ask for none, by partition; without those that have no limit.

    >>> from schedlab.models.site import Partition
    >>> time_limits(Site("s", partitions=[Partition("a", max_time=60), Partition("b", max_time=60, default_time=9), Partition("c")]))
    {'a': 60.0, 'b': 9.0}
    """
    usual = {p.name: p.max_time if p.default_time is None else p.default_time for p in site.partitions}
    return {name: float(limit) for name, limit in usual.items() if limit is not None}


def _is_without_machine(trace: Trace, replay: ReplaySettings) -> bool:
    """Return whether nothing but the nodes of the jobs describes the machine of a log."""
    given = (replay.nodes, replay.cores, replay.memory, replay.per_node)
    return not any(given) and trace.platform is None and not trace.sizes and shows_nodes(trace)


def without_features(workload: Workload) -> Workload:
    """Return the jobs without the features that they ask for, which a site that the nodes of jobs show does not have."""
    return _without_asked(workload, "features", "which nodes have the features")


def without_reservations(workload: Workload) -> Workload:
    """Return the jobs without the reservations that they ask for, which a site that the nodes of jobs show does not have."""
    return _without_asked(workload, "reservation", "which nodes the reservations had")


def _without_asked(workload: Workload, field: str, untold: str) -> Workload:
    """Return the jobs without a text that they ask for in a field of their requests, and a note of what the log does not tell."""
    site = workload.site
    if site is None or not any(getattr(request, field) for request in site.requests):
        return workload
    asked = np.array([bool(getattr(request, field)) for request in site.requests], np.bool_)[site.request]
    without: dict[str, Any] = {field: ""}
    plain = tuple(replace(request, **without) for request in site.requests)
    note = f"the log does not tell {untold} that {how_many(int(asked.sum()), 'job', ',')} asked for: ignored"
    return replace(workload, site=replace(site, requests=plain)).noted(note)


def notes_on_shown(trace: Trace, site: Site) -> Iterator[str]:
    """Yield notes on a site that the nodes of jobs show: what is taken from them, and what they do not tell."""
    of_partitions = ""
    if site.partitions:
        of_partitions = f" in {how_many(len(site.partitions), 'partition')}"
    yield (
        f"the site is that of the log: {how_many(len(site.nodes), 'node', ',')}{of_partitions}, on which its jobs ran; nodes that no "
        "job used, sizes above the largest use, and jobs from before the log are not known"
    )
    without = without_nodes(trace)
    if without:
        yield f"the log does not name the nodes of {how_many(without, 'job', ',')} that ran"


def notes_on_times(trace: Trace, site: Site) -> Iterator[str]:
    """Yield a note if all reservations and outages of a site are outside of the time of a log."""
    times = np.concatenate([trace.submit, trace.start, trace.start + trace.runtime])
    times = times[np.isfinite(times)]
    if trace.unix_start is not None and times.size:
        begin, end = (trace.unix_start + float(each) for each in (times.min(), times.max()))
        note = outside_of_log(begin, end, site, trace.zone)
        if note is not None:
            yield note


def on_nodes_asked_for(workload: Workload) -> Workload:
    """Return jobs on a site, whose report counts as not obeyed only those that the log does not keep on several nodes."""
    counted = workload.report.not_obeyed.get(SEVERAL_NODES, 0)
    if not counted:
        return workload
    may_share = np.array([term.per_node is None and not term.whole_nodes for term in workload.node_terms], np.bool_)
    rest = int((may_share[workload.node_term] & (workload.units > 1)).sum())
    others = {what: n for what, n in workload.report.not_obeyed.items() if what != SEVERAL_NODES}
    report = replace(workload.report, not_obeyed=others)
    return replace(workload, report=report.and_also(not_obeyed={SEVERAL_NODES_UNTOLD: min(counted, rest)}))


def log_on_site(path: str | Path, replay: ReplaySettings, site: Site) -> Workload:
    """Return the jobs of a log that can be put on the nodes of a site as recorded, with those that were cancelled waiting.

    Jobs that Slurm refuses for their reservations or their GPUs, and that never started, are left out. Raises WorkloadError,
    also for a log that has no job or names no nodes, and WrongUse.
    """
    from ...simulation.features.site_limits import with_one_set_of_features, without_refused
    from ...simulation.slurm.jobs import check_nodes_named

    trace = read_log(path, replay)
    if trace.site is None and len(trace):
        raise WorkloadError(
            f"{trace.name} does not say what its jobs asked of their site (partition, account, QOS, nodes); expected a log such as "
            "the output of sacct"
        )
    unknown = replay.on_unknown or "keep"
    workload = with_one_set_of_features(fitted(trace.with_cancelled().workload, site, unknown, in_place=True), site)
    workload = without_refused(_within_nodes(workload, site, leave_out=unknown == "skip"), site)
    check_nodes_named(workload)
    report = replace(
        workload.report, not_obeyed={w: n for w, n in workload.report.not_obeyed.items() if w != SEVERAL_NODES}
    )
    return replace(workload, report=report).noted(*notes_on_times(trace, site))


def _within_nodes(workload: Workload, site: Site, leave_out: bool) -> Workload:
    """Return the jobs of a log that ran on no more CPUs than their nodes have on a site.

    Raises WorkloadError, which names some of the others, if there are any and they are not to be left out, or if none is left.
    """
    beyond = dict(_beyond_nodes(workload, site))
    if not beyond:
        return workload
    if not leave_out or len(beyond) == len(workload):
        named = [f"\n  job {workload.ids[row]} {why}" for row, why in beyond.items()]
        further = len(named) - MOST_NAMED
        more = ""
        if further > 0:
            more = f"\n  and {how_many(further, 'further job', ',')}"
        raise WorkloadError(
            f"{workload.name}: {how_many(len(beyond), 'job', ',')} of {len(workload):,} ran on more CPUs than their nodes have "
            f"on the site {site.name!r}:{''.join(named[:MOST_NAMED])}{more}\n"
            "  correct the site or the log, or leave such jobs out with --on-unknown skip"
        )
    kept = np.ones(len(workload), np.bool_)
    kept[list(beyond)] = False
    dropped = [(workload.ids[row], f"it {why}") for row, why in beyond.items()]
    return workload.keep(kept, workload.report.and_also({BEYOND_NODES: len(dropped)}, dropped))


def _beyond_nodes(workload: Workload, site: Site) -> Iterator[tuple[int, str]]:
    """Yield the row of each job that ran on more CPUs than its nodes have, and a text that says so."""
    if workload.site is None or "cores" not in workload.resources:
        return
    nodes = workload.site.nodes
    cpus = {node.name: node.cpus for node in site.nodes}
    there = {k: [cpus.get(name, 0) for name in hosts_in(workload.site.texts[k])] for k in np.unique(nodes).tolist()}
    taken = workload.units * workload.request[:, workload.resources.index("cores")]
    spare = workload.units - 1  # CPUs that a job may have had fewer, as its units are equal
    for row, (k, used, fewer) in enumerate(zip(nodes.tolist(), taken.tolist(), spare.tolist(), strict=True)):
        most = sum(there[k])
        if used - fewer > most > 0:
            have = "have"
            if len(there[k]) == 1:
                have = "has"
            yield row, f"ran with {used:,} CPUs on {excerpt(workload.site.texts[k])}, which {have} {most:,} on the site"


def read_log(path: str | Path, replay: ReplaySettings) -> Trace:
    """Read a log as the settings of a replay say, before any of its jobs are chosen. Raises WorkloadError, WrongUse."""
    return read_trace(
        path,
        replay.format,
        cores=replay.cores,
        memory=replay.memory,
        zone=time_zone(replay.zone),
        columns=column_names(replay.columns),
    )


def _without_bounds(platform: Platform) -> dict[str, Any]:
    """Return equal nodes, as ``open_trace`` takes them, each with all that the machine has: its site says which job is too large."""
    whole = {name: max(1, min(platform.total(name), MOST_CAPACITY)) for name in platform.resources}
    return {
        "nodes": len(platform.nodes),
        "cores": whole.pop("cores"),
        "memory": whole.pop("memory", None),
        "others": whole,
    }


def eurora_batch(trace: Trace, file: str | Path, number: int) -> tuple[Workload, Platform]:
    """Return the jobs of a batch of [Bridi2018, 3.4], with the running jobs on their recorded nodes, and the machine.

    Parameters
    ----------
    trace
        The log of Eurora.
    file
        Its file, which has the recorded nodes.
    number
        1, 2 or 3.

    Returns
    -------
    Workload
        The jobs, in s of the log.
    Platform
        Eurora.
    """
    from ...heuristics.kernels.events.machine import on_nodes

    batch = BATCHES[number]
    platform = eurora_platform()
    workload = batch_of(trace, number).on(platform)
    recorded = on_recorded_nodes(workload.running, recorded_nodes(file), platform)
    placed = on_nodes(recorded, platform, best=True)
    kept = sum(bool(r.nodes) for r in recorded)
    lost = len(workload.running) - len(placed)
    workload = replace(workload, running=tuple(placed)).noted(
        f"near to BATCH{number} of T. Bridi's thesis (3.4), not equal; jobs that are {batch.which}, window {batch.window}",
        f"the running jobs end as recorded; {kept} are on their recorded nodes, {len(placed) - kept} on others by best "
        f"fit, {lost} without room are left out",
    )
    return workload, platform


def time_zone(text: str | None) -> ZoneInfo | None:
    """Return the time zone of an option; None without a text. Raises WrongUse."""
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ValueError, LookupError, OSError) as e:
        raise WrongUse(f"--zone {text}: unknown time zone; expected a name such as Europe/Rome") from e


def resources_per_node(text: str | None) -> Mapping[str, int]:
    """Return the resources of a text such as ``gpus=2,mics=1``. Raises WrongUse.

    >>> resources_per_node("gpus=2,mics=1")
    {'gpus': 2, 'mics': 1}
    """
    amounts = {}
    for pair in filter(None, (part.strip() for part in (text or "").split(","))):
        name, _, amount = (part.strip() for part in pair.partition("="))
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not re.fullmatch(r"\d{1,9}", amount, re.ASCII):
            raise WrongUse(f"--per-node {text}: expected names and whole numbers such as gpus=2,mics=1")
        if name in ("cores", "memory"):
            raise WrongUse(f"--per-node {text}: use the option --{name} for {name}")
        amounts[name] = int(amount)
    return amounts


def column_names(text: str | None) -> tuple[str, ...]:
    """Return the names of columns in a list with commas, as ``sacct --format`` takes them; widths are left out.

    >>> column_names("JobID,Submit%20, Start")
    ('JobID', 'Submit', 'Start')
    """
    return tuple(name.strip().partition("%")[0] for name in (text or "").split(",") if name.strip())


def check_there(path: str) -> None:
    """Raise WrongUse or UnknownInstance if there is neither a file, nor a folder, nor a shipped instance of this name."""
    named = Path(path)
    if path in names():
        return
    unknown = UnknownInstance(path)
    if named.suffix or len(named.parts) > 1 or (near_files(named) and not unknown.near):
        check_file(named)
    elif not named.exists():
        raise unknown


CHOICES = ("keep", "skip", "stop")
SHOWN_JOBS = 3
SHOWN_NAMES = 5
LEFT_OUT = "unknown to the site, left out"
PARTITION, RESERVATION, QUALITY, ACCOUNT, USER = "partition", "reservation", "QOS", "account", "user"
LICENCE, ASKED, RAN = "licence", "requested node", "node"
EFFECTS = {
    PARTITION: "left out",
    RESERVATION: "left out where they never started, else they start as any other job",
    QUALITY: "no limit of it holds",
    ACCOUNT: "no limit of it holds",
    USER: "no limit or share of it holds",
    LICENCE: "they wait for none",
    ASKED: "it is left out of their requests",
    RAN: "recorded; they may run elsewhere",
}


@dataclass(frozen=True, eq=False)
class _Unknown:
    """A name that the site does not have: of which values of the jobs' column ``index`` it is a part."""

    kind: str
    name: str
    values: list[int]
    index: Ints
    known: Sequence[str]
    jobs: int

    def text(self, workload: Workload) -> str:
        """Return what messages say of it: its jobs, and similar names."""
        rows = np.flatnonzero(np.isin(self.index, self.values))
        more = ""
        if self.jobs > SHOWN_JOBS:
            more = f" and {self.jobs - SHOWN_JOBS} more"
        shown = ", ".join(workload.ids[row] for row in rows[:SHOWN_JOBS].tolist()) + more
        words = hint(self.name, self.known, "it has", "it has none")
        count = how_many(self.jobs, "job", ",")
        return f"the site has no {self.kind} {excerpt(self.name)} ({count}: {shown}; {words})"


def fitted(workload: Workload, site: Site, on_unknown: str = "keep", in_place: bool = False) -> Workload:
    """Return the jobs of a log that go on although the site does not have what they name; the report says which do not.

    QOS, accounts and users are compared where the site has some, in any case of letters.

    Parameters
    ----------
    workload : Workload
        The log.
    site : Site
        The site.
    on_unknown : {"keep", "skip", "stop"}, optional
        ``"keep"``: jobs in unknown partitions and reservations, which Slurm refuses, are left out, other names have no
        effect. ``"skip"``: all jobs that name something unknown are left out. ``"stop"``: an error lists them.
    in_place : bool, optional
        Whether jobs are put on their recorded nodes; those that ran on unknown ones are then left out in any case, and
        those in unknown reservations are not, as they may hold their nodes (``site_limits.without_refused``).

    Raises
    ------
    WorkloadError
        With ``"stop"``, if there are such jobs, else if none is left.
    WrongValue
        ``on_unknown`` is something else.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
    >>> from schedlab.models.site import Partition, SiteNode
    >>> jobs = [Job(f"j{k}", 0, 60, 1, {"cores": 1}, queue, runtime=60) for k, queue in enumerate(("p", "gost"))]
    >>> platform = Platform([NodeGroup("n", 1, {"cores": 4})])
    >>> log = Workload.of(Dispatch(platform, jobs, [Queue("p", 60), Queue("gost", 60)]))
    >>> site = Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",)), Partition("ghost", ("n1",))])
    >>> fitted(replace(log, partitions=("p", "gost"), partition=np.array([0, 1])), site).report.dropped
    (('j1', "the site has no partition 'gost'"),)
    """
    if on_unknown not in CHOICES:
        raise WrongValue(f"on_unknown is {excerpt(on_unknown)}; {hint(str(on_unknown), CHOICES, 'expected')}")
    found = list(_unknown(workload, site))
    if not found:
        return workload
    if on_unknown == "stop":
        lines = [f"\n  {one.text(workload)}" for one in found[:SHOWN_NAMES]]
        more = ""
        if len(found) > SHOWN_NAMES:
            more = f"\n  and {how_many(len(found) - SHOWN_NAMES, 'further name')}"
        raise WorkloadError(
            f"{workload.name}: the log and the site {site.name!r} do not fit:{''.join(lines)}{more}\n"
            "  correct the site or the log, or let such jobs be left out (skip) or go on (keep)"
        )
    if in_place:
        never_kept = (PARTITION, RAN)
    else:
        never_kept = (PARTITION, RESERVATION)
    left_out = [x for x in found if on_unknown == "skip" or x.kind in never_kept]
    why = _reasons(left_out, len(workload))
    if len(why) == len(workload):
        raise WorkloadError(f"{workload.name}: no job is left on the site {site.name!r}; of the first one, {why[0]}")
    stay = [one for one in found if one not in left_out]
    notes = [f"{one.text(workload)}; {EFFECTS[one.kind]}" for one in stay[:SHOWN_NAMES]]
    if len(stay) > SHOWN_NAMES:
        notes.append(f"the site does not have {how_many(len(stay) - SHOWN_NAMES, 'further name')} of the log")
    if why:
        kept = np.ones(len(workload), np.bool_)
        kept[list(why)] = False
        dropped = [(workload.ids[row], text) for row, text in sorted(why.items())]
        workload = workload.keep(kept, workload.report.and_also({LEFT_OUT: len(dropped)}, dropped))
    return workload.noted(*notes)


def _reasons(left_out: Sequence[_Unknown], jobs: int) -> dict[int, str]:
    """Return why each job is left out that is, by its row."""
    why: dict[int, str] = {}
    for kind in dict.fromkeys(one.kind for one in left_out):
        name_of: dict[int, str] = {}
        same = [one for one in left_out if one.kind == kind]
        for one in same:
            for value in one.values:
                name_of.setdefault(value, one.name)
        index = same[0].index
        for row in np.flatnonzero(np.isin(index, list(name_of))).tolist():
            why.setdefault(row, f"the site has no {kind} {excerpt(name_of[int(index[row])])}")
    return why


def _unknown(workload: Workload, site: Site) -> Iterator[_Unknown]:
    """Yield the unknown names, kind by kind, those of most jobs first."""
    for kind, known, fold, listed_names, index in _names(workload, site):
        alike: Callable[[str], str]
        if fold:
            alike = str.lower
        else:
            alike = str
        there = {alike(name) for name in known}
        count = np.bincount(index, minlength=1)
        values: dict[str, list[int]] = {}
        for k, listed in zip(range(count.size), listed_names, strict=False):
            for name in listed if count[k] else ():
                if name and alike(name) not in there:
                    values.setdefault(name, []).append(k)
        every = [_Unknown(kind, name, where, index, known, int(count[where].sum())) for name, where in values.items()]
        yield from sorted(every, key=lambda one: -one.jobs)


def _names(workload: Workload, site: Site) -> Iterator[tuple[str, list[str], bool, Iterable[Sequence[str]], Ints]]:
    """Yield each kind: its name, the names that the site has, whether case counts not, and those of the distinct values.

    Last, the value of each job. Lists of nodes are made one by one: those of a log can be long.
    """
    each = partitions_of_jobs(workload, site)
    number = {names: k for k, names in enumerate(dict.fromkeys(each))}
    index = np.array([number[names] for names in each], np.int64)
    yield PARTITION, [p.name for p in site.partitions], False, list(number), index
    columns = workload.site
    if columns is None:
        return
    asked, request = columns.requests, columns.request
    reservations = [r.name for r in site.reservations]
    yield RESERVATION, reservations, False, [tuple(names_of_reservations(r)) for r in asked], request
    qualities = []
    if not isinstance(site.scheduler, PBSSettings):
        qualities = [q.name for q in site.qos]
    if qualities:
        yield QUALITY, qualities, True, [(r.qos,) for r in asked], request
    accounts = list(dict.fromkeys(a.account for a in site.associations))
    if accounts:
        yield ACCOUNT, accounts, True, [(r.account,) for r in asked], request
    users = list(dict.fromkeys(a.user for a in site.associations if a.user))
    if users:
        yield USER, users, True, [(name,) for name in workload.users], workload.user
    licences = [x.name for x in site.licences]
    yield LICENCE, licences, False, [tuple(licences_in(r.licences)) for r in asked], request
    nodes = [n.name for n in site.nodes]
    yield ASKED, nodes, False, (hosts_in(r.nodes) for r in asked), request
    yield RAN, nodes, False, (hosts_in(text) for text in columns.texts), columns.nodes


# --- Times of the site that are none of the log.

REPEATED = frozenset(("hourly", "daily", "weekly", "weekday", "weekend"))  # flags of reservations without an end
FOREVER = 2**62


def outside_of_log(begin: float, end: float, site: Site, zone: tzinfo = UTC) -> str | None:
    """Return a note if the reservations and outages of a site are all outside of the time of a log.

    Parameters
    ----------
    begin, end : float
        First and last time of the log, Unix time in s.
    site : Site
        The site.
    zone : tzinfo, optional
        Time zone in which times are written.

    Returns
    -------
    str or None
        The note, with both ranges; None if the site has no times, or some of them are in the log.

    Examples
    --------
    >>> from schedlab.models.site import SiteReservation
    >>> site = Site("s", reservations=[SiteReservation("maint", start=3600, duration=600)])
    >>> outside_of_log(3000, 5000, site) is None
    True
    >>> outside_of_log(7200, 9000, site)[:82]
    'the 1 reservation of the site (1970-01-01 01:00 to 1970-01-01 01:10) is outside of'
    """
    reserved = [(r.start, FOREVER if REPEATED & set(r.flags) else r.end) for r in site.reservations]
    outages = _outages(site.events)
    spans = [*reserved, *outages]
    if not spans or any(first < end and last > begin for first, last in spans):
        return None
    counted = []
    if reserved:
        counted = [how_many(len(reserved), "reservation")]
    if outages:
        counted += [how_many(len(outages), "node outage")]
    if len(spans) > 1:
        every = "all"
        are = "are"
    else:
        every = "the"
        are = "is"
    first = min(start for start, _ in spans)
    last = max(start if stop == FOREVER else stop for start, stop in spans)
    return (
        f"{every} {' and '.join(counted)} of the site ({_written(first, zone)} to {_written(last, zone)}) {are} outside of the "
        f"time of the log ({_written(begin, zone)} to {_written(end, zone)}, {zone}): if they should not be, read the site and "
        "the log with the same --zone"
    )


def _written(seconds: float, zone: tzinfo) -> str:
    return f"{datetime.fromtimestamp(seconds, zone):%Y-%m-%d %H:%M}"


def _outages(events: Iterable[NodeEvent]) -> list[tuple[int, int]]:
    """Return from when to when nodes were down or drained, each outage of some nodes once."""
    since: dict[str, int] = {}
    spans: dict[tuple[int, int], None] = {}
    for event in sorted(events, key=lambda event: event.time):
        for node in event.nodes:
            if event.kind != "node-up":
                since.setdefault(node, event.time)
            elif node in since:
                spans[since.pop(node), event.time] = None
    spans.update(dict.fromkeys((time, FOREVER) for time in since.values()))
    return list(spans)
