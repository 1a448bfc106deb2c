"""What a dispatcher sees at one moment and what it answers; never a runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...models import Job, Platform, Queue, Running

Ints = NDArray[np.int64]


class Start(NamedTuple):
    """Start a waiting job now, its units on these nodes: {node name: units}."""

    job: str
    nodes: Mapping[str, int]


@dataclass(frozen=True)
class Moment:
    """The machine and the queue at ``now``, as a real dispatcher would see them.

    ``waiting``: the jobs submitted and not started, in order of arrival, each with the user's walltime and no runtime;
    ``expected``: job id -> the duration to reckon with, in seconds, from the predictor in use (waiting and running jobs);
    ``may_start``: which of the waiting jobs the calendars allow to start now; ``running``: with ``end`` = start +
    expected duration, which has passed already if the job was underestimated; ``free`` (nodes x resources): what is free
    now on each of ``platform.nodes``.
    """

    now: int
    platform: Platform
    queues: Sequence[Queue]
    waiting: Sequence[Job]
    expected: Mapping[str, int]
    may_start: NDArray[np.bool_]
    running: Sequence[Running]
    free: Ints


Ended = Literal["trivial", "optimal", "limit", "no-gain", "infeasible", "nothing"]


@dataclass
class Decision:
    """How a call of a dispatcher went, for the statistics; what is not known stays None.

    ``ended``: "trivial": all that could start now fits, or nothing was to decide: no solver was asked; "optimal":
    proven; "limit": cut by the time limit; "no-gain": steps without improvement ended it; "infeasible": proven to have no
    solution; "nothing": the solver ended without a solution. ``gain``: by how much the solver improved the objective
    over its warm start, relative; 0 if it ended with the start itself.
    """

    starts: Iterable[Start]
    ended: Ended = "trivial"
    gain: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)  # "model", "solve", "allocate"
    jobs: int = 0  # in the model
    urgent: int = 0  # jobs that max_stretch put first


class Dispatcher(Protocol):
    """Decides, at each event, which waiting jobs start now and where.

    A dispatcher is asked after the completions and the arrivals of a moment. It may keep what it likes between calls;
    ``begin`` is called once before a replay.
    """

    name: str

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """A replay begins."""

    def decide(self, moment: Moment) -> Decision:
        """What starts now."""
