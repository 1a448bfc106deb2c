"""The desired use of the resources of a platform over time: step functions, as objects and as flat arrays."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arguments import checked, is_real, is_whole, shown, wrong
from .array_types import Floats, Ints
from .comparing import hashable
from .dispatch.jobs import lack
from .platform import LATEST, NodeGroup, Platform, ProblemError
from .words import excerpt, hint, how_many, with_short_repr

# --- Step functions of a desired amount, defined at all times, periodic or not.

ALWAYS = -LATEST  # the first time of steps without period: before all times of a workload


@with_short_repr
@hashable
@dataclass(frozen=True)
class Steps:
    """An amount that is constant between given times, at all times: ``amounts[k]`` holds from ``times[k]`` on.

    Parameters
    ----------
    times : sequence of int
        Increasing times in seconds. With a period, the first one is 0 and all are below the period; without, the
        first one is ``ALWAYS``, before all times of a workload.
    amounts : sequence of float
        The amount from each time on, at least 0; infinity: no wish. The last one holds for ever, or to the end of the
        period.
    period : int, optional
        The length of the period in seconds. The periods begin at the multiples of it.

    Raises
    ------
    ProblemError
        If the lengths differ, the times are not as above, or an amount is no number of at least 0.

    Examples
    --------
    >>> day = Steps((0, 28800, 72000), (32.0, 19.2, 32.0), period=86400)
    >>> day.at(86400 + 28800), list(day.pieces(80000, 120000))
    (19.2, [(80000, 115200, 32.0), (115200, 120000, 19.2)])
    """

    times: Sequence[int]
    amounts: Sequence[float]
    period: int | None = None

    def __post_init__(self) -> None:
        if not self.times or len(self.times) != len(self.amounts):
            raise ProblemError(
                f"the steps have {how_many(len(self.times), 'time')} and {len(self.amounts)} amounts; equal numbers, at least 1, "
                "are expected"
            )
        for t in (*self.times, *(() if self.period is None else (self.period,))):
            if not is_whole(t):
                raise ProblemError(f"a time of the steps {wrong(t)}")
        object.__setattr__(self, "times", tuple(map(int, self.times)))
        first = 0
        if self.period is None:
            first = ALWAYS
        if self.times[0] != first:
            raise ProblemError(f"the first time of the steps is {self.times[0]} s; expected {first} s")
        for a, b in pairwise((*self.times, *(() if self.period is None else (self.period,)))):
            if b <= a:
                raise ProblemError(f"the times of the steps must increase up to the period, but {b} s follows {a} s")
        for t, amount in zip(self.times, self.amounts, strict=True):
            if not is_real(amount) or not amount >= 0:  # NaN
                raise ProblemError(f"the amount at {t} s is {shown(amount)}; a number of at least 0 is expected")
        object.__setattr__(self, "amounts", tuple(map(float, self.amounts)))

    @classmethod
    def constant(cls, amount: float) -> Steps:
        """Return steps with the same amount at all times."""
        return cls((ALWAYS,), (amount,))

    def at(self, t: int) -> float:
        """Return the amount at a time in seconds."""
        if self.period is not None:
            t = t % self.period
        return self.amounts[bisect_right(self.times, t) - 1]

    def at_each(self, times: Ints) -> Floats:
        """Return the amounts at times in seconds, of any shape."""
        if self.period is None:
            since = times
        else:
            since = times % self.period
        return np.array(self.amounts)[np.searchsorted(self.times, since, side="right") - 1]

    def pieces(self, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        """Yield (from, to, amount) in [begin, end); neighbouring pieces have different amounts."""
        held: tuple[int, int, float] | None = None
        for a, b, amount in self._cells(begin, end):
            if held is not None and held[2] == amount:
                held = (held[0], b, amount)
                continue
            if held is not None:
                yield held
            held = (a, b, amount)
        if held is not None:
            yield held

    def _cells(self, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        shift = 0
        if self.period is not None:
            shift = begin // self.period * self.period
        k = bisect_right(self.times, begin - shift) - 1
        while begin < end:
            last = k + 1 == len(self.times)
            if not last:
                until = min(end, shift + self.times[k + 1])
            else:
                if self.period is None:
                    until = end
                else:
                    until = min(end, shift + self.period)
            yield begin, until, self.amounts[k]
            begin = until
            if last:
                k = 0
            else:
                k = k + 1
            if last:
                shift += self.period or 0

    def next_change(self, t: int) -> int | None:
        """Return the first time after ``t`` at which the next step begins, in seconds; None if there is none."""
        shift = 0
        if self.period is not None:
            shift = t // self.period * self.period
        k = bisect_right(self.times, t - shift)
        if k < len(self.times):
            return self.times[k] + shift
        if self.period is None or len(self.times) == 1:
            return None
        return shift + self.period


# --- A desired profile as flat arrays, for compiled code.


@with_short_repr
class ProfileArrays(NamedTuple):
    """The steps of a desired profile as flat arrays: one row for each node group and resource.

    Row ``g * resources + r`` is group g (in the order of ``platform.groups``) and resource r (in the order of
    ``platform.resources``). Its steps are ``first[row] .. first[row + 1] - 1``. A time t is looked up at
    ``t % period`` if ``period`` is above 0, else at t; the first time of a row is at most that.

    Parameters
    ----------
    first : ndarray of int64, shape (groups * resources + 1,)
        Index of the first step of each row; the last entry is the number of steps.
    time : ndarray of int64, shape (steps,)
        The time in seconds from which the step holds, increasing in a row.
    amount : ndarray of float64, shape (steps,)
        The desired amount on one node, at most its capacity.
    period : int
        Length of the period in seconds; 0: none.
    group : ndarray of int64, shape (nodes,)
        The group of each node, in the order of ``platform.nodes``.
    """

    first: Ints
    time: Ints
    amount: Floats
    period: int
    group: Ints


def arrays_of(profile: DesiredProfile) -> ProfileArrays:
    """Return the profile as flat arrays; resources without a wish have one step with the capacity.

    Examples
    --------
    >>> from schedlab.models import NodeGroup, Platform
    >>> from schedlab.models.profiles import daily
    >>> platform = Platform([NodeGroup("n", 2, {"cores": 10, "gpus": 2})])
    >>> arrays = arrays_of(daily(platform, {"08:00": 0.6, "20:00": 1.0}))
    >>> arrays.first.tolist(), arrays.time.tolist(), arrays.amount.tolist()
    ([0, 3, 4], [0, 28800, 72000, 0], [10.0, 6.0, 10.0, 2.0])
    """
    platform = profile.platform
    rows = [_row(profile, g.name, r) for g in platform.groups for r in platform.resources]
    sizes = [len(row.times) for row in rows]
    return ProfileArrays(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([t for row in rows for t in row.times], np.int64),
        np.array([a for row in rows for a in row.amounts], np.float64),
        profile.period or 0,
        np.repeat(np.arange(len(platform.groups)), [g.count for g in platform.groups]).astype(np.int64),
    )


def _row(profile: DesiredProfile, group: str, resource: str) -> Steps:
    steps = profile.of(group, resource)
    if steps.period is None and profile.period is not None:  # a constant: all rows have one clock
        return Steps((0,), steps.amounts, profile.period)
    return steps


# --- The times at which an empty machine can hold a job within a desired profile.

Chunk = tuple[int, tuple[int, ...]]
"""The number of units of a chunk, and the request of one of them in the order of ``platform.resources``."""
ROUNDING = 1e-6  # an amount less below a whole number is this number


def whole_amount(amount: float, most: int) -> int:
    """Return an amount rounded down, and at most ``most``.

    Examples
    --------
    >>> whole_amount(9.6, 16), whole_amount(0.7 * 10, 10), whole_amount(float("inf"), 4)
    (9, 7, 4)
    """
    if amount >= most:
        return most
    return floor(amount + ROUNDING)


class EmptyMachine:
    """The empty machine within the amounts of a profile on each node, rounded down; power is not considered.

    Parameters
    ----------
    profile : DesiredProfile
        The profile.

    Examples
    --------
    >>> from schedlab.models.profiles import daily
    >>> machine = Platform([NodeGroup("n", 1, {"cores": 16})])
    >>> empty = daily(machine, {"08:00": 0.5, "20:00": 1.0}).empty_machine
    >>> job = ((1, (10,)),)
    >>> empty.first_start(job, 7200, 7 * 3600), empty.first_start(job, 13 * 3600, 0), empty.longest(job)
    (72000, None, 43200)
    >>> empty.room(job, 7 * 3600), empty.room(job, 9 * 3600)
    (3600, 0)
    """

    def __init__(self, profile: DesiredProfile) -> None:
        self.profile = profile
        self._held: dict[tuple[tuple[Chunk, ...], bytes], bool] = {}

    @cached_property
    def times(self) -> Ints:
        """The times at which amounts may change in seconds: those of two periods, or all after ``ALWAYS``."""
        if self.profile.period:
            begin = 0
            end = 2 * self.profile.period
        else:
            begin = ALWAYS
            end = self.profile.last_change + 1
        changes = {begin}
        for steps in self.profile.steps.values():
            changes.update(a for a, _, _ in steps.pieces(begin, end))
        return np.array(sorted(changes), np.int64)

    @cached_property
    def amounts(self) -> Ints:
        """The whole amounts on each node of each group from each time on, shape (times, groups, resources)."""
        p = self.profile.platform
        rows = [
            [
                [whole_amount(self.profile.amount(g.name, r, t), g.capacity.get(r, 0)) for r in p.resources]
                for g in p.groups
            ]
            for t in self.times.tolist()
        ]
        return np.array(rows, np.int64).reshape(len(self.times), len(p.groups), len(p.resources))

    def always(self, chunks: Sequence[Chunk]) -> bool:
        """Return whether the machine can hold the chunks at any time and for any duration."""
        return self._holds(tuple(chunks), self.amounts.min(axis=0))

    def room(self, chunks: Sequence[Chunk], start: int) -> int | None:
        """Return for how many seconds from ``start`` on the machine can hold the chunks; None: for ever."""
        chunks = tuple(chunks)
        if self.always(chunks):
            return None
        period = self.profile.period
        if period is None:
            at = start
        else:
            at = start % period
        k = first = int(np.searchsorted(self.times, at, side="right")) - 1
        while k < len(self.times):
            if not self._holds(chunks, self.amounts[first : k + 1].min(axis=0)):
                return max(0, int(self.times[k]) - at)
            k += 1
        return None  # without a period the last amounts hold for ever

    def first_start(self, chunks: Sequence[Chunk], duration: int, begin: int) -> int | None:
        """Return the first start from ``begin`` on at which the machine can hold the chunks for the duration.

        Parameters
        ----------
        chunks : sequence of (int, tuple of int)
            Units and request of each chunk.
        duration, begin : int
            Seconds.

        Returns
        -------
        int or None
            Seconds; None: there is no such start.
        """
        for start in self._starts(begin):
            room = self.room(chunks, start)
            if room is None or room >= duration:
                return start
        return None

    def longest(self, chunks: Sequence[Chunk]) -> int | None:
        """Return the longest duration in seconds for which the machine can hold the chunks; None: for ever."""
        rooms = [self.room(chunks, start) for start in self._starts(int(self.times[0]))]
        if None in rooms:
            return None
        return max(r for r in rooms if r is not None)

    def _starts(self, begin: int) -> list[int]:
        """Return ``begin``, and the later times at which amounts change, in a period one period of them."""
        period = self.profile.period
        if period is None:
            return [begin, *self.times[self.times > begin].tolist()]
        shift = begin // period * period
        return [begin, *(shift + t for t in self.times.tolist() if begin < shift + t <= begin + period)]

    def _holds(self, chunks: tuple[Chunk, ...], amounts: Ints) -> bool:
        """Return whether nodes with these amounts, shape (groups, resources), can hold the chunks."""
        key = (chunks, amounts.tobytes())
        if key not in self._held:
            self._held[key] = self._fits(chunks, amounts)
        return self._held[key]

    def _fits(self, chunks: tuple[Chunk, ...], amounts: Ints) -> bool:
        platform = self.profile.platform
        nodes = [(g.count, tuple(row)) for g, row in zip(platform.groups, amounts.tolist(), strict=True)]
        for units, request in chunks:
            if any(request) and sum(count * platform.units_on(row, request) for count, row in nodes) < units:
                return False
        if len(chunks) == 1:
            return True
        groups = [
            NodeGroup(g.name, g.count, dict(zip(platform.resources, row, strict=True)))
            for g, (_, row) in zip(platform.groups, nodes, strict=True)
        ]
        return lack(Platform(groups), chunks) is None


# --- The desired use of the resources of a platform over time.

POWER = "power"  # the resource of the whole machine, in watts, if no node has a capacity of it
TOLERANCE = 1e-9  # relative; amounts above the capacity by less are rounding


@checked(values=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class DesiredProfile:
    """How much of each resource an administrator wishes to be in use on each node, over time [Bridi2018, 5.1].

    The capacity of a node is a hard limit; the desired use is a wish, which dispatchers take into account and metrics
    compare with the actual use. Where there is no wish, the desired amount is the capacity. ``power`` in watts is the
    one resource that belongs to the whole machine, unless nodes have a capacity of it.

    Make profiles by ``flat``, ``daily``, ``from_temperature``, ``from_schedule``, ``power_cap`` (all in
    ``schedlab.models.profiles``) or from a file by ``schedlab.instances.files.profile_file.read_profile``.

    Parameters
    ----------
    platform : Platform
        The machine.
    steps : mapping of (str, str) to Steps
        For a node group and a resource, by their names, the desired amount on each single node of the group. It is at
        most the capacity.
    power : Steps, optional
        The desired power of the whole machine in watts. None: no wish.
    end : int, optional
        The time in seconds at which the wishes of a profile without period end, if they end: from then on the amounts
        of ``steps`` should be the capacities. ``check_covers`` compares it with the time of a replay.

    Attributes
    ----------
    period : int or None
        The length of the period in seconds; the periods begin at the multiples of it on the clock of the workload.

    Raises
    ------
    ProblemError
        If a group or a resource is unknown, an amount is above the capacity, or the periods differ.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> platform = Platform([NodeGroup("n", 2, {"cores": 4})])
    >>> profile = DesiredProfile(platform, {("n", "cores"): Steps((0, 10), (4, 2), period=20)})
    >>> profile.amount("n", "cores", 15), profile.total("cores", 15)
    (2.0, 4.0)
    """

    platform: Platform
    steps: Mapping[tuple[str, str], Steps]
    power: Steps | None = None
    end: int | None = None
    period: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", dict(self.steps))
        capacity = {g.name: g.capacity for g in self.platform.groups}
        for (group, resource), steps in self.steps.items():
            if group not in capacity:
                raise ProblemError(
                    f"desired profile: the platform has no group {excerpt(group)}; {hint(group, capacity, 'its groups are')}"
                )
            if resource not in self.platform.resources:
                raise ProblemError(
                    f"desired profile: the platform has no resource {excerpt(resource)}; "
                    f"{hint(resource, self.platform.resources, 'its resources are', 'it has no resources')}"
                )
            most = capacity[group].get(resource, 0)
            wished = max(steps.amounts)
            if wished > most * (1 + TOLERANCE):
                raise ProblemError(
                    f"desired profile: {wished:g} {resource} on each node of group {group!r}; they have {most}"
                )
        if self.power is not None and POWER in self.platform.resources:
            raise ProblemError("desired profile: the nodes have a capacity of power; give the power of each group")
        periods = {s.period for s in self._all() if len(s.times) > 1 or s.period is not None}
        if len(periods) > 1:
            raise ProblemError(f"desired profile: the steps have different periods: {sorted(map(str, periods))} s")
        object.__setattr__(self, "period", next(iter(periods), None))

    def _all(self) -> tuple[Steps, ...]:
        return (*self.steps.values(), *(() if self.power is None else (self.power,)))

    @cached_property
    def _capacity(self) -> dict[str, Mapping[str, int]]:
        return {g.name: g.capacity for g in self.platform.groups}

    def of(self, group: str, resource: str) -> Steps:
        """Return the steps of the amount on each node of a group; constant at the capacity if there is no wish."""
        steps = self.steps.get((group, resource))
        if steps is None:
            return Steps.constant(self._capacity[group].get(resource, 0))
        return steps

    def amount(self, group: str, resource: str, t: int) -> float:
        """Return the desired amount of a resource on each single node of a group at a time in seconds."""
        return self.of(group, resource).at(t)

    def total(self, resource: str, t: int) -> float:
        """Return the desired amount of a resource on the whole machine at a time in seconds."""
        return sum(g.count * self.amount(g.name, resource, t) for g in self.platform.groups)

    def totals(self, resource: str, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return (times, amounts) of the whole machine in [begin, end): the amount from each time on.

        The first time is ``begin``. Of ``"power"``, if no node has a capacity of it, these are the watts of ``power``;
        without such a wish they are infinite.
        """
        if resource == POWER and POWER not in self.platform.resources:
            if self.power is None:
                power = Steps.constant(math.inf)
            else:
                power = self.power
            pieces = [(a, amount) for a, _, amount in power.pieces(begin, end)]
            return np.array([a for a, _ in pieces], np.int64), np.array([amount for _, amount in pieces], float)
        changes: dict[int, float] = {begin: 0.0}
        for group in self.platform.groups:
            before = 0.0
            for a, _, amount in self.of(group.name, resource).pieces(begin, end):
                changes[a] = changes.get(a, 0.0) + group.count * (amount - before)
                before = amount
        times = sorted(changes)
        return np.array(times, np.int64), np.cumsum([changes[t] for t in times])

    def next_change(self, t: int) -> int | None:
        """Return the first time after ``t`` at which a step of any wish begins, in seconds; None if there is none."""
        return min((c for c in (s.next_change(t) for s in self._all()) if c is not None), default=None)

    @property
    def last_change(self) -> int:
        """The last time in seconds at which a step without period begins; ``steps.ALWAYS`` if there is none."""
        return max((s.times[-1] for s in self._all() if s.period is None), default=ALWAYS)

    @property
    def wished(self) -> tuple[str, ...]:
        """The resources with a wish: first those of the platform, then ``"power"`` of the machine."""
        own = {resource for _, resource in self.steps}
        return (*(r for r in self.platform.resources if r in own), *(() if self.power is None else (POWER,)))

    @cached_property
    def arrays(self) -> ProfileArrays:
        """The amounts per group and resource as flat arrays, for compiled code."""
        return arrays_of(self)

    @cached_property
    def empty_machine(self) -> EmptyMachine:
        """The times at which the empty machine can hold a job within the profile."""
        return EmptyMachine(self)

    def check_covers(self, begin: int, end: int, what: str = "replay") -> None:
        """Check that some wish concerns the time from ``begin`` to ``end`` of a replay or problem, in seconds.

        Raises
        ------
        ProblemError
            If the first step begins after ``end``, or the wishes end before ``begin``.
        """
        if self.period is not None:
            return
        starts = [s.times[1] if len(s.times) > 1 else s.times[0] for s in self._all()]
        if starts and min(starts) > end:
            raise ProblemError(
                f"the desired profile begins at {min(starts)} s, after the end of the {what} at {end} s: it covers nothing "
                "of it. Times are on the clock of the workload; give a period to repeat the profile"
            )
        if self.end is not None and self.end <= begin:
            raise ProblemError(
                f"the desired profile ends at {self.end} s, before the begin of the {what} at {begin} s: it covers nothing "
                "of it. Times are on the clock of the workload; give a period to repeat the profile"
            )
