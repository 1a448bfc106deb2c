"""Delay search: delay jobs of the best multi-search schedule, one after another [Bridi2018, 6.7.3], algorithm 7.

1. Run multi-search. Keep its best schedule and the order of jobs that made it. All schedules below are list schedules:
   each job of that order starts as early as possible, but not before its bound (at first no job has a bound).
2. For each job j in that order: let s be its start in the best schedule. Try the bounds s + delay, s + 2 delay, ... up
   to H for job j. The jobs before j stay where they are; j and the jobs after it are placed anew. A better schedule
   becomes the best schedule, with the bound of j.
3. Do the same from the last job back to the first. The jobs before j stay; the jobs after j are placed anew, with the
   bounds that the best schedule gave them.
4. Repeat step 3 until a whole pass finds nothing better.

With a start, the best of three schedules is improved: that of multi-search, the start, and the list schedule of the jobs
in the order of their starts in the start.

The source leaves some details open. Here:

- A bound is skipped if the job starts later anyway. The last bound tried is H itself.
- H is the ``horizon_end`` of a profit problem, and the end of the multi-search schedule of a dispatching problem.
- The default ``delay`` (the source gives no value) is 1/50 of the time from ``now`` to H. On synthetic profit problems,
  of 1/200, 1/50, 1/20 and 1/8, 1/50 gained most with 200 jobs in 3 days (30 s), and as much as the best with 1,000 jobs
  in 5 days, where the time limit was reached after the first few jobs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import cache
from typing import NamedTuple

import numpy as np

from ..backends.result import Result
from ..errors import WrongValue
from ..models import Dispatch, Profit, Schedule
from ..models.arguments import NonNegative, checked
from ..models.array_types import Floats, Ints
from ..models.kind import WithProblem, given_problem
from ..models.long_calls import Deadline
from ..models.schedule_arrays import POSTPONED
from ..models.words import how_many
from .arrays import Arrays, Placement, arrays
from .errors import NoSchedule
from .kernels.aggregate import no_aggregate
from .kernels.costs import limits
from .kernels.earliest import new_scratch
from .kernels.placement import KINDS, SAME, fill, new_hopeless, put_all
from .kernels.profile import NEVER, copied, new_profile
from .list_scheduling import (
    AFTERWARDS,
    WITHIN,
    ListScheduler,
    Orders,
    order_of_starts,
    place_all_orders,
    start_placed,
    tiny,
)
from .search_parts import Clock, Incumbents, KernelStopped, OnIncumbent, compiled_first, keeping_limits, running

STEPS = 50  # default delay: (H - now) / STEPS


@checked(skip=("problem", "warm_start"))
@compiled_first("delays:warm_up")
def delay_search(
    problem: Dispatch | Profit | WithProblem | str,
    *,
    time_limit: NonNegative | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    delay: int | None = None,
) -> Result:
    """Delay jobs of the best multi-search schedule, one after another, where that improves the objective.

    Deterministic without a time limit; it then ends by itself.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    time_limit
        Seconds for the whole search; None: no limit. The first schedule is always finished.
    warm_start
        A schedule that is improved if it is better than that of multi-search; None: no start.
    on_incumbent
        Called with each Incumbent, those of multi-search first; return False to stop.
    delay
        Seconds, at least 1; None: 1/50 of the time up to the horizon.

    Returns
    -------
    Result
        Its ``details``: ``order``, the ordering that was best in multi-search (None: the start was better); ``delay`` in
        seconds; ``trials``, the number of schedules made for delayed jobs; ``complete``, whether the search ended by
        itself, not by a limit.

    Raises
    ------
    NoSchedule
        If no ordering leads to a schedule, and there is no start.
    LimitsBroken
        If no schedule was found that keeps the limits on objectives.
    ValueError
        If ``delay`` is below 1.

    References
    ----------
    [Bridi2018, 6.7.3], algorithm 7.
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "delay_search")
    if delay is not None and delay < 1:
        raise WrongValue(f"the delay is {delay} s; it must be at least 1 s")
    seen = Incumbents(p, "delay-search", on_incumbent, warm_start, Deadline(time_limit))
    scheduler = ListScheduler(arrays(p))
    a = scheduler.arrays
    clock = Clock(seen.deadline)
    with clock:
        clock.reserve(AFTERWARDS * clock.elapsed)
        first = place_all_orders(scheduler, clock, seen)
        begin = _first_of(scheduler, first, seen, clock)
    horizon = p.horizon_end if isinstance(p, Profit) else _last_end(a, begin.starts)
    step = delay or max(1, -(-(horizon - a.dispatch.now) // STEPS))
    search = _DelaySearch(scheduler, begin, horizon, clock)
    with closing(search.run(step)) as values:
        for value in () if seen.stopped else values:
            placement = Placement(a, search.starts, search.nodes)
            if a.keeps_limits(value) and not seen.report(a.sign * value, placement=placement):
                break
    ended = "ended by itself" if search.complete else "stopped by its limit"
    return seen.result(
        keeping_limits(a.dispatch, a.schedule(search.starts, search.nodes)),
        message=f"order {first.order or 'of the start'}, delays of {step} s, {how_many(search.trials, 'schedule')}, {ended}",
        details={"order": first.order, "delay": step, "trials": search.trials, "complete": search.complete},
    )


class _Begin(NamedTuple):
    """The schedule that is improved; ``listed``: it is the list schedule of the order."""

    order: Ints
    starts: Ints
    nodes: Ints
    listed: bool = True


def _first_of(scheduler: ListScheduler, first: Orders, seen: Incumbents, clock: Clock) -> _Begin:
    """Return the schedule to improve: that of multi-search, or, if it is not better, the start or its list schedule."""
    a = scheduler.arrays
    if first.placement is not None and first.order is not None:
        if first.order.endswith(WITHIN):
            return _Begin(order_of_starts(first.placement[0]), *first.placement, listed=False)
        return _Begin(scheduler.order(first.order), *first.placement)
    assert seen.start is not None
    start = start_placed(a, seen.start)
    order = order_of_starts(start.starts)
    if seen.stopped:
        return _Begin(order, *start, listed=False)
    try:
        listed = scheduler.place(order, stop=clock.stop)
    except (KernelStopped, NoSchedule):
        return _Begin(order, *start, listed=False)
    value = scheduler.objective(listed[0])
    if value > scheduler.objective(start.starts):
        return _Begin(order, *start, listed=False)
    if a.keeps_limits(value):
        seen.report(a.sign * value, placement=Placement(a, *listed))
    return _Begin(order, *listed)


def _last_end(a: Arrays, starts: Ints) -> int:
    return int((starts + a.jobs.duration).max(initial=a.dispatch.now))


@cache
def warm_up() -> None:
    """Compile the kernels of this search, or load them from numba's cache."""
    delay_search(tiny(), delay=5)


def warm_up_late() -> None:
    """Compile for a second process what this search needs late: it puts the jobs before a delayed one into a profile."""
    a = arrays(tiny())
    put_all(new_profile(a.machine, 64), a.jobs, np.arange(3), np.arange(3) * 10, np.zeros(3, np.int64), 1)


class _DelaySearch:
    """The best schedule so far as a list schedule, and the profile of the jobs before the delayed job."""

    def __init__(self, scheduler: ListScheduler, begin: _Begin, horizon: int, clock: Clock) -> None:
        a = scheduler.arrays
        order = begin.order
        self.scheduler = scheduler
        self.order = order.astype(np.int64)
        self.clock = clock
        self.bound = np.full(order.size, -NEVER, np.int64)
        self.starts = begin.starts
        self.nodes = begin.nodes
        self.listed = begin.listed
        self.value = scheduler.objective(self.starts)
        self.horizon = horizon
        self.trials = 0
        self.complete = False
        self._trial = (self.starts.copy(), self.nodes.copy())
        self._before, self._work = (new_profile(a.machine, 64) for _ in range(2))
        self._hopeless, self._known = (new_hopeless(a.jobs, KINDS) for _ in range(2))
        self._never = running()
        self._nothing = np.zeros(order.size + 1)
        self._scratch = new_scratch(a.machine.capacity.shape[0])
        self._bound = no_aggregate()

    def run(self, delay: int) -> Generator[float, None, None]:
        """Yield the objective of each better schedule until the search ends or the clock stops it."""
        try:
            with self.clock:
                yield from self._passes(delay)
            self.complete = True
        except KernelStopped:
            return

    def _passes(self, delay: int) -> Iterator[float]:
        n = self.order.size
        for i in range(n):
            yield from self._delay(i, delay)
            if self.listed:
                self._fill_before(i)
            else:
                self._put(i, i + 1, 1)  # where the start has it, which need not be its earliest place
        self._hopeless.end[:] = 0  # from here on jobs are removed from the profile, so "hopeless" times may change
        before = np.inf
        while self.value < before:
            before = self.value
            for i in reversed(range(n)):
                self._put(i, i + 1, -1)
                yield from self._delay(i, delay)
            self._put(0, n, 1)

    def _delay(self, i: int, delay: int) -> Iterator[float]:
        """Try later and later bounds for job ``order[i]``."""
        a = self.scheduler.arrays
        j = self.order[i]
        n = self.order.size
        if self.starts[j] == POSTPONED:
            return
        began = now = int(self.starts[j])
        bound = self.bound.copy()
        rest = np.empty(n + 1)
        spent = limits(a.jobs, a.costs, self.order, self.starts, self.bound, i, rest)
        while now < self.horizon:
            bound[j] = min(self.horizon, began + delay * ((now - began) // delay + 1))
            filled = self._try(i, bound, spent, rest)
            if filled == i:
                return  # no place, or too expensive by itself: a later start has the same problem
            if self._trial[0][j] != POSTPONED:
                now = int(self._trial[0][j])
            else:
                now = self.horizon
            if filled == n:
                value = self.scheduler.objective(self._trial[0])
                if value < self.value - SAME * abs(self.value):
                    self.value = value
                    self.bound[:], self.starts[:], self.nodes[:] = bound, *self._trial
                    yield value

    def _try(self, i: int, bound: Ints, spent: float, rest: Floats) -> int:
        """Place ``order[i:]`` anew; return the number of placed jobs: all, unless the trial cannot be better."""
        a, (starts, nodes) = self.scheduler.arrays, self._trial
        starts[:], nodes[:] = self.starts, self.nodes
        self._work = copied(self._before, self._work)
        self._known.begin[:], self._known.end[:] = self._hopeless.begin, self._hopeless.end
        self.trials += 1
        self._work, filled, _ = fill(
            self._work, a.machine, a.jobs, a.costs, self._scratch, self._known, self._bound,
            self.order, bound, starts, nodes, i, self.order.size, spent, rest, self.value, self.clock.stop,
        )  # fmt: skip
        if filled < 0:
            raise KernelStopped
        return int(filled)

    def _fill_before(self, i: int) -> None:
        """Add job ``order[i]`` to the profile where the best schedule has it, and note its hopeless times."""
        a = self.scheduler.arrays
        self._before, _, _ = fill(
            self._before, a.machine, a.jobs, a.costs, self._scratch, self._hopeless, self._bound,
            self.order, self.bound, self.starts, self.nodes, i, i + 1, -np.inf, self._nothing, np.inf, self._never,
        )  # fmt: skip

    def _put(self, first: int, last: int, sign: int) -> None:
        """Add the jobs ``order[first:last]`` to the profile (sign 1) or remove them (sign -1)."""
        jobs = self.scheduler.arrays.jobs
        self._before = put_all(self._before, jobs, self.order[first:last], self.starts, self.nodes, sign)
