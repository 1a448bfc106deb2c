"""The arrays of all problems have the same types, so that the kernels which the warm-up has compiled are used."""

from dataclasses import replace

import numba
import pytest
import schedlab as sl
from schedlab.heuristics import ListScheduler, tiny
from schedlab.models import Job, Running

DAY = sl.load("eurora_99").dispatch


def with_running(number):
    jobs = [replace(DAY.jobs[k], id=f"running {k}", submit=0) for k in range(number)]
    nodes = DAY.platform.nodes
    busy = [Running(job, 0, {nodes[k]: 1, nodes[k + 1]: 1}, 90000) for k, job in enumerate(jobs)]
    small = [replace(r, job=replace(r.job, units=2, request={"cores": 1})) for r in busy]
    return DAY.replace(running=small, now=10)


CHUNKS = Job.of_chunks("chunks", 0, 60, [(1, {"cores": 2}), (2, {"cores": 1})], DAY.queues[0].name)
PROBLEMS = {
    "a day": DAY,
    "a moment": DAY.at(12 * 3600, first=9),
    "one running job": with_running(1),
    "three running jobs": with_running(3),
    "limits": DAY.replace(limits={"late-jobs": 50, "makespan": 200000}),
    "heterogeneous jobs": DAY.replace(jobs=[*DAY.jobs, CHUNKS]),
    "one job": DAY.replace(jobs=DAY.jobs[:1]),
    "windows": DAY.replace(jobs=[replace(j, windows=((0, 9), (90000, 99000))) for j in DAY.jobs[:5]]),
    "another objective": DAY.replace(objective="makespan"),
    "profit": sl.load("profit_small").problem,
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_all_problems_use_the_same_versions_of_the_kernels(name):
    a, first = ListScheduler(PROBLEMS[name]).arrays, ListScheduler(tiny()).arrays
    for part in ("jobs", "machine", "costs"):
        assert numba.typeof(getattr(a, part)) == numba.typeof(getattr(first, part)), part
