"""The workload and the machine of a replay, with its objective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from ....instances import Instance, load, read_events
from ....instances.busy import ending_at_walltime
from ....instances.files.own_files import content_of
from ....instances.logs.powers import below_power, powered
from ....instances.report import Report
from ....instances.workload import Workload
from ....models.dispatch.problem import Dispatch, with_durations
from ....models.node_states.timeline import NodeStates
from ....models.platform import Platform
from ....models.production import Reservation
from ....models.profiles import DesiredProfile
from ....models.profit.problem import Profit
from ...errors import WrongUse
from ...runs.replay_settings import ReplaySettings
from ...runs.view import View, scenarios_of
from .preemption import preemption_of
from .production import node_events, of_part, with_production
from .profiles import desired_of

if TYPE_CHECKING:
    from ....simulation.features.batch_server import Event
    from ....simulation.preemption.settings import Preemption

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

    @property
    def states(self) -> NodeStates | None:
        """The states of the nodes over time; None without events of nodes."""
        failures = () if self.preemption is None else self.preemption.failures
        return NodeStates(self.platform, [*node_events(self.events), *failures]) or None

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
    if replay.batch is not None:
        from ....instances.traces import read_trace
        from ...ingest.eurora_batch import eurora_batch

        workload, platform = eurora_batch(read_trace(path, "eurora"), path, replay.batch)
        workload = workload if view.first is None else workload.first(view.first)
        return _with_events(ReplayCase(workload, platform, TRACE_OBJECTIVE, replay.kill), view, replay)
    if replay.trace and replay.scenario is not None:
        raise WrongUse(f"--scenario {replay.scenario}: only profit instances have scenarios; a log has none")
    if replay.trace:
        from ....instances.logs.latest_starts import latest_start_rule
        from ....instances.logs.partitions import QUEUE, partition_names
        from ....instances.traces import open_trace
        from ...log_options import column_names, resources_per_node, time_zone

        workload, platform = open_trace(
            path,
            format=replay.format,
            nodes=replay.nodes,
            cores=replay.cores,
            memory=replay.memory,
            others=resources_per_node(replay.per_node),
            zone=time_zone(replay.zone),
            columns=column_names(replay.columns),
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
        case = ReplayCase(workload, platform, TRACE_OBJECTIVE, replay.kill, desired=desired)
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
    workload, desired = _with_power(workload.on(whole.platform), replay), desired_of(replay, whole.platform)
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
    if view.first is not None or replay.window is not None:
        events = of_part(events, case.workload)
    workload = with_production(case.workload, case.platform, events, case.reservations, replay)
    preemption = preemption_of(replay, workload, case.platform)
    offline = case.offline and not (events or case.reservations or preemption)
    return replace(case, workload=workload, events=events, offline=offline, preemption=preemption)
