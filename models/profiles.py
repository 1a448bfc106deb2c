"""Desired profiles of use, made from rows of a table, a share, a daily rhythm, a power, the temperature, a schedule, or the last day.

Examples
--------
>>> from schedlab.models import NodeGroup, Platform
>>> platform = Platform([NodeGroup("n", 300, {"cores": 32, "memory": 128000})])
>>> profile = daily(platform, {"08:00": 0.6, "20:00": 1.0})
>>> [profile.amount("n", "cores", hour * 3600) for hour in (0, 8, 20, 24 + 8)]
[32.0, 19.2, 32.0, 19.2]
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..errors import WrongValue
from .arguments import is_real, is_whole, shown
from .desired_profile import ALWAYS, POWER, TOLERANCE, DesiredProfile, ProfileArrays, Steps
from .dispatch.problem import Dispatch
from .platform import NodeGroup, Platform, ProblemError
from .problem import Schedule, part_name
from .profit.problem import Cooling
from .step_function import DAY, HOUR, StepFunction
from .words import excerpt

__all__ = [
    "DesiredProfile",
    "ProfileArrays",
    "Steps",
    "Wish",
    "daily",
    "extracted",
    "flat",
    "from_schedule",
    "from_temperature",
    "joined",
    "nodes_on",
    "power_cap",
    "profile_of",
    "use_of",
]

# --- Wishes as rows of a table: the form in which profiles are written down, with shares or amounts.

EVERY = "*"  # all nodes
DIGITS = 9  # of an amount: 0.7 * 10 is 7


class Wish(NamedTuple):
    """A row of a desired profile: from a time on, a share of the capacity or an amount of a resource.

    Parameters
    ----------
    time : int
        Seconds, on the clock of the workload; in a periodic profile seconds of the period.
    resource : str
        The resource. ``"power"``, if no node has a capacity of it, stands for the watts of the whole machine.
    share : float, optional
        The wished share of the capacity of each node, 0 to 1.
    amount : float, optional
        The wished amount on each node; of power of the whole machine, in watts. Either this or ``share`` is given.
    nodes : str, default "*"
        The name of a node group; ``"*"`` stands for all groups that have no wish of their own for the resource.
    """

    time: int
    resource: str
    share: float | None = None
    amount: float | None = None
    nodes: str = EVERY


class WishFault(NamedTuple):
    """What is wrong with a wish: the field, what is expected there, and what was found."""

    field: str
    expected: str
    found: object

    def __str__(self) -> str:
        value = "nothing"
        if self.found is not None:
            value = excerpt(self.found)
        return f"{self.field}: expected {self.expected}, found {value}"


def own_fault(wish: Wish, period: int | None) -> WishFault | None:
    """Return what is wrong with a wish, whatever the platform; None if nothing is."""
    if not is_whole(wish.time) or abs(wish.time) >= -ALWAYS:
        return WishFault("time_s", f"whole seconds between -{-ALWAYS} and {-ALWAYS}", wish.time)
    if period is not None and not 0 <= wish.time < period:
        return WishFault("time_s", f"a time of the period, 0 to {period - 1}", wish.time)
    if (wish.share is None) == (wish.amount is None):
        both = None
        if wish.share is not None:
            both = f"share {shown(wish.share)} and amount {shown(wish.amount)}"
        return WishFault("share", "either a share or an amount", both)
    if wish.share is not None and not (is_real(wish.share) and 0 <= wish.share <= 1):
        return WishFault("share", "a share of the capacity, 0 to 1", wish.share)
    if wish.amount is not None and not (is_real(wish.amount) and 0 <= wish.amount < math.inf):
        return WishFault("amount", "a number of at least 0", wish.amount)
    return None


def platform_fault(wish: Wish, platform: Platform) -> WishFault | None:
    """Return what is wrong with a wish on this platform; None if nothing is."""
    groups = {g.name: g.capacity for g in platform.groups}
    if wish.nodes != EVERY and wish.nodes not in groups:
        return WishFault("nodes", f"a group ({', '.join(groups)}) or {EVERY}", wish.nodes)
    if wish.resource == POWER and POWER not in platform.resources:
        if wish.share is not None:
            return WishFault("share", "watts of the machine as amount, as its greatest power is unknown", wish.share)
        if wish.nodes == EVERY:
            return None
        return WishFault("nodes", f"{EVERY}, as power is of the machine", wish.nodes)
    if wish.resource not in platform.resources:
        return WishFault("resource", f"one of {', '.join((*platform.resources, POWER))}", wish.resource)
    having = {n: c[wish.resource] for n, c in groups.items() if wish.nodes in (EVERY, n) and c.get(wish.resource, 0)}
    if not having:
        return WishFault("resource", f"a resource that the nodes of group {wish.nodes} have", wish.resource)
    least = min(having, key=lambda name: having[name])
    if wish.amount is not None and wish.amount > having[least] * (1 + TOLERANCE):
        return WishFault("amount", f"at most {having[least]}, which each node of group {least} has", wish.amount)
    return None


def profile_of(
    platform: Platform,
    wishes: Iterable[Wish],
    period: int | None = None,
    end: int | None = None,
    origin: int = 0,
) -> DesiredProfile:
    """Return the profile that some wishes describe on a platform.

    A wish holds up to the next one of the same nodes and resource. Before the first and after the last one of a period,
    the last one holds. Without a period there is no wish before the first one, and none from ``end`` on.

    Parameters
    ----------
    platform : Platform
        The machine.
    wishes : iterable of Wish
        The wishes, in any order, at least one.
    period : int, optional
        The length of the period in seconds.
    end : int, optional
        The time in seconds at which the wishes of a profile without period end. None: the last ones hold for ever.
    origin : int
        The second on the clock of the workload that is second 0 of the wishes, such as the first midnight of a log.

    Returns
    -------
    DesiredProfile
        The profile.

    Raises
    ------
    ProblemError
        If a wish is wrong, or contradicts another one; the message names it.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> platform = Platform([NodeGroup("n", 2, {"cores": 16})])
    >>> profile_of(platform, [Wish(100, "cores", share=0.5)], end=200).of("n", "cores").amounts
    (16.0, 8.0, 16.0)
    """
    rows = tuple(wishes)
    fault = clock_fault(period, end, rows)
    for wish in rows:
        fault = fault or own_fault(wish, period) or platform_fault(wish, platform)
        if fault is not None:
            raise ProblemError(f"desired profile, {wish}: {fault}")
    if fault is not None:
        raise ProblemError(f"desired profile: {fault}")
    if not is_whole(origin) or abs(origin) >= -ALWAYS // 2:
        raise ProblemError(f"desired profile: origin_s is {shown(origin)}; expected whole seconds")
    if end is None:
        end = None
    else:
        end = end + origin
    series: dict[tuple[str, str], dict[int, Wish]] = {}
    for wish in rows:
        if period is None:
            time = wish.time + origin
        else:
            time = (wish.time + origin) % period
        wish = wish._replace(time=time)
        held = series.setdefault((wish.nodes, wish.resource), {})
        if wish.time in held:
            raise ProblemError(f"desired profile: two wishes for {wish.resource} of {wish.nodes} at {wish.time} s")
        held[wish.time] = wish
    steps: dict[tuple[str, str], Steps] = {}
    for group in platform.groups:
        for resource, capacity in group.capacity.items():
            amounts = series.get((group.name, resource)) or series.get((EVERY, resource))
            if amounts and capacity:
                steps[group.name, resource] = _steps(amounts, float(capacity), period, end)
    power = None
    if POWER not in platform.resources:
        power = series.get((EVERY, POWER))
    watts = None
    if power is not None:
        watts = _steps(power, math.inf, period, end)
    return DesiredProfile(platform, steps, watts, None if period else end)


def clock_fault(period: int | None, end: int | None, wishes: Sequence[Wish]) -> WishFault | None:
    """Return what is wrong with the period, the end or the number of wishes; None if nothing is."""
    if not wishes:
        return WishFault("rows", "at least one wish", None)
    if period is not None and (not is_whole(period) or not 0 < period < -ALWAYS):
        return WishFault("period_s", "whole seconds above 0", period)
    if end is not None and period is not None:
        return WishFault("end_s", "no end, as the profile has a period", end)
    last = max((w.time for w in wishes if is_whole(w.time)), default=0)
    if end is not None and (not is_whole(end) or not last < end < -ALWAYS):
        return WishFault("end_s", f"whole seconds after the last time, {last}", end)
    return None


def _steps(wishes: dict[int, Wish], capacity: float, period: int | None, end: int | None) -> Steps:
    """Return the amounts on a node; ``capacity`` is the amount where there is no wish."""
    times = sorted(wishes)
    amounts = [
        round(capacity * w.share, DIGITS) if w.share is not None else w.amount or 0.0
        for w in map(wishes.get, times)
        if w
    ]
    if period is not None:
        before = amounts[-1]
    else:
        before = capacity
    first = 0
    if period is None:
        first = ALWAYS
    if times[0] != first:
        times, amounts = [first, *times], [before, *amounts]
    if end is not None:
        times, amounts = [*times, end], [*amounts, capacity]
    return Steps(times, [min(amount, capacity) for amount in amounts], period)


# --- Desired profiles from a share, a daily rhythm, a power, the temperature, or a schedule.

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
    full = None
    if watts_per_core is not None:
        full = watts_per_core * platform.total("cores")
    wishes = []
    for begin, celsius in zip(temperature.times, temperature.values, strict=True):
        watts = most_power(cooling, celsius, target_pue)
        if full is None:
            wish = Wish(begin, POWER, amount=watts)
        else:
            wish = Wish(begin, "cores", share=min(1.0, watts / full))
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
        close = min(end, cell + step)
        volume = 0.0
        while True:
            if k + 1 < len(times):
                until = times[k + 1]
            else:
                until = end
            volume += used[k] * (min(close, until) - max(cell, times[k]))
            if until > close or k + 1 == len(times):
                break
            k += 1
        yield cell, volume / (close - cell)


# --- The profile extraction: a desired profile from the use of the last day and the planned use [Bridi2018, algorithm 8].
#
# ``u(a, b)`` is the mean use of the machine in [a, b), as a share of its cores: the real one up to ``now``, that of an offline
# schedule from then on. For each hour h = 0, 1, ... with begin ``t = now + 3600 h`` the desired share is::
#
#     1                                           if u(now - 24 h, now) > above or u(t - 24 h, t) > above
#     u(t - 24 h, t) + (1 - u(t - 24 h, t)) * offset                                            otherwise
#
# The thesis gives 84 % for ``above``; ``offset`` is 0.7 for DARDIS70%, 0.5 for DARDIS50% and 1 for DARDIS100%. It says "hours
# in [0, ..., 24]" for the next 24 hours: these are the hours 0 to 23.

ABOVE = 0.84
ROUNDING = 1e-9  # 0.88 * 300 is 264 nodes, not 265


def use_of(problem: Dispatch, schedule: Schedule) -> StepFunction:
    """Return the cores in use over time, as a share of those of the machine, from ``now`` to the last end.

    Parameters
    ----------
    problem : Dispatch
        The jobs and the machine; of a ``Profit`` its ``dispatch``. Jobs that run at the begin count as well.
    schedule : Schedule
        Start and nodes of each job.

    Returns
    -------
    StepFunction
        The share, 0 to 1.

    Raises
    ------
    ProblemError
        If a job of the schedule is unknown or has no nodes, or nothing runs.
    """
    profile = from_schedule(problem, schedule, CORES)
    if profile.end is None:
        end = problem.now + 1
    else:
        end = profile.end
    times, amounts = profile.totals("cores", problem.now, end)
    total = problem.platform.total("cores")
    return StepFunction(times.tolist(), [min(1.0, max(0.0, a / total)) for a in amounts.tolist()], end)


def joined(before: StepFunction, after: StepFunction, end: int | None = None) -> StepFunction:
    """Return one function up to the begin of the other and that from then on, with 0 after its end.

    Parameters
    ----------
    before, after : StepFunction
        The real use of the past, and the planned use.
    end : int, optional
        The end of the result in seconds. None: that of ``after``.

    Returns
    -------
    StepFunction
        The use from the begin of ``before`` to ``end``.

    Raises
    ------
    ProblemError
        If there is a gap between them.
    """
    if before.end < after.begin:
        raise ProblemError(f"the use is known up to {before.end} s and planned from {after.begin} s on: there is a gap")
    if before.begin >= after.begin:
        pieces = []
    else:
        pieces = [*before.pieces(before.begin, after.begin)]
    pieces += after.pieces(after.begin, after.end if end is None else min(end, after.end))
    last = pieces[-1][1]
    if end is not None and end > last:
        pieces.append((last, end, 0.0))
    return StepFunction([a for a, _, _ in pieces], [v for *_, v in pieces], pieces[-1][1])


def extracted(
    platform: Platform, use: StepFunction, now: int, offset: float, hours: int = 24, above: float = ABOVE
) -> DesiredProfile:
    """Return the desired profile of the cores for the next hours.

    Parameters
    ----------
    platform : Platform
        The machine.
    use : StepFunction
        The use as a share of the cores, 0 to 1: real before ``now``, planned from then on (``joined``). It covers
        [``now`` - 24 h, ``now`` + (``hours`` - 1) h).
    now : int
        The time in seconds from which the profile is made.
    offset : float
        The share of the unused capacity that stays wished, 0 to 1.
    hours : int, default 24
        The number of hours.
    above : float, default 0.84
        A mean use of 24 h above this share makes the profile 100 %.

    Returns
    -------
    DesiredProfile
        The profile, the same share for each node; it ends after ``hours``.

    Raises
    ------
    ProblemError
        If ``offset`` is no share, or ``use`` does not cover the time.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> machine = Platform([NodeGroup("n", 300, {"cores": 32})])
    >>> profile = extracted(machine, StepFunction.constant(0.6, 0, 48 * 3600), 24 * 3600, offset=0.7)
    >>> profile.amount("n", "cores", 24 * 3600) / 32
    0.88

    References
    ----------
    [Bridi2018, 7.4].
    """
    for name, value in (("offset", offset), ("above", above)):
        if not is_real(value) or not 0 <= value <= 1:
            raise ProblemError(f"the profile extraction: {name} is {shown(value)}; a share from 0 to 1 is expected")
    if hours < 1:
        raise ProblemError(f"the profile extraction: hours is {hours}; at least 1 is expected")
    last = now + (hours - 1) * HOUR
    if use.begin > now - DAY or use.end < last:
        raise ProblemError(
            f"the profile extraction at {now} s needs the use from {now - DAY} s to {last} s; "
            f"it is known from {use.begin} s to {use.end} s"
        )
    begins = [now + HOUR * h for h in range(hours)]
    means = [_mean(use, t - DAY, t) for t in begins]
    shares = [1.0 if max(means[0], u) > above else u + (1 - u) * offset for u in means]
    wishes = [Wish(t, "cores", share=min(1.0, share)) for t, share in zip(begins, shares, strict=True)]
    return profile_of(platform, wishes, end=now + HOUR * hours)


def _mean(use: StepFunction, begin: int, end: int) -> float:
    return math.fsum((b - a) * v for a, b, v in use.pieces(begin, end)) / (end - begin)


def count_on(profile: DesiredProfile, group: NodeGroup, t: int) -> int:
    """Return how many of the N nodes of a group the desired share d of cores needs at a time: ``ceil(N d)``."""
    cores = group.capacity.get("cores", 0)
    share = 1.0
    if cores:
        share = profile.amount(group.name, "cores", t) / cores
    return math.ceil(group.count * share - ROUNDING)


def nodes_on(profile: DesiredProfile, t: int, ends: Mapping[str, int]) -> tuple[str, ...]:
    """Return the nodes that should be on at a time: of each group as many as its desired share of cores needs.

    Of a group of N nodes with the desired share d, ``ceil(N d)`` are on. Those that are in use or reserved come first, the
    latest planned end first; the others follow in the order of the platform. A node in use is kept on in any case.

    Parameters
    ----------
    profile : DesiredProfile
        The profile.
    t : int
        The time in seconds.
    ends : mapping of str to int
        For each node in use or reserved, the time in seconds at which its last planned job ends.

    Returns
    -------
    tuple of str
        The nodes, those to keep on longest first in each group.

    Raises
    ------
    ProblemError
        If a node is unknown.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> from schedlab.models.profiles import flat
    >>> machine = Platform([NodeGroup("n", 5, {"cores": 8})])
    >>> nodes_on(flat(machine, 0.5), 0, {"n-4": 90, "n-2": 700})
    ('n-2', 'n-4', 'n-1')
    """
    platform = profile.platform
    unknown = next((n for n in ends if n not in platform.capacity), None)
    if unknown is not None:
        raise ProblemError(f"there is no node {unknown!r}; the nodes are those of the profile's platform")
    names: list[str] = []
    for group in platform.groups:
        needed = count_on(profile, group, t)
        used = [n for n in group.nodes if ends.get(n, t) > t]
        ordered = [*sorted(used, key=lambda n: -ends[n]), *(n for n in group.nodes if ends.get(n, t) <= t)]
        names += ordered[: max(needed, len(used))]
    return tuple(names)
