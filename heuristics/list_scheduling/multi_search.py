"""Multi-search: list schedules of all ordering criteria, ascending and descending; the best is kept [Bridi2018, 6.7.1].

1. For each of the eleven criteria, in both directions (``ORDERINGS``): place the jobs in that order
   (``first_solution``). Skip the ordering if the problem lacks the data of the criterion, or if some job finds no
   start.
2. Compute the objective. If it is better than the best one so far, the schedule is the new incumbent.
3. Stop after the last ordering, at the time limit (not before the first schedule), or when the callback returns False.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...models import Dispatch, Profit, Schedule
from ...models.excerpt import with_short_repr
from ..arrays import Placement, arrays
from ..clock import Clock, KernelStopped
from ..errors import CriterionUnusable, NoSchedule
from ..kernels.profile import Ints
from .first_solution import ListScheduler
from .orders import ORDERINGS
from .postponed import reserve_for_postponed

AFTERWARDS = 2.0  # time to convert and verify the best schedule, relative to the time for making the arrays


@with_short_repr
class Improvement(NamedTuple):
    """A new incumbent.

    Parameters
    ----------
    seconds
        Seconds since the call began.
    objective
        Objective of the problem.
    order
        The ordering that made the schedule.
    """

    seconds: float
    objective: float
    order: str


@with_short_repr
@dataclass
class MultiSearch(Schedule):
    """The best schedule of all orderings.

    Parameters
    ----------
    start, nodes
        The schedule, see ``Schedule``.
    objective
        Its objective.
    order
        The ordering that made it.
    trace
        The incumbents in time.
    skipped
        Skipped criteria and orderings, each with the reason.
    """

    objective: float = math.nan
    order: str = ""
    trace: tuple[Improvement, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def schedule(self) -> Schedule:
        """The schedule without the data of the search."""
        return Schedule(self.start, self.nodes)


def multi_search(
    problem: Dispatch | Profit,
    time_limit: float | None = None,
    on_incumbent: Callable[[Improvement, Placement], Any] | None = None,
    power: Mapping[str, float] | None = None,
    profit: Mapping[str, float] | None = None,
) -> MultiSearch:
    """Return the best list schedule of the eleven criteria, ascending and descending, by the problem's objective.

    Criteria whose data are unknown are skipped, and orderings in which a job finds no start.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    time_limit
        Seconds; None: no limit. An ordering that it interrupts is skipped, but the first schedule is always finished.
    on_incumbent
        Called with (improvement, placement) for each incumbent; return False to stop.
    power
        Power of each job in watts, by job id; None: the powers that the problem contains.
    profit
        Profit of each job in euro per hour, by job id; None: as the problem says.

    Returns
    -------
    MultiSearch
        The best schedule and how it was found.

    Raises
    ------
    NoSchedule
        If no ordering leads to a schedule.

    References
    ----------
    [Bridi2018, 6.7.1], algorithm 6.
    """
    began = time.perf_counter()
    scheduler = ListScheduler(arrays(problem, power, profit))
    with Clock(time_limit, began) as clock:
        clock.reserve(AFTERWARDS * clock.elapsed)
        found = place_all_orders(scheduler, clock, on_incumbent)
    schedule = scheduler.arrays.schedule(*found.placement)
    order = found.trace[-1].order
    return MultiSearch(
        schedule.start, schedule.nodes, problem.objective(schedule), order, tuple(found.trace), found.skipped
    )


class Orders(NamedTuple):
    """The best placement (starts of jobs, nodes of units); ``trace`` and ``skipped`` as in ``MultiSearch``."""

    placement: tuple[Ints, Ints]
    trace: list[Improvement]
    skipped: dict[str, str]


def place_all_orders(
    scheduler: ListScheduler, clock: Clock, on_incumbent: Callable[[Improvement, Placement], Any] | None = None
) -> Orders:
    """Run multi-search on arrays, with the clock of the whole search. Raises NoSchedule."""
    least, best = math.inf, None
    trace: list[Improvement] = []
    skipped: dict[str, str] = {}
    failure: NoSchedule | None = None
    for name in ORDERINGS:
        tried = best is not None or failure is not None
        try:
            if tried and clock.over:
                raise KernelStopped
            placement = scheduler.place(scheduler.order(name), stop=clock.stop if tried else None)
        except KernelStopped:
            skipped[name] = "the time limit was reached"
            continue
        except CriterionUnusable as why:
            skipped[name.removeprefix("-")] = str(why)
            continue
        except NoSchedule as why:
            skipped[name], failure = str(why), why
            continue
        value = scheduler.objective(placement[0])
        if value < least:
            if best is None:
                reserve_for_postponed(clock, scheduler.arrays, *placement)
            least, best = value, placement
            trace.append(Improvement(clock.elapsed, scheduler.arrays.sign * value, name))
            if on_incumbent is not None and on_incumbent(trace[-1], Placement(scheduler.arrays, *placement)) is False:
                break
    if best is None:
        assert failure is not None  # "est" needs no optional data, so at least one ordering was tried
        raise failure
    return Orders(best, trace, skipped)
