"""A heuristic: list schedules of random orders."""

from __future__ import annotations

import random
import time

from schedlab import Dispatch
from schedlab.heuristics import Found, Heuristic, HeuristicRequest, NotForThisProblem, first_solution
from schedlab.models import Problem


def random_orders(problem: Problem, request: HeuristicRequest) -> Found:
    """Place the jobs in random orders, as many as ``request.argument`` says, and keep the best schedule."""
    if not isinstance(problem, Dispatch):
        raise NotForThisProblem(f"random-orders supports dispatch problems; this is a {problem.kind} problem")
    began, dice = time.perf_counter(), random.Random(request.seed)
    order = [job.id for job in problem.jobs]
    best, value, tried = None, float("inf"), 0
    for _ in range(int(request.argument)):
        dice.shuffle(order)
        schedule = first_solution(problem, order)
        tried += 1
        if problem.objective(schedule) < value:
            best, value = schedule, problem.objective(schedule)
            if request.on_incumbent is not None and request.on_incumbent(value, schedule) is False:
                break
        if request.time_limit is not None and time.perf_counter() - began > request.time_limit:
            break
    assert best is not None
    return Found(best, f"{tried} random orders")


RANDOM_ORDERS = Heuristic(random_orders, arguments=("10", "100"), kinds=("dispatch",), seeded=True)
