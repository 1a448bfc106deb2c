"""Wishes as rows of a table: the form in which profiles are written down, with shares or amounts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..excerpt import excerpt
from ..platform import Platform, ProblemError
from ..whole_numbers import is_real, is_whole, shown
from .profile import POWER, TOLERANCE, DesiredProfile
from .steps import ALWAYS, Steps

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
        found = "nothing" if self.found is None else excerpt(self.found)
        return f"{self.field}: expected {self.expected}, found {found}"


def own_fault(wish: Wish, period: int | None) -> WishFault | None:
    """Return what is wrong with a wish, whatever the platform; None if nothing is."""
    if not is_whole(wish.time) or abs(wish.time) >= -ALWAYS:
        return WishFault("time_s", f"whole seconds between -{-ALWAYS} and {-ALWAYS}", wish.time)
    if period is not None and not 0 <= wish.time < period:
        return WishFault("time_s", f"a time of the period, 0 to {period - 1}", wish.time)
    if (wish.share is None) == (wish.amount is None):
        both = None if wish.share is None else f"share {shown(wish.share)} and amount {shown(wish.amount)}"
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
        return None if wish.nodes == EVERY else WishFault("nodes", f"{EVERY}, as power is of the machine", wish.nodes)
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
    end = None if end is None else end + origin
    series: dict[tuple[str, str], dict[int, Wish]] = {}
    for wish in rows:
        time = wish.time + origin if period is None else (wish.time + origin) % period
        wish = wish._replace(time=time)
        held = series.setdefault((wish.nodes, wish.resource), {})
        if wish.time in held:
            raise ProblemError(f"desired profile: two wishes for {wish.resource} of {wish.nodes} at {wish.time} s")
        held[wish.time] = wish
    steps: dict[tuple[str, str], Steps] = {}
    for group in platform.groups:
        for resource, capacity in group.capacity.items():
            found = series.get((group.name, resource)) or series.get((EVERY, resource))
            if found and capacity:
                steps[group.name, resource] = _steps(found, float(capacity), period, end)
    power = None if POWER in platform.resources else series.get((EVERY, POWER))
    watts = None if power is None else _steps(power, math.inf, period, end)
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
    before = amounts[-1] if period is not None else capacity
    first = ALWAYS if period is None else 0
    if times[0] != first:
        times, amounts = [first, *times], [before, *amounts]
    if end is not None:
        times, amounts = [*times, end], [*amounts, capacity]
    return Steps(times, [min(amount, capacity) for amount in amounts], period)
