"""Desired profiles in CP dispatchers: the profile of the moment as a limit (hard) or with a cost (soft)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ....errors import WrongValue
from ....models import DesiredProfile, Dispatch
from ....models.arguments import is_real, shown
from ....models.array_types import Ints
from ....models.desired_profile import ALWAYS, Steps
from ....models.dispatch.arrays import NodeArrays
from ....models.dispatch.desired import Shape, shape_of
from ....models.dispatch.formulations import Blocks, Levels
from ...dispatcher import Moment
from ...errors import NO_ROOM
from .model import FOLLOWED, Usage, problem_of
from .placing import NodeTimeline, Waiting

# --- The names of CP dispatchers that follow a desired profile: ``hcp3-profile``, or with a cost ``hcp3-profile:0.5``.

PROFILE = "-profile"
FOLLOWING = tuple(f"{name}{PROFILE}" for name in ("pcp2", "pcp3", "hcp2", "hcp3", "cpmodel"))
"""The names without a cost."""


def split_cost(name: str) -> tuple[str, float | None]:
    """Return the name and the cost of an amount-hour above the profile; None: no cost.

    Raises
    ------
    ValueError
        If the cost is no number of at least 0.

    Examples
    --------
    >>> split_cost("hcp3-profile:0.5"), split_cost("hcp3-profile"), split_cost("easy:lst")
    (('hcp3-profile', 0.5), ('hcp3-profile', None), ('easy:lst', None))
    """
    base, colon, text = name.partition(":")
    if not colon or base not in FOLLOWING:
        return name, None
    cost = float(text)
    if not 0 <= cost < math.inf:
        raise WrongValue(text)
    return base, cost


FOREVER = -ALWAYS  # after all times of a workload


class Following:
    """The desired profile of a dispatcher in one replay.

    Parameters
    ----------
    profile : DesiredProfile
        The profile.
    over_cost : float, optional
        The cost of an amount-hour above the profile; None: the profile is a limit.
    """

    def __init__(self, profile: DesiredProfile, over_cost: float | None) -> None:
        self.profile, self.over_cost = profile, over_cost
        self.hard = over_cost is None
        self.nodes = NodeArrays(profile.platform)
        self._known: dict[tuple[Shape, int, int], bool] = {}
        self._next = ALWAYS

    def until(self, now: int, jobs: Waiting) -> int:
        """Return the time in seconds up to which starts now keep to a hard profile."""
        return now + max(FOLLOWED, int(jobs.walltime.max(initial=0)))

    def cut(self, jobs: Waiting, now: int) -> Waiting:
        """Return the jobs; those that fit at no time within a hard profile are shorter."""
        if not self.hard or not self.profile.steps:
            return jobs
        duration = jobs.duration.copy()
        walltime = jobs.walltime.copy()
        for k, job in enumerate(jobs.jobs):
            shape = shape_of(job, self.profile.platform.resources)
            for lengths in (duration, walltime):
                if not self._fits(shape, int(lengths[k]), now):
                    lengths[k] = self._length(shape, now) or lengths[k]
        return replace(jobs, duration=duration, walltime=walltime)

    def _fits(self, shape: Shape, duration: int, now: int) -> bool:
        begin = now if self.profile.period is None else 0
        key = (shape, duration, begin)
        if key not in self._known:
            self._known[key] = self.profile.empty_machine.first_start(shape, duration, begin) is not None
        return self._known[key]

    def _length(self, shape: Shape, now: int) -> int | None:
        empty = self.profile.empty_machine
        return empty.room(shape, now) or empty.longest(shape)

    def blocks(self, now: int, usage: Usage, until: int) -> Blocks | None:
        """Return what a hard profile takes from the nodes beside what is in use; None if it takes nothing."""
        if not self.hard or not self.profile.steps:
            return None
        return Levels.beside(self.profile, self.nodes, usage, now, until).blocks

    def held(self, now: int, usage: Usage) -> Ints:
        """Return what a hard profile keeps from starts now beside what is in use, shape (nodes, resources)."""
        held = np.zeros_like(self.nodes.capacity)
        blocks = self.blocks(now, usage, now + 1)
        if blocks is not None:
            here = (blocks.begin <= now) & (now < blocks.end)
            np.add.at(held, blocks.node[here], blocks.amount[here])
        return held

    def terms(self, now: int, until: int) -> Mapping[str, Any]:
        """Return the profile and its cost as arguments of ``Dispatch``, as seen from now on."""
        if self.hard:
            limits = _clipped(self.profile, now, until, least=False)
            return {"desired": replace(limits, power=None)}  # which the simulator limits
        return {"desired": _clipped(self.profile, now, now + FOLLOWED, least=True), "over_cost": self.over_cost}

    def changed(self, now: int) -> bool:
        """Return whether the profile has changed since the last call."""
        changed = now >= self._next
        later = self.profile.next_change(now)
        self._next = FOREVER if later is None else later
        return changed

    def wake(self, now: int) -> int | None:
        """Return when a dispatcher with a soft profile asks to be called; the simulator itself follows a hard one."""
        return None if self.hard else self.profile.next_change(now)


def _clipped(profile: DesiredProfile, now: int, until: int, least: bool) -> DesiredProfile:
    """Return the profile without a period, with a step at ``now``; from ``until`` on without wishes, or the least amounts."""
    capacity = {g.name: g.capacity for g in profile.platform.groups}
    made = {
        (group, resource): _steps(steps, now, until, capacity[group][resource], least)
        for (group, resource), steps in profile.steps.items()
    }
    power = None if profile.power is None else _steps(profile.power, now, until, math.inf, least)
    return DesiredProfile(profile.platform, made, power)


def _steps(steps: Steps, now: int, until: int, capacity: float, least: bool) -> Steps:
    pieces = list(steps.pieces(now, until))
    later = steps.amounts if steps.period is not None else [steps.at(until)]
    amounts = [capacity, *(amount for _, _, amount in pieces), min(later) if least else capacity]
    return Steps([ALWAYS, *(a for a, _, _ in pieces), until], amounts)


def with_profile(problem: Dispatch, following: Following | None, until: int) -> Dispatch:
    """Return the problem of a moment with the profile; ``until``: how long a hard one is followed, in seconds."""
    return problem if following is None else problem.replace(**following.terms(problem.now, until))


class ProfileFollower:
    """What all CP dispatchers share that can follow a desired profile.

    Attributes
    ----------
    desired : DesiredProfile or None
        The profile of the replay, which the simulator sets.
    within_profile : bool
        Whether it is a limit.
    following : Following or None
        The profile in the replay that has begun; None: the dispatcher follows none.
    until : int
        The time in seconds up to which a hard profile is followed at the current moment; 0 without one.
    """

    desired: DesiredProfile | None
    following: Following | None
    until: int

    def follows(self, profile: bool, over_cost: float | None, can: bool) -> None:
        """Set whether the dispatcher follows a profile, and the cost of an amount-hour above it.

        Raises
        ------
        WrongValue
            If the cost is negative or given without ``profile``, or the dispatcher ``can`` follow none.
        """
        if over_cost is not None and not profile:
            raise WrongValue(
                f"over_cost is {shown(over_cost)}, but the dispatcher follows no profile; expected profile=True"
            )
        if over_cost is not None and (not is_real(over_cost) or not 0 <= over_cost < np.inf):
            raise WrongValue(f"over_cost is {shown(over_cost)}; expected the cost of an amount-hour, at least 0")
        if profile and not can:
            raise WrongValue(f"versions 0 and 1 follow no desired profile: {NO_ROOM}; versions 2 and 3 do")
        self.follows_profile, self.over_cost = profile, over_cost
        self.within_profile = profile and over_cost is None
        self.following, self.until = None, 0
        self.needs = frozenset[str]()
        if profile:
            self.desired = None  # up to the replay, which sets it
            self.needs = frozenset({"profile", "given-profile"})
        if self.within_profile:
            self.needs |= {"profile-limits"}

    @property
    def suffix(self) -> str:
        """The part of the name that tells about the profile."""
        if not self.follows_profile:
            return ""
        return PROFILE if self.over_cost is None else f"{PROFILE}:{self.over_cost:.15g}"

    @property
    def is_soft(self) -> bool:
        """Whether it follows a profile with a cost."""
        return self.follows_profile and not self.within_profile

    def prepared(self, jobs: Waiting, now: int) -> Waiting:
        """Return the waiting jobs of a moment as the profile lets them be planned."""
        if self.following is None:
            return jobs
        self.until = self.following.until(now, jobs) if self.following.hard else 0
        return self.following.cut(jobs, now)

    def is_free(self, moment: Moment, jobs: Waiting, usage: Usage) -> bool:
        """Return whether all these jobs can start now without a cost: always, if the profile has none."""
        if self.following is None or self.following.hard:
            return True
        anytime = [((moment.now, FOREVER),)] * len(jobs.jobs)
        over = with_profile(problem_of(moment, jobs, anytime, usage, "waiting"), self.following, self.until).over
        now = np.full(len(jobs.jobs), moment.now)
        return over is None or over.value(now, now + jobs.duration) <= over.value(now, now)

    def held_by_profile(self, now: int, usage: Usage) -> Ints:
        """Return what the profile keeps from starts now beside what is in use, shape (nodes, resources); 0 if nothing."""
        return np.zeros(1, np.int64) if self.following is None else self.following.held(now, usage)

    def timeline(self, capacity: Ints, now: int, usage: Usage) -> NodeTimeline:
        """Return the free capacity over time beside what is in use, within a hard profile."""
        blocks = None if self.following is None else self.following.blocks(now, usage, self.until)
        return NodeTimeline(capacity, now, usage, blocks)


def following_of(dispatcher: Any) -> Following | None:
    """Return the profile that a dispatcher follows in the replay that begins.

    Raises
    ------
    WrongValue
        If it follows one and there is none.
    """
    if not dispatcher.follows_profile:
        return None
    if dispatcher.desired is None:
        raise WrongValue(
            f"dispatcher {dispatcher.name} follows a desired profile; give one (desired=..., --desired FILE)"
        )
    return Following(dispatcher.desired, dispatcher.over_cost)


def earlier(one: int | None, other: int | None) -> int | None:
    """Return the earlier one of two times; None: no time."""
    return min((t for t in (one, other) if t is not None), default=None)
