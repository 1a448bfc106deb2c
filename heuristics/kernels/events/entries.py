"""Functions of a replay for calls from Python; a replay that is compiled as a whole does without their compilation.

``begin_ahead``, ``change_ahead`` and ``first_ahead`` plan the waiting jobs: the free amounts of the whole machine over
time are those of ``running_profile``, from the expected ends of the running jobs, less what the waiting jobs take that
have a place in the plan. Times are seconds.
"""

from __future__ import annotations

from ....models.array_types import Ints
from ....models.compiled import borrowing, native
from ..profile import NEVER, Profile, occupy, segment
from . import rules, state
from . import rules as replay
from .state import NOW, RUNNING, State, TraceArrays, exceeds

_step = replay.step
_advance = state.advance
_begin = state.begin
_try_start = rules.try_start
_keep_places = state.keep_places
_compact = state.compact
_may_start = state.may_start
_pop_end, _finish = state.pop_end, state.finish
_release_followers, _arrive_due = state.release_followers, state.arrive_due


@borrowing
def step(trace: TraceArrays, state: State, period: int) -> bool:
    """Go to the next event, see ``replay.step``."""
    return _step(trace, state, period)


@borrowing
def advance(trace: TraceArrays, state: State, t: int) -> None:
    """Go to time t, see ``state.advance``."""
    _advance(trace, state, t)


@borrowing
def begin(trace: TraceArrays, state: State, j: int) -> None:
    """Start job j now, see ``state.begin``."""
    _begin(trace, state, j)


@borrowing
def keep_places(trace: TraceArrays, state: State, j: int, entries: int) -> None:
    """Store the chosen places as those of job j, see ``state.keep_places``."""
    _keep_places(trace, state, j, entries)


@borrowing
def compact(state: State) -> None:
    """Remove the started jobs from ``waiting``, see ``state.compact``."""
    _compact(state)


@borrowing
def may_start(trace: TraceArrays, j: int, t: int) -> bool:
    """Return whether the calendars let job j start at t, see ``state.may_start``."""
    return _may_start(trace, j, t)


@borrowing
def try_start(trace: TraceArrays, state: State, j: int, best: bool) -> bool:
    """Start job j now if there is room for it, see ``rules.try_start``."""
    return _try_start(trace, state, state.free, j, best)


@borrowing
def end_now(trace: TraceArrays, state: State, j: int) -> None:
    """End running job j now, before its work is done: free its amounts and remove it from the running jobs."""
    i = 0
    while state.end_of[i] != j:
        i += 1
    while i > 0:  # move it to the front of the heap of the true ends
        state.ends[i], state.end_of[i] = state.ends[(i - 1) // 2], state.end_of[(i - 1) // 2]
        i = (i - 1) // 2
    state.ends[0], state.end_of[0] = -NEVER, j
    _pop_end(state)
    _finish(trace, state, j)


@borrowing
def release(trace: TraceArrays, state: State, j: int) -> None:
    """Let the jobs that wait for the end of job j, which has ended now for good, arrive after their think times."""
    _release_followers(trace, state, j)
    _arrive_due(trace, state)


@borrowing
def release_later(trace: TraceArrays, state: State, j: int) -> None:
    """As ``release``; the jobs arrive at the next events, the first of them possibly at this time."""
    _release_followers(trace, state, j)


@native
def begin_ahead(trace: TraceArrays, state: State) -> None:
    """Set the free amounts over time from the running jobs; one that runs longer than expected ends at now + 1 s."""
    length = state.ahead_length
    time = state.ahead_time
    free = state.ahead_free
    now, amounts = state.clock[NOW], trace.machine_capacity.size
    length[0], time[0, 0] = 1, now
    for r in range(amounts):
        free[0, 0, r] = state.machine_free[r]
    for i in range(state.clock[RUNNING]):
        j = state.running[i]
        end = max(state.running_end[i], now + 1)
        last = length[0] - 1
        if time[0, last] < end:
            time[0, last + 1] = end
            for r in range(amounts):
                free[0, last + 1, r] = free[0, last, r]
            last += 1
            length[0] += 1
        for r in range(amounts):
            free[0, last, r] += trace.machine_request[j, r]


@native
def change_ahead(state: State, start: int, end: int, amounts: Ints, sign: int) -> None:
    """Subtract amounts, shape (machine resources,), in [start, end) (sign 1), or add them (-1)."""
    occupy(Profile(state.ahead_length, state.ahead_time, state.ahead_free), 0, start, end, amounts, sign)


@native
def first_ahead(trace: TraceArrays, state: State, j: int, start: int, duration: int) -> int:
    """Return the first time from ``start`` on at which the machine has what job j takes for ``duration`` seconds; NEVER: none."""
    if trace.machine_capacity.size == 0 or start >= NEVER:
        return start
    length = state.ahead_length[0]
    time = state.ahead_time
    free = state.ahead_free
    i = segment(Profile(state.ahead_length, time, free), 0, start)
    while i < length:
        end = time[0, i + 1] if i + 1 < length else NEVER
        if exceeds(trace.machine_request, j, free[0, i]):
            start = end
        elif end - start >= duration:
            return start
        i += 1
    return NEVER
