"""Heterogeneous jobs in the CP dispatchers: arrays of waiting jobs, placement on the timeline, whole decisions."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from schedlab.models import Job, NodeGroup, Platform, Queue, Running
from schedlab.models.dispatch import JobArrays
from schedlab.simulation import Moment, Portfolio, Start
from schedlab.simulation.dispatchers.cp import (
    NodeTimeline,
    Register,
    can_start_now,
    on_open_nodes,
    requested,
    requests_of,
    start_empty,
)
from schedlab.simulation.dispatchers.cp.model import end_of_horizon

TWO = Platform([NodeGroup("n", 2, {"cores": 4, "gpus": 1})])
QUEUES = (Queue("q", 60), Queue("slow", 600))
NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))


def het(name, *chunks, submit=0, walltime=10, queue="q"):
    """A job with chunks (units, cores, gpus)."""
    listed = [(units, {"cores": cores, "gpus": gpus}) for units, cores, gpus in chunks]
    return Job.of_chunks(name, submit, walltime, listed, queue)


JOBS = (het("a", (1, 4, 0), (2, 1, 0)), het("b", (1, 2, 1)), het("c", (2, 2, 1), (1, 2, 0), (1, 1, 0), queue="slow"))


def moment(jobs, running=(), states=("up", "up"), free=None):
    free = np.array([[4, 1], [4, 1]]) if free is None else np.array(free)
    expected = {j.id: j.walltime for j in jobs} | {r.job.id: r.end - r.start for r in running if "+" not in r.job.id}
    may = np.ones(len(jobs), np.bool_)
    return Moment(0, TWO, QUEUES, tuple(jobs), expected, may, tuple(running), free, states=states)


def waiting_of(jobs):
    return Register(TWO, QUEUES).allowed(moment(jobs))


def test_the_register_knows_all_chunks():
    found, expected = waiting_of(JOBS), JobArrays.of(JOBS, TWO.resources)
    assert found.amounts.tolist() == expected.amounts.tolist() == [[6, 0], [2, 1], [7, 2]]
    assert found.all_units.tolist() == [3, 1, 4]
    assert found.share.tolist() == pytest.approx([6 / 8, 2 / 8 + 1 / 2, 7 / 8 + 2 / 2])
    assert requested(found, TWO.resources) == {"cores": 15, "gpus": 3}
    last_first = found.some(np.array([2, 0]))
    assert last_first.amounts.tolist() == [[7, 2], [6, 0]]
    assert last_first.joined(found.some(np.array([1]))).amounts.tolist() == [[7, 2], [6, 0], [2, 1]]


def test_the_register_forgets_the_chunks_of_a_changed_job():
    register = Register(TWO, QUEUES)
    register.allowed(moment(JOBS))
    plain = het("a", (1, 4, 0))
    found = register.allowed(replace(moment([plain]), changed=("a",)))
    assert found.further is None and found.amounts.tolist() == [[4, 0]]


@pytest.mark.parametrize(
    ("free", "fits"),
    [
        ([[4, 1], [4, 1]], [True, True, True]),
        ([[4, 1], [1, 1]], [False, True, False]),  # a: six cores, c: seven
        ([[3, 1], [3, 0]], [False, True, False]),
    ],
)
def test_chunks_fit_now_alone_and_by_their_sum(free, fits):
    assert can_start_now(np.array(free), waiting_of(JOBS)).tolist() == fits


def placed(jobs, now=0, usage=NOTHING, latest=1000):
    waiting = waiting_of(jobs)
    requests = requests_of(waiting, [((now, latest),)] * len(jobs), 2)
    timeline = NodeTimeline(np.array([[4, 1], [4, 1]]), now, usage)
    return requests, timeline, timeline.place(requests, np.arange(len(jobs)))


def test_all_chunks_of_a_job_are_placed_at_the_same_time():
    requests, timeline, found = placed(JOBS)
    assert found.start.tolist() == [0, 0, 10]
    assert found.nodes(requests, 0, TWO.nodes) == ({"n-1": 1}, {"n-2": 2})
    assert found.nodes(requests, 1, TWO.nodes) == ({"n-2": 1},)
    nodes = found.nodes(requests, 2, TWO.nodes)
    assert [sum(on.values()) for on in nodes] == [2, 1, 1] and nodes[0] == {"n-1": 1, "n-2": 1}
    assert timeline.end() == 20


def test_chunks_wait_for_each_other():
    """Each chunk fits alone at 0, both together only when the running job ends at 7."""
    running = (np.array([0]), np.array([7]), np.array([[2, 0]]))
    _, _, found = placed([het("a", (1, 4, 0), (1, 3, 0))], usage=running)
    assert found.start.tolist() == [7]
    _, _, none = placed([het("a", (1, 4, 0), (1, 3, 0))], usage=running, latest=6)
    assert none.start.tolist() == [-1]


def test_a_held_allocation_leaves_what_the_placed_one_leaves():
    requests, timeline, found = placed(JOBS)
    other = NodeTimeline(np.array([[4, 1], [4, 1]]), 0, NOTHING)
    other.hold(requests, found)
    probe = waiting_of([het("p", (1, cores, gpus), walltime=1) for cores, gpus in product((1, 2, 3, 4), (0, 1))])
    asked = requests_of(probe, [((0, 99),)] * len(probe), 2)
    for k in range(len(probe)):
        alone = np.array([k])
        assert other.copy().place(asked, alone).start[k] == timeline.copy().place(asked, alone).start[k]


def test_given_nodes_of_chunks_come_back():
    requests, _, _ = placed(JOBS)
    nodes = {2: ({"n-1": 1, "n-2": 1}, {"n-2": 1}, {"n-1": 1}), 1: ({"n-2": 1},)}
    found = requests.on_nodes(nodes, 5, TWO.nodes)
    assert found.start.tolist() == [-1, 5, 5]
    assert {j: found.nodes(requests, j, TWO.nodes) for j in (1, 2)} == nodes


def test_only_jobs_whose_chunks_fit_together_fit_now():
    jobs = [het("a", (1, 4, 0), (1, 3, 0)), het("b", (1, 2, 0), (1, 3, 0))]
    requests = requests_of(waiting_of(jobs), [((0, 0),)] * 2, 2)
    timeline = NodeTimeline(np.array([[4, 1], [4, 1]]), 0, (np.array([0]), np.array([7]), np.array([[2, 0]])))
    assert timeline.fits_now(requests).tolist() == [0, 1]


def test_chunks_without_requests_go_to_nodes_that_take_starts():
    mixed, empty = het("m", (1, 1, 0), (2, 0, 0)), het("e", (1, 0, 0), (3, 0, 0))
    now = moment([mixed, empty], states=("down", "up"), free=[[0, 0], [4, 1]])
    starts, rest = start_empty(now)
    assert starts == [Start("e", {"n-2": 1}, ({"n-2": 3},))] and [j.id for j in rest.waiting] == ["m"]
    chosen = [Start("m", {"n-2": 1}, ({"n-1": 1, "n-2": 1},))]
    assert on_open_nodes(chosen, rest) == [Start("m", {"n-2": 1}, ({"n-2": 2},))]
    up = moment([mixed])
    assert start_empty(up) == ([], up) and on_open_nodes(chosen, up) == chosen


def test_further_chunks_of_running_jobs_do_not_count_twice_in_the_horizon():
    parts = het("r", (1, 1, 0), (1, 2, 0), walltime=30).parts
    running = [Running(part, -10, {"n-1": 1}, 20) for part in parts]
    now = moment([JOBS[0]], running)
    assert end_of_horizon(now, waiting_of([JOBS[0]])) == 10 + 20


def test_the_portfolio_counts_the_units_of_all_chunks():
    dispatcher = Portfolio("cpsat")
    dispatcher.begin(TWO, QUEUES, 1)
    assert dispatcher.load(moment(JOBS)) == (3 + 1 + 4) * 2
