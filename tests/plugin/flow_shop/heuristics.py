"""A heuristic: list schedules of random orders."""

from __future__ import annotations

import random

from schedlab import Dispatch, Result
from schedlab.heuristics import Heuristic, HeuristicRequest, Incumbents, NotForThisProblem, first_solution
from schedlab.models import Problem


def random_orders(problem: Problem, request: HeuristicRequest) -> Result:
    """Place the jobs in random orders, as many as ``request.argument`` says, and keep the best schedule."""
    if not isinstance(problem, Dispatch):
        raise NotForThisProblem(f"random-orders supports dispatch problems; this is a {problem.kind} problem")
    seen = Incumbents(problem, "random-orders", request.on_incumbent, request.start)
    dice, order = random.Random(request.seed), [job.id for job in problem.jobs]
    best, tried = seen.start, 0
    while not seen.stopped and tried < int(request.argument):
        if best is not None and request.time_limit is not None and seen.elapsed > request.time_limit:
            break
        dice.shuffle(order)
        schedule, tried = first_solution(problem, order), tried + 1
        if best is None or problem.value(schedule) < problem.value(best):
            best = schedule
            seen.report(problem.value(best), lambda found=schedule: found)  # type: ignore[misc]
    assert best is not None
    return seen.result(best, message=f"{tried} random orders", details={"tried": tried})


RANDOM_ORDERS = Heuristic(random_orders, arguments=("10", "100"), kinds=("dispatch",), seeded=True, starts=True)
