"""Functions of a replay for calls from Python; a replay that is compiled as a whole does without their compilation."""

from __future__ import annotations

from ....models.compiled import borrowing
from ..profile import NEVER
from . import rules, state
from . import rules as replay
from .state import State, TraceArrays

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
