"""Multi-search: the first solution of every ordering criterion in both directions, the best one kept (thesis 6.7.1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...models import Dispatch, Profit, Schedule
from ..arrays import Placement, arrays
from ..clock import Clock, KernelStopped
from ..errors import CriterionUnusable, NoSchedule
from ..kernels.profile import Ints
from .first_solution import ListScheduler
from .orders import ORDERINGS
from .postponed import reserve_for_postponed

AFTERWARDS = 2.0  # times what making the arrays took: reading the best schedule back, verifying it


class Improvement(NamedTuple):
    """A better schedule was found: seconds since the call, its objective, and the ordering that made it."""

    seconds: float
    objective: float
    order: str


@dataclass
class MultiSearch(Schedule):
    """The schedule of the best of all orderings, which ``order`` it was, and its ``objective``.

    ``trace``: improvements in time; ``skipped``: {criterion or ordering: why}.
    """

    objective: float = math.nan
    order: str = ""
    trace: tuple[Improvement, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def schedule(self) -> Schedule:
        """The schedule alone."""
        return Schedule(self.start, self.nodes)


def multi_search(
    problem: Dispatch | Profit,
    time_limit: float | None = None,
    on_incumbent: Callable[[Improvement, Placement], Any] | None = None,
    power: Mapping[str, float] | None = None,
    profit: Mapping[str, float] | None = None,
) -> MultiSearch:
    """The best first solution of the eleven criteria in both directions, by the problem's objective.

    ``power`` (watts) and ``profit`` (euro per hour) by job id serve the criteria that need them, by default as far as the
    problem knows them; without them these are skipped, and so are orderings in which a job finds no place. ``time_limit`` in seconds:
    an ordering that it interrupts is skipped, but the first schedule is always finished, however long that takes;
    ``on_incumbent(improvement, placement)`` returning False stops. Raises NoSchedule if no ordering leads to a schedule.
    Source: thesis 6.7.1, algorithm 6.
    """
    began = time.perf_counter()
    scheduler = ListScheduler(arrays(problem, power, profit))
    with Clock(time_limit, began) as clock:
        clock.reserve(AFTERWARDS * clock.elapsed)
        found = place_all_orders(scheduler, clock, on_incumbent)
    schedule = scheduler.arrays.schedule(*found.placed)
    order = found.trace[-1].order
    return MultiSearch(
        schedule.start, schedule.nodes, problem.objective(schedule), order, tuple(found.trace), found.skipped
    )


class Orders(NamedTuple):
    """The best placement of all orderings (starts of jobs, nodes of units), and how it was found, as ``MultiSearch`` has it."""

    placed: tuple[Ints, Ints]
    trace: list[Improvement]
    skipped: dict[str, str]


def place_all_orders(
    scheduler: ListScheduler, clock: Clock, on_incumbent: Callable[[Improvement, Placement], Any] | None = None
) -> Orders:
    """Multi-search on arrays, with the clock of the whole search. Raises NoSchedule."""
    least, best = math.inf, None
    trace: list[Improvement] = []
    skipped: dict[str, str] = {}
    failure: NoSchedule | None = None
    for name in ORDERINGS:
        tried = best is not None or failure is not None
        try:
            if tried and clock.over:
                raise KernelStopped
            placed = scheduler.place(scheduler.order(name), stop=clock.stop if tried else None)
        except KernelStopped:
            skipped[name] = "the time limit was reached"
            continue
        except CriterionUnusable as why:
            skipped[name.removeprefix("-")] = str(why)
            continue
        except NoSchedule as why:
            skipped[name], failure = str(why), why
            continue
        value = scheduler.objective(placed[0])
        if value < least:
            if best is None:
                reserve_for_postponed(clock, scheduler.arrays, *placed)
            least, best = value, placed
            trace.append(Improvement(clock.elapsed, scheduler.arrays.sign * value, name))
            if on_incumbent is not None and on_incumbent(trace[-1], Placement(scheduler.arrays, *placed)) is False:
                break
    if best is None:
        assert failure is not None  # est needs nothing, so it was tried
        raise failure
    return Orders(best, trace, skipped)
