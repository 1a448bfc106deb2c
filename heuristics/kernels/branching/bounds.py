"""Bounds on the cost of all completions of a partial schedule, from prices."""

from __future__ import annotations

from ....models.compiled import internal
from .state import Case, Now, Tables

FAR = 1 << 62  # cost of a start that does not exist


@internal
def cost_of(case: Case, j: int, time: int) -> int:
    """Return the cost of a start."""
    over = time - case.free[j]
    if over <= 0:
        return 0
    cost: int = case.weight[j] if case.late else case.weight[j] * over
    return cost


@internal
def entry(tables: Tables, time: int) -> int:
    """Return the last entry of the tables at or before a time."""
    if tables.step > 0:
        return min(time // tables.step, tables.rest.size - 1)
    low, high = 0, tables.time.size - 1  # tables.time[low] <= time
    while low < high:
        middle = (low + high + 1) // 2
        if tables.time[middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@internal
def paid(tables: Tables, i: int, begin: int, end: int) -> int:
    """Return at most what item i pays between two times."""
    late = entry(tables, begin)
    if tables.time[late] < begin and late < tables.time.size - 1:
        late += 1
    found: int = tables.paid[i, entry(tables, end)] - tables.paid[i, late]
    return max(0, found)


@internal
def least(case: Case, tables: Tables, j: int, time: int) -> int:
    """Return at most the least cost with prices of job j, if it starts at ``time`` or later."""
    found: int = tables.least[j, entry(tables, time)]
    return max(found, cost_of(case, j, time))


@internal
def started_now(case: Case, tables: Tables, j: int, time: int) -> int:
    """Return at most the cost with prices of a start."""
    return cost_of(case, j, time) + paid(tables, j, time, time + case.duration[j])


@internal
def bound_at(case: Case, now: Now, tables: Tables, cost: int, time: int) -> int:
    """Return a bound on the cost of all completions if no job starts before ``time`` any more.

    The sum of the cost of the starts, of what their items pay from ``time`` on, and of the least costs of the other jobs,
    less the most that all items can pay from ``time`` on.
    """
    found: int = cost - tables.rest[entry(tables, time)]
    for i in range(now.start.size):
        if i < case.jobs and now.start[i] < 0:
            cheapest = least(case, tables, i, time)
            if cheapest >= FAR:
                return FAR
            found += cheapest
        elif now.end[i] > time:
            found += paid(tables, i, time, now.end[i])
    return found
