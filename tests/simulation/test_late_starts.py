"""Late starts: counted in metrics and groups, seen by dispatchers, without an effect on the replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import Workload
from schedlab.instances.workload import NEVER
from schedlab.models import Job, NodeGroup, Platform, Queue
from schedlab.simulation import Decision, Start
from schedlab.simulation.metrics import metrics, recorded

PLATFORM = Platform([NodeGroup("n", 1, {"cores": 1})])
QUEUES = [Queue("q", 60), Queue("other", 60)]


def log(*latest, queues=None, users=None, after=None):
    """Return jobs of 10 s that are submitted at 0, 1, 2, ...; fcfs starts them at 0, 10, 20, ..."""
    jobs = [
        Job(f"j{k}", k, 10, 1, {"cores": 1}, (queues or ["q"] * 9)[k], None, None, (), 10, (users or "a" * 9)[k],
            latest_start=when)
        for k, when in enumerate(latest)
    ]  # fmt: skip
    return replace(Workload.of(sl.Dispatch(PLATFORM, jobs, QUEUES, "waiting")), after=after or {})


def test_late_starts_are_counted_among_the_jobs_that_have_a_latest_start():
    run = sl.simulate(log(0, 9, None, 30, 100), PLATFORM, "fcfs")  # starts 0, 10, 20, 30, 40: the second one is late
    assert run.metrics.late_starts == {"jobs": 4, "count": 1, "share": 0.25, "tardiness": 1.0}
    found = run.metrics.as_dict()
    assert (found["late_starts_count"], found["late_starts_share"], found["late_starts_jobs"]) == (1, 0.25, 4)


def test_per_group():
    work = log(0, 9, None, 29, 39, queues=["q", "q", "other", "q", "other"], users="abaab")
    found = sl.simulate(work, PLATFORM, "fcfs").metrics
    counts = {by: {name: (g.late_starts, g.late_share) for name, g in found.by(by).items()} for by in ("user", "queue")}
    assert counts == {
        "user": {"a": (1, 1 / 2), "b": (2, 1.0)},  # j0 and j3 of a have one, j1 and j4 of b
        "queue": {"q": (2, 2 / 3), "other": (1, 1.0)},
    }
    columns = found.by("user").as_dict()["columns"]
    assert (columns["late_starts"], columns["late_share"]) == ([1, 2], [0.5, 1.0])


def test_a_group_without_a_latest_start_has_an_unknown_share():
    found = sl.simulate(log(None, 5, users="ab"), PLATFORM, "fcfs").metrics.by("user")
    assert (found["a"].late_starts, found["a"].late_share) == (0, None)
    assert (found["b"].late_starts, found["b"].late_share) == (1, 1.0)


def test_nothing_is_shown_where_no_job_has_one():
    found = sl.simulate(log(None, None), PLATFORM, "fcfs").metrics
    assert found.late_starts == {}
    assert not [key for key in found.as_dict() if "late_s" in key]
    assert found.by("user")["a"].late_starts is None
    assert not {"late_starts", "late_share"} & set(found.by("user").as_dict()["columns"])


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "pbs-fifo", "easy++"])
def test_replays_are_the_same_with_and_without(policy):
    work = Workload.of(sl.load("eurora_99").dispatch)
    with_latest = replace(work, latest_start=work.submit + 60)
    platform = sl.load("eurora_99").dispatch.platform
    plain, soft = (sl.simulate(w, platform, policy) for w in (work, with_latest))
    assert plain.start.tolist() == soft.start.tolist()
    assert soft.violations == []
    same = {key: value for key, value in soft.metrics.as_dict().items() if not key.startswith(("late_s", "decisions"))}
    before = {key: value for key, value in plain.metrics.as_dict().items() if not key.startswith("decisions")}
    assert {k: v for k, v in same.items() if "seconds" not in k and k not in ("AO", "MO", "%O")} == {
        k: v for k, v in before.items() if "seconds" not in k and k not in ("AO", "MO", "%O")
    }
    assert soft.metrics.late_starts["count"] == int((soft.start > work.submit + 60).sum())


def test_recorded_starts_are_late_too():
    work = replace(log(0, 9, 30), recorded_start=np.array([5, 7, -1]))
    assert recorded(work, PLATFORM).late_starts == {"jobs": 2, "count": 1, "share": 0.5, "tardiness": 5.0}


class EarliestFirst:
    """Starts the waiting job with the least latest start."""

    name = "earliest-latest-start"

    def __init__(self):
        self.seen = {}

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        self.seen |= {job.id: job.latest_start for job in moment.waiting}
        order = sorted(moment.waiting, key=lambda j: NEVER if j.latest_start is None else j.latest_start)
        return Decision([Start(order[0].id, {"n-1": 1})]) if moment.free.min() > 0 else Decision([])


def test_dispatchers_see_them():
    dispatcher = EarliestFirst()
    run = sl.simulate(log(0, None, 50, 12), PLATFORM, dispatcher)
    assert dispatcher.seen == {"j0": 0, "j1": None, "j2": 50, "j3": 12}
    assert run.start.tolist() == [0, 30, 20, 10]
    assert run.metrics.late_starts["count"] == 0


@pytest.mark.parametrize("dispatcher", ["fcfs", "live"])
def test_the_latest_start_of_a_job_that_waits_for_another_moves_with_its_arrival(dispatcher):
    """The job j1 arrives 100 s after the end of j0, at 110 instead of 1, and may start up to 20 s after its arrival."""
    live = EarliestFirst()
    run = sl.simulate(log(None, 21, after={1: (0, 100)}), PLATFORM, live if dispatcher == "live" else dispatcher)
    assert run.start.tolist() == [0, 110]
    assert metrics(run).late_starts == {"jobs": 1, "count": 0, "share": 0.0, "tardiness": 0.0}
    if dispatcher == "live":
        assert live.seen["j1"] == 130
