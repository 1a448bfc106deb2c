"""``make known``: a day of ``profit_small`` on three nodes, three segments: the solvers prove one optimum, above every rule."""

import pytest
from schedlab import solve
from schedlab.heuristics import RULES
from small_profits import cut


@pytest.mark.parametrize(
    "until, provers",
    [
        (84000, ("cpsat:counts", "highs:counts@pairwise")),
        (43200, ("cpsat:counts", "highs:counts@pairwise", "cpo:counts")),
    ],
)
def test_the_same_optimum_is_proved_and_lies_above_every_rule(until, provers):
    problem = cut(12, until=until)
    assert len(problem.jobs) >= 10 and len(problem.platform.nodes) == 3
    assert len(problem.segments) == (3 if until == 84000 else 2)
    rules = [solve(problem, method=f"rule:{rule}").objective for rule in RULES]
    found = {method: solve(problem, method=method, time_limit=600, threads=2) for method in provers}
    assert {r.status for r in found.values()} == {"optimal"}
    best = found[provers[0]].objective
    assert all(r.objective == pytest.approx(best, rel=1e-6) for r in found.values())
    assert best > max(rules)
