"""From a given start no search and no backend ends worse: all shipped instances, five starts each (30 minutes).

``pytest tests/known/starts.py``. The suite has a short version, ``tests/heuristics/test_starts.py``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import schedlab as sl
from schedlab import instances, lns
from schedlab.heuristics import (
    HEURISTICS,
    PRIORITY_RULES,
    backtracking,
    first_solution,
    greedy,
    multi_search,
    multi_sgs,
    serial_sgs,
    trade_off,
    warm_up_for,
)


def improves(problem, value, than):
    """Return whether a value is better than another one by more than a rounding error."""
    if value == pytest.approx(than, rel=1e-9):
        return False
    return value > than if problem.sense == "maximize" else value < than


SECONDS = 3.0
BACKENDS = [name for name, here in sl.backends.available().items() if here.ok]


def starts(problem: Any) -> Iterator[tuple[str, sl.Schedule]]:
    """Yield five feasible schedules of a problem, each with its name."""
    if problem.kind in ("dispatch", "profit"):
        for seed in (1, 2):
            ids = [job.id for job in problem.jobs]
            random.Random(seed).shuffle(ids)
            yield f"order {seed}", first_solution(problem, ids)
        yield "first-solution", first_solution(problem)
        yield "multi-search", multi_search(problem).schedule
        yield "lns", lns(problem, time_limit=4 * SECONDS, seed=1).schedule
    elif problem.kind == "eviction":
        yield "kill", sl.EvictionPlan({c.id: "kill" for c in problem.candidates})
        yield "greedy", greedy(problem)
        yield "dp", trade_off(problem).plan().schedule
        yield "backtracking", backtracking(problem).schedule
        half = sum(c.nodes for c in problem.candidates[::2]) >= problem.nodes_needed
        yield (
            "half",
            sl.EvictionPlan({c.id: ("keep", "kill")[not half or k % 2 == 0] for k, c in enumerate(problem.candidates)}),
        )
    else:
        yield from ((rule, serial_sgs(problem, rule)) for rule in PRIORITY_RULES[:3])
        yield "multi-sgs", multi_sgs(problem).schedule
        yield "cpsat", sl.solve(problem, method="cpsat:modes", time_limit=SECONDS).schedule


def check(name: str, what: str, problem: Any, start: sl.Schedule, found: sl.Result) -> None:
    label, value = (name, what, found), problem.value(start)
    # on a busy machine an engine may reach its limit before it uses the start, which is then returned
    unused = found.warm_start.returned and "ended before" in found.warm_start.reason
    assert found.warm_start.fate in ("accepted", "repaired") or unused, label
    assert problem.verify(found.schedule) == [] and not improves(problem, value, found.objective), label
    assert found.warm_start.returned is (not improves(problem, found.objective, value)), label


@pytest.mark.parametrize("name", instances.names())
def test_no_search_ends_worse_than_its_start(name: str) -> None:
    problem = sl.load(name).problem
    searches = [(n, h) for n, h in HEURISTICS.usable() if h.takes_start() and h.takes(problem)]
    assert searches
    for search, _ in searches:
        warm_up_for(problem, search)
    for what, start in starts(problem):
        for search, heuristic in searches:
            limits = sl.backends.Limits(SECONDS, threads=2, seed=1)
            check(name, f"{search} from {what}", problem, start, heuristic().solve(problem, limits, start))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", instances.names())
def test_no_backend_ends_worse_than_its_start(name: str, backend: str) -> None:
    problem = sl.load(name).problem
    for what, start in starts(problem):
        try:
            found = sl.solve(problem, backend=backend, time_limit=2 * SECONDS, threads=2, seed=1, warm_start=start)
        except sl.LoweringTooLarge:
            pytest.skip(f"{backend} refuses the model of {name}: too large")
        if found.status == "unavailable":  # the community edition of CP Optimizer refuses large models
            pytest.skip(f"{backend} refuses the model of {name}: {found.message}")
        check(name, f"{backend} from {what}", problem, start, found)
