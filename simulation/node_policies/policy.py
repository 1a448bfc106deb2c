"""The protocol of node policies: the input (``NodeMoment``) and the output (``NodeDecision``) of one call.

A node policy is an object with an attribute ``name`` and two methods, ``begin`` and ``decide``. Pass it to
``schedlab.simulate(..., node_policy=...)``; a dispatcher that has an attribute ``node_policy`` brings its own.

1. At each event jobs end, jobs arrive, and the dispatcher decides. Then the engine boots the nodes that are needed (see
   below) and calls ``decide`` once. ``NodeDecision.wake`` requests a further call.
2. ``decide`` returns the nodes to switch off and to boot. A node shuts down, is off for a least time, boots, and is on
   again (``Switching``); none of this can be shortened.

The engine keeps these rules for every policy:

- No job starts on a node that is not on. A dispatcher sees such a node as in use up to ``Moment.ready``, the earliest
  time at which it can be on, and may plan on it from then on.
- A planned start (``Decision.plan``, a kept reservation of conservative backfilling) is *needed*: its nodes that are off
  boot so early that they are on at its time, if there is time for that.
- So is a waiting job without a plan: jobs are taken in the order of the queue; nodes that are off boot as far as a job
  does not fit on those that are on. For the first job that has to wait for running jobs, they boot so early that they
  are on when these are expected to end.
- A node may be switched off if it is on, runs no job, and is not needed before it could be on again:
  ``NodeMoment.may_switch_off``. A decision that names another node ends the replay with ``SimulationError``.

All nodes are on at the begin of a replay.

Examples
--------
Switch every node off as soon as it is idle:

>>> import numpy as np
>>> class OffAtOnce:
...     name = "off-at-once"
...
...     def begin(self, platform, switching, desired):
...         pass
...
...     def decide(self, moment: NodeMoment) -> NodeDecision:
...         return NodeDecision(off=np.flatnonzero(moment.may_switch_off))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...models import DesiredProfile, Job, Platform
from ...models.excerpt import with_short_repr
from .switching import Switching

Ints = NDArray[np.int64]


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
