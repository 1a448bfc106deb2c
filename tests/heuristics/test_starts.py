"""Starts of searches and solvers: never worse than the start, rejected with a reason, the callback, requests."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import schedlab as sl
from made_heuristics import made
from schedlab import lns
from schedlab.backends import Incumbent, Result
from schedlab.heuristics import (
    HEURISTICS,
    NothingFound,
    answer,
    backtracking,
    delay_search,
    first_solution,
    greedy,
    multi_search,
    multi_sgs,
    relaxation_search,
    serial_sgs,
)
from schedlab.methods import FirstSolution, Lns


def improves(problem, value, than):
    """Return whether a value is better than another one by more than a rounding error."""
    if value == pytest.approx(than, rel=1e-9):
        return False
    return value > than if problem.sense == "maximize" else value < than


Search = Callable[..., Result]
SEARCHES: dict[str, Search] = {
    "multi-search": multi_search,
    "delay-search": lambda p, **given: delay_search(p, **{"time_limit": 0.3, **given}),
    "relaxation-search": lambda p, **given: relaxation_search(p, **{"time_limit": 0.5, "threads": 1, **given}),
    "lns": lambda p, **given: lns(p, **{"rounds": 6, **given}),
}


def snapshot(jobs: int = 25) -> Any:
    return sl.load("eurora_330").problem.at(12 * 3600, first=jobs)


def profits() -> Any:
    return sl.load("profit_small").problem


def small() -> Any:
    """Return a problem on three nodes, on which list schedules are far from the best ones."""
    dice, jobs = random.Random(4), []
    for k in range(16):
        request = {"cores": dice.randint(2, 16)}
        submit, walltime = dice.randrange(0, 15000, 300), dice.randrange(600, 9000, 60)
        jobs.append(sl.Job(f"j{k}", submit, walltime, dice.randint(1, 3), request, "q"))
    platform = sl.Platform([sl.NodeGroup("n", 3, {"cores": 16})])
    return sl.Dispatch(platform, jobs, [sl.Queue("q", 3600)], "waiting")


def random_start(problem: Any, seed: int) -> sl.Schedule:
    ids = [job.id for job in problem.jobs]
    random.Random(seed).shuffle(ids)
    return first_solution(problem, ids)


@pytest.fixture(scope="module", params=[snapshot, profits])
def problem(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture(scope="module")
def good(problem: Any) -> sl.Schedule:
    """Return a schedule that list schedules hardly reach."""
    schedule: sl.Schedule = lns(problem, rounds=30, seed=7).schedule
    assert improves(problem, problem.value(schedule), multi_search(problem).objective)
    return schedule


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_never_worse_than_its_start(name: str, problem: Any, good: sl.Schedule) -> None:
    for start in (good, random_start(problem, 1)):
        seen: list[Incumbent] = []
        found = SEARCHES[name](problem, warm_start=start, on_incumbent=seen.append)
        value = problem.value(start)
        assert found.status == "feasible" and problem.verify(found.schedule) == []
        assert not improves(problem, value, found.objective)
        assert found.warm_start.fate == "accepted"
        assert found.warm_start.returned is (found.objective == value)
        assert found.incumbents == seen and seen[0].objective == value
        assert all(improves(problem, b.objective, a.objective) for a, b in pairwise(seen))


def nearly(problem: Any, schedule: sl.Schedule) -> sl.Schedule:
    """Return a schedule in which the job that ends last starts a little later."""
    last = max(problem.jobs, key=lambda job: schedule.start[job.id] + problem.duration(job)).id
    found = sl.Schedule({**schedule.start, last: schedule.start[last] + 60}, schedule.nodes)
    assert improves(problem, problem.value(found), multi_search(problem).objective)
    return found


@pytest.mark.parametrize(
    ("name", "make", "rounds"), [("lns", small, 30), ("delay-search", snapshot, 2), ("relaxation-search", small, 30)]
)
def test_a_good_start_itself_is_improved(name: str, make: Callable[[], Any], rounds: int) -> None:
    """The start is that of ``rounds`` of LNS, with one job later; more of them leave nothing to a delay search."""
    problem = make()
    start = nearly(problem, lns(problem, rounds=rounds, seed=1).schedule)
    value = problem.value(start)
    limits = {"rounds": 3} if name == "lns" else {"time_limit": 20.0}
    limits |= {"threads": 4} if name == "relaxation-search" else {}  # on one thread CP-SAT has no neighbourhoods
    enough = {"on_incumbent": lambda news: not improves(problem, news.objective, value)}
    found = SEARCHES[name](problem, warm_start=start, **limits, **enough)
    assert improves(problem, found.objective, value) and not found.warm_start.returned
    assert found.incumbents[0].objective == value


@pytest.mark.parametrize("name", SEARCHES)
def test_without_time_a_search_returns_its_start(name: str, problem: Any, good: sl.Schedule) -> None:
    limits: dict[str, Any] = {"rounds": None} if name == "lns" else {}
    found = SEARCHES[name](problem, warm_start=good, **limits, time_limit=0.0)
    assert (found.schedule, found.warm_start.returned) == (good, True)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_start_that_violates_the_problem_is_rejected(name: str, problem: Any) -> None:
    start = random_start(problem, 1)
    start.start[problem.jobs[0].id] = -5
    found, without = (SEARCHES[name](problem, **given, time_limit=0.0) for given in ({"warm_start": start}, {}))
    assert found.warm_start.fate == "rejected" and repr(problem.jobs[0].id) in found.warm_start.reason
    assert without.warm_start.fate == "none" and found.schedule == without.schedule


def test_a_result_is_no_start() -> None:
    problem = snapshot()
    with pytest.raises(TypeError, match="attribute `schedule`"):
        lns(problem, warm_start=multi_search(problem))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SEARCHES)
def test_false_stops_at_the_start_and_an_error_reaches_the_caller(name: str, problem: Any) -> None:
    seen: list[Incumbent] = []

    def stop(news: Incumbent) -> bool:
        seen.append(news)
        return False

    found = SEARCHES[name](problem, warm_start=random_start(problem, 1), on_incumbent=stop)
    assert len(seen) == 1 and found.warm_start.returned

    def fail(news: Incumbent) -> None:
        if improves(problem, news.objective, problem.value(random_start(problem, 1))):
            raise ZeroDivisionError("planted")

    with pytest.raises(ZeroDivisionError, match="planted"):
        SEARCHES[name](problem, time_limit=30.0, warm_start=random_start(problem, 1), on_incumbent=fail)


def test_an_error_in_the_callback_leaves_a_solver_of_a_search() -> None:
    problem = small()
    start = nearly(problem, lns(problem, rounds=30, seed=1).schedule)

    def fail(news: Incumbent) -> None:
        if improves(problem, news.objective, problem.value(start)):
            raise ZeroDivisionError("planted")

    with pytest.raises(ZeroDivisionError, match="planted"):  # from CP-SAT's thread
        relaxation_search(problem, time_limit=20, threads=4, warm_start=start, on_incumbent=fail)


@pytest.mark.parametrize("method", ["lns", "multi-search", "cpsat:pool", "cpsat:counts+warm"])
def test_incumbents_give_the_schedule_of_their_objective(method: str) -> None:
    problem, seen, modelled = snapshot(12), [], []

    def look(news: Incumbent) -> None:
        if news.objective is not None:
            schedule, assignment = news.schedule(), news.assignment()
            assert schedule is not None
            modelled.append(assignment is not None)
            seen.append((news.objective, problem.value(schedule)))

    sl.solve(problem, method=method, time_limit=0.7, threads=1, seed=1, on_incumbent=look)
    assert seen and all(said == pytest.approx(true, rel=1e-9) for said, true in seen)
    if method.endswith("+warm"):  # a warm start is found before there is a model
        assert modelled == sorted(modelled) and not modelled[0]
    else:
        assert set(modelled) == {method.startswith("cpsat")}


class TestEvictions:
    def test_a_plan_bounds_the_search(self) -> None:
        p = sl.load("theta_12").problem
        best = backtracking(p)
        again = backtracking(p, warm_start=best.schedule)
        assert again.status == "optimal" and again.warm_start.returned and len(again.incumbents) == 1
        kill = sl.EvictionPlan({c.id: "kill" for c in p.candidates})
        found = backtracking(p, warm_start=kill)
        assert (found.status, found.objective) == ("optimal", best.objective) and not found.warm_start.returned

    def test_checkpoints_side_by_side_are_not_lost(self) -> None:
        p = sl.load("theta_12").problem.replace(shared_bandwidth=True)
        side_by_side = sl.solve(p, method="cpsat:shared", time_limit=10, threads=2)
        found = backtracking(p, warm_start=side_by_side.schedule)
        assert found.objective == side_by_side.objective <= backtracking(p).objective

    def test_where_no_node_is_needed_all_jobs_are_kept(self) -> None:
        p = sl.load("theta_12").problem.replace(nodes_needed=0)
        kill = sl.EvictionPlan({c.id: "kill" for c in p.candidates})
        assert backtracking(p, warm_start=kill).objective == (0, 0)


class TestProjects:
    def test_the_start_is_the_schedule_to_beat(self) -> None:
        p = sl.load("project_small").problem
        best = sl.solve(p, method="cpsat:modes", time_limit=20, threads=2).schedule
        found = multi_sgs(p, warm_start=best)
        assert found.schedule == best and found.warm_start.returned and found.details["rule"] is None
        worst = serial_sgs(p, "spt")
        assert multi_sgs(p, warm_start=worst).objective == multi_sgs(p).objective < p.value(worst)


class TestRequests:
    def test_what_a_heuristic_does_not_take_is_an_error(self) -> None:
        p = snapshot(6)
        start = first_solution(p)
        with pytest.raises(TypeError, match=r"first-solution takes no start; these heuristics do: multi-search, .*lns"):
            FirstSolution("est").solve(p, start=start)
        with pytest.raises(TypeError, match="Lns has no argument 'round'; did you mean rounds"):
            Lns(round=3)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="multi-search does not obey delay; methods that do: delay-search"):
            sl.solve(p, "multi-search", delay=3)

    @pytest.mark.parametrize(("name", "options"), [("lns", {"rounds": 2}), ("delay-search", {"delay": 900})])
    def test_options_and_starts_are_obeyed(self, name: str, options: dict[str, int]) -> None:
        p = snapshot()
        start = random_start(p, 3)
        found = HEURISTICS[name](**options).solve(p, start=start)
        assert found.incumbents[0].objective == p.value(start) and found.warm_start.fate == "accepted"
        if name == "delay-search":
            assert found.details["delay"] == 900
        else:
            assert sum(gain.turns for gain in found.details["operators"].values()) == 2  # type: ignore[attr-defined]

    def test_a_heuristic_that_ignores_its_start_is_still_never_worse(self) -> None:
        p = snapshot()
        good, bad = lns(p, rounds=9).schedule, random_start(p, 1)

        def careless(problem: Any, request: Any) -> Result:
            return answer(problem, bad, message="careless")

        def hopeless(problem: Any, request: Any) -> Result:
            raise NothingFound("nothing")

        for run, message in ((careless, "careless"), (hopeless, "nothing")):
            found = made(run, starts=True)().solve(p, start=good)
            assert (found.schedule, found.message) == (good, message)
            assert (found.warm_start.fate, found.warm_start.returned) == ("accepted", True)
        broken = sl.Schedule({**bad.start, p.jobs[0].id: -5}, bad.nodes)
        assert made(careless, starts=True)().solve(p, start=broken).warm_start.fate == "rejected"

    def test_a_heuristic_returns_a_result(self) -> None:
        p = snapshot(6)
        with pytest.raises(TypeError, match="a heuristic returns a Result"):
            made(lambda problem, request: first_solution(problem))().solve(p)

    def test_a_schedule_that_violates_the_problem_is_an_error(self) -> None:
        p = sl.load("theta_12").problem
        found = answer(p, sl.EvictionPlan(dict.fromkeys(greedy(p).strategy, "keep")))
        assert (found.status, found.objective) == ("error", None) and "nodes are freed" in found.message
