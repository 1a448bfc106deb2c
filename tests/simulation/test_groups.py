"""Metrics of groups of jobs, the floor of the bounded slowdown, sizes of models, and hours of a log."""

from __future__ import annotations

import statistics
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab import SchedlabError, WrongArgument
from schedlab.backends import UnknownName
from schedlab.instances import Workload, read_sacct
from schedlab.models import Job, NodeGroup, Platform, Queue, SiteRequest
from schedlab.simulation import (
    LARGEST,
    Decision,
    Spread,
    Start,
    core_hours,
    size_name,
    sizes_asked,
    slurm_jobs,
)
from schedlab.simulation.curves import hours_of, resources, running
from schedlab.simulation.metrics import GROUPINGS, groups_of, job_figures, metrics, recorded
from schedlab.simulation.predictors import LastTwo

PLATFORM = Platform([NodeGroup("n", 4, {"cores": 2, "memory": 2048})])
QUEUES = [Queue("debug", 100), Queue("long", 1000)]


def log(jobs, starts=None):
    """Return a log of jobs (submit, runtime, units, queue, user), with recorded starts."""
    made = [
        Job(f"j{k}", s, max(r, 1) * 2, u, {"cores": 1, "memory": 1024}, q, runtime=r, user=who)
        for k, (s, r, u, q, who) in enumerate(jobs)
    ]
    work = Workload.of(sl.Dispatch(PLATFORM, made, QUEUES, "waiting"))
    return work if starts is None else replace(work, recorded_start=np.array(starts, np.int64))


FOUR = [(0, 100, 2, "debug", "ann"), (0, 50, 1, "debug", "bob"), (10, 0, 1, "long", "ann"), (20, 5, 3, "debug", "ann")]
FOUR_STARTS = [0, 100, 10, 150]  # waits 0, 100, 0, 130


def test_the_metrics_of_users_by_hand():
    users = recorded(log(FOUR, FOUR_STARTS), PLATFORM).by("user")
    assert list(users) == ["ann", "bob"]
    ann, bob = users["ann"], users["bob"]
    assert (ann.jobs, ann.started, ann.wait.mean, ann.wait.median, ann.wait.max) == (3, 3, 130 / 3, 0, 130)
    assert ann.wait.p95 == pytest.approx(0.9 * 130)
    assert (ann.wait_share, bob.wait_share) == pytest.approx((130 / 230, 100 / 230))
    assert (ann.slowdown.max, ann.bounded_slowdown.max) == (27, 13.5)
    assert (bob.wait.std, bob.slowdown.mean, bob.wait.p99) == (0, 3, 100)
    assert users.others is None


def test_the_floor_of_the_bounded_slowdown():
    work = log(FOUR, FOUR_STARTS)
    assert recorded(work, bsld_floor=60).bounded_slowdown.max == 150 / 60  # the job of 50 s
    assert recorded(work, bsld_floor=60).by("user")["ann"].bounded_slowdown.max == 135 / 60
    assert recorded(work, bsld_floor=0.5).bounded_slowdown == recorded(work).slowdown
    for floor in (0, -1, float("inf"), float("nan")):
        with pytest.raises(SchedlabError, match=r"bsld_floor is .*; expected a number of seconds"):
            recorded(work, bsld_floor=floor)


def test_the_accuracy_of_the_walltimes_of_a_user():
    run = sl.simulate(log(FOUR), PLATFORM, "fcfs")
    found = run.metrics.by("user")
    assert found["ann"].expected_ratio == 2.0  # walltimes are twice the runtimes; 0 s count as 1 s
    assert recorded(log(FOUR, FOUR_STARTS)).by("user")["ann"].expected_ratio is None


def test_classes_of_units_and_core_hours():
    jobs = [(0, 3599, 1, "long", "a"), (0, 3600, 1, "long", "a"), (0, 3600, 2, "long", "a"), (0, 9000, 4, "long", "a")]
    found = recorded(log(jobs, [0] * 4), PLATFORM)
    assert {name: g.jobs for name, g in found.by("units").items()} == {"1": 2, "2-4": 2}
    assert {name: g.jobs for name, g in found.by("core-hours").items()} == {"below 1": 1, "1-10": 2, "10-100": 1}


def test_classes_of_sizes_are_of_the_request_however_a_dispatcher_divides_the_job():
    """A job of 32 CPUs on 5 nodes has 5 units of 7 CPUs in a log, and 32 of one CPU under slurm; 4 tasks of 8 CPUs are 32, too."""
    asked = (SiteRequest(cpus=32), SiteRequest(tasks=4, cpus_per_task=8), SiteRequest())
    shapes = ((5, 7), (4, 8), (2, 4)), ((32, 1), (4, 8), (2, 4))
    for shape in shapes:
        jobs = [
            Job(f"j{k}", 0, 7200, units, {"cores": cores}, "long", runtime=3600, asked=of)
            for k, ((units, cores), of) in enumerate(zip(shape, asked, strict=True))
        ]
        work = Workload.of(sl.Dispatch(Platform([NodeGroup("n", 40, {"cores": 8})]), jobs, QUEUES))
        assert sizes_asked(work).tolist() == [32, 32, 8] and size_name(work) == "CPUs"
        found = groups_of(work, job_figures(work, np.zeros(3, np.int64), np.full(3, 3600)))
        assert {name: g.jobs for name, g in found["units"].items()} == {"17-64": 2, "5-16": 1}
        assert {name: g.jobs for name, g in found["core-hours"].items()} == {"10-100": 2, "1-10": 1}


def test_core_hours_count_the_cores_of_all_units():
    work = Workload.of(sl.Dispatch(PLATFORM, [Job("a", 0, 7200, 3, {"cores": 2}, "long", runtime=3600)], QUEUES))
    assert core_hours(work).tolist() == [6.0]
    without = Workload.of(
        sl.Dispatch(
            Platform([NodeGroup("n", 4, {"gpus": 1})]), [Job("a", 0, 60, 3, {"gpus": 1}, "long", runtime=1800)], QUEUES
        )
    )
    assert core_hours(without).tolist() == [1.5]  # of machines without cores, a unit counts as one


def test_core_hours_are_those_of_the_recorded_cpus_which_equal_shares_exceed(tmp_path):
    """32 CPUs on 5 nodes are 5 shares of 7 (35 CPUs); a job on 2 nodes of 4 has 8, as recorded; a heterogeneous one 5 + 2."""
    path = tmp_path / "jobs.txt"
    rows = (
        "1|00:00:00|01:00:00|32|5",
        "2|00:00:00|02:00:00|8|2",
        "3+0|00:00:00|01:00:00|5|2",
        "3+1|00:00:00|01:00:00|2|1",
    )
    day = "2026-05-01T"
    lines = [
        f"{job}|{day}{begin}|{day}{begin}|{day}{end}|{cpus}|{nodes}|03:00:00"
        for job, begin, end, cpus, nodes in (r.split("|") for r in rows)
    ]
    path.write_text("\n".join(["JobID|Submit|Start|End|NCPUS|NNodes|Timelimit", *lines]) + "\n")
    assert core_hours(read_sacct(path)).tolist() == [32.0, 16.0, 7.0]


def test_groups_by_account_and_qos_are_those_that_jobs_asked_for():
    asked = [SiteRequest(account="chem", qos="high"), SiteRequest(account="bio"), SiteRequest(account="chem")]
    jobs = [Job(f"j{k}", k, 60, 1, {"cores": 1}, "long", runtime=30, asked=each) for k, each in enumerate(asked)]
    found = sl.simulate(sl.Dispatch(PLATFORM, jobs, QUEUES), "easy").metrics
    assert {name: group.jobs for name, group in found.by("account").items()} == {"chem": 2, "bio": 1}
    assert {name: group.jobs for name, group in found.by("qos").items()} == {"none": 2, "high": 1}
    with pytest.raises(WrongArgument, match="the log does not record the account"):
        recorded(log(FOUR, FOUR_STARTS), PLATFORM).by("account")


def test_an_unknown_property_is_named():
    found = recorded(log(FOUR, FOUR_STARTS), PLATFORM)
    with pytest.raises(UnknownName, match="no grouping 'users'; did you mean user"):
        found.by("users")
    with pytest.raises(WrongArgument, match="the log does not record the partition"):
        found.by("partition")


def test_groups_without_a_start_are_unknown_without_warnings():
    jobs = [(0, 0, 1, "debug", "one"), (5, 3, 1, "long", "two")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = sl.simulate(log(jobs[:1]), PLATFORM, "easy").metrics
        run = sl.simulate(log(jobs), PLATFORM, "easy")
        run.start[:], run.end[:] = -1, -1
        none = metrics(run)
    assert (one.by("user")["one"].wait.std, one.by("user")["one"].wait_share) == (0, None)
    two = none.by("user")["two"]
    assert (two.jobs, two.started, two.wait, two.expected_ratio, two.wait_share) == (1, 0, Spread(), None, None)
    assert (none.wait_over_ewt, none.percentiles, none.running_mean) == ({}, {}, None)


def test_users_beyond_the_ten_largest_are_others_together():
    jobs = [(k, 10, 1, "debug", f"u{k % 12:02}") for k in range(30)]
    users = recorded(log(jobs, range(100, 130)), PLATFORM).by("user")
    assert [g.name for g in users.largest] == [*(f"u{k:02}" for k in range(LARGEST)), "others"]
    assert (users.others.jobs, users.others.wait.mean, len(users)) == (4, 100, 12)
    table = users.to_pandas()
    assert (len(table), table.jobs.sum(), list(table.columns[:3])) == (12, 30, ["name", "jobs", "started"])


def test_the_histogram_of_wait_over_ewt():
    """Waits of 0, 100, 0 and 130 s; the queue of the second and fourth job has an ewt of 100 s."""
    found = recorded(log(FOUR, FOUR_STARTS), PLATFORM)
    assert {k: n for k, n in found.wait_over_ewt.items() if n} == {"0": 2, "0.75-1": 1, "1-1.5": 1}
    late = sum(n for k, n in found.wait_over_ewt.items() if k in ("1-1.5", "1.5-2", "2-3", "3-5", "5-10", "above 10"))
    assert late == found.thesis["NL"]


def test_running_jobs_and_resources_over_time():
    run = sl.simulate(log(FOUR), PLATFORM, "easy")
    times, jobs = running(run)
    cores = dict(zip(*(a.tolist() for a in resources(run)["cores"]), strict=True))
    assert dict(zip(times.tolist(), jobs.tolist(), strict=True)) == {0: 2, 10: 2, 20: 3, 25: 2, 50: 1, 100: 0}
    assert cores == {0: 3, 10: 3, 20: 6, 25: 3, 50: 2, 100: 0}
    assert (run.metrics.running_max, run.metrics.running_mean) == (3, 1.55)
    assert run.metrics.in_use["cores"] == (200 + 50 + 15) / 100


VALUES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 10**6)), min_size=1, max_size=60)


@settings(max_examples=30, deadline=None)
@given(VALUES)
def test_the_statistics_of_groups_are_those_of_plain_python(pairs):
    work = log([(0, 1, 1, "debug", f"u{group}") for group, _ in pairs], [wait for _, wait in pairs])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = recorded(work).by("user")
    assert set(found) == {f"u{group}" for group, _ in pairs}
    for user, group in found.items():
        spread, mine = group.wait, sorted(v for g, v in pairs if f"u{g}" == user)
        assert spread.mean == pytest.approx(statistics.fmean(mine))
        assert spread.std == pytest.approx(statistics.pstdev(mine), abs=1e-6)
        assert spread.median == statistics.median(mine)
        assert spread.max == mine[-1]
        for q, value in ((95, spread.p95), (99, spread.p99)):
            below, part = divmod((len(mine) - 1) * q, 100)
            above = mine[min(below + 1, len(mine) - 1)]
            assert value == pytest.approx(mine[below] + (above - mine[below]) * part / 100)


def test_the_groups_of_a_property_make_up_all_jobs():
    found = sl.simulate("eurora_330", dispatcher="easy").metrics
    for by, groups in found.groups.items():
        assert sum(g.jobs for g in groups.values()) == found.jobs, by
        waits = sum(g.started * g.wait.mean for g in groups.values())
        assert waits == pytest.approx(found.started * found.wait.mean)
        assert sum(g.wait_share for g in groups.values()) == pytest.approx(1)
    only = found.by("user")[""]  # this instance has no users: all jobs are those of one
    assert (only.wait.mean, only.wait.p99, only.slowdown.median) == (
        found.wait.mean,
        found.wait.p99,
        found.slowdown.median,
    )
    assert only.wait.std == pytest.approx(found.wait.std)


@pytest.mark.slow
def test_many_users_do_not_take_long():
    """The limit is a hundred times what it takes: it catches a cost that grows with jobs * users."""
    n = 100_000
    draw = np.random.default_rng(1)
    some = log([(0, 1, 1, "long", "a")])
    work = replace(
        some.keep(np.zeros(n, np.int64)),
        submit=np.sort(draw.integers(0, 10**6, n)),
        user=draw.integers(0, 20_000, n),
        users=tuple(f"u{k}" for k in range(20_000)),
    )
    work = replace(work, recorded_start=work.submit + draw.integers(0, 10**5, n))
    began = time.process_time()
    assert len(recorded(work, PLATFORM).by("user")) > 19_000
    assert time.process_time() - began < 30


class Modelling:
    """Starts every job on the first node that has room, and claims a model of all waiting jobs."""

    name = "modelling"

    def begin(self, platform, queues, seed):
        self.nodes = platform.nodes

    def decide(self, moment):
        free, starts = moment.free.copy(), []
        for job in moment.waiting:
            request = [job.request["cores"], job.request["memory"]]
            n = next((n for n in range(len(free)) if (free[n] >= job.units * np.array(request)).all()), None)
            if n is not None:
                free[n] -= job.units * np.array(request)
                starts.append(Start(job.id, {self.nodes[n]: job.units}))
        asked = {r: sum(j.units * j.request[r] for j in moment.waiting) for r in ("cores", "memory")}
        return Decision(starts, jobs=len(moment.waiting), requested=asked)


def test_the_sizes_of_models_by_hand():
    """Two models: 2 jobs on the empty machine (8 cores, 8 GB); then 1 job while one runs on a core and 1 GB."""
    jobs = [(0, 100, 1, "debug", "a"), (0, 10, 2, "debug", "a"), (50, 5, 1, "debug", "a")]
    found = sl.simulate(log(jobs), PLATFORM, Modelling()).metrics.decisions.models
    assert (found.built, found.intervals) == (2, 2.0)
    assert found.requested == {"cores": 2.0, "memory": 2048.0}
    assert found.available == {"cores": 7.5, "memory": 7.5 * 1024}
    assert (found.requested_total, found.available_total) == (4.0, 15.0)


def test_the_time_of_the_predictor_is_measured():
    class Slow(LastTwo):
        def predict(self, job):
            time.sleep(0.01)
            return super().predict(job)

    run = sl.simulate(log(FOUR), PLATFORM, "easy", predictor=Slow())
    assert run.predictor == "last-two"
    assert 0.04 <= run.metrics.prediction_seconds <= run.seconds + 1
    assert recorded(log(FOUR, FOUR_STARTS)).prediction_seconds is None


def test_jobs_and_nodes_per_hour():
    """A job of 2 units (a core of 2 each, 1 node together) from 0:30 to 1:30; another one submitted at 2:00, not started."""
    work = log([(600, 3600, 2, "long", "a"), (7200, 60, 1, "long", "a")], [1800, -1])
    found = hours_of(work, PLATFORM)
    assert (found.submitted.tolist(), found.running.tolist(), found.nodes.tolist()) == (
        [1, 0, 1],
        [0.5, 0.5, 0],
        [0.5, 0.5, 0],
    )
    assert found.unknown == 1
    assert hours_of(log(FOUR), PLATFORM).nodes is None


def test_jobs_of_several_partitions_have_the_names_that_a_calibration_gives_them(tmp_path):
    path = tmp_path / "jobs.txt"
    day = "2026-05-01T00:0"
    rows = [(1, "b", "-p a,b"), (2, "a", "-p a,b"), (3, "a", "-p a"), (4, "b", "-p b,a")]
    lines = [
        f"{job}|{ran}|{day}{job}:00|{day}{job}:00|{day}9:00|1|n1|01:00:00|sbatch {line} x" for job, ran, line in rows
    ]
    path.write_text("\n".join(["JobID|Partition|Submit|Start|End|NCPUS|NodeList|Timelimit|SubmitLine", *lines]) + "\n")
    work = read_sacct(path)
    figures = job_figures(work, work.recorded_start, work.recorded_start + work.runtime)
    assert {name: g.jobs for name, g in groups_of(work, figures)["partition"].items()} == {"a,b": 2, "a": 1, "b,a": 1}
    asked = [",".join(job.request.partitions) for job in slurm_jobs(work)]
    code, names = GROUPINGS["partition"](work)
    assert [names[k] for k in code] == asked == ["a,b", "a,b", "a", "b,a"]
