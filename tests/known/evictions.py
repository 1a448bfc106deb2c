"""Eviction problems at length (``make known``): 1,000 random ones on which all methods agree. Samples of it run in the suite."""

import random

import pytest
import schedlab as sl
from random_evictions import applications, best_by_enumeration, random_eviction, random_shared
from schedlab.heuristics import backtracking, trade_off
from schedlab.models import Eviction

COUNT, PART = 1000, 50

pytestmark = pytest.mark.known


def available(*names: str) -> list[str]:
    return [name for name in names if sl.backends.available()[name].ok]


def problem(seed: int) -> Eviction:
    """Up to 12 jobs; at most 16 deadlines, so that solvers can be asked for each of them."""
    rng = random.Random(seed)
    p = random_eviction(rng, jobs=rng.randint(1, 12))
    return p.replace(deadline_s=min(p.deadline_s, 15 * p.step_s))


@pytest.mark.parametrize("begin", range(0, COUNT, PART))
def test_all_methods_agree_for_every_deadline(begin: int) -> None:
    solvers = available("cpsat", "highs")
    for seed in range(begin, begin + PART):
        p = problem(seed)
        known = trade_off(p)
        for deadline, *expected in known.deadlines():
            here = p.replace(deadline_s=deadline)
            plan = known.plan(deadline_s=deadline).schedule
            assert here.verify(plan) == [] and here.value(plan) == tuple(expected)
            searched = backtracking(here)
            assert searched.details["complete"] and here.value(searched.schedule) == tuple(expected)
            for name in solvers:
                found = sl.solve(here, backend=name, threads=1, time_limit=60)
                assert (found.status, found.objective) == ("optimal", tuple(expected)), (seed, deadline, name)


@pytest.mark.parametrize("begin", range(0, 100, 20))
def test_cp_optimizer_agrees(begin: int) -> None:
    if not available("cpo"):
        pytest.skip(sl.backends.available()["cpo"].reason)
    for seed in range(begin, begin + 20):
        p = problem(seed)
        found = sl.solve(p, backend="cpo", threads=1, time_limit=60)
        assert (found.status, found.objective) == ("optimal", trade_off(p).deadlines()[-1][1:]), seed


@pytest.mark.parametrize("seed", range(20))
def test_enumeration_of_eight_jobs(seed: int) -> None:
    p = random_eviction(random.Random(seed), jobs=8)
    plan = trade_off(p).plan().schedule
    assert (*p.value(plan), -applications(plan)) == best_by_enumeration(p)


@pytest.mark.parametrize("begin", range(0, 60, 20))
def test_side_by_side_solvers_agree_and_lose_no_more(begin: int) -> None:
    for seed in range(begin, begin + 20):
        p = random_shared(random.Random(seed), jobs=6)
        serial = trade_off(p.replace(shared_bandwidth=False)).deadlines()[-1][1:]
        found = {b: sl.solve(p, backend=b, threads=1, time_limit=60) for b in available("cpsat", "cpo")}
        assert all(f.status == "optimal" for f in found.values())
        assert len({f.objective for f in found.values()}) == 1
        assert all(f.objective <= serial for f in found.values())
