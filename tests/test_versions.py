"""What the versions that pyproject.toml excludes are wrong in; ``make versions`` runs this with other versions, too."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from typing import Any

import pytest
import schedlab as sl
import try_versions

PYOMO = sl.backends.available()["pyomo"]  # asked for now: Pyomo cannot be imported after docplex
LIBRARIES = ("ortools.sat.python.cp_model", "highspy")


def best_order(jobs: list[Any], weights: list[int]) -> int:
    """Return the optimum over all orders of the jobs; a machine is idle only if the next job cannot start yet."""

    def cost(order: tuple[int, ...]) -> int:
        now = total = 0
        for k in order:
            now = max(now, jobs[k].start_lo) + jobs[k].size_lo
            total += weights[k] * now
        return total

    return min(map(cost, itertools.permutations(range(len(jobs)))))


@pytest.mark.parametrize(
    "backend",
    [
        "cpsat",
        "highs",
        pytest.param("pyomo", marks=pytest.mark.skipif(not PYOMO.ok, reason=f"pyomo: {PYOMO.reason}")),
        "cpo",
    ],
)
def test_optima_of_big_m_models_are_not_lost(backend: str) -> None:
    """Four jobs of 10 to 50 s within 10^5 s: HiGHS 1.13 and 1.14 call a worse answer optimal in two thirds of them."""
    for seed in (2, 4, 5, 8, 9, 10, 13, 15, 21):
        rng = random.Random(seed)
        m = sl.Model("seconds in a day")
        jobs = [m.interval(f"j{k}", rng.randint(1, 5) * 10, (rng.randint(0, 3) * 10, 10**5)) for k in range(4)]
        weights = [rng.randint(1, 5) for _ in jobs]
        m.add(sl.no_overlap(jobs))
        m.minimize(sl.sum([j.end for j in jobs], weights=weights))
        options = {"lowering": "pairwise"} if backend in ("highs", "pyomo") else {}
        r = sl.solve(m, backend=backend, threads=1, time_limit=20, **options)
        assert (r.status, r.objective) == ("optimal", best_order(jobs, weights)), seed


@pytest.mark.parametrize("order", list(itertools.permutations(LIBRARIES)), ids=" ".join)
def test_solvers_are_imported_into_one_process_in_both_orders(order: tuple[str, ...]) -> None:
    """highspy 1.15 and ortools 9.15 each bring a library libhighs.so.1, and both take the one that is loaded first."""
    script = f"import {', '.join(order)}; print('imported')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "imported\n", done.stderr


def test_each_dependency_has_a_lower_bound_and_none_an_upper_one() -> None:
    """What is wrong with a version is excluded by its number, with a test above; versions that are not yet out are not."""
    stated = try_versions.requirements()
    assert [line for line in stated if not try_versions.lower_bound(line)] == []
    assert [line for line in stated if "<" in line or "~=" in line] == []


def test_the_files_that_try_versions_runs_are_here() -> None:
    places = [try_versions.ROOT / test.partition("::")[0] for test in try_versions.TESTS]
    assert [place for place in places if not place.exists() or place == try_versions.ROOT] == []
