"""The profile extraction: a desired profile from the use of the last day and the planned use [Bridi2018, algorithm 8].

``u(a, b)`` is the mean use of the machine in [a, b), as a share of its cores: the real one up to ``now``, that of an offline
schedule from then on. For each hour h = 0, 1, ... with begin ``t = now + 3600 h`` the desired share is::

    1                                           if u(now - 24 h, now) > above or u(t - 24 h, t) > above
    u(t - 24 h, t) + (1 - u(t - 24 h, t)) * offset                                            otherwise

The thesis gives 84 % for ``above``; ``offset`` is 0.7 for DARDIS70%, 0.5 for DARDIS50% and 1 for DARDIS100%. It says "hours
in [0, ..., 24]" for the next 24 hours: these are the hours 0 to 23.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..arguments import is_real, shown
from ..dispatch.problem import Dispatch
from ..platform import NodeGroup, Platform, ProblemError
from ..problem import Schedule
from ..step_function import DAY, HOUR, StepFunction
from .builders import CORES, Wish, from_schedule, profile_of
from .profile import DesiredProfile

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
    end = problem.now + 1 if profile.end is None else profile.end
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
    pieces = [] if before.begin >= after.begin else [*before.pieces(before.begin, after.begin)]
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
    share = profile.amount(group.name, "cores", t) / cores if cores else 1.0
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
