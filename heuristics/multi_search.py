"""Multi-search: the first solution of every ordering criterion in both directions, the best one kept (thesis 6.7.1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..models import Dispatch, Profit, Schedule
from .arrays import Placement, arrays
from .first_solution import ListScheduler, NoSchedule
from .orders import ORDERINGS, CriterionUnusable


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
    problem knows them; without them these are skipped, and so are orderings in which a job finds no place. ``time_limit`` in seconds (at least one ordering is tried);
    ``on_incumbent(improvement, placement)`` returning False stops. Raises NoSchedule if no ordering leads to a schedule.
    Source: thesis 6.7.1, algorithm 6.
    """
    began = time.perf_counter()
    scheduler = ListScheduler(arrays(problem, power, profit))
    least, longest, best = math.inf, 0.0, None
    trace: list[Improvement] = []
    skipped: dict[str, str] = {}
    failure: NoSchedule | None = None
    for name in ORDERINGS:
        now = time.perf_counter()
        # there has to be time for one more ordering, and for what comes after the last one
        if (best or failure) and time_limit is not None and now + 2 * longest - began > time_limit:
            skipped[name] = f"the time limit of {time_limit:g} s was reached"
            continue
        try:
            placed = scheduler.place(scheduler.order(name))
        except CriterionUnusable as why:
            skipped[name.removeprefix("-")] = str(why)
            continue
        except NoSchedule as why:
            skipped[name], failure = str(why), why
            continue
        finally:
            longest = max(longest, time.perf_counter() - now)
        value = scheduler.objective(placed[0])
        if value < least:
            least, best = value, placed
            trace.append(Improvement(time.perf_counter() - began, scheduler.arrays.sign * value, name))
            if on_incumbent is not None and on_incumbent(trace[-1], Placement(scheduler.arrays, *placed)) is False:
                break
    if best is None:
        assert failure is not None  # est needs nothing, so it was tried
        raise failure
    schedule = scheduler.arrays.schedule(*best)
    order = trace[-1].order
    return MultiSearch(schedule.start, schedule.nodes, problem.objective(schedule), order, tuple(trace), skipped)
