"""Multi-search: list schedules of all ordering criteria, ascending and descending; the best is kept [Bridi2018, 6.7.1].

1. For each criterion, in both directions (``ORDERINGS``: the eleven of the source, and three by the area in nodes):
   place the jobs in that order (``first_solution``). Skip the ordering if the problem lacks the data of the criterion,
   if some job finds no start, or if an ordering before gave the same order. Give it up when the placed jobs cost more
   than the best schedule.
2. Compute the objective. If it is better than the best one so far, the schedule is the new incumbent. A schedule that
   breaks a limit on another objective has a penalty, and is never reported (``kernels.costs.Bounds``).
3. With a soft desired profile, do the same within the profile: list schedules alone never delay a job to avoid its cost.
4. Stop after the last ordering, at the time limit (not before the first schedule), or when the callback returns False.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

from ...backends.result import Result
from ...models import Dispatch, Profit, Schedule
from ...models.arguments import NonNegative, checked
from ...models.given import WithProblem, given_problem
from ..arrays import Placement, arrays, within_profile
from ..clock import Clock, KernelStopped
from ..compiled_first import compiled_first
from ..errors import CriterionUnusable, NoSchedule, keeping_limits
from ..incumbents import SAME, Incumbents, OnIncumbent
from ..kernels.profile import Ints
from .first_solution import ListScheduler
from .orders import ORDERINGS
from .postponed import reserve_for_postponed

WITHIN = ", within the profile"
AFTERWARDS = 2.0  # time to convert and verify the best schedule, relative to the time for making the arrays


@checked(skip=("problem", "warm_start"))
@compiled_first("list_scheduling.warm_up:warm_up")
def multi_search(
    problem: Dispatch | Profit | WithProblem | str,
    *,
    time_limit: NonNegative | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    power: Mapping[str, float] | None = None,
    profit: Mapping[str, float] | None = None,
) -> Result:
    """Return the best list schedule of all criteria, ascending and descending, by the problem's objective.

    Criteria whose data are unknown are skipped, and orderings in which a job finds no start.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    time_limit
        Seconds; None: no limit. An ordering that it interrupts is skipped, but the first schedule is always finished.
    warm_start
        A schedule that is returned if no ordering leads to a better one; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.
    power
        Power of each job in watts, by job id; None: the powers that the problem contains.
    profit
        Profit of each job in euro per hour, by job id; None: as the problem says.

    Returns
    -------
    Result
        Its ``details``: ``order``, the ordering that made the schedule (None: it is the start); ``skipped``, the criteria
        and orderings that were skipped, each with the reason.

    Raises
    ------
    NoSchedule
        If no ordering leads to a schedule, and there is no start.
    LimitsBroken
        If no ordering leads to a schedule that keeps the limits on objectives, and there is no start.

    References
    ----------
    [Bridi2018, 6.7.1], algorithm 6.
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "multi_search")
    seen = Incumbents(p, "multi-search", on_incumbent, warm_start)
    scheduler = ListScheduler(arrays(p, power, profit))
    with Clock(time_limit, seen.began) as clock:
        clock.reserve(AFTERWARDS * clock.elapsed)
        found = place_all_orders(scheduler, clock, seen)
    schedule = seen.start if found.placement is None else scheduler.arrays.schedule(*found.placement)
    assert schedule is not None  # without a start, an ordering has led to a schedule
    keeping_limits(scheduler.arrays.dispatch, schedule)
    skipped = f"; skipped: {', '.join(found.skipped)}" if found.skipped else ""
    best = "no order is better than the start" if found.order is None else f"best order: {found.order}"
    return seen.result(schedule, message=best + skipped, details={"order": found.order, "skipped": found.skipped})


class Orders(NamedTuple):
    """The best placement (starts of jobs, nodes of units) and its ordering; None if the start is not worse.

    ``skipped`` are the criteria and orderings that were skipped, each with the reason.
    """

    placement: tuple[Ints, Ints] | None
    order: str | None
    skipped: dict[str, str]


def place_all_orders(scheduler: ListScheduler, clock: Clock, seen: Incumbents) -> Orders:
    """Run multi-search on arrays, with the clock of the whole search; report to ``seen``. Raises NoSchedule."""
    a = scheduler.arrays
    least = math.inf
    if seen.start is not None:
        least = a.sign * float(a.problem.value(seen.start))
        least -= SAME * abs(least)
    best, order = None, None
    skipped: dict[str, str] = {}
    failure: NoSchedule | None = None
    known: dict[tuple[bool, bytes], str] = {}  # the orders so far (without deadlines, "lst" is "-duration")
    kept = within_profile(a)
    both = [(scheduler, ""), *([] if kept is None else [(ListScheduler(kept), WITHIN)])]
    for (scheduler, how), ordering in () if seen.stopped else product(both, ORDERINGS):
        name = f"{ordering}{how}"
        tried = best is not None or failure is not None or seen.start is not None
        try:
            if tried and clock.over:
                raise KernelStopped
            order_of_jobs = scheduler.order(ordering)
            equal = known.setdefault((bool(how), order_of_jobs.tobytes()), name)
            if equal != name:
                skipped |= {name: skipped[equal]} if equal in skipped else {}
                continue
            placement = scheduler.place_within(order_of_jobs, least, stop=clock.stop if tried else None)
        except KernelStopped:
            skipped[name] = "the time limit was reached"
            continue
        except CriterionUnusable as why:
            skipped[ordering.removeprefix("-")] = str(why)
            continue
        except NoSchedule as why:
            skipped[name], failure = str(why), why
            continue
        value = math.inf if placement is None else scheduler.objective(placement[0])
        if placement is not None and value < least:
            if best is None:
                reserve_for_postponed(clock, a, *placement)
            least, best, order = value, placement, name
            if a.keeps_limits(value) and not seen.report(a.sign * value, placement=Placement(a, *placement)):
                break
    if best is None and seen.start is None:
        assert failure is not None  # "est" needs no optional data, so at least one ordering was tried
        raise failure
    return Orders(best, order, skipped)
