"""Problems without jobs, nodes to free or tasks: every method ends with a plain result."""

from dataclasses import replace

import pyomo.environ  # noqa: F401  before docplex, after which it cannot be imported
import pytest
import schedlab as sl
from schedlab.heuristics import HEURISTICS
from schedlab.methods import Auto, Heuristic, all_classes
from schedlab.models import Dispatch, Eviction, NodeGroup, Platform, Project, Queue, Resource
from small_profits import tiny

PLATFORM = Platform([NodeGroup("n", 2, {"cores": 4, "memory": 6})])
SOME = tiny(1)
POWERLESS = [replace(job, power=0.0) for job in SOME.jobs]
PROBLEMS = {
    "no jobs": Dispatch(PLATFORM, [], [Queue("q", 60)]),
    "no jobs and no queues": Dispatch(PLATFORM, [], []),
    "no running jobs": Eviction([], 0, 900),
    "no tasks": Project([], [Resource("crane", 1)]),
    "no tasks and no resources": Project([], []),
    "no jobs that earn": SOME.replace(dispatch=Dispatch(SOME.platform, [], SOME.dispatch.queues)),
    "jobs without power": SOME.replace(dispatch=Dispatch(SOME.platform, POWERLESS, SOME.dispatch.queues)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_method_ends_with_a_plain_result(name: str) -> None:
    p = PROBLEMS[name]
    for c in all_classes():
        if c is Auto:
            methods = ["auto", "auto+warm"]
        elif not issubclass(c, Heuristic):
            methods = [f"{c.name}:{f}" for f in p.formulations] + [f"{c.name}+warm"]
        elif HEURISTICS[c.name].takes(p):
            methods = [":".join([c.name, *HEURISTICS[c.name].arguments()[:1]])]
        else:
            continue
        for method in methods:
            options = {"rounds": 2} if c.name == "lns" else {}
            r = sl.solve(p, method, time_limit=20, threads=1, **options)
            assert r.status in ("optimal", "feasible"), (method, r.status, r.message)
            assert r.violations == [] and r.objective == p.value(r.schedule)
            assert name == "jobs without power" or r.objective in (0, (0, 0))
    assert sl.explain(p, time_limit=20).status == "feasible"
    r.to_pandas()
