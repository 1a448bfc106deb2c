"""Limits on what runs at a time: a desired use, a power cap, licences, and limits of users, accounts and QOS.

**Desired use and power.** At a time t, a job starts on a node only if what is in use there afterwards is at most the desired use at t and the
capacity [Bridi2018, 5.4, algorithm 4, corrected]. The amounts between both are taken from the free amounts of the node,
so that rules and backfilling need not know of it; where more is in use than desired, the free amounts are negative.

Under a policy on a machine whose nodes can be counted (all are equal, and each unit takes more than half of one), the
desired use is a number of nodes: the greatest share of the nodes that no wish forbids, rounded down. Where these nodes are
followed one by one, the nodes in use are an amount of the whole machine; power always is. Every job takes it as long as it
runs.

Policies plan with the power of the machine. Other dispatchers do not know of it: a job that exceeds what is left may not start
now (``Moment.may_start``), and of the jobs that a decision starts together, those that would exceed it stay in the queue.

**Running limits.** A job that a limit holds takes no reservation and delays no other job; it is tried again whenever a job has ended. The
component ``RunningLimits`` knows no dispatcher: limits are amounts of the replay (``TraceArrays.limit``), which every start takes and every
end gives back. A job that another limit is for, as that of its QOS takes the place of that of its account, takes its amounts without
being checked: less than nothing may then be left, and the jobs that are checked wait.

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
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import floor, lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import WrongValue
from ...heuristics.kernels.events.machine import counted
from ...heuristics.kernels.events.state import WAITING, TraceArrays
from ...heuristics.kernels.profile import NEVER
from ...instances.files.profile_file import read_profile
from ...instances.files.reading import WorkloadError
from ...instances.workload import Workload
from ...models import DesiredProfile, Platform
from ...models.arguments import is_real, shown
from ...models.array_types import Bools, Floats, Ints
from ...models.desired_profile import Steps
from ...models.dispatch.arrays import offsets
from ...models.profiles import power_cap as cap_of
from ...models.words import how_many
from ..agenda import Entry, Rank
from ..dispatchers.policy import Chosen
from .feature import Feature, Replay

if TYPE_CHECKING:
    from ...models.array_types import Floats


ROUNDING = 1e-6  # an amount less below a whole number is this number: sums of floating-point numbers are not exact
MILLI = 1000  # power is counted in milliwatts, rounded up per unit
UNLIMITED = 2**50  # milliwatts of the machine where a profile wishes for nothing at some time


def desired_of(desired: DesiredProfile | str | Path | None, platform: Platform, workload: Workload) -> Any:
    """Return the desired use of a replay, read from its file if need be; None if there is none.

    Raises
    ------
    WrongValue
        If the profile is of another machine.
    InstanceError, WorkloadError
        If the file has faults.
    ProblemError
        If the profile covers nothing of the time from the first to the last submission.
    """
    if desired is None:
        return None
    if isinstance(desired, str | Path):
        profile = read_profile(desired, platform)
    else:
        profile = desired
    if not isinstance(profile, DesiredProfile):
        raise WrongValue(f"desired is {shown(profile)}; expected a DesiredProfile or the name of a file")
    if profile.platform != platform:
        raise WrongValue(f"desired: a profile of {profile.platform!r}; expected one of {platform!r}")
    if workload.begin is None:
        begin = int(workload.submit.min())
    else:
        begin = workload.begin
    profile.check_covers(begin, max(begin, int(workload.submit.max())))
    return profile


@contextmanager
def lent(desired: DesiredProfile, dispatcher: Any) -> Iterator[None]:
    """Set the attribute ``desired`` of a dispatcher that is None to the desired use of a replay, and reset it at the end."""
    if dispatcher.desired is not None:
        yield
        return
    dispatcher.desired = desired
    try:
        yield
    finally:
        dispatcher.desired = None


def limits_of(
    desired: DesiredProfile | None,
    power_cap: float | DesiredProfile | None,
    chosen: Chosen,
    platform: Platform,
) -> tuple[DesiredProfile, ...]:
    """Return the profiles that limit the starts: the desired use of a dispatcher that follows it, and the power cap.

    Raises
    ------
    WrongValue
        If a dispatcher follows a desired use and there is none, or the power cap is no power.
    """
    if desired is None and not chosen.needs.isdisjoint({"given-profile", "profile-limits"}):
        raise WrongValue(
            f"dispatcher {chosen.name} keeps to a desired profile; give one (desired=..., bench simulate --desired FILE)"
        )
    profiles = []
    if desired is not None and "profile-limits" in chosen.needs:
        profiles.append(desired)
    if power_cap is None:
        return tuple(profiles)
    if isinstance(power_cap, DesiredProfile):
        if power_cap.wished != ("power",):
            raise WrongValue(f"power_cap: a profile with wishes for {', '.join(power_cap.wished)}; expected power only")
        return (*profiles, power_cap)
    if not is_real(power_cap) or not 0 < power_cap < np.inf:
        raise WrongValue(f"power_cap is {shown(power_cap)}; expected watts above 0")
    return (*profiles, cap_of(platform, power_cap))


def check_power(workload: Workload, cap: DesiredProfile) -> None:
    """Check that a power cap can be enforced on these jobs. Raises WorkloadError."""
    if cap.power is not None:
        _watts(workload, (), [cap.power])


class Limits(Feature):
    """The profiles that limit the starts of a replay.

    Parameters
    ----------
    within : sequence of DesiredProfile
        The profiles.
    running : callable
        Returns the rows of the jobs that run at the begin, whose power may be unknown.
    by_policy : bool
        Whether the dispatcher is a policy; the others take a desired use as an amount of each node.
    """

    keeps_waiting = (
        "the desired use or the power cap that limits the starts may hold it at no time (docs/reference/profiles.md)"
    )

    def __init__(
        self, within: Sequence[DesiredProfile], running: Callable[[], Collection[int]], by_policy: bool
    ) -> None:
        self.within = tuple(within)
        self._running = running
        self._by_policy = by_policy
        self._power = [profile.power for profile in self.within if profile.power is not None]

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays with the power and the nodes in use as amounts of the whole machine, if a profile limits them.

        Raises
        ------
        WorkloadError
            If a job has no power, or needs more than the greatest power of the profile.
        """
        platform = self.within[0].platform
        self._by_count = by_count
        wished = self._by_policy and any(profile.steps for profile in self.within)
        self._by_number = wished and not by_count and counted(workload, platform)
        capacity, requests = [], []
        if self._power:
            watts, most = _watts(workload, self._running(), self._power)
            capacity.append(int(MILLI * most if np.isfinite(most) else UNLIMITED))
            requests.append(np.ceil(MILLI * watts).astype(np.int64))
        if self._by_number:
            capacity.append(len(platform.nodes))
            requests.append(trace.units)
        if not capacity:
            return trace
        return trace._replace(
            machine_capacity=np.array(capacity, np.int64),
            machine_request=np.ascontiguousarray(np.column_stack(requests)),
        )

    def begin(self, engine: Replay) -> None:
        """Apply the profiles at the begin, and put their first change on the agenda."""
        self._engine = engine
        if self._by_number:
            engine.timeline.for_all[-1] = False
        trace, begin = engine.trace, engine.workload.begin
        if begin is None:
            begin = 0
            if trace.order.size:
                begin = int(trace.release[trace.order].min())
        self._hold(begin)

    def _hold(self, t: int) -> None:
        """Take from the free amounts what no start may use from time ``t`` on, until the next change."""
        engine = self._engine
        self._held = self._held_at(t)
        engine.timeline.limit(*self._held)
        due, period = self._next_change(t)
        if due < NEVER:
            engine.agenda.add(due, Rank.DESIRED_USE, lambda: self._hold(due), waits_for_jobs=True, period=period)

    def _held_at(self, t: int) -> tuple[Ints, Ints]:
        """Return the amounts that no start at ``t`` may use: of places, and of the whole machine."""
        trace = self._engine.trace
        whole = trace.machine_capacity
        nodes = len(self._engine.platform.nodes)
        held = np.zeros_like(trace.capacity)
        of_machine = np.zeros_like(whole)
        if self._power:
            of_machine[0] = max(whole[0] - least(MILLI * power.at(t), int(whole[0])) for power in self._power)
        if self._by_number:
            of_machine[-1] = nodes - min(nodes_at(profile, t) for profile in self.within)
        elif self._by_count:
            held[0, 0] = nodes - min(nodes_at(profile, t) for profile in self.within)
        else:
            held = held_at(self.within, self._engine.platform, trace.capacity, t)
        return held, of_machine

    def _next_change(self, t: int) -> tuple[int, int]:
        """Return the first time after ``t`` at which other amounts may be used (NEVER: none), and its period (0: none)."""
        periods = [p.period for p in self.within if p.period is not None]
        round_ = lcm(*periods)
        single = max((max(p.last_change, t) for p in self.within if p.period is None), default=t)
        last = max((max(p.last_change, t) for p in self.within), default=t) + round_
        while t <= last:
            t = min((at for p in self.within if (at := p.next_change(t)) is not None), default=NEVER)
            if t < NEVER and any((a != b).any() for a, b in zip(self._held_at(t), self._held, strict=True)):
                return t, round_ if periods and t > single else 0
        return NEVER, 0


def _watts(workload: Workload, running: Collection[int], limits: Sequence[Steps]) -> tuple[Floats, float]:
    """Return the power of each job (0 where it is unknown of ``running`` ones), and the greatest allowed power, in watts."""
    known = workload.power.copy()
    held = np.array(sorted(running), np.int64)
    known[held] = np.nan_to_num(known[held])
    watts = power_of(replace(workload, power=known))
    most = min(max(power.amounts) for power in limits)  # infinite where there is no wish at some time
    too_much = np.flatnonzero(watts > most)
    too_much = too_much[~np.isin(too_much, held)]
    if too_much.size:
        k = int(too_much[0])
        raise WorkloadError(
            f"{workload.name}: job {workload.ids[k]!r} takes {watts[k]:,.0f} W, more than the power cap of {most:,.0f} W "
            f"({how_many(too_much.size, 'such job')}); raise the cap, or leave them out (instances.log_preparation.below_power)"
        )
    return watts, most


def power_of(workload: Workload) -> Floats:
    """Return the power of each job in watts. Raises WorkloadError if one is unknown."""
    missing = np.flatnonzero(np.isnan(workload.power))
    if missing.size:
        raise WorkloadError(
            f"{workload.name}: job {workload.ids[int(missing[0])]!r} has no power ({how_many(missing.size, 'such job', ',')}); give watts "
            "per core for them (Workload.powered, bench simulate --watts-per-core)"
        )
    return workload.power


def held_at(within: Sequence[DesiredProfile], platform: Platform, capacity: Ints, t: int) -> Ints:
    """Return the amounts of each node that no start at time ``t`` may use, shape (nodes, resources)."""
    held = np.zeros_like(capacity)
    for profile in within:
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
    total = 0
    for group in profile.platform.groups:
        shares = [profile.amount(group.name, r, t) / c for r, c in group.capacity.items() if c]
        total += least(min(shares, default=1.0) * group.count, group.count)
    return total


def least(amount: float, most: int) -> int:
    """Return an amount rounded down, and at most ``most``."""
    if amount >= most:
        return most
    return floor(amount + ROUNDING)


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
    checked : ndarray of bool, shape (entries,), optional
        Whether each of them must have room to start; the others count, but another limit is for them. None: all.

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
    checked: Bools | None = None

    @property
    def checks(self) -> Bools:
        """Whether each of the jobs must have room to start, shape (entries,)."""
        if self.checked is None:
            return np.ones(self.rows.size, np.bool_)
        return self.checked

    def never(self) -> Ints:
        """Return the rows of the jobs that it never lets start."""
        if self.minutes is not None and not self.minutes.plans:
            if self.most <= 0:
                return self.rows[self.checks]
            return self.rows[:0]
        return self.rows[(self.amounts > self.most) & self.checks]


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
            limit_checked=np.concatenate([x.checks for x in limits])[order],
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
        holding = [x for x in self._timed if self._may_hold(x, waiting)]
        later = [each.next_change(engine.now) for each in holding]
        names = [each.limit.name for each, time in zip(holding, later, strict=True) if time >= NEVER]
        if names:
            self.keeps_waiting = f"used up: {'; '.join(names)}"
        else:
            self.keeps_waiting = ""
        if later and min(later) < NEVER:
            self._retry = engine.agenda.add(min(later), Rank.OTHER, lambda: None)

    def _may_hold(self, limit: _Timed, rows: Ints) -> bool:
        """Return whether a limit holds one of some jobs now."""
        trace = self._engine.trace
        slots = limit.slots[limit.entries(rows)]
        beyond = trace.limit_amount[slots] > self._engine.state.limit_free[limit.number]
        return bool((beyond & trace.limit_checked[slots]).any())


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
            if self.usage < self.limit.most:
                return OPEN
            return 0
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


def can_hold(limit: RunningLimit) -> bool:
    """Return whether a limit can keep a job waiting: all its jobs together hold more than it allows."""
    return bool(limit.checks.any()) and (limit.minutes is not None or int(limit.amounts.sum()) > limit.most)
