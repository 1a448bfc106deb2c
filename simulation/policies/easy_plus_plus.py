"""EASY++, one decision; compiled: EASY with predicted durations and shortest job first in backfilling [Tsafrir2007].

It differs from ``easy`` in three points:

1. Durations are predicted from the last two jobs of the user, at most the walltime (predictor ``last-two``). The
   predictions serve the decisions only: no job is killed because its prediction was too short.
2. A prediction that has expired, because the job still runs, is increased by the next of ``policy.CORRECTIONS`` as often
   as needed to lie in the future, at most to the walltime. A job that runs beyond its walltime is taken to end at once, as
   in ``easy``.
3. Among the later jobs (step 5 of ``easy``) the one with the shortest predicted duration goes first, ties by arrival.
   The order of the queue, its head and the reservation of the head stay first come, first served.

Corrections are made at the decisions, which are at arrivals and ends; the time of the expiry is no event. The increments
are the list that [Gaussier2015] gives for the correction of [Tsafrir2007]; after the last one the prediction is the
walltime.

References
----------
- [Gaussier2015], [Tsafrir2007]: see ``docs/references.md``.
"""

from __future__ import annotations

import numpy as np

from ...heuristics.kernels.events.ranking import rank
from ...heuristics.kernels.events.rules import Rules
from ...heuristics.kernels.events.sorting import sort_by
from ...heuristics.kernels.events.state import NOW, RUNNING, State, TraceArrays, compact
from ...heuristics.kernels.profile import Ints
from ...models.compiled import borrowing, internal
from .easy import backfill_one, next_candidate, reserve_for_head, unknown_room


@internal
def easy_shortest_first(trace: TraceArrays, state: State, rules: Rules) -> None:
    """Make one decision of EASY in which later jobs are tried in the order of their expected durations."""
    rank(state, rules.base, rules.slope, rules.dynamic)
    i, n, shadow = reserve_for_head(trace, state, rules)
    later, count = np.empty(max(0, n - i), np.int64), 0
    while i < n:
        later[count] = i
        count += 1
        i = next_candidate(trace, state, i + 1, n)
    # positions in the queue, not jobs: ties go by the order of the queue
    expected = np.empty(n, np.float64)
    for k in range(count):
        expected[later[k]] = state.expected[state.waiting[later[k]]]
    sort_by(later, count, expected)
    beside = unknown_room(state)
    for k in range(count):
        backfill_one(trace, state, state.waiting[later[k]], shadow, rules.best, beside)
    compact(state)


@borrowing
def correct(state: State, walltime: Ints, increments: Ints) -> None:
    """Increase the expected ends of running jobs that are not in the future; ``state.expected`` stays as it is.

    Parameters
    ----------
    state
        The state; the order of the running jobs and their expected ends are changed.
    walltime
        Upper limit of the prediction of each job in seconds, shape (jobs,).
    increments
        Increments in seconds.
    """
    now, n, ends, running = state.clock[NOW], state.clock[RUNNING], state.running_end, state.running
    i = 0
    while i < n and ends[i] <= now:
        j = running[i]
        end, last = state.start[j] + state.expected[j], state.start[j] + walltime[j]
        for step in increments:
            if end > now:
                break
            end += step
        end = max(ends[i], last if end <= now else min(end, last))
        if end <= now:
            i += 1  # it runs beyond its walltime
            continue
        k = i
        while k + 1 < n and ends[k + 1] < end:
            running[k], ends[k] = running[k + 1], ends[k + 1]
            k += 1
        running[k], ends[k] = j, end
