"""Jobs and nodes as arrays: the numbers of the jobs, whatever is selected, joined or left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.models.dispatch import JobArrays, NodeArrays, distinct, occupied, offsets
from schedlab.simulation import Moment
from schedlab.simulation.dispatchers.cp import Register

RESOURCES = ("cores", "gpus")
PLATFORM = Platform([NodeGroup("a", 2, {"cores": 8}), NodeGroup("b", 1, {"cores": 4, "gpus": 4})])
QUEUES = (Queue("q", 60), Queue("r", 240))
requests = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 2))
jobs_lists = st.lists(
    st.builds(
        Job,
        id=st.just(""),
        submit=st.integers(0, 50),
        walltime=st.integers(1, 50),
        units=st.integers(1, 2),
        request=requests,
        queue=st.sampled_from("qr"),
        earliest_start=st.none() | st.integers(0, 99),
        runtime=st.none() | st.integers(0, 50),
    ),
    max_size=12,
).map(lambda jobs: [Job(**{**vars(j), "id": f"j{k}"}) for k, j in enumerate(jobs)])

KEPT = 256  # jobs that no longer wait and are kept in any case


def rows(arrays):
    """Return a tuple of plain numbers per job."""
    columns = (arrays.submit, arrays.release, arrays.duration, arrays.units, arrays.request)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def expected(problem, jobs):
    return [
        (j.submit, problem.earliest(j), problem.duration(j), j.units, [j.request.get(r, 0) for r in RESOURCES])
        for j in jobs
    ]


@given(jobs_lists, st.sampled_from(["walltime", "runtime"]), st.integers(0, 60))
def test_the_arrays_are_the_numbers_of_the_jobs(jobs, durations, now):
    problem = Dispatch(PLATFORM, jobs, QUEUES, now=now, durations=durations)
    arrays = problem.job_arrays
    assert rows(arrays) == expected(problem, jobs)
    assert arrays.requests.tolist() == sorted(map(list, {tuple(r) for *_, r in rows(arrays)}))
    units = [(k, i) for k, j in enumerate(jobs) for i in range(j.units)]
    assert arrays.job_of_unit.tolist() == [k for k, _ in units]
    assert [arrays.first_unit[k] + i for k, i in units] == list(range(len(units)))


@given(jobs_lists, jobs_lists, st.data())
def test_selected_and_joined_jobs_have_the_numbers_of_their_jobs(some, others, data):
    one, other = (JobArrays.of(jobs, RESOURCES) for jobs in (some, others))
    whole = one.joined(other)
    assert rows(whole) == rows(one) + rows(other)
    assert whole.requests.tolist() == sorted(map(list, {tuple(r) for *_, r in rows(whole)}))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole))), np.bool_)
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(mask))
    assert rows(whole.some(mask)) == [row for row, kept in zip(rows(whole), mask, strict=True) if kept]
    assert rows(whole.some(chosen)) == [rows(whole)[k] for k in chosen]
    assert whole.some(mask).joined(whole.some(chosen)).requests is whole.requests


def test_the_nodes_have_their_capacities_and_what_runs_on_them():
    nodes = NodeArrays(PLATFORM)
    assert nodes.capacity.tolist() == [[8, 0], [8, 0], [4, 4]] == [list(PLATFORM.capacity[n]) for n in nodes.index]
    assert nodes.total.tolist() == [20, 4]
    assert nodes.shares(np.array([[5, 1]])).tolist() == [0.5]
    wide = Running(Job("wide", 0, 9, 3, {"cores": 2}, "q"), 0, {"a-2": 2, "b-1": 1}, 9)
    slim = Running(Job("slim", 0, 9, 1, {"gpus": 1}, "q"), 0, {"b-1": 1}, 9)
    found = occupied([wide, slim], nodes)
    assert [x.tolist() for x in found] == [[0, 0, 1], [1, 2, 2], [[4, 0], [2, 0], [0, 1]]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1)), max_size=9))
def test_distinct_rows_are_those_of_a_set(listed):
    table = np.array(listed, np.int64).reshape(-1, 2)
    values, kind = distinct(table)
    assert values.tolist() == sorted(map(list, set(listed)))
    assert values[kind].tolist() == table.tolist()


def test_offsets_are_the_first_positions_of_concatenated_lists():
    assert offsets([]).tolist() == [0]
    assert offsets([2, 0, 3]).tolist() == [0, 2, 2, 5]


def test_a_platform_without_resources_holds_jobs_without_requests():
    """Its arrays have no columns."""
    problem = Dispatch(Platform([NodeGroup("n", 2, {})]), [Job(n, 0, 5, 2, {}, "q") for n in "ab"], QUEUES)
    assert problem.job_arrays.request.shape == (2, 0)
    assert NodeArrays(problem.platform).capacity.shape == (2, 0)


@given(jobs_lists.filter(len))
def test_a_workload_has_the_numbers_of_the_problem(jobs):
    problem = Dispatch(PLATFORM, jobs, QUEUES, durations="runtime").replace(
        jobs=[Job(**{**vars(j), "runtime": j.runtime or 0}) for j in jobs]
    )
    workload = Workload.of(problem)
    first = sorted(problem.jobs, key=lambda j: j.submit)
    assert list(workload.ids) == [j.id for j in first]
    assert rows(workload.job_arrays) == expected(problem, first)


@pytest.mark.parametrize("at_once", [3, 40])
def test_waiting_jobs_keep_their_numbers_while_others_come_and_go(at_once):
    """A replay of many jobs, of which few wait at any time; requests that were never seen come late, too."""
    jobs = [
        Job(f"j{k}", k, 10 + k % 7, 1 + k % 3, {"cores": k % 5, "gpus": k // 500}, "qr"[k % 2])
        for k in range(2 * KEPT + 500)
    ]
    register = Register(PLATFORM, QUEUES)
    for now in range(0, len(jobs) - at_once, 7):
        waiting = tuple(jobs[now : now + at_once])
        may_start = np.arange(at_once) % 4 > 0
        moment = Moment(now, PLATFORM, QUEUES, waiting, {j.id: 0 for j in waiting}, may_start, (), np.zeros((3, 2)))
        found = register.allowed(moment)
        listed = [j for j, allowed in zip(waiting, may_start, strict=True) if allowed]
        assert found.jobs == listed
        assert rows(found) == [(j.submit, j.submit, 1, j.units, [j.request[r] for r in RESOURCES]) for j in listed]
        assert found.walltime.tolist() == [j.walltime for j in listed]
        assert found.weight.tolist() == [{"q": 4.0, "r": 1.0}[j.queue] for j in listed]
        expected_share = [j.units * (j.request["cores"] / 20 + j.request["gpus"] / 4) for j in listed]
        assert found.share.tolist() == pytest.approx(expected_share)
    assert len(register._row) <= 2 * at_once + KEPT + 7
