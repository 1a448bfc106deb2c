"""Callbacks of all methods on all kinds of problems: returning False ends a call with that incumbent, an error ends it."""

import random
import time
from functools import cache

import psutil
import pyomo.environ  # noqa: F401  before docplex, after which it cannot be imported
import pytest
import schedlab as sl
from random_evictions import random_eviction
from schedlab.backends import solver_thread
from schedlab.heuristics import HEURISTICS, usual_start
from schedlab.methods import Auto, Heuristic, all_classes
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Project, Queue, Resource, Task
from small_profits import tiny


class NoMore(Exception):
    """The error of a callback."""


@cache
def problem(kind: str) -> sl.models.Problem:
    """Return a problem that every method solves in less than a second."""
    if kind == "eviction":
        return random_eviction(random.Random(5), jobs=6)
    if kind == "profit":
        return tiny(3)
    if kind == "project":
        return Project(
            [Task.single(f"t{k}", 2 + k % 3, {"crane": 1 + k % 2}) for k in range(5)], [Resource("crane", 2)]
        )
    jobs = [Job(f"j{k}", k, 5 + 7 * k % 11, 1 + k % 2, {"cores": 5 + 2 * (k % 4)}, "q") for k in range(3)]
    return Dispatch(Platform([NodeGroup("n", 3, {"cores": 16})]), jobs, [Queue("q", 60)], "weighted-wait")


def texts(kind: str) -> list[str]:
    """Return all methods that take problems of a kind, with all formulations, with and without a start."""
    found = []
    for c in all_classes():
        if c is Auto:
            found += ["auto", "auto+warm"]
        elif not issubclass(c, Heuristic):
            formulations = list(problem(kind).formulations)
            found += [f"{c.name}:{f}" for f in formulations] + [f"{c.name}:{formulations[0]}+warm"]
        elif HEURISTICS[c.name].takes(problem(kind)):
            name = ":".join([c.name, *HEURISTICS[c.name].arguments()[:1]])
            found += [name, f"{name}+warm"] if HEURISTICS[c.name].takes_start() else [name]
    return [*found, "lns@cpsat"] if kind in ("dispatch", "profit") else found


CASES = [(kind, text) for kind in ("dispatch", "profit", "eviction", "project") for text in texts(kind)]
each = pytest.mark.parametrize(("kind", "text"), CASES)


@each
def test_false_ends_the_call_with_the_incumbent_that_was_reported(kind: str, text: str) -> None:
    p, seen = problem(kind), []

    def enough(news: sl.Incumbent) -> bool:
        if news.objective is not None:
            seen.append((news.objective, news.schedule()))
        return False

    result = sl.solve(p, text, time_limit=20, threads=1, on_incumbent=enough)
    if result.status == "unavailable":
        assert "Community Edition" in result.message or "coefficients" in result.message
        return
    assert len(seen) == 1
    objective, schedule = seen[0]
    assert (result.status, result.objective) in (
        ("feasible", p.value(schedule)),
        ("optimal", p.value(schedule)),
    )
    assert result.schedule == schedule
    assert objective == pytest.approx(result.objective)
    assert [i.objective for i in result.incumbents if i.objective is not None][-1] == objective


@each
def test_an_error_in_the_callback_reaches_the_caller_and_nothing_stays_behind(kind: str, text: str) -> None:
    def fail(news: sl.Incumbent) -> None:
        raise NoMore(news.objective)

    before = set(psutil.Process().children())  # helpers of multiprocessing, which earlier tests have started
    try:
        result = sl.solve(problem(kind), text, time_limit=20, threads=1, on_incumbent=fail)
        assert result.status == "unavailable"
    except NoMore:
        pass
    late = time.monotonic() + 5
    while (set(psutil.Process().children()) - before or solver_thread._running) and time.monotonic() < late:
        time.sleep(0.01)
    assert set(psutil.Process().children()) <= before and not solver_thread._running
    assert sl.solve(problem(kind), usual_start(problem(kind)), on_incumbent=lambda _: None).schedule is not None
