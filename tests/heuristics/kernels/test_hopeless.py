"""Times that are known to be hopeless: those of all smaller kinds count, and no others."""

import random

import numpy as np
from schedlab.heuristics import ListScheduler
from schedlab.heuristics.kernels import KINDS, NEVER, new_hopeless
from schedlab.heuristics.kernels.placement import note
from schedlab.heuristics.kernels.placement import skip as _skip
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.compiled import compiled


@compiled
def skip(known, jobs, j, t):
    return _skip(known, jobs, j, t)


@compiled
def noted(known, k, begin, end):
    note(known, k, begin, end)


def first_possible(known, jobs, j, t):
    """Return the results of ``skip`` by going through all kinds."""
    smaller = [
        k
        for k in range(known.end.size)
        if known.units[k] <= jobs.units[j]
        and known.duration[k] <= jobs.duration[j]
        and (known.request[k] <= jobs.request[j]).all()
    ]
    while any(known.begin[k] <= t < known.end[k] for k in smaller):
        t = max(known.end[k] for k in smaller if known.begin[k] <= t < known.end[k])
    return t, min([known.begin[k] for k in smaller if known.begin[k] > t and known.end[k] > t], default=NEVER)


def test_ranges_of_all_smaller_kinds_are_skipped():
    rng = random.Random(3)
    listed = [
        Job(f"j{i}", 0, rng.choice([10, 20, 300]), rng.randint(1, 4), {"cores": rng.randint(1, 8)}, "q")
        for i in range(60)
    ]
    platform = Platform([NodeGroup("n", 4, {"cores": 8})])
    jobs = ListScheduler(Dispatch(platform, listed, [Queue("q", 100)], "waiting")).arrays.jobs
    for kinds in (0, 5, KINDS):  # with fewer kinds, some jobs are of no kind
        known = new_hopeless(jobs, kinds)
        moved = 0
        for _ in range(200):
            if known.end.size:
                begin = rng.randint(0, 900)
                noted(known, rng.randrange(known.end.size), begin, begin + rng.randint(0, 80))
            j, t = rng.randrange(60), rng.randint(0, 1000)
            found = skip(known, jobs, j, t)
            assert found == first_possible(known, jobs, j, t)
            moved += found[0] > t
        assert (moved > 10) == (kinds > 0)
        assert np.all(np.diff(known.first_smaller) >= 0)
