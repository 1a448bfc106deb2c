"""Limits on what running jobs hold together: licences of the machine, and limits of users, accounts and QOS.

A job that a limit holds takes no reservation and delays no other job; it is tried again whenever a job has ended. The
component knows no dispatcher: limits are amounts of the replay (``TraceArrays.limit``), which every start takes and every
end gives back.

Limits in minutes [SlurmDoc, resource_limits] change while jobs run. Let a_i be what job i holds, L_i its time limit, and
``used(t) = sum over the runs so far of integral a_i f_i 2^(-(t - s) / H) ds``, with the half-life H of usage and the usage factor f_i
of the QOS. At time t job j may start if

- ``GrpTRESRunMins``: ``a_j L_j + sum over running i of a_i (what is left of L_i)`` is at most the limit;
- ``GrpTRESMins``, ``GrpWall`` (a_i = 1): ``used(t)`` is below the limit;
- ``GrpTRESMins`` with AccountingStorageEnforce=safe: ``used(t)`` plus the sum of GrpTRESRunMins is at most the limit.

Usage decays at each instant; a Slurm lets it decay at each PriorityCalcPeriod, at which jobs that such a limit holds are tried
again here, too. Amounts are in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...heuristics.kernels.events.state import WAITING, TraceArrays
from ...heuristics.kernels.profile import NEVER
from ...instances.workload import Workload
from ...models import Platform
from ...models.array_types import Bools, Floats, Ints
from ...models.dispatch.arrays import offsets
from ..agenda import Entry, Rank
from .feature import Feature, Replay

PERIOD = 300  # s: PriorityCalcPeriod of a Slurm that does not set it
OPEN = 2**60  # more than any job takes


@dataclass(frozen=True, eq=False)
class Minutes:
    """How a limit in minutes changes with time.

    Parameters
    ----------
    rates : ndarray of float, shape (entries,)
        What each job takes of the limit per second of its time limit.
    used : ndarray of float, shape (entries,)
        What each job adds to the usage per second that it runs. All 0: usage does not count.
    plans : bool
        Whether a start needs room for the whole time limit of the job; else the usage alone must be below the limit.
    half_life : int
        Half-life of usage in s; 0: it does not decay.
    period : int
        Seconds after which held jobs are tried again.

    Examples
    --------
    >>> Minutes(np.array([2.0]), np.array([0.0]), plans=True).half_life
    0
    """

    rates: Floats
    used: Floats
    plans: bool
    half_life: int = 0
    period: int = PERIOD

    def decayed(self, usage: float, rate: float, seconds: int) -> float:
        """Return the usage after some seconds in which jobs add ``rate`` to it per second.

        >>> held = Minutes(np.zeros(0), np.zeros(0), plans=False, half_life=100)
        >>> held.decayed(8.0, 0.0, 200), round(held.decayed(0.0, 1.0, 10**6) * math.log(2), 6)
        (2.0, 100.0)
        """
        if not self.half_life:
            return usage + rate * seconds
        kept = math.pow(2.0, -seconds / self.half_life)
        return usage * kept + rate * self.half_life / math.log(2) * (1.0 - kept)


@dataclass(frozen=True, eq=False)
class RunningLimit:
    """A limit on what some jobs hold together while they run.

    Parameters
    ----------
    name : str
        What messages call it, such as ``licences of 'matlab'``.
    most : int
        The greatest sum of the amounts; of a limit in minutes, in seconds.
    rows : ndarray of int64, shape (entries,)
        The rows of the jobs that it is for, in ascending order.
    amounts : ndarray of int64, shape (entries,)
        What each of them holds; of a limit in minutes, what its start takes.
    minutes : Minutes, optional
        Of a limit in minutes, how it changes with time.

    Examples
    --------
    >>> limit = RunningLimit("licences of 'matlab'", 2, np.array([0, 3]), np.array([1, 3]))
    >>> limit.never().tolist()  # the job of row 3 asks for more than there is
    [3]
    """

    name: str
    most: int
    rows: Ints
    amounts: Ints
    minutes: Minutes | None = None

    def never(self) -> Ints:
        """Return the rows of the jobs that it never lets start."""
        if self.minutes is not None and not self.minutes.plans:
            return self.rows if self.most <= 0 else self.rows[:0]
        return self.rows[self.amounts > self.most]


LimitsOf = Callable[[Workload, Platform], Sequence[RunningLimit]]
"""Returns the limits of the rows of a workload on a platform."""


def licences_of(workload: Workload, platform: Platform) -> list[RunningLimit]:
    """Return the limits that the licences of a platform are."""
    limits = []
    for name, total in platform.licences.items():
        amounts = np.array([dict(t.licences).get(name, 0) for t in workload.node_terms], np.int64)[workload.node_term]
        rows = np.flatnonzero(amounts)
        limits.append(RunningLimit(f"licences of {name!r}", total, rows, amounts[rows]))
    return limits


class RunningLimits(Feature):
    """The limits of a replay.

    Parameters
    ----------
    limits_of : sequence of callable
        Each returns limits of the jobs of the replay.
    """

    counts_kinds = True

    def __init__(self, limits_of: Sequence[LimitsOf]) -> None:
        self._limits_of = tuple(limits_of)

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays with the limits that can hold a job."""
        limits = [x for limits_of in self._limits_of for x in limits_of(workload, self._platform) if can_hold(x)]
        self._names = tuple(x.name for x in limits)
        self._timed: list[_Timed] = []
        if not limits:
            return trace
        row = np.concatenate([x.rows for x in limits])
        order = np.argsort(row, kind="stable")
        number = np.repeat(np.arange(len(limits)), [x.rows.size for x in limits])
        self._timed = [
            _Timed(k, x, x.minutes, np.flatnonzero(number[order] == k))
            for k, x in enumerate(limits)
            if x.minutes is not None
        ]
        self.watches = bool(self._timed)
        return trace._replace(
            first_limit=offsets(np.bincount(row, minlength=len(workload))),
            limit=number[order],
            limit_amount=np.concatenate([x.amounts for x in limits])[order],
            limit_capacity=np.array([x.most for x in limits], np.int64),
        )

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Keep the platform; the jobs stay as they are."""
        self._platform = platform
        return workload

    def begin(self, engine: Replay) -> None:
        """Name the limits for messages."""
        engine.timeline.limit_names = self._names
        self._engine = engine
        self._retry: Entry | None = None
        for each in self._timed:
            each.since = None

    def arrived(self, rows: Sequence[int]) -> None:
        """Take the walltimes that jobs have now for what their starts take of limits in minutes."""
        walltime = self._engine.workload.walltime
        for each in self._timed:
            if each.minutes.plans:
                at = each.entries(np.array(rows, np.int64))
                amounts = np.ceil(each.minutes.rates[at] * walltime[each.limit.rows[at]])
                self._engine.trace.limit_amount[each.slots[at]] = amounts.astype(np.int64)

    def before_decision(self) -> None:
        """Set what is left of the limits in minutes now."""
        if not self._timed:
            return
        engine = self._engine
        now = engine.now
        rows = np.array([*engine.running, *engine.timeline.inside], np.int64)
        start, walltime = engine.state.start[rows], engine.workload.walltime[rows]
        free = engine.state.limit_free
        more = False
        for each in self._timed:
            before = int(free[each.number])
            free[each.number] = each.left(now, rows, now - start, walltime)
            more = more or int(free[each.number]) > before
        if more:
            engine.timeline.freed_early()

    def after_decision(self) -> None:
        """Note which jobs run from now on, and come back while a limit in minutes may hold a waiting job."""
        if not self._timed:
            return
        engine = self._engine
        rows = np.array([*engine.running, *engine.timeline.inside], np.int64)
        for each in self._timed:
            each.runs(rows)
        if self._retry is not None:
            engine.agenda.cancel(self._retry)
            self._retry = None
        waiting = engine.state.waiting[: engine.state.clock[WAITING]]
        if not waiting.size:
            return
        amounts, free = engine.trace.limit_amount, engine.state.limit_free
        holding = [x for x in self._timed if (amounts[x.slots[x.entries(waiting)]] > free[x.number]).any()]
        later = [each.next_change(engine.now) for each in holding]
        names = [each.limit.name for each, time in zip(holding, later, strict=True) if time >= NEVER]
        self.keeps_waiting = f"used up: {'; '.join(names)}" if names else ""
        if later and min(later) < NEVER:
            self._retry = engine.agenda.add(min(later), Rank.OTHER, lambda: None)


@dataclass(eq=False)
class _Timed:
    """A limit in minutes in one replay.

    Parameters
    ----------
    number : int
        Its number among all limits.
    limit, minutes : RunningLimit, Minutes
        The limit.
    slots : ndarray of int64, shape (entries,)
        The places of its amounts in ``TraceArrays.limit_amount``.

    Attributes
    ----------
    since : int or None
        The time in s up to which usage is counted; None: the replay has not begun.
    usage, rate : float
        The usage at that time, and what the running jobs add to it per second.
    busy : bool
        Whether jobs of the limit run.
    """

    number: int
    limit: RunningLimit
    minutes: Minutes
    slots: Ints
    since: int | None = None
    usage: float = 0.0
    rate: float = 0.0
    busy: bool = False

    def entries(self, rows: Ints) -> Ints:
        """Return the entries of those of some rows that have one."""
        return self._known(rows)[0]

    def _known(self, rows: Ints) -> tuple[Ints, Bools]:
        at = np.minimum(np.searchsorted(self.limit.rows, rows), self.limit.rows.size - 1)
        known = self.limit.rows[at] == rows
        return at[known], known

    def left(self, now: int, rows: Ints, ran: Ints, walltime: Ints) -> int:
        """Return what is left now; ``rows``: the running jobs; ``ran``, ``walltime``: how long they ran, and may run, in s."""
        at, known = self._known(rows)
        if self.since is None:  # jobs may have run before the replay begins
            used = zip(self.minutes.used[at].tolist(), ran[known].tolist(), strict=True)
            self.usage = math.fsum(self.minutes.decayed(0.0, rate, seconds) for rate, seconds in used)
        else:
            self.usage = self.minutes.decayed(self.usage, self.rate, now - self.since)
        self.since = now
        if not self.minutes.plans:
            return OPEN if self.usage < self.limit.most else 0
        still = np.maximum(walltime[known] - ran[known], 0)
        planned = float((self.minutes.rates[at] * still).sum())
        return math.floor(self.limit.most - self.usage - planned + ROUNDING)

    def runs(self, rows: Ints) -> None:
        """Note the jobs that run from now on."""
        at = self.entries(rows)
        self.busy = bool(at.size)
        self.rate = float(self.minutes.used[at].sum())

    def next_change(self, now: int) -> int:
        """Return the time in s at which more may be left, if no job starts or ends before; NEVER: at none."""
        if self.busy:
            return now + self.minutes.period
        if not self.minutes.half_life or self.usage <= 0:
            return NEVER
        if self.minutes.plans:
            return now + self.minutes.period
        wait = self.minutes.half_life * math.log2(self.usage / self.limit.most)
        return now + max(1, math.floor(wait) + 1)


ROUNDING = 1e-6  # of sums of floating-point numbers


def can_hold(limit: RunningLimit) -> bool:
    """Return whether a limit can keep a job waiting: all its jobs together hold more than it allows."""
    return limit.minutes is not None or int(limit.amounts.sum()) > limit.most
