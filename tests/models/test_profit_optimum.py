"""Profit through every solver: the same optimum, which enumeration and our own account confirm."""

from __future__ import annotations

import pytest
from schedlab import solve
from schedlab.heuristics import RULES
from small_profits import best_by_enumeration, cut, tiny

PROVERS = ("cpsat:counts", "highs:counts@pairwise", "cpo:counts")


@pytest.mark.parametrize("seed", range(4))
def test_enumeration_of_tiny_problems_finds_what_the_solvers_prove(seed: int) -> None:
    problem = tiny(seed)
    best = best_by_enumeration(problem)
    for method in ("cpsat:counts", "cpsat:units", "highs:counts@pairwise"):
        result = solve(problem, method=method, time_limit=30, threads=1)
        assert result.status == "optimal", method
        assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6), method


def test_half_a_day_of_the_small_instance_has_one_optimum_above_every_rule() -> None:
    problem = cut(12, until=43200)
    rules = [solve(problem, method=f"rule:{rule}").objective for rule in RULES]
    results = [solve(problem, method=method, time_limit=60, threads=1) for method in PROVERS[:2]]
    assert [r.status for r in results] == ["optimal", "optimal"]
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-6)
    assert results[0].objective > max(rules) * 1.005
    assert results[0].objective == pytest.approx(problem.objective(results[0].schedule), rel=1e-12)
