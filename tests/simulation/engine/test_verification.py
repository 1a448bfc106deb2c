"""The verification of whole replays: each possible fault in a valid replay is reported with job, node and time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Schedule
from schedlab.simulation import NodeRanges, Simulation, simulate, violations

MOST = 20  # violations of one kind that are listed one by one

MACHINE = Platform([NodeGroup("gpu", 2, {"cores": 16, "gpus": 2}), NodeGroup("mic", 2, {"cores": 16, "mics": 2})])
DAY = Queue("day", 3600)
NIGHT = Queue("night", 86400, daily=((64800, 115200),))


def job(name, submit=0, runtime=10, units=1, walltime=100, queue="day", windows=(), earliest=None, **request):
    request = request or {"cores": 8}
    return Job(name, submit, walltime, units, request, queue, earliest, windows=windows, runtime=runtime)


def replay(jobs, start, ranges, killed=None, took=None):
    """Return a replay; ``ranges`` holds (low, high, units per node) of each range of each job."""
    w = Workload.of(Dispatch(MACHINE, jobs, [DAY, NIGHT]))
    start = np.array(start, np.int64)
    low, high, units = np.array([r for job in ranges for r in job], np.int64).reshape(-1, 3).T
    end = np.where(start >= 0, start + (w.runtime if took is None else np.array(took)), -1)
    killed = np.zeros(len(w), np.bool_) if killed is None else np.array(killed)
    return Simulation(w, MACHINE, start, end, killed, NodeRanges(np.cumsum([0, *map(len, ranges)]), low, high, units))


def messages(run, **options):
    return [v.message for v in violations(run, **options)]


def test_a_right_replay_has_no_violations():
    """Job b starts when a ends, on the same cores; c has two units on each of two nodes."""
    jobs = [job("a", cores=16), job("b", submit=3, cores=16), job("c", submit=4, units=4)]
    assert messages(replay(jobs, [0, 10, 5], [[(0, 0, 1)], [(0, 0, 1)], [(2, 3, 2)]])) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"submit": 6}, "job 'a' starts at 5, before its submit time, 6"),
        ({"earliest": 7}, "job 'a' starts at 5, before its earliest start, 7"),
        ({"windows": ((6, 9), (20, 30))}, "job 'a' starts at 5, outside of its windows [(6, 9), (20, 30)]"),
        ({"units": 3}, "job 'a' starts at 5 and has 1 unit on nodes; expected 3"),
        ({"gpus": 1, "cores": 8}, "node 'mic-1' at 5: 1 gpus in use, it has 0 (job 'a' starts)"),
    ],
)
def test_what_a_single_job_breaks(change, text):
    assert messages(replay([job("a", **change)], [5], [[(2, 2, 1)]])) == [text]


@pytest.mark.parametrize(
    ("start", "right"), [(64799, False), (64800, True), (28800, True), (28801, False), (115200, True)]
)
def test_the_windows_of_a_queues_day_run_past_midnight(start, right):
    found = messages(replay([job("n", queue="night")], [start], [[(0, 0, 1)]]))
    expected = f"job 'n' starts at {start}, {start} s of the day; queue 'night' allows [(64800, 115200)]"
    assert found == ([] if right else [expected])


def test_a_job_takes_its_runtime_or_is_killed_at_its_walltime():
    jobs, where = [job("a", runtime=300, walltime=100)], [[(0, 0, 1)]]
    assert messages(replay(jobs, [0], where)) == []
    assert messages(replay(jobs, [0], where, killed=[True], took=[100])) == []
    short = messages(replay(jobs, [0], where, took=[100]))
    assert short == ["job 'a' runs from 0 to 100, 100 s; expected 300 s (its runtime)"]
    long = messages(replay(jobs, [0], where, killed=[True], took=[300]))
    assert long == ["job 'a' runs from 0 to 300, 300 s; expected 100 s (killed at its walltime, 100 s)"]


def test_a_job_that_never_started_is_wrong_but_in_partial_results():
    run = replay([job("a"), job("b")], [0, -1], [[(0, 0, 1)], []])
    assert messages(run) == ["job 'b' never started"]
    assert messages(run, partial=True) == []
    held = replay([job("a")], [-1], [[(0, 0, 1)]])
    assert messages(held, partial=True) == ["job 'a' never started and has 1 unit on nodes; expected 0"]


def test_an_overfilled_node_is_told_once_per_resource_with_the_time():
    jobs = [job(f"j{k}", cores=8, gpus=1) for k in range(4)]
    found = messages(replay(jobs, [0, 1, 2, 3], [[(1, 1, 1)]] * 4))
    assert found == [
        "node 'gpu-2' at 2: 24 cores in use, it has 16 (job 'j2' starts)",
        "node 'gpu-2' at 2: 3 gpus in use, it has 2 (job 'j2' starts)",
    ]


def test_jobs_of_no_length_hold_nothing():
    jobs = [job("a", cores=16), job("z", runtime=0, cores=16)]
    assert messages(replay(jobs, [0, 5], [[(0, 0, 1)], [(0, 0, 1)]])) == []


@pytest.mark.parametrize("wrong", [(-1, 0, 1), (3, 4, 1), (2, 1, 1), (0, 1, 0)])
def test_ranges_beside_the_platform_are_told(wrong):
    low, high, units = wrong
    text = " ".join(messages(replay([job("a", units=2)], [7], [[wrong]])))
    expected = f"job 'a', started at 7, has {units} unit{'s' * (units != 1)} on each of the nodes {low} to {high}; the platform has nodes 0 to 3"
    assert expected in text


def test_a_resource_that_the_platform_has_not_is_told():
    run = replay([job("a")], [0], [[(0, 0, 1)]])
    w = replace(run.workload, resources=("tpus", *run.workload.resources[1:]))
    assert "job 'a' requests tpus, which the platform does not have" in messages(replace(run, workload=w))


def test_columns_that_do_not_fit_together_are_told_before_anything_is_read():
    run = replay([job("a"), job("b")], [0, 0], [[(0, 0, 1)], [(1, 1, 1)]])
    assert messages(replace(run, end=run.end[:1])) == ["array 'end' has 1 entry; expected 2, one per job"]
    for first in ([0, 1], [0, 2, 1], [0, 1, 3], [1, 1, 2]):
        broken = replace(run, placement=run.placement._replace(first=np.array(first)))
        assert "the arrays of the placement do not fit together" in messages(broken)[0]


def test_many_violations_of_a_kind_are_counted():
    n = MOST + 30
    found = messages(replay([job(f"j{k}", submit=9, cores=0) for k in range(n)], [8] * n, [[(0, 0, 1)]] * n))
    assert len(found) == MOST + 1
    assert found[0] == "job 'j0' starts at 8, before its submit time, 9"
    assert found[-1].startswith("and 30 more violations like: job 'j")


@st.composite
def small_replays(draw):
    """Draw a few jobs at random times on random nodes; most of these replays are not valid."""
    jobs, start, ranges = [], [], []
    for k in range(draw(st.integers(1, 4))):
        request = {"cores": draw(st.integers(0, 16)), "gpus": draw(st.integers(0, 1))}
        units = draw(st.integers(1, 2))
        jobs.append(job(f"j{k}", draw(st.integers(0, 3)), draw(st.integers(0, 6)), units, **request))
        start.append(draw(st.integers(0, 8)))
        low = draw(st.integers(0, 2))
        ranges.append(draw(st.sampled_from([[(low, low, units)], [(low, low + units - 1, 1)], [(low, low, 1)]])))
    rows = sorted(range(len(jobs)), key=lambda k: jobs[k].submit)
    return replay([jobs[k] for k in rows], [start[k] for k in rows], [ranges[k] for k in rows])


@given(small_replays())
@settings(max_examples=100, deadline=None)
def test_it_agrees_with_the_check_of_single_schedules(run):
    """The check of an offline schedule gives the same faults; the two share only the capacity sweep."""
    names = MACHINE.nodes
    nodes = {}
    for k, name in enumerate(run.workload.ids):
        low, high, units = (a[run.placement.first[k]] for a in run.placement[1:])
        nodes[name] = dict.fromkeys(names[low : high + 1], int(units))
    schedule = Schedule(dict(zip(run.workload.ids, run.start.tolist(), strict=True)), nodes)
    problem = run.workload.dispatch(MACHINE, durations="runtime")
    one = {(v.constraint, v.amount) for v in problem.verify(schedule)}
    assert {(v.constraint, v.amount) for v in violations(run)} == one


@pytest.fixture(scope="module")
def day():
    """Return a simulated day on which jobs wait."""
    run = simulate("eurora_99", dispatcher="fcfs")
    assert (run.start > run.workload.submit).any()
    return run


def test_a_simulated_day_holds(day):
    assert violations(day) == []


def test_a_day_on_which_no_job_waits_overfills_nodes(day):
    start = day.workload.release
    found = messages(replace(day, start=start, end=start + day.workload.runtime))
    assert found
    assert all(" in use, it has " in text or " of the day; queue " in text for text in found)


def test_a_day_on_which_all_units_double_is_told_job_by_job(day):
    doubled = replace(day, placement=day.placement._replace(units=2 * day.placement.units))
    found = messages(doubled)
    w = day.workload
    assert (
        found[0]
        == f"job {w.ids[0]!r} starts at {day.start[0]} and has {2 * w.units[0]} units on nodes; expected {w.units[0]}"
    )
    assert sum(float(v.amount) for v in violations(doubled) if v.constraint == "and more") >= len(w) - MOST
