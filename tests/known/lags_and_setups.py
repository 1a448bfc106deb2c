"""Job shops with setup times and projects with maximum time lags (``make known``): all solvers prove the same optimum."""

import pytest
import schedlab as sl
from random_lags import job_shop, project

SOLVERS = {
    "cpsat": {"backend": "cpsat"},
    "highs": {"backend": "highs"},
    "cpo": {"backend": "cpo"},
}

LIMIT = 3000  # s; the proofs take seconds of a processor, and a shared machine may give little of one

pytestmark = pytest.mark.known


def answers(m: sl.Model, but: str = "") -> dict[str, tuple[str, object]]:
    """Return the status and the objective of each solver that is installed; CP Optimizer comes last (see Pyomo)."""
    found = {}
    for name, options in SOLVERS.items():
        if name != but and sl.backends.available()[name].ok:
            r = sl.solve(m, **options, threads=2, time_limit=LIMIT)
            assert r.violations == [], name
            found[name] = (r.status, r.objective)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_job_shops_with_setup_times(seed: int) -> None:
    found = answers(job_shop(seed, jobs=5, machines=3))
    assert len(set(found.values())) == 1 and next(iter(found.values()))[0] == "optimal", found


@pytest.mark.parametrize("seed", range(20))
def test_projects_with_maximum_lags(seed: int) -> None:
    found = answers(project(seed, tasks=7))
    assert len(set(found.values())) == 1 and next(iter(found.values()))[0] == "optimal", found


@pytest.mark.parametrize("seed", range(20))
def test_longer_projects_with_maximum_lags(seed: int) -> None:
    found = answers(project(seed, tasks=10), but="highs")  # a minute of a processor for some of them
    assert len(set(found.values())) == 1 and next(iter(found.values()))[0] == "optimal", found
