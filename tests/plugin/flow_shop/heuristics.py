"""A heuristic: list schedules of random orders."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import ClassVar

from schedlab import Dispatch, Result, Schedule
from schedlab.backends import Limits
from schedlab.heuristics import ARGUMENT, START, Heuristic, Incumbents, OnIncumbent, first_solution
from schedlab.methods import Method, Start


@dataclass(frozen=True)
class RandomOrders(Heuristic):
    """Place the jobs in random orders; keep the best schedule.

    Parameters
    ----------
    orders
        Number of orders.
    warm_start
        The heuristic to start from.
    """

    name: ClassVar[str] = "random-orders"
    kinds: ClassVar[tuple[str, ...]] = ("dispatch",)
    seeded: ClassVar[bool] = True
    orders: int = field(metadata={**ARGUMENT, "values": ("10", "100")})
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    def run(
        self, problem: Dispatch, limits: Limits, start: Schedule | None, on_incumbent: OnIncumbent | None
    ) -> Result:
        """Place the jobs in as many orders as there is time for."""
        seen = Incumbents(problem, "random-orders", on_incumbent, start)
        dice, order = random.Random(limits.seed), [job.id for job in problem.jobs]
        best, tried = seen.start, 0
        while not seen.stopped and tried < self.orders:
            if best is not None and limits.deadline.passed:
                break
            dice.shuffle(order)
            schedule, tried = first_solution(problem, order), tried + 1
            if best is None or problem.value(schedule) < problem.value(best):
                best = schedule
                seen.report(problem.value(best), lambda found=schedule: found)  # type: ignore[misc]
        assert best is not None
        return seen.result(best, message=f"{tried} random orders", details={"tried": tried})
