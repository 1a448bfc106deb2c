"""The free amounts of the whole machine over time, in a plan of the waiting jobs; compiled.

They are those of ``running_profile`` for the whole machine: from the expected ends of the running jobs, less what the
waiting jobs take that have a place in the plan. Times are seconds.
"""

from __future__ import annotations

from ....models.array_types import Ints
from ....models.compiled import native
from ..profile import NEVER, Profile, occupy, segment
from .state import NOW, RUNNING, State, TraceArrays, exceeds


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
