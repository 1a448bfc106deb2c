"""The models of the CP dispatchers from arrays: unchecked problems, the pooled start."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.models.dispatch import Returns
from schedlab.simulation import Moment, parse_dispatcher
from schedlab.simulation.dispatchers.cp import (
    FOLLOWED,
    Held,
    Register,
    pooled_start,
    problem_of,
    running_usage,
    windows_of_model,
    without_horizon,
)


def make(name, backend="cpsat", **options):
    """Return a dispatcher that solves models by a backend."""
    return parse_dispatcher(f"{name}@{backend}").make(**options)


PLATFORM = Platform([NodeGroup("n", 64, {"cores": 4, "gpus": 1})])
QUEUES = (Queue("q", 100, daily=()),)
NOW = 1000


def job(name, walltime=10, units=1, cores=1, gpus=0, **more):
    return Job(name, 0, walltime, units, {"cores": cores, "gpus": gpus}, "q", **more)


def moment(waiting, running=(), platform=PLATFORM):
    free = np.array(list(platform.capacity.values()), np.int64)
    names = list(platform.nodes)
    for r in running:
        for node, units in r.nodes.items():
            free[names.index(node)] -= [units * r.job.request.get(x, 0) for x in platform.resources]
    expected = {j.id: j.walltime for j in waiting} | {r.job.id: r.end - r.start for r in running}
    may = np.ones(len(waiting), np.bool_)
    return Moment(NOW, platform, QUEUES, tuple(waiting), expected, may, tuple(running), free)


def busy(ends, cores=1):
    """One running job on each of the first nodes."""
    return [
        Running(job(f"r{k}", end, cores=cores), 0, {node: 1}, end)
        for k, (node, end) in enumerate(zip(PLATFORM.nodes, ends, strict=False))
    ]


def test_many_different_ends_in_weeks_from_now_leave_the_model_feasible():
    """All nodes are in use for weeks, each to another end."""
    running = busy([NOW + 2_000_000 + 999 * k for k in range(64)], cores=3)
    waiting = [job("wide", units=65), job("narrow", units=60)]
    for name in ("hcp3", "pcp3"):
        dispatcher = make(name, deterministic=0.01)
        dispatcher.begin(PLATFORM, QUEUES, 1)
        found = dispatcher.decide(moment(waiting, running))
        assert found.ended != "infeasible"
        assert [s.job for s in found.starts] == ["narrow"]


def test_the_problem_of_a_decision_is_the_one_that_the_checked_constructor_makes():
    waiting = [job("a", 30, units=2, gpus=1), job("b", 7, cores=4), job("c", 7, windows=((NOW + 50, NOW + 60),))]
    m = moment(waiting, busy([NOW + 5, NOW + 5, NOW + 90]))
    jobs = Register(PLATFORM, QUEUES).allowed(m)
    usage = running_usage(m, False).expected
    windows = windows_of_model(m, jobs, usage, NOW, False, 0)
    own = without_horizon(windows, NOW)
    assert own == [(), (), windows[2]]
    made = problem_of(m, jobs, own, usage, "slowdown")
    checked = Dispatch(PLATFORM, made.jobs, QUEUES, "slowdown", NOW, made.running)
    assert made == checked
    assert made.horizon == checked.horizon
    for one, other in zip(made.job_arrays._columns(), checked.job_arrays._columns(), strict=True):
        assert one[0] == other[0]
        assert (one[1] == other[1]).all()
    for name in made.formulations:
        assert made.formulations[name]().model.to_json() == checked.formulations[name]().model.to_json()


def test_windows_of_one_pair_are_kept_as_they_are():
    m = sl.Model("windows")
    assert m.interval("a", size=1, start=7).declared_windows == ((7, 7),)
    for k, window in enumerate([(3, 9), ((3, 9),), [(3, 9)]]):
        assert m.interval(f"b{k}", size=1, start=window).declared_windows == ((3, 9),)
    with pytest.raises(ValueError, match="ends before it begins"):
        m.interval("c", size=1, start=((9, 3),))


def test_the_pooled_start_ignores_nodes_and_keeps_the_order_of_the_jobs():
    """Two nodes with two free cores each: on nodes the job of four cores waits for 50 s, on the pooled machine for none."""
    small = Platform([NodeGroup("n", 2, {"cores": 4, "gpus": 0})])
    running = [Running(job(f"r{k}", 50, cores=2), 0, {node: 1}, NOW + 50) for k, node in enumerate(small.nodes)]
    m = moment([job("wide", 20, cores=4), job("next", 10, cores=3), job("last", 5, units=2)], running, small)
    jobs = Register(small, QUEUES).allowed(m)
    none = Held(jobs.some(np.zeros(0, np.int64)), [], np.ones(3, np.bool_), NOW)
    capacity, usage = np.array(list(small.capacity.values())), running_usage(m, False).expected
    returns = Returns.of(*usage[1:], NOW)
    assert (returns.end.tolist(), returns.amount.tolist()) == ([NOW + 50], [[4, 0]])
    found = pooled_start(capacity, NOW, returns, none, jobs, [((NOW, NOW + FOLLOWED),)] * 3)
    assert found.start == {"wide": NOW, "next": NOW + 20, "last": NOW + 20 + 10}
    assert found.nodes == {}
    assert pooled_start(capacity, NOW, returns, none, jobs, [((NOW, NOW + 1),)] * 3) is None


def test_a_job_as_one_unit_requests_what_all_its_units_request():
    several = replace(job("a", units=3, cores=2), id="several")
    jobs = Register(PLATFORM, QUEUES).allowed(moment([several, job("one", gpus=1)]))
    one = jobs.as_units()
    assert one.units.tolist() == [1, 1]
    assert one.request.tolist() == [[6, 0], [1, 1]]
    assert (one.amounts == jobs.amounts).all()
