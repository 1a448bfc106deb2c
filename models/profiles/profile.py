"""The desired use of the resources of a platform over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..comparing import hashable
from ..excerpt import excerpt, with_short_repr
from ..platform import Platform, ProblemError
from ..unknown_names import hint
from .arrays import ProfileArrays, arrays_of
from .empty_machine import EmptyMachine
from .steps import ALWAYS, Steps

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
            most, wished = capacity[group].get(resource, 0), max(steps.amounts)
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
        found = self.steps.get((group, resource))
        return Steps.constant(self._capacity[group].get(resource, 0)) if found is None else found

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
            power = Steps.constant(math.inf) if self.power is None else self.power
            found = [(a, amount) for a, _, amount in power.pieces(begin, end)]
            return np.array([a for a, _ in found], np.int64), np.array([amount for _, amount in found], float)
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
