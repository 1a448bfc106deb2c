"""The steps of a desired use that limits the starts of a replay: amounts of each place that no start may use.

At a time t, a job starts on a node only if what is in use there afterwards is at most the desired use at t and the
capacity [Bridi2018, 5.4, algorithm 4, corrected]. The amounts between both are taken from the free amounts of the node,
so that rules and backfilling need not know of it; where more is in use than desired, the free amounts are negative.

Where nodes are only counted (all are equal, and each unit takes more than half of one), the desired use is a number of
nodes: the greatest share of the nodes that no wish forbids, rounded down. The power of the machine is a further amount of
the one place then, see ``power_column``.
"""

from __future__ import annotations

from math import floor, lcm
from typing import TYPE_CHECKING, Self

import numpy as np

from ....heuristics.kernels.events.state import EARLY, NOW, STARTED, WAKE, State
from ....heuristics.kernels.profile import NEVER, Ints
from ....models.dispatch.jobs import DAY
from ....models.profiles import DesiredProfile

if TYPE_CHECKING:
    from ..progress import ReplayPlan

ROUNDING = 1e-6  # an amount less below a whole number is this number


class ProfileSteps:
    """The steps of the desired use in one replay, applied to its state one after the other.

    Attributes
    ----------
    due : int
        The time of the next step in seconds; NEVER if there is none.
    """

    def __init__(self, plan: ReplayPlan, state: State) -> None:
        self.plan, self.state = plan, state
        self._arrivals = int(plan.trace.release[plan.trace.order].min()) if plan.trace.order.size else 0
        begin = self._arrivals if plan.workload.begin is None else plan.workload.begin
        self._held = np.zeros_like(state.free)
        self._idle: tuple[int, int] | None = None  # jobs that had started, and the last time that matters
        self._hold(begin)

    @classmethod
    def of(cls, plan: ReplayPlan, state: State) -> Self | None:
        """Return the steps of a replay; None if no desired use limits its starts."""
        return cls(plan, state) if plan.within else None

    def _hold(self, t: int) -> None:
        """Take from the free amounts what no start may use from time ``t`` on."""
        held = held_at(self.plan, t)
        self.state.free[:] += self._held - held
        if (held < self._held).any():
            self.state.clock[EARLY] += 1  # reservations may move to earlier times, as if a job had ended early
            self.state.room[:] = NEVER
        self._held = held
        self.due = self._next_change(t)

    def _next_change(self, t: int) -> int:
        """Return the first time after ``t`` at which other amounts may be used; NEVER if there is none."""
        profiles = self.plan.within
        round_ = lcm(*(p.period for p in profiles if p.period is not None))
        last = max((max(p.last_change, t) for p in profiles), default=t) + round_
        while t <= last:
            t = min((at for p in profiles if (at := p.next_change(t)) is not None), default=NEVER)
            if t < NEVER and (held_at(self.plan, t) != self._held).any():
                return t
        return NEVER

    def go(self) -> None:
        """Apply the next step; the state is at its time."""
        self._hold(self.due)

    def useless(self, busy: bool) -> bool:
        """Return whether the machine has been idle for so long that no later step can help a waiting job.

        ``busy``: whether jobs run or still arrive.
        """
        clock = self.state.clock
        if busy or clock[WAKE] < NEVER:
            self._idle = None
            return False
        if self._idle is None or self._idle[0] != clock[STARTED]:
            periods = [profile.period for profile in self.plan.within if profile.period is not None]
            last = [hi for windows in self.plan.workload.windows.values() for _, hi in windows]
            self._idle = int(clock[STARTED]), max([int(clock[NOW]), *last]) + lcm(DAY, *periods)
        return self.due > self._idle[1]


def held_at(plan: ReplayPlan, t: int) -> Ints:
    """Return the amounts of each place that no start at time ``t`` may use, shape (places, resources)."""
    platform, capacity = plan.platform, plan.trace.capacity
    held = np.zeros_like(capacity)
    for profile in plan.within:
        if plan.by_count:
            held[0, 0] = max(held[0, 0], capacity[0, 0] - nodes_at(profile, t))
            if profile.power is not None:
                held[0, 1] = max(held[0, 1], capacity[0, 1] - least(1000 * profile.power.at(t), int(capacity[0, 1])))
            continue
        first = 0
        for group in platform.groups:
            for r, resource in enumerate(platform.resources):
                whole = group.capacity.get(resource, 0)
                free = whole - least(profile.amount(group.name, resource, t), whole)
                held[first : first + group.count, r] = np.maximum(held[first : first + group.count, r], free)
            first += group.count
    return held


def nodes_at(profile: DesiredProfile, t: int) -> int:
    """Return the number of nodes that may be in use: of each group the least share of a wished resource.

    Examples
    --------
    >>> from schedlab.models import NodeGroup, Platform
    >>> from schedlab.models.profiles import flat
    >>> nodes_at(flat(Platform([NodeGroup("n", 10, {"cores": 16})]), 0.75), 0)
    7
    """
    found = 0
    for group in profile.platform.groups:
        shares = [profile.amount(group.name, r, t) / c for r, c in group.capacity.items() if c]
        found += least(min(shares, default=1.0) * group.count, group.count)
    return found


def least(amount: float, most: int) -> int:
    """Return an amount rounded down, and at most ``most``."""
    return most if amount >= most else floor(amount + ROUNDING)
