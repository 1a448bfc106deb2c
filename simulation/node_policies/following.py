"""The node policy that follows a desired profile: nodes are on ahead of time, and off when the profile needs fewer."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ...errors import WrongValue
from ...models import DesiredProfile, Platform
from ...models.excerpt import with_short_repr
from ...models.profiles.extraction import count_on
from .policy import Ints, NodeDecision, NodeMoment
from .switching import BOOTING, ON, Switching


@with_short_repr
class FollowProfile:
    """Keep as many nodes of each group on as the desired profile needs [Bridi2018, 7.4].

    Of a group of N nodes with the desired share d of cores, ``ceil(N d)`` are on. A node boots so early that it is on
    when the profile rises. When the profile falls, nodes are switched off unless it rises again before they could be
    back. Nodes in use, reserved or needed stay on, those that are needed longest first; then come those that are on, and
    the others, in the order of the platform.

    Parameters
    ----------
    desired : DesiredProfile, optional
        The profile; it may be replaced during a replay. None: that of the replay.

    Attributes
    ----------
    desired : DesiredProfile or None
        The profile.
    """

    name = "profile"

    def __init__(self, desired: DesiredProfile | None = None) -> None:
        self.desired, self._own = desired, desired is not None

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Take the profile of the replay, unless there is one already. Raises WrongValue if there is none."""
        self.desired = self.desired if self._own else desired
        if self.desired is None:
            raise WrongValue(
                "node policy profile follows a desired profile; give one (desired=..., bench simulate --desired FILE)"
            )
        self._times, counts = switching, [g.count for g in platform.groups]
        self._groups = list(zip(platform.groups, [0, *accumulate(counts)], strict=False))

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return the nodes that the profile does not need, and those that it needs soon."""
        assert self.desired is not None
        now, boot, away = moment.now, self._times.boot, self._times.away
        changes = [now, *self._changes(now, now + away)]
        off, on = list[int](), list[int]()
        for group, first in self._groups:
            nodes = np.arange(first, first + group.count)
            wanted = [(t, count_on(self.desired, group, t)) for t in changes]
            keep = max(count for _, count in wanted)
            boots = max(count for t, count in wanted if t <= now + boot)
            order = nodes[np.lexsort((nodes, _rank(moment, nodes), -moment.busy_until[nodes]))]
            there = np.isin(moment.state[order], (ON, BOOTING))
            on += order[:boots][~there[:boots]].tolist()
            rest = order[keep:]
            off += rest[moment.may_switch_off[rest]].tolist()
        return NodeDecision(off, on, self._next(now))

    def _changes(self, begin: int, end: int) -> list[int]:
        """Return the times of the steps of the profile in (begin, end]."""
        found, t = list[int](), self._after(begin)
        while t is not None and t <= end:
            found.append(t)
            t = self._after(t)
        return found

    def _after(self, t: int) -> int | None:
        assert self.desired is not None
        return self.desired.next_change(t)

    def _next(self, now: int) -> int | None:
        """Return the next time at which a step of the profile may change the decision; None if there is none."""
        ahead = (0, self._times.boot, self._times.away)
        times = [(self._after(now + d), d) for d in ahead]
        return min((t - d for t, d in times if t is not None), default=None)


def _rank(moment: NodeMoment, nodes: Ints) -> Ints:
    """Return 0 for nodes that are needed, 1 for those that are on or boot, 2 for the others."""
    on = np.isin(moment.state[nodes], (ON, BOOTING))
    needed = moment.needed[nodes] <= moment.now
    return np.where(needed, 0, np.where(on, 1, 2))
