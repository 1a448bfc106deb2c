"""The desired use of a replay: which of it limits the starts, and the power of the machine as an amount."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import WrongValue
from ....heuristics.kernels.events.beginning import with_running
from ....heuristics.kernels.events.machine import counted
from ....heuristics.kernels.events.state import TraceArrays
from ....instances.files.profile_file import read_profile
from ....instances.workload import Workload, WorkloadError
from ....models import DesiredProfile, Platform
from ....models.profiles import Steps
from ....models.profiles import power_cap as cap_of
from ....models.whole_numbers import is_real, shown
from ...policies.policy import Policy
from .power_place import with_power_place

if TYPE_CHECKING:
    from ....heuristics.kernels.profile import Floats

MILLI = 1000  # power is counted in milliwatts, rounded up per unit
MOST_KINDS = 1000  # different powers of a unit; more are rounded up to three digits, as each is a kind of request


def desired_of(desired: DesiredProfile | str | Path | None, platform: Platform, workload: Workload) -> Any:
    """Return the desired use of a replay, read from its file if need be; None if there is none.

    Raises
    ------
    WrongValue
        If the profile is of another machine.
    InstanceError, WorkloadError
        If the file has faults.
    ProblemError
        If the profile covers nothing of the time from the first to the last submission.
    """
    if desired is None:
        return None
    found = read_profile(desired, platform) if isinstance(desired, str | Path) else desired
    if not isinstance(found, DesiredProfile):
        raise WrongValue(f"desired is {shown(found)}; expected a DesiredProfile or the name of a file")
    if found.platform != platform:
        raise WrongValue(f"desired: a profile of {found.platform!r}; expected one of {platform!r}")
    begin = int(workload.submit.min()) if workload.begin is None else workload.begin
    found.check_covers(begin, max(begin, int(workload.submit.max())))
    return found


@contextmanager
def lent(desired: DesiredProfile | None, dispatcher: Any) -> Iterator[None]:
    """Set the attribute ``desired`` of a dispatcher that is None to the desired use of a replay, and reset it at the end."""
    if desired is None or getattr(dispatcher, "desired", desired) is not None:
        yield
        return
    dispatcher.desired = desired
    try:
        yield
    finally:
        dispatcher.desired = None


def limits_of(
    desired: DesiredProfile | None,
    power_cap: float | DesiredProfile | None,
    dispatcher: object,
    name: str,
    platform: Platform,
) -> tuple[DesiredProfile, ...]:
    """Return the profiles that limit the starts: the desired use of a policy that follows it, and the power cap.

    Raises
    ------
    WrongValue
        If a policy follows a desired use and there is none, the power cap is no power, or the dispatcher is no policy.
    """
    found = []
    follows = getattr(dispatcher, "within_profile", False)
    if follows or getattr(dispatcher, "follows_profile", False):
        if desired is None:
            raise WrongValue(
                f"dispatcher {name} keeps to a desired profile; give one (desired=..., bench simulate --desired FILE)"
            )
        if follows and desired.power is not None and not isinstance(dispatcher, Policy):
            raise WrongValue(
                f"dispatcher {name} cannot keep to a desired power as a limit; give it a cost (hcp3-profile:0.5@cpsat), or use a "
                "policy"
            )
        found += [desired] if follows else []
    if power_cap is None:
        return tuple(found)
    if not isinstance(dispatcher, Policy):
        raise WrongValue(
            f"power_cap: dispatcher {name} chooses its starts itself and does not know the power of jobs; a cap is "
            "enforced for policies only: the rules, easy, easy++, conservative, pbs-fifo, ..."
        )
    if isinstance(power_cap, DesiredProfile):
        if power_cap.wished != ("power",):
            raise WrongValue(f"power_cap: a profile with wishes for {', '.join(power_cap.wished)}; expected power only")
        return (*found, power_cap)
    if not is_real(power_cap) or not 0 < power_cap < np.inf:
        raise WrongValue(f"power_cap is {shown(power_cap)}; expected watts above 0")
    return (*found, cap_of(platform, power_cap))


def check_power(
    workload: Workload, platform: Platform, cap: DesiredProfile, with_events: bool, by_node: bool = False
) -> None:
    """Check that a power cap can be enforced for policies on these jobs. Raises WorkloadError."""
    by_count = not with_events and counted(with_running(workload, workload.running, platform.resources), platform)
    _check(workload, by_count or by_node, [power for power in (cap.power,) if power is not None])


def with_power(
    trace: TraceArrays, workload: Workload, within: tuple[DesiredProfile, ...], by_count: bool, by_node: bool = False
) -> TraceArrays:
    """Return the trace with the power of the machine as an amount, if a profile limits it.

    It is a second amount of the one place of counted nodes; with ``by_node``, that of a place of its own.

    Raises
    ------
    WorkloadError
        If nodes are neither counted nor followed ``by_node``, a job has no power, or needs more than the greatest power
        of the profile.
    """
    limits = [profile.power for profile in within if profile.power is not None]
    if not limits:
        return trace
    watts, most = _check(workload, by_count or by_node, limits)
    held = [0.0 if r.job.power is None else r.job.power for r in workload.running]
    units, all_watts = trace.units, np.concatenate([watts, held])
    ceiling = np.int64(MILLI * most if np.isfinite(most) else 2**50)
    if by_node:
        nothing = np.flatnonzero(~trace.request[: len(workload)].any(axis=1))
        if nothing.size:
            raise WorkloadError(
                f"{workload.name}: job {workload.ids[int(nothing[0])]!r} requests no resource; a power cap beside nodes that are "
                "followed one by one needs jobs that request some"
            )
        return with_power_place(trace, np.ceil(MILLI * all_watts).astype(np.int64), int(ceiling))
    each = _rounded(np.ceil(MILLI * all_watts / units))
    _, kind = np.unique(each, return_inverse=True)
    return trace._replace(
        capacity=np.array([[trace.capacity[0, 0], ceiling]], np.int64),
        request=np.column_stack([trace.request[:, 0], each]).astype(np.int64),
        kind=kind.astype(np.int64),
    )


def _check(workload: Workload, by_count: bool, limits: Sequence[Steps]) -> tuple[Floats, float]:
    """Return the power of each job, and the greatest allowed power, in watts. Raises WorkloadError."""
    if not by_count:
        raise WorkloadError(
            f"{workload.name}: a power cap needs equal nodes of which each unit takes more than half, without events: then "
            "nodes are counted, and power beside them. Use a machine of smaller nodes, such as --cores 1"
        )
    watts = power_of(workload)
    most = min(max(power.amounts) for power in limits)  # infinite where there is no wish at some time
    too_much = np.flatnonzero(watts > most)
    if too_much.size:
        k = int(too_much[0])
        raise WorkloadError(
            f"{workload.name}: job {workload.ids[k]!r} takes {watts[k]:,.0f} W, more than the power cap of {most:,.0f} W "
            f"({too_much.size} such job{'s' * (too_much.size > 1)}); raise the cap, or leave them out (instances.logs.powers.below_power)"
        )
    return watts, most


def _rounded(each: Floats) -> Floats:
    """Return powers rounded up to three digits if there are many different ones: at most 1 % too high."""
    if len(np.unique(each)) <= MOST_KINDS:
        return each
    step = 10.0 ** np.maximum(0, np.floor(np.log10(np.maximum(each, 1))) - 2)
    return np.asarray(np.ceil(each / step) * step)


def power_of(workload: Workload) -> Floats:
    """Return the power of each job in watts. Raises WorkloadError if one is unknown."""
    missing = np.flatnonzero(np.isnan(workload.power))
    if missing.size:
        raise WorkloadError(
            f"{workload.name}: job {workload.ids[int(missing[0])]!r} has no power ({missing.size:,} such jobs); give watts "
            "per core for them (Workload.powered, bench simulate --watts-per-core)"
        )
    return workload.power
