"""The method lagrangian on 500 random small problems: never above the enumerated optimum, and how much of the gap it closes.

``python -m pytest tests/known/bounds.py -s`` prints the mean share of the gap of the pooled bound that is closed.
"""

import numpy as np
import pytest
import schedlab as sl
from heuristics.lagrangian.small import optimum, random_problem


def test_500_random_problems():
    closed, proven = [], 0
    for seed in range(500):
        problem = random_problem(seed)
        best, found = optimum(problem), sl.solve(problem, "lagrangian")
        pooled = sl.solve(problem, "highs:pool@1s-energy").bound
        assert found.bound <= best + 1e-9 and pooled <= best + 1e-6, seed
        proven += found.status == "optimal"
        if best != pytest.approx(pooled, rel=1e-6):
            closed.append((found.bound - pooled) / (best - pooled))
    print(
        f"{len(closed)} of 500 pooled bounds below the optimum; closed {np.mean(closed):.3f} on average; {proven} proven optimal"
    )
    assert np.mean(closed) >= 0.5
