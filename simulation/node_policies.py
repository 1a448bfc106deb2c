"""Node policies: which nodes are switched off and on during a replay; their protocol and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import WrongValue
from ..models import DesiredProfile, Job, Platform
from ..models.arguments import is_whole, shown
from ..models.array_types import Ints
from ..models.platform import LATEST
from ..models.profiles import count_on
from ..models.registry import WHOLE_SECONDS, Registry, seconds_of
from ..models.words import excerpt, with_short_repr

# --- How long nodes take to boot and to shut down, and the states that they go through.

OFF = 0
BOOTING = 1
SHUTTING_DOWN = 2
ON = 3
STATE_NAMES = ("off", "booting", "shutting down", "on")
"""The names of the states ``OFF``, ``BOOTING``, ``SHUTTING_DOWN`` and ``ON``, which are indices of this tuple."""


@with_short_repr
@dataclass(frozen=True)
class Switching:
    """The times of nodes that are switched off and on: on -> shutting down -> off -> booting -> on.

    Parameters
    ----------
    boot : int, default 300
        Seconds from the begin of the boot until jobs may start.
    shut_down : int, default 60
        Seconds from the switch-off until the node is off.
    min_off : int, default 900
        Least time in seconds that a node is off before it boots. It cannot be shortened.

    Raises
    ------
    WrongValue
        If a time is not a whole number of seconds from 0 to 10^10.

    Examples
    --------
    >>> Switching(boot=45 * 60).away
    3660
    """

    boot: int = 300
    shut_down: int = 60
    min_off: int = 900

    def __post_init__(self) -> None:
        for name in ("boot", "shut_down", "min_off"):
            value = getattr(self, name)
            if not is_whole(value) or not 0 <= value <= LATEST:
                raise WrongValue(
                    f"switching: {name} is {shown(value)} s; a whole number of at least 0 and at most {LATEST} is expected"
                )

    @property
    def away(self) -> int:
        """The least time in seconds from a switch-off until jobs may start again."""
        return self.shut_down + self.min_off + self.boot


# --- The protocol of node policies: the input (``NodeMoment``) and the output (``NodeDecision``) of one call.
#
# A node policy is an object with an attribute ``name`` and two methods, ``begin`` and ``decide``. Pass it to
# ``schedlab.simulate(..., node_policy=...)``; a dispatcher that has an attribute ``node_policy`` brings its own.
#
# 1. At each event jobs end, jobs arrive, and the dispatcher decides. Then the engine boots the nodes that are needed (see
#    below) and calls ``decide`` once. ``NodeDecision.wake`` requests a further call.
# 2. ``decide`` returns the nodes to switch off and to boot. A node shuts down, is off for a least time, boots, and is on
#    again (``Switching``); none of this can be shortened.
#
# The engine keeps these rules for every policy:
#
# - No job starts on a node that is not on. A dispatcher sees such a node as in use up to ``Moment.ready``, the earliest
#   time at which it can be on, and may plan on it from then on.
# - A planned start (``Decision.plan``, a kept reservation of conservative backfilling) is *needed*: its nodes that are off
#   boot so early that they are on at its time, if there is time for that.
# - So is a waiting job without a plan: jobs are taken in the order of the queue; nodes that are off boot as far as a job
#   does not fit on those that are on. For the first job that has to wait for running jobs, they boot so early that they
#   are on when these are expected to end.
# - A node may be switched off if it is on, runs no job, and is not needed before it could be on again:
#   ``NodeMoment.may_switch_off``. A decision that names another node ends the replay with ``SimulationError``.
#
# All nodes are on at the begin of a replay.
#
# Examples
# --------
# Switch every node off as soon as it is idle:
#
# >>> import numpy as np
# >>> class OffAtOnce:
# ...     name = "off-at-once"
# ...
# ...     def begin(self, platform, switching, desired):
# ...         pass
# ...
# ...     def decide(self, moment: NodeMoment) -> NodeDecision:
# ...         return NodeDecision(off=np.flatnonzero(moment.may_switch_off))


@with_short_repr
@dataclass(frozen=True, eq=False)
class NodeMoment:
    """The nodes, the queue and the plan after the dispatcher's decision; arrays of shape (nodes,), in platform order.

    Times are seconds on the clock of the replay; ``NEVER`` (``heuristics.kernels.profile``) stands for no such time.

    Parameters
    ----------
    now : int
        The current time.
    platform : Platform
        The machine.
    state : ndarray of int
        ``ON``, ``OFF``, ``BOOTING`` or ``SHUTTING_DOWN``.
    since : ndarray of int
        The time at which the node came into this state.
    ready : ndarray of int
        The earliest time at which jobs may start: ``now`` if the node is on.
    idle_since : ndarray of int
        The time since which a node that is on has run no job; NEVER if it runs one or is not on.
    busy_until : ndarray of int
        The latest expected end of a job that runs or is planned on the node; ``now`` if there is none.
    needed : ndarray of int
        The time at which the node must be on for a planned start or a waiting job; NEVER if it is not needed.
    may_switch_off : ndarray of bool
        Whether the node may be switched off now.
    waiting : sequence of Job
        The waiting jobs, as the dispatcher sees them.
    """

    now: int
    platform: Platform
    state: Ints
    since: Ints
    ready: Ints
    idle_since: Ints
    busy_until: Ints
    needed: Ints
    may_switch_off: NDArray[np.bool_]
    waiting: Sequence[Job]


@with_short_repr
@dataclass(frozen=True, eq=False)
class NodeDecision:
    """The nodes to switch off and to boot now, as indices into ``platform.nodes``.

    Parameters
    ----------
    off : sequence of int
        Nodes that ``NodeMoment.may_switch_off`` allows.
    on : sequence of int
        Nodes to boot; those that cannot boot yet (shutting down, or off for less than the least time) boot as soon as
        they can, those that are on or boot are left.
    wake : int, optional
        A later time in seconds at which the policy is called as well.
    """

    off: Sequence[int] | Ints = ()
    on: Sequence[int] | Ints = field(default=())
    wake: int | None = None


class NodePolicy(Protocol):
    """An object that decides which nodes are switched off and on; see the module docstring.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    """

    name: str

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Prepare for a replay; called once before the first event.

        Parameters
        ----------
        platform : Platform
            The machine.
        switching : Switching
            The times of boot, shut-down and the least time off.
        desired : DesiredProfile or None
            The desired profile of the replay (``simulate(desired=...)``). A policy of your own may keep another one and
            change it during the replay.
        """

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return the nodes to switch off and to boot."""


# --- Node policies without knowledge of the future: always on, and off after some idle time.

USUAL = "30min"


@with_short_repr
class AlwaysOn:
    """Switch no node off."""

    name = "always-on"

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Do nothing."""

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return no node."""
        return NodeDecision()


@with_short_repr
class Idle:
    """Switch nodes off that have run no job for some time.

    Parameters
    ----------
    after : str, default "30min"
        The time, such as 300s, 30min or 2h.

    Raises
    ------
    WrongValue
        If it is no time.
    """

    def __init__(self, after: str = USUAL) -> None:
        seconds = seconds_of(after)
        if seconds is None or seconds > LATEST:
            raise WrongValue(
                f"the node policy idle: after is {excerpt(after)}; expected {WHOLE_SECONDS.expected}, at most {LATEST} s"
            )
        self.after, self.name = seconds, f"idle:{after}"

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Do nothing."""

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return the nodes that have been idle for long enough, and the next time at which there is one."""
        since = moment.idle_since[moment.may_switch_off] + self.after
        later = since[since > moment.now]
        off = np.flatnonzero(moment.may_switch_off & (moment.idle_since + self.after <= moment.now))
        return NodeDecision(off, wake=int(later.min()) if later.size else None)


# --- The node policy that follows a desired profile: nodes are on ahead of time, and off when the profile needs fewer.


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
        if not self._own:
            self.desired = desired
        if self.desired is None:
            raise WrongValue(
                "node policy profile follows a desired profile; give one (desired=..., bench simulate --desired FILE)"
            )
        self._times = switching
        counts = [g.count for g in platform.groups]
        self._groups = list(zip(platform.groups, [0, *accumulate(counts)], strict=False))

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return the nodes that the profile does not need, and those that it needs soon."""
        assert self.desired is not None
        now = moment.now
        boot = self._times.boot
        away = self._times.away
        changes = [now, *self._changes(now, now + away)]
        off = list[int]()
        on = list[int]()
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
        changes = list[int]()
        t = self._after(begin)
        while t is not None and t <= end:
            changes.append(t)
            t = self._after(t)
        return changes

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


# --- The names of node policies: those of schedlab and of third parties, with options as text.

NODE_POLICIES: Registry[NodePolicy] = Registry(
    "node policy",
    "schedlab.node_policies",
    {
        "always-on": AlwaysOn,
        "idle": Idle,
        "profile": FollowProfile,
    },
    parts=("name", "begin", "decide"),
    docs="docs/reference/energy.md",
    first_value=True,
)
"""The node policies by name: a policy, or a class or function that returns one."""


def node_policy_of(what: str | NodePolicy | type[NodePolicy]) -> NodePolicy:
    """Return a node policy by its name, or check an object.

    Parameters
    ----------
    what : str or NodePolicy
        ``"always-on"``, ``"idle:30min"``, ``"profile"``, ``"NAME"`` or ``"NAME:VALUE"`` of a third party,
        ``"module:attribute"``, or an object.

    Returns
    -------
    NodePolicy
        The policy.

    Raises
    ------
    UnknownName
        If there is no such policy or option; the message lists similar names.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If it cannot be imported or created, or lacks a part.

    Examples
    --------
    >>> node_policy_of("idle:30min").name
    'idle:30min'
    """
    return NODE_POLICIES.make(what)
