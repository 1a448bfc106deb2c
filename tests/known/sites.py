"""Many tiny sites against enumeration, by every exact method, relaxation, search and bound (``make known``)."""

import pytest
import schedlab as sl
from schedlab.backends import Limits, available, run
from schedlab.models.dispatch import NotPlaced
from small_sites import optimum, random_site, violations

pytestmark = pytest.mark.known

FIELDS = ("nodes", "features", "per_node", "whole_nodes", "licences")
EXACT = (
    "cpsat:counts", "cpsat:units", "highs:counts@pairwise", "highs:counts@time-indexed", "highs:units@pairwise",
    "highs:units@time-indexed", "cpo:counts", "cpo:units",
)  # fmt: skip
SEARCHES = ("multi-search", "lns:rounds=4", "delay-search", "lns@cpsat:rounds=3", "relaxation-search")
SUMS = ("lagrangian", "branch-and-bound")
BLOCK = 20


@pytest.mark.parametrize("block", range(40))
def test_every_method_agrees_with_enumeration(block):
    here = {name for name, state in available().items() if state.ok}
    for seed in range(1000 + block * BLOCK, 1000 + (block + 1) * BLOCK):
        p = random_site(seed, 5 if block % 4 == 0 else 4, fields=(FIELDS[seed % 5],))
        best = float(optimum(p))
        for method in (m for m in EXACT if m.partition(":")[0] in here):
            result = sl.solve(p, method=method, time_limit=120, threads=1)
            assert result.status == "optimal", (seed, method, result.message)
            assert result.objective == pytest.approx(best, abs=1e-6), (seed, method)
            assert violations(p, result.schedule) == [], (seed, method)
        for name in ("classes", "pool"):
            bound = run(p.formulations[name]().model, "cpsat", Limits(120.0, 1))
            assert bound.objective <= best + 1e-6, (seed, name)
        for method in (*SEARCHES, *(SUMS if p.objective != "makespan" else ())):
            try:
                result = sl.solve(p, method=method, time_limit=30, threads=1)
            except (NotPlaced, sl.UnknownName):  # not for problems with these fields
                continue
            assert violations(p, result.schedule) == [], (seed, method)
            assert result.objective >= best - 1e-9, (seed, method)
            assert result.bound is None or result.bound <= best + 1e-6, (seed, method)
            assert result.status != "optimal" or result.objective == pytest.approx(best, abs=1e-6), (seed, method)
