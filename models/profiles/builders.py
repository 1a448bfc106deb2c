"""Desired profiles from a share, a daily rhythm, a power, the temperature, or a schedule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ...errors import WrongValue
from ..dispatch.problem import Dispatch
from ..excerpt import excerpt
from ..platform import Platform, ProblemError
from ..problem import Schedule, part_name
from ..profit.cooling import Cooling
from ..step_function import DAY, StepFunction
from ..whole_numbers import is_real
from .profile import POWER, DesiredProfile
from .wishes import Wish, profile_of

CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
CORES = ("cores",)


def flat(platform: Platform, share: float, resources: Sequence[str] = CORES) -> DesiredProfile:
    """Return a profile with the same share of the capacity of each node at all times.

    Parameters
    ----------
    platform : Platform
        The machine.
    share : float
        The share, 0 to 1.
    resources : sequence of str
        The resources that it is wished for.

    Returns
    -------
    DesiredProfile
        The profile.

    Raises
    ------
    ProblemError
        If the share is outside of 0 to 1, or a resource is unknown.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> flat(Platform([NodeGroup("n", 2, {"cores": 10})]), 0.7).amount("n", "cores", 0)
    7.0
    """
    return profile_of(platform, [Wish(0, r, share) for r in resources], period=DAY)


def daily(platform: Platform, shares: Mapping[str, float], resources: Sequence[str] = CORES) -> DesiredProfile:
    """Return a profile that repeats every day.

    Parameters
    ----------
    platform : Platform
        The machine.
    shares : mapping of str to float
        The share of the capacity of each node from a time of the day on, such as ``{"08:00": 0.6, "20:00": 1.0}``. The
        last one holds over midnight. Times are on the clock of the workload, whose days begin at multiples of 86,400 s.
    resources : sequence of str
        The resources that it is wished for.

    Returns
    -------
    DesiredProfile
        The profile.

    Raises
    ------
    WrongValue
        If a time is not of the form ``hours:minutes``.
    ProblemError
        If a share is outside of 0 to 1, or a resource is unknown.
    """
    times = {_second(text): share for text, share in shares.items()}
    return profile_of(platform, [Wish(t, r, share) for t, share in times.items() for r in resources], period=DAY)


def _second(text: str) -> int:
    parts = CLOCK.fullmatch(text.strip())
    if parts is None:
        raise WrongValue(f"{excerpt(text)} is no time of the day; expected hours:minutes, such as 08:00")
    return int(parts[1]) * 3600 + int(parts[2]) * 60


def power_cap(platform: Platform, watts: float) -> DesiredProfile:
    """Return a profile with the same power of the whole machine at all times.

    Parameters
    ----------
    platform : Platform
        The machine.
    watts : float
        The power in watts.

    Returns
    -------
    DesiredProfile
        The profile.
    """
    return profile_of(platform, [Wish(0, POWER, amount=watts)], period=DAY)


def from_temperature(
    platform: Platform,
    cooling: Cooling,
    temperature: StepFunction,
    target_pue: float,
    watts_per_core: float | None = None,
) -> DesiredProfile:
    """Return the greatest IT power with at most a given PUE at the temperature of each time [Bridi2018, 5.1].

    Parameters
    ----------
    platform : Platform
        The machine.
    cooling : Cooling
        The power of the cooling.
    temperature : StepFunction
        The temperature in degrees C over time, on the clock of the workload. The profile ends with it.
    target_pue : float
        The greatest power usage effectiveness, above 1.
    watts_per_core : float, optional
        If given, the profile wishes cores instead of watts: the share of the cores of each node that take this power,
        at most 1.

    Returns
    -------
    DesiredProfile
        The profile.

    Raises
    ------
    ProblemError
        If the target is not above 1, or a temperature is outside of the cooling table.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> machine = Platform([NodeGroup("n", 10, {"cores": 10})])
    >>> table = Cooling("chillers from 500 W", (0, 40), (0, 500, 1000), ((0, 50, 200), (0, 50, 200)))
    >>> weather = StepFunction.hourly([15.0, 25.0])
    >>> round(from_temperature(machine, table, weather, 1.15).totals("power", 0, 7200)[1][0])
    667
    >>> from_temperature(machine, table, weather, 1.15, watts_per_core=8).amount("n", "cores", 0)
    8.333333333
    """
    if not is_real(target_pue) or not target_pue > 1:
        raise ProblemError(f"the target PUE is {target_pue}; a number above 1 is expected")
    if watts_per_core is not None and not (is_real(watts_per_core) and watts_per_core > 0):
        raise ProblemError(f"the power per core is {watts_per_core} W; a number above 0 is expected")
    full = None if watts_per_core is None else watts_per_core * platform.total("cores")
    wishes = []
    for begin, celsius in zip(temperature.times, temperature.values, strict=True):
        watts = most_power(cooling, celsius, target_pue)
        wish = Wish(begin, POWER, amount=watts) if full is None else Wish(begin, "cores", share=min(1.0, watts / full))
        wishes.append(wish)
    return profile_of(platform, wishes, end=temperature.end)


def most_power(cooling: Cooling, celsius: float, pue: float) -> float:
    """Return the greatest IT power in watts of the table at which the PUE is at most ``pue``; 0 if there is none.

    Parameters
    ----------
    cooling : Cooling
        The power of the cooling.
    celsius : float
        The temperature in degrees C.
    pue : float
        The greatest power usage effectiveness.

    Returns
    -------
    float
        Watts.

    Examples
    --------
    >>> round(most_power(Cooling("flat", (20,), (0, 1000), ((100, 100),)), 20, 1.2), 6)
    1000.0
    """
    excess = [(power, watts - (pue - 1) * power) for power, watts in cooling.curve(celsius)]
    for (x, y), (u, v) in reversed(list(pairwise(excess))):  # the excess is linear between the points
        if v <= 0:
            return u
        if y <= 0:
            return x + (u - x) * -y / (v - y)
    return 0.0


def from_schedule(
    problem: Dispatch, schedule: Schedule, resources: Iterable[str] | None = None, step: int | None = None
) -> DesiredProfile:
    """Return the use of a schedule as a profile: of each group, the mean use of its nodes.

    Parameters
    ----------
    problem : Dispatch
        The jobs, their durations and the machine; of a ``Profit`` its ``dispatch``.
    schedule : Schedule
        Start and nodes of each job. The jobs that run at the begin (``problem.running``) count as well.
    resources : iterable of str, optional
        The resources of the profile; None: all of the platform.
    step : int, optional
        The profile has steps of this many seconds from ``problem.now`` on, with the mean use in each. None: it changes
        with the use.

    Returns
    -------
    DesiredProfile
        The profile.

    Raises
    ------
    ProblemError
        If a job of the schedule is unknown or has no nodes, or nothing runs.
    """
    platform = problem.platform
    group_of = {node: g.name for g in platform.groups for node in g.nodes}
    changes: dict[tuple[str, str], dict[int, float]] = {
        (g.name, r): {} for g in platform.groups for r in resources or platform.resources if g.capacity.get(r, 0)
    }
    last = problem.now
    for begin, end, nodes, request in _runs(problem, schedule):
        last = max(last, end)
        for node, units in nodes.items():
            for resource, amount in request.items():
                change = changes.get((group_of[node], resource))
                if change is not None and amount:
                    change[begin] = change.get(begin, 0) + units * amount
                    change[end] = change.get(end, 0) - units * amount
    if last == problem.now:
        raise ProblemError("desired profile of a schedule: nothing runs in it; at least one job is expected")
    count = {g.name: g.count for g in platform.groups}
    wishes = []
    for (group, resource), change in changes.items():
        for time, used in _use(change, problem.now, last, step):
            wishes.append(Wish(time, resource, amount=round(used / count[group], 9), nodes=group))
    return profile_of(platform, wishes, end=last)


def _runs(problem: Dispatch, schedule: Schedule) -> Iterable[tuple[int, int, Mapping[str, int], Mapping[str, int]]]:
    """Yield (begin, end, nodes, request) of each chunk of each job from ``now`` on."""
    for r in problem.running:
        yield problem.now, max(problem.now, r.end), r.nodes, r.job.request
    jobs = {job.id: job for job in problem.jobs}
    for name, start in schedule.start.items():
        if name not in jobs:
            raise ProblemError(f"desired profile of a schedule: job {excerpt(name)} is no job of the problem")
        for k, part in enumerate(jobs[name].parts):
            nodes = schedule.nodes.get(part_name(name, k))
            if nodes is None:
                raise ProblemError(f"desired profile of a schedule: job {part.id!r} has no nodes")
            yield start, start + problem.duration(part), nodes, part.request


def _use(change: Mapping[int, float], begin: int, end: int, step: int | None) -> Iterable[tuple[int, float]]:
    """Yield (time, use from then on) of a group, from the changes of its use; with a step, means of the cells."""
    times = sorted({begin, *change} - {end})
    used, level = [], 0.0
    for t in times:
        level += change.get(t, 0)
        used.append(level)
    if step is None:
        yield from zip(times, used, strict=True)
        return
    k = 0
    for cell in range(begin, end, step):
        close, volume = min(end, cell + step), 0.0
        while True:
            until = times[k + 1] if k + 1 < len(times) else end
            volume += used[k] * (min(close, until) - max(cell, times[k]))
            if until > close or k + 1 == len(times):
                break
            k += 1
        yield cell, volume / (close - cell)
