"""Metrics of replays, compared with values computed by hand, and properties of all replays."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.backends import UnknownName
from schedlab.instances import Workload
from schedlab.models import (
    Dispatch,
    Job,
    NodeGroup,
    Partition,
    Platform,
    Queue,
    Recorded,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.simulation import Decisions, NodeRanges, Simulation
from schedlab.simulation.curves import queue_length, utilisation
from schedlab.simulation.metrics import metrics, recorded

PLATFORM = Platform([NodeGroup("n", 2, {"cores": 8, "gpus": 1}), NodeGroup("m", 1, {"cores": 4})])  # 20 cores, 2 GPUs
QUEUES = [Queue("debug", 100), Queue("long", 1000)]
NONE = Decisions(made=0)


def replayed(jobs, starts, ends=None, decisions=NONE, expected=None, killed=None, platform=PLATFORM):
    """Return a replay of jobs (submit, runtime, units, cores, queue), sorted by submit time, with these starts."""
    work = Workload.of(
        Dispatch(
            platform,
            [Job(f"j{k}", s, 3600, u, {"cores": c}, q, runtime=r) for k, (s, r, u, c, q) in enumerate(jobs)],
            QUEUES,
            "waiting",
        )
    )
    start = np.array(starts, np.int64)
    end = np.where(start >= 0, start + work.runtime, -1) if ends is None else np.array(ends, np.int64)
    n = len(work)
    return Simulation(
        workload=work,
        platform=platform,
        dispatcher="by hand",
        predictor="walltime",
        allocator="best-fit",
        seed=0,
        start=start,
        end=end,
        killed=np.zeros(n, np.bool_) if killed is None else np.array(killed),
        expected=work.walltime if expected is None else np.array(expected, np.int64),
        first_reserved=np.full(n, -1, np.int64),
        placement=NodeRanges(np.zeros(n + 1, np.int64), *(np.zeros(0, np.int64),) * 3),
        decisions=decisions,
        seconds=0.0,
    )


FOUR = [(0, 100, 2, 4, "debug"), (0, 50, 1, 8, "debug"), (10, 0, 1, 4, "long"), (20, 5, 3, 4, "debug")]
FOUR_STARTS = [0, 100, 10, 150]  # waits 0, 100, 0, 130; the last end is 155


@pytest.fixture
def four():
    return replayed(FOUR, FOUR_STARTS)


def test_waits(four):
    m = metrics(four)
    assert (m.jobs, m.started, m.not_started, m.killed, m.makespan) == (4, 4, 0, 0, 155)
    assert (m.wait.mean, m.wait.median, m.wait.max) == (57.5, 50.0, 130.0)
    assert m.wait.std == pytest.approx(np.sqrt((2 * 57.5**2 + 42.5**2 + 72.5**2) / 4))
    assert m.wait.p95 == pytest.approx(100 + 0.85 * 30)
    assert m.wait.p99 == pytest.approx(100 + 0.97 * 30)


def test_slowdowns_of_short_jobs_are_bounded(four):
    m = metrics(four)
    assert m.slowdown.max == 135 / 5
    assert m.slowdown.mean == (1 + 3 + 1 + 27) / 4  # the job of 0 s counts as one of 1 s
    assert m.bounded_slowdown.max == 135 / 10
    assert m.bounded_slowdown.mean == (1 + 3 + 1 + 13.5) / 4


def test_the_metrics_of_the_thesis(four):
    """Only the fourth job waits longer than the 100 s of its queue; the second waits exactly 100 s."""
    t = metrics(four).thesis
    assert t["AQ"] == 57.5
    assert t["WQT"] == pytest.approx(1 + 1.3)
    assert (t["NL"], t["TR"], t["WT"]) == (1, 30, 0.3)


def test_utilisation_by_hand(four):
    m = metrics(four)
    assert m.utilisation == {"cores": (8 * 100 + 8 * 50 + 12 * 5) / (20 * 155), "gpus": 0.0}
    assert m.utilisation_submitting["cores"] == (8 * 20) / (20 * 20)


def test_the_curve_of_use(four):
    times, used = utilisation(four, "cores")
    assert times.tolist() == [0, 10, 100, 150, 155]
    assert used.tolist() == [8, 8, 8, 12, 0]
    with pytest.raises(UnknownName, match="no resource 'core'; did you mean cores"):
        utilisation(four, "core")


def test_the_curve_of_the_queue(four):
    """At most two jobs wait at a time: a job that starts at its submit time never waits."""
    times, length = queue_length(four)
    assert dict(zip(times.tolist(), length.tolist(), strict=True)) == {0: 1, 10: 1, 20: 2, 100: 1, 150: 0}
    m = metrics(four)
    assert (m.queue_max, m.queue_mean) == (2, (100 + 130) / 155)


def test_classes_by_what_the_jobs_took():
    hour = 3600
    lengths = [hour - 1, hour, 5 * hour, 5 * hour + 1, 1]
    found = metrics(replayed([(0, r, 1, 4, "long") for r in lengths], [0, 10, 20, 30, 40])).by_class
    assert {name: (c.jobs, c.wait.mean) for name, c in found.items()} == {
        "short": (2, 20.0),
        "medium": (2, 15.0),
        "long": (1, 30.0),
    }
    assert found["short"].slowdown.max == 41


def test_a_class_without_jobs_is_unknown_not_zero(four):
    m = metrics(four)
    assert m.by_class["long"].jobs == 0
    assert m.by_class["long"].wait.mean is None and m.as_dict()["long_slowdown_max"] is None


def test_killed_jobs_count_with_what_they_took():
    m = metrics(replayed([(0, 100, 1, 4, "debug")], [10], ends=[50], killed=[True], expected=[40]))
    assert (m.killed, m.makespan, m.slowdown.max, m.accuracy.exact) == (1, 50, 50 / 40, 1.0)


def test_accuracy_is_of_what_was_expected_at_the_start():
    m = metrics(replayed(FOUR, FOUR_STARTS, expected=[100, 60, 1, 4]))
    assert (m.accuracy.mae, m.accuracy.under, m.accuracy.over, m.accuracy.exact) == (11 / 4, 0.25, 0.25, 0.5)


def test_jobs_that_never_started_do_not_count_but_wait():
    m = metrics(replayed(FOUR, [0, -1, 10, -1], expected=[100, 0, 1, 0]))
    assert (m.started, m.not_started, m.wait.max, m.makespan) == (2, 2, 0.0, 100)
    assert (m.queue_max, m.queue_mean) == (2, (100 + 80) / 100)
    assert m.thesis["NL"] == 0


def test_nothing_started_is_unknown_throughout():
    found = metrics(replayed(FOUR, [-1] * 4)).as_dict()
    known = {k: v for k, v in found.items() if v is not None}
    counts = {"jobs": 4, "started": 0, "not_started": 4, "killed": 0}
    classes = {f"{name}_jobs": 0 for name in ("short", "medium", "long")}
    calls = {"decisions_made": 0, "decisions_skipped": 0, "decisions_seconds_total": 0.0}
    assert known == {**counts, **classes, **calls, "bsld_floor": 10.0}


def test_jobs_that_all_come_at_once_have_no_span_of_submission():
    m = metrics(replayed([(5, 10, 1, 8, "debug")] * 2, [5, 5]))
    assert m.utilisation_submitting["cores"] is None
    assert (m.utilisation["cores"], m.makespan) == (16 / 20, 10)


def test_a_replay_that_takes_no_time_has_no_shares_of_it():
    m = metrics(replayed([(5, 0, 1, 8, "debug")], [5], decisions=Decisions(made=1, total_seconds=1.0)))
    assert m.makespan == 0
    assert m.utilisation["cores"] is None and m.queue_mean is None and m.thesis["%O"] is None


CALLS = Decisions(
    made=4,
    skipped=7,
    ended={"trivial": 2, "optimal": 1, "limit": 1},
    seconds={
        "total": np.array([0.1, 0.5, 0.1, 0.9]),
        "start": np.array([0.0, 0.1, 0.0, 0.0]),
        "model": np.array([0.0, 0.1, 0.0, 0.3]),
        "solve": np.array([0.0, 0.3, 0.0, 0.5]),
        "allocate": np.array([0.1, 0.1, 0.1, 0.1]),
    },
    total_seconds=1.6,
    gains=np.array([0.0, 0.25]),
    urgent=3,
)


def test_decisions_of_a_solver():
    m = metrics(replayed(FOUR, FOUR_STARTS, decisions=CALLS))
    d = m.decisions
    assert (d.made, d.skipped, d.solver, d.urgent) == (4, 7, 2, 3)
    assert d.ended == {"trivial": 2, "optimal": 1, "limit": 1, "no-gain": 0, "infeasible": 0, "nothing": 0}
    assert (d.seconds.mean, d.seconds.max, d.seconds.total) == pytest.approx((0.4, 0.9, 1.6))
    assert d.seconds.p99 == pytest.approx(0.5 + 0.97 * 0.4)
    assert (d.solver_seconds.mean, d.solver_seconds.max) == pytest.approx((0.7, 0.9))  # without trivial calls
    assert d.start_seconds.total == pytest.approx(0.1)
    assert [t.total for t in (d.model_seconds, d.solve_seconds, d.allocate_seconds)] == pytest.approx([0.4, 0.8, 0.4])
    assert (d.gain_mean, d.gain_none) == (0.125, 1)
    assert (m.thesis["AO"], m.thesis["MO"], m.thesis["%O"]) == pytest.approx((0.4, 0.9, 160 / 155))


def test_decisions_of_a_compiled_policy_are_timed_as_a_whole():
    m = metrics(replayed(FOUR, FOUR_STARTS, decisions=Decisions(made=4, total_seconds=0.2)))
    d = m.decisions
    assert (d.seconds.mean, d.seconds.p99, d.seconds.max, d.seconds.total) == (0.05, None, None, 0.2)
    assert d.solver is None and set(d.ended.values()) == {None}
    assert (m.thesis["AO"], m.thesis["MO"]) == (0.05, None)


def test_the_flat_form_is_json_and_complete():
    found = metrics(replayed(FOUR, FOUR_STARTS, decisions=CALLS)).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    some = {
        "wait_p99", "slowdown_std", "bounded_slowdown_median", "medium_wait_mean", "short_jobs", "AQ", "%O",
        "utilisation_gpus", "utilisation_submitting_cores", "queue_max", "decisions_ended_no-gain",
        "decisions_solver_seconds_p99", "decisions_solve_seconds_mean", "accuracy_mae", "makespan",
    }  # fmt: skip
    assert some <= set(found)


def test_as_recorded():
    work = replace(replayed(FOUR, FOUR_STARTS).workload, recorded_start=np.array(FOUR_STARTS))
    here, there = metrics(replayed(FOUR, FOUR_STARTS)).as_dict(), recorded(work, PLATFORM).as_dict()
    assert set(here) == set(there)
    differ = {k for k in here if here[k] != there[k]}
    assert all(k == "killed" or k.startswith(("decisions_", "accuracy_")) or k in ("AO", "MO", "%O") for k in differ)
    assert (there["killed"], there["decisions_made"], there["accuracy_mae"]) == (None, None, None)
    assert recorded(work).utilisation == {"cores": None, "gpus": None}


def test_as_recorded_where_some_or_all_starts_are_unknown():
    work = replayed(FOUR, FOUR_STARTS).workload
    assert recorded(work) is None
    m = recorded(replace(work, recorded_start=np.array([0, 100, -1, -1])), PLATFORM)
    assert (m.jobs, m.started, m.not_started, m.wait.max, m.queue_max) == (4, 2, 2, 100.0, 1)


@st.composite
def replays(draw):
    """Draw jobs with random submit times and starts; metrics do not depend on capacity."""
    n = draw(st.integers(1, 12))
    submits = sorted(draw(st.lists(st.integers(0, 50), min_size=n, max_size=n)))
    jobs = [
        (s, draw(st.integers(0, 30)), draw(st.integers(1, 2)), draw(st.integers(1, 4)), draw(st.sampled_from(["debug", "long"])))
        for s in submits
    ]  # fmt: skip
    return jobs, [s + draw(st.integers(0, 200)) for s in submits]


@settings(max_examples=30, deadline=None)
@given(replays(), st.integers(0, 10**9))
def test_a_shift_in_time_changes_nothing(replay, by):
    jobs, starts = replay
    moved = replayed([(s + by, *rest) for s, *rest in jobs], [s + by for s in starts])
    assert metrics(moved).as_dict() == metrics(replayed(jobs, starts)).as_dict()


@settings(max_examples=30, deadline=None)
@given(replays())
def test_curves_have_the_areas_of_the_jobs(replay):
    """The integral of waiting jobs is the sum of all waits, that of used cores the sum of all work."""
    run = replayed(*replay)
    m = metrics(run)
    work = run.workload
    if m.makespan:
        assert m.queue_mean * m.makespan == pytest.approx(float((run.start - work.submit).sum()))
        assert m.utilisation["cores"] * 20 * m.makespan == pytest.approx(
            float((work.units * work.request[:, 0] * work.runtime).sum())
        )


@settings(max_examples=30, deadline=None)
@given(replays())
def test_curves_say_at_every_second_what_a_count_says(replay):
    run = replayed(*replay)
    work, cores = run.workload, run.workload.units * run.workload.request[:, 0]
    for curve, count in (
        (queue_length(run), lambda t: ((work.submit <= t) & (t < run.start)).sum()),
        (utilisation(run, "cores"), lambda t: cores[(run.start <= t) & (t < run.end)].sum()),
    ):
        times, values = curve
        assert (np.diff(times) > 0).all()
        for t in range(int(times[0]), int(times[-1]) + 2):
            assert values[np.searchsorted(times, t, side="right") - 1] == count(t)


def test_the_cores_in_use_are_those_that_jobs_hold_or_had():
    """A job on a whole node of 4 cores asks for 2; 5 CPUs on 2 nodes are equal shares of 3, of which 5 are recorded."""
    names = ("n1", "n2")
    place = Site("s", [SiteNode(name, 4) for name in names], [Partition("p", names)], scheduler=SchedulerSettings())
    whole = Job(
        "1", 0, 10, 2, {"cores": 1}, "p", runtime=10, whole_nodes=True, asked=SiteRequest(exclusive="node", cpus=2)
    )
    shares = Job("2", 0, 10, 2, {"cores": 3}, "p", runtime=10, recorded=Recorded(start=0, nodes="n[1-2]", cpus=5))
    for dispatcher in ("slurm", "easy"):
        for job, used in ((whole, 4), (shares, 5)):
            problem = Dispatch(place.platform(), [job], [Queue("p", 60)], durations="runtime")
            run = sl.simulate(problem, dispatcher, site=place)
            assert run.violations == [] and utilisation(run, "cores")[1].tolist() == [used, 0]
            assert metrics(run).utilisation["cores"] == used / 8
    log = Workload.of(Dispatch(place.platform(), [shares], [Queue("p", 60)]))
    found = recorded(log, place.platform())
    assert found is not None and found.utilisation["cores"] == 5 / 8
