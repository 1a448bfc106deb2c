"""The IT power of a machine over time: jobs, idle cores of nodes that are on, and nodes that boot or shut down.

``P(t) = sum of the powers of the running jobs + idle * (cores of the nodes that are on - cores in use) + boot * (cores of
the nodes that boot or shut down)``. [Bridi2018, 7] gives no idle power; its results need one, see docs/profit.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...models.platform import Platform, ProblemError
from ...models.step_function import StepFunction
from ...models.whole_numbers import is_number, shown

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
OFF, BOOTING, SHUTTING_DOWN = 0, 1, 2
"""The states of a node other than on."""
IDLE = 3.9  # W per core: half of the least power of a job in [Bridi2018, 6.8.1]


@dataclass(frozen=True, eq=False)
class Runs:
    """The jobs of a replay that ran; arrays of shape (jobs,).

    Parameters
    ----------
    submit, start, end : array of int
        Times in seconds.
    cores : array of int
        The cores over all units.
    watts : array of float
        The power of the whole job in watts.
    """

    submit: Ints
    start: Ints
    end: Ints
    cores: Ints
    watts: Floats


@dataclass(frozen=True, eq=False)
class NodeStates:
    """Intervals in which nodes are not on; arrays of shape (intervals,). At all other times a node is on.

    Parameters
    ----------
    node : array of int
        The index of the node in ``platform.nodes``.
    state : array of int
        ``OFF``, ``BOOTING`` or ``SHUTTING_DOWN``.
    begin, end : array of int
        The interval [begin, end) in seconds.
    """

    node: Ints
    state: Ints
    begin: Ints
    end: Ints

    @classmethod
    def always_on(cls) -> NodeStates:
        """Return the states of nodes that are always on."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none, none)


@dataclass(frozen=True)
class Machine:
    """A machine and the powers of its cores that run no job.

    Parameters
    ----------
    platform : Platform
        The nodes; they have cores.
    idle_watts : float, default 3.9
        Watts of each core of a node that is on and runs no job.
    boot_watts : float, optional
        Watts of each core of a node that boots or shuts down. None: the idle power.

    Raises
    ------
    ProblemError
        If a power is no number of at least 0.
    """

    platform: Platform
    idle_watts: float = IDLE
    boot_watts: float | None = None

    def __post_init__(self) -> None:
        for what, value in (("idle", self.idle_watts), ("boot", self.boot_watts)):
            if value is not None and not (is_number(value) and value >= 0):
                raise ProblemError(f"the {what} power is {shown(value)} W per core; a number of at least 0 is expected")

    @property
    def booting(self) -> float:
        """The watts of each core of a node that boots or shuts down."""
        return self.idle_watts if self.boot_watts is None else self.boot_watts


@dataclass(frozen=True)
class Power:
    """The use and the power of a machine over [begin, end), as step functions.

    Parameters
    ----------
    cores : StepFunction
        The cores in use.
    busy, idle, boot : StepFunction
        The watts of jobs, of idle cores, and of nodes that boot or shut down.
    """

    cores: StepFunction
    busy: StepFunction
    idle: StepFunction
    boot: StepFunction

    @property
    def it(self) -> StepFunction:
        """The IT power in watts; all parts have the same times."""
        values = np.sum([self.busy.values, self.idle.values, self.boot.values], axis=0)
        return StepFunction(self.busy.times, values.tolist(), self.busy.end)


def power_of(machine: Machine, runs: Runs, states: NodeStates, begin: int, end: int) -> Power:
    """Return the use and the power of a machine over a period.

    Parameters
    ----------
    machine : Machine
        The machine.
    runs : Runs
        The jobs.
    states : NodeStates
        When nodes were not on.
    begin, end : int
        The period in seconds, ``begin < end``.

    Returns
    -------
    Power
        The powers.

    Raises
    ------
    ProblemError
        If a job takes less power per core than an idle core, more cores are in use than are on, or two intervals of a
        node overlap.
    """
    _check(machine, runs, states)
    capacity = np.array([v[machine.platform.resources.index("cores")] for v in machine.platform.capacity.values()])
    lost = capacity[states.node] if states.node.size else np.zeros(0, np.int64)
    moving = states.state != OFF
    times = np.unique(np.concatenate([[begin], runs.start, runs.end, states.begin, states.end]))
    times = times[(times >= begin) & (times < end)]
    used = _level(times, runs.start, runs.end, runs.cores)
    on = int(capacity.sum()) - _level(times, states.begin, states.end, lost)
    short = np.flatnonzero(used > on)
    if short.size:
        k = short[0]
        raise ProblemError(
            f"at {times[k]} s {used[k]:g} cores are in use, but only {on[k]:g} are on: a job runs on a node that is off"
        )
    busy = _level(times, runs.start, runs.end, runs.watts)
    boot = machine.booting * _level(times, states.begin[moving], states.end[moving], lost[moving])

    def steps(values: Floats) -> StepFunction:
        return StepFunction(times.tolist(), values.tolist(), end)

    return Power(steps(used), steps(busy), steps(machine.idle_watts * (on - used)), steps(boot))


def _level(times: Ints, begin: Ints, end: Ints, amount: Ints | Floats) -> Floats:
    """Return the sum of the amounts whose [begin, end) contains each of the times."""
    found = np.zeros(len(times))
    for at, sign in ((begin, 1.0), (end, -1.0)):
        order = np.argsort(at, kind="stable")
        total = np.concatenate([[0.0], np.cumsum(amount[order].astype(np.float64))])
        found += sign * total[np.searchsorted(at[order], times, side="right")]
    # sums of powers leave rounding where nothing runs
    count = np.searchsorted(np.sort(begin), times, "right") - np.searchsorted(np.sort(end), times, "right")
    return np.where(count > 0, found, 0.0)


def _check(machine: Machine, runs: Runs, states: NodeStates) -> None:
    per_core = runs.watts / np.maximum(1, runs.cores)
    low = np.flatnonzero((runs.cores > 0) & (per_core < machine.idle_watts * (1 - 1e-9)))
    if low.size:
        raise ProblemError(
            f"the idle power, {machine.idle_watts:g} W per core, is above that of a running job, "
            f"{per_core[low[0]]:g} W per core; give a smaller idle power"
        )
    order = np.lexsort((states.begin, states.node))
    node, begin, end = states.node[order], states.begin[order], states.end[order]
    wrong = np.flatnonzero((node[1:] == node[:-1]) & (begin[1:] < end[:-1]))
    if wrong.size:
        k = wrong[0]
        name = machine.platform.nodes[node[k]]
        raise ProblemError(
            f"node {name} has two states at {begin[k + 1]} s: one ends at {end[k]} s; intervals of a node may not overlap"
        )
