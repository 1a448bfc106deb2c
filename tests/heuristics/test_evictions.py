"""Dynamic program, greedy method and backtracking for evictions: against enumeration and solvers, and in edge cases."""

import random

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from random_evictions import applications, best_by_enumeration, random_eviction
from schedlab import Eviction, EvictionCandidate, EvictionPlan, ProblemError
from schedlab.heuristics import backtracking, greedy, trade_off
from schedlab.heuristics import eviction as dynamic_program
from schedlab.instances import generators


def at(p: Eviction, deadline_s: int) -> Eviction:
    return p.replace(deadline_s=deadline_s)


def values(p: Eviction, nodes: int | None = None) -> list[tuple[int, int, int]]:
    return [tuple(d) for d in trade_off(p).deadlines(nodes)]


class TestTheDynamicProgram:
    @pytest.mark.parametrize("seed", some_now(range(60), 20))
    def test_all_methods_agree_for_every_deadline(self, seed: int) -> None:
        rng = random.Random(1000 + seed)
        p = random_eviction(rng, jobs=rng.randint(1, 8))
        known = trade_off(p)
        assert len(known.deadlines()) == p.steps + 1
        some = sorted({0, p.steps, *rng.choices(range(p.steps + 1), k=3)})
        for t in some:
            here = at(p, t * p.step_s)
            expected = known.deadlines()[t][1:]
            planned = known.plan(deadline_s=t * p.step_s)
            assert (planned.status, planned.objective, planned.problem) == ("optimal", expected, here)
            assert here.verify(planned.schedule) == [] and here.value(planned.schedule) == expected
            searched = backtracking(here)
            assert searched.status == "optimal" and searched.details["complete"]
            assert here.verify(searched.schedule) == [] and here.value(searched.schedule) == expected
        for backend in ("cpsat", "highs"):
            t = rng.choice(some)
            found = sl.solve(at(p, t * p.step_s), backend=backend, threads=1)
            assert (found.status, found.objective) == ("optimal", known.deadlines()[t][1:])

    @pytest.mark.parametrize("seed", some_now(range(40), 14))
    def test_it_finds_what_enumeration_finds(self, seed: int) -> None:
        p = random_eviction(random.Random(seed), jobs=6)
        plan = trade_off(p).plan().schedule
        assert p.verify(plan) == []
        assert (*p.value(plan), -applications(plan)) == best_by_enumeration(p)
        searched = backtracking(p).schedule
        assert (*p.value(searched), -applications(searched)) == best_by_enumeration(p)

    def test_eight_jobs_by_enumeration(self) -> None:
        p = random_eviction(random.Random(8), jobs=8)
        assert trade_off(p).deadlines()[-1][1:] == best_by_enumeration(p)[:2]

    @pytest.mark.parametrize("seed", some_now(range(10), 4))
    def test_every_number_of_nodes_comes_out_of_one_pass(self, seed: int) -> None:
        p = random_eviction(random.Random(seed), jobs=6)
        known = trade_off(p)
        assert known.losses.shape == (p.nodes_in_use + 1, p.steps + 1)
        assert (np.diff(known.losses, axis=0) >= 0).all() and (np.diff(known.losses, axis=1) <= 0).all()
        for nodes in range(0, p.nodes_in_use + 1, 5):
            alone = p.replace(nodes_needed=nodes)
            assert values(alone) == values(p, nodes)
            assert known.plan(nodes).objective == known.deadlines(nodes)[-1][1:]
            assert alone.verify(known.plan(nodes).schedule) == []

    @pytest.mark.parametrize("seed", some_now(range(10), 4))
    def test_few_and_many_steps_are_computed_differently_and_alike(self, seed: int, monkeypatch) -> None:
        p = random_eviction(random.Random(seed), jobs=7)
        found = []
        for most in (0, 10_000):
            monkeypatch.setattr(dynamic_program, "MOST_DENSE", most)
            found.append(trade_off(p))
        sparse, dense = found
        assert type(sparse.table) is not type(dense.table)
        for nodes in range(p.nodes_in_use + 1):
            assert sparse.deadlines(nodes) == dense.deadlines(nodes)
        for t in range(0, p.steps + 1, 9):
            plans = [one.plan(deadline_s=t * p.step_s) for one in found]
            assert len({plan.objective for plan in plans}) == 1

    def test_the_same_problem_has_the_same_plans(self) -> None:
        p = generators["theta"](12, 3).problem
        first, second = trade_off(p), trade_off(p)
        for t in range(16):
            assert first.best_plan(deadline_s=60 * t) == second.best_plan(deadline_s=60 * t)

    def test_many_jobs_on_many_nodes_at_second_steps(self) -> None:
        p = generators["theta"](40, 5, nodes=6000).problem.replace(step_s=1, nodes_needed=3000)
        known = trade_off(p)
        for t in (0, 100, 313, 900):
            here = at(p, t)
            assert here.verify(known.plan(deadline_s=t).schedule) == []
            assert known.plan(deadline_s=t).objective == known.deadlines()[t][1:]
        found = sl.solve(at(p, 313), backend="cpsat", time_limit=30)
        assert (found.status, found.objective) == ("optimal", known.deadlines()[313][1:])

    def test_losses_beyond_64_bits_are_an_error(self) -> None:
        jobs = [EvictionCandidate("a", 1, 2**62 + 1, 1, 1), EvictionCandidate("b", 1, 2**62, 1, 1)]
        with pytest.raises(ProblemError, match="too large for exact 64-bit sums"):
            trade_off(Eviction(jobs, 1, 900))


class TestCorners:
    def jobs(self) -> list[EvictionCandidate]:
        return [
            EvictionCandidate("a", 4, 400, 120, 60),
            EvictionCandidate("b", 2, 100, 60, 60),
            EvictionCandidate("c", 8, 100, None, None),
        ]

    @pytest.mark.parametrize("method", ["dp", "greedy", "backtracking", "cpsat:serial"])
    def test_no_nodes_needed_keeps_all(self, method: str) -> None:
        p = Eviction(self.jobs(), 0, 900)
        found = sl.solve(p, method=method)
        assert found.objective == (0, 0) and found.schedule.evicted == []

    def test_all_nodes_needed_takes_all_and_one_more_is_an_error(self) -> None:
        p = Eviction(self.jobs(), 14, 60)
        assert trade_off(p).plan().schedule.strategy == {"a": "app", "b": "kill", "c": "kill"}
        with pytest.raises(ProblemError, match="at most 14"):
            p.replace(nodes_needed=15)
        with pytest.raises(ProblemError, match="15 nodes"):
            trade_off(p).plan(nodes_needed=15)
        with pytest.raises(ProblemError, match="0 to 60 s"):
            trade_off(p).plan(deadline_s=120)

    @pytest.mark.parametrize("method", ["dp", "greedy", "backtracking", "cpsat:serial"])
    def test_no_time_leaves_only_kills_and_checkpoints_that_take_none(self, method: str) -> None:
        p = Eviction([*self.jobs(), EvictionCandidate("d", 1, 10**6, 0, None)], 7, 0)
        found = sl.solve(p, method=method)
        assert "app" not in found.schedule.strategy.values()
        if method != "greedy":
            assert found.objective == (100, 0)

    def test_a_checkpoint_longer_than_the_deadline_is_none(self) -> None:
        p = Eviction([EvictionCandidate("a", 4, 400, 901, 1200)], 1, 900)
        assert (
            trade_off(p).plan().schedule.strategy
            == {"a": "kill"}
            == backtracking(p).schedule.strategy
            == greedy(p).strategy
        )

    def test_of_equal_losses_the_shorter_time_wins_and_of_equal_times_the_application(self) -> None:
        same = [EvictionCandidate("a", 4, 400, 120, 120), EvictionCandidate("b", 4, 400, 60, 60)]
        assert trade_off(Eviction(same, 4, 900)).plan().schedule.strategy == {"a": "keep", "b": "app"}
        twins = [EvictionCandidate("a", 4, 400, 60, None), EvictionCandidate("b", 4, 400, None, 60)]
        assert trade_off(Eviction(twins, 4, 900)).plan().schedule.strategy == {"a": "keep", "b": "app"}
        assert trade_off(Eviction(twins[::-1], 4, 900)).plan().schedule.strategy == {"a": "keep", "b": "app"}

    def test_nobody_runs(self) -> None:
        p = Eviction([], 0, 120)
        assert values(p) == [(0, 0, 0), (60, 0, 0), (120, 0, 0)]
        assert trade_off(p).plan().schedule == greedy(p) == backtracking(p).schedule == EvictionPlan({})
        assert values(p.replace(step_s=1, deadline_s=300))[300] == (300, 0, 0)


class TestGreedy:
    def test_dear_jobs_take_checkpoints_until_one_is_late_then_cheap_ones_are_killed(self) -> None:
        jobs = [
            EvictionCandidate("dear", 2, 900, 120, 60),
            EvictionCandidate("slow", 2, 800, 300, None),
            EvictionCandidate("fast", 2, 700, 60, None),
            EvictionCandidate("cheap", 2, 10, 60, None),
        ]
        p = Eviction(jobs, 4, 180)
        assert greedy(p).strategy == {"dear": "app", "slow": "keep", "fast": "keep", "cheap": "kill"}
        assert trade_off(p).deadlines()[-1][1:] == (0, 120)

    def test_a_job_without_checkpoint_is_passed_over(self) -> None:
        jobs = [EvictionCandidate("stuck", 2, 900, None, None), EvictionCandidate("b", 2, 10, 60, 120)]
        assert greedy(Eviction(jobs, 2, 60)).strategy == {"stuck": "keep", "b": "sys"}

    def test_it_holds_and_is_never_better_than_the_best(self) -> None:
        for seed in range(100):
            p = random_eviction(random.Random(seed), jobs=9)
            assert p.verify(greedy(p)) == []
            assert p.value(greedy(p)) >= trade_off(p).deadlines()[-1][1:]


class TestBacktracking:
    def test_it_tells_of_every_better_plan_and_can_be_stopped(self) -> None:
        p = generators["theta"](12, 1).problem
        reported: list[tuple[int, int]] = []
        found = backtracking(p, on_incumbent=lambda news: reported.append(p.value(news.schedule())))
        assert (
            found.details["complete"]
            and reported == sorted(reported, reverse=True)
            and reported[-1] == trade_off(p).deadlines()[-1][1:]
        )
        stopped = backtracking(p, on_incumbent=lambda news: False)
        assert not stopped.details["complete"] and p.verify(stopped.schedule) == []

    def test_a_limit_ends_it_with_the_best_so_far(self) -> None:
        p = generators["theta"](60, 1, nodes=9000).problem
        found = sl.solve(p, method="backtracking", time_limit=0.05)
        assert found.status in ("feasible", "unknown")
