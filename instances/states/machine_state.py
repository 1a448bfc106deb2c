"""The state of a machine and its queue at one time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...models.comparing import hashable
from ...models.dispatch.jobs import Job, Queue, Running
from ...models.excerpt import with_short_repr
from ...models.platform import Platform
from ...models.production.reserved import Reserved

SCHEMA, VERSION = "schedlab-state", 1
UP = "up"


@with_short_repr
@hashable
@dataclass(frozen=True)
class MachineState:
    """The state of a machine and its queue at one time.

    Attributes
    ----------
    now
        The time in seconds. All times count from 1970 or from any other second 0, plus ``shift``.
    platform
        The nodes, by their real names. Amounts that are neither free nor used by the running jobs are left out.
    states
        The state of each node, in the order of ``platform.nodes``; see ``schedlab.models.node_states``.
    queues
        The queues of the jobs.
    waiting
        The jobs that may start, by submit time.
    running
        The running jobs. A job that uses different amounts on its nodes is listed as several, which end together;
        the later ones have ids such as "17+1".
    left_out
        Id -> reason, for the jobs in the queue that must not start now.
    shift
        Seconds that were added to the times of the file, so that second 0 is a midnight of the machine's clock.
    reserved
        The reservations of the machine that are not over, as they were requested. One that holds different amounts on
        its nodes is listed as several of the same name.
    array_of
        Id -> array of each waiting task of an array whose tasks may not all run at once.
    may_start
        Array -> how many of its tasks may start beside those that run. No more of them are in ``waiting``.
    """

    now: int
    platform: Platform
    states: tuple[str, ...]
    queues: tuple[Queue, ...]
    waiting: tuple[Job, ...]
    running: tuple[Running, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    shift: int = 0
    reserved: tuple[Reserved, ...] = ()
    array_of: Mapping[str, str] = field(default_factory=dict)
    may_start: Mapping[str, int] = field(default_factory=dict)
