"""What ``simulate`` replays: the jobs and the machine of what a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import WrongArgument
from ..instances import Instance, Trace, load
from ..instances.workload import Workload, WorkloadError
from ..models import DesiredProfile, Dispatch, Job, NodeEvent, Platform, Profit
from ..models.arguments import value_shown
from ..models.production import Reservation, ServerEvent

EXPECTED = "expected a Workload, a log from read_trace, a dispatching problem, an Instance or its name"


class ReplayInput(NamedTuple):
    """The jobs, the machine, and the events, reservations and desired use of an instance or problem."""

    jobs: Workload
    platform: Platform
    events: Sequence[NodeEvent | ServerEvent] = ()
    reservations: Sequence[Reservation] = ()
    desired: DesiredProfile | None = None


def replay_input(what: object, platform: Platform | None) -> ReplayInput:
    """Return the jobs and the machine of a replay.

    Parameters
    ----------
    what : Workload, Trace, Dispatch, Instance, str or Path
        What the user gives.
    platform : Platform, optional
        The machine; None: that of the instance, the problem or the log.

    Raises
    ------
    WrongArgument
        If it is anything else.
    WorkloadError
        If a platform is needed and missing, or there is no job to replay.
    """
    if platform is not None and not isinstance(platform, Platform):
        raise WrongArgument(f"platform of simulate is {platform!r:.80}; expected a Platform or None")
    given = load(what) if isinstance(what, (str, Path)) else what
    if isinstance(given, Instance):
        machine = platform or given.platform
        desired = _desired(given.dispatch, machine)
        jobs = Workload.of(given.dispatch, given.name)
        return ReplayInput(jobs.on(machine), machine, given.events, given.reservations, desired)
    if isinstance(given, Dispatch):
        machine = platform or given.platform
        return ReplayInput(Workload.of(given).on(machine), machine, desired=_desired(given, machine))
    own = None
    if isinstance(given, Trace):
        own, given = given.platform, given.workload
    if not isinstance(given, Workload):
        raise WrongArgument(f"workload of simulate is {value_shown(given)}; {EXPECTED}{_advice(given)}")
    machine_or_none = platform or own
    if machine_or_none is None:
        raise WorkloadError(f"{given.name}: a log has no platform of its own; pass one as the argument platform")
    return ReplayInput(given.checked().on(machine_or_none), machine_or_none)


def _desired(problem: Dispatch, machine: Platform) -> DesiredProfile | None:
    return problem.desired if machine == problem.platform else None


def _advice(given: Any) -> str:
    """Return what the user can do instead, for a message."""
    if hasattr(given, "itertuples"):
        return "; a table of pandas is read by Workload.from_pandas"
    if isinstance(given, Profit):
        return "; the jobs of a profit problem p are p.dispatch"
    if isinstance(given, (list, tuple)) and given and all(isinstance(j, Job) for j in given):
        return "; jobs need a machine and queues: Dispatch(platform, jobs, queues)"
    return ""
