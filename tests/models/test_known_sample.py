"""A quick sample of ``known.py``: problems of the literature with known optima, solved on the backends."""

from collections.abc import Callable
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.instances import read_fjsplib, read_jsplib, read_psplib
from schedlab.models import Project, Resource, Task
from shared_data import DATA
from small_profits import usable

needs_data = pytest.mark.skipif(not DATA.exists(), reason="../shared/data is missing: nothing to compare with")


@needs_data
@pytest.mark.parametrize(
    ("read", "file", "optimum"),
    [
        (read_psplib, "rcpsp_psplib/j30/j301_1.sm", 43),
        (read_psplib, "rcpsp_psplib/j30/j305_9.sm", 49),
        (read_jsplib, "jsp/la01.txt", 666),
        (read_jsplib, "jsp/la05.txt", 593),
        (read_fjsplib, "fjsp/kacem1.txt", 11),
        (read_fjsplib, "fjsp/fattahi3.txt", 221),
    ],
)
def test_cpsat_proves_the_known_optimum(read: Callable[[Path], Project], file: str, optimum: int) -> None:
    project = read(DATA / file)
    result = sl.solve(project, backend="cpsat", time_limit=60, threads=2)
    assert (result.status, result.objective) == ("optimal", optimum)
    assert project.verify(result.schedule) == []
    assert project.value(result.schedule) == optimum


@pytest.mark.parametrize("method", ["cpsat:modes", "highs:modes@pairwise", "highs:modes@time-indexed", "cpo:modes"])
def test_every_backend_proves_a_three_job_shop(method: str) -> None:
    """Three jobs on three machines; 11 is the optimum of this classic example (OR-Tools documentation)."""
    usable(method)
    routes = {"a": [(0, 3), (1, 2), (2, 2)], "b": [(0, 2), (2, 1), (1, 4)], "c": [(1, 4), (2, 3), (0, 1)]}
    tasks = [Task.single(f"{j}{k}", d, {f"m{m}": 1}) for j, steps in routes.items() for k, (m, d) in enumerate(steps)]
    links = [(f"{j}{k}", f"{j}{k + 1}") for j in routes for k in range(2)]
    project = Project(tasks, [Resource(f"m{m}", 1) for m in range(3)], links)
    result = sl.solve(project, method=method, time_limit=60, threads=1)
    assert (result.status, result.objective) == ("optimal", 11), result.message
    assert project.verify(result.schedule) == []
