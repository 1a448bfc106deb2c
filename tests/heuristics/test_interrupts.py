"""Ctrl-C in a heuristic: the best schedule found so far is returned."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import schedlab as sl
from schedlab.backends import INTERRUPTED

METHODS = {
    "eurora_99": [
        "multi-search", "first-solution:est", "rule:est", "lns", "lns@cpsat", "delay-search", "relaxation-search",
        "cpsat:classes+warm", "highs:pool@3600s+warm",
    ],
    "theta_24": ["dp", "greedy", "backtracking"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """Disable the garbage collection: a signal that arrives during its callback (of hypothesis) would be lost."""
    gc.disable()
    yield
    gc.enable()


def press(*_: Any) -> None:
    signal.raise_signal(signal.SIGINT)  # at once, unlike os.kill, whose signal another thread may take later


@pytest.mark.parametrize(("instance", "method"), [(i, m) for i, methods in METHODS.items() for m in methods])
def test_ctrl_c_returns_the_best_so_far(instance: str, method: str) -> None:
    problem, seen = sl.load(instance).problem, []

    def at_the_first(news: sl.Incumbent) -> None:
        if not seen:
            seen.append(news)
            press()

    r = sl.solve(problem, method=method, time_limit=30, threads=2, on_incumbent=at_the_first)
    assert (r.status, r.message) == ("feasible", INTERRUPTED)
    assert problem.verify(r.schedule) == [] and problem.value(r.schedule) == r.objective


@pytest.mark.parametrize("method", ["lns@cpsat", "relaxation-search"])
def test_ctrl_c_in_a_solve_of_a_search_ends_the_search(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = type(sl.compile(sl.Model("any"), "cpsat"))
    solves, real = [], compiled.run

    def run(self: Any, *given: Any) -> Any:
        solves.append(0)
        press()
        return real(self, *given)

    monkeypatch.setattr(compiled, "run", run)
    r = sl.solve(sl.load("eurora_99").problem, method=method, time_limit=30, threads=2)
    assert (r.status, r.message, len(solves)) == ("feasible", INTERRUPTED, 1)


@pytest.mark.parametrize("method", ["lns", "cpsat:classes", "cpsat:classes+warm"])
def test_ctrl_c_before_anything_was_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.methods.run_solver.warm_up_for", lambda *_: press())
    r = sl.solve(sl.load("eurora_99").problem, method=method)
    assert (r.status, r.message, r.schedule) == ("unknown", INTERRUPTED, None)


def test_a_second_ctrl_c_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sl.load("eurora_99").problem
    monkeypatch.setattr(type(problem), "verify", press)
    with pytest.raises(KeyboardInterrupt):
        sl.solve(problem, method="first-solution:est", on_incumbent=press)


def test_a_start_has_the_time_that_building_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []
    real = sl.methods.MultiSearch.run

    def run(self: Any, problem: Any, given: Any, *rest: Any) -> Any:
        limits.append(given.time)
        return real(self, problem, given, *rest)

    monkeypatch.setattr(sl.methods.MultiSearch, "run", run)
    day = sl.load("eurora_99").problem
    sl.solve(day, method="cpsat:units+warm", time_limit=60, threads=1, on_incumbent=lambda news: False)
    assert 0 < limits[0] < 60
