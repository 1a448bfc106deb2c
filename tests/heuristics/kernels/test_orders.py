"""Moves in orders: each step is the placement of the whole order, whatever the checkpoints keep."""

import random

import numpy as np
import pytest
from schedlab.heuristics import ListScheduler, NoSchedule, running
from schedlab.heuristics.kernels import OrderResult
from schedlab.heuristics.kernels import orders as checkpoints
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running

QUEUES = [Queue("debug", 600), Queue("parallel", 3600)]
PLATFORM = Platform([NodeGroup("a", 3, {"cores": 8, "gpus": 2}), NodeGroup("b", 2, {"cores": 16})])


def crowd(seed, count=40, aim="weighted-wait", deadlines=False):
    """Return random jobs, some of several chunks, some with windows or a deadline, beside a running job."""
    rng = random.Random(seed)
    jobs = []
    for i in range(count):
        common = {"submit": rng.randint(0, 2000), "walltime": rng.choice([60, 300, 301, 900]), "queue": "parallel"}
        kind = rng.randrange(6)
        if kind == 0:
            pieces = [(rng.randint(1, 2), {"cores": 2, "gpus": 1}), (rng.randint(1, 2), {"cores": rng.choice([3, 8])})]
            jobs.append(Job.of_chunks(f"j{i}", common["submit"], common["walltime"], pieces, "debug"))
        else:
            more = {"windows": ((0, 1500), (2400, 90000))} if kind == 1 else {}
            more |= {"deadline": common["submit"] + 20000} if deadlines and kind == 2 else {}
            jobs.append(
                Job(f"j{i}", units=rng.randint(1, 4), request={"cores": rng.choice([1, 4, 8])}, **common, **more)
            )
    taken = Running(Job("r", 0, 700, 2, {"cores": 3}, "debug"), 0, {PLATFORM.nodes[0]: 2}, 700)
    return Dispatch(PLATFORM, jobs, QUEUES, aim, running=[taken])


def plain(scheduler, order, moves, first, over):
    """Make the steps by placing each whole order anew."""
    value = scheduler.objective(scheduler.place(order)[0])
    for m in range(len(first) - 1):
        trial = order.tolist()
        for i, to in moves[first[m] : first[m + 1]]:
            trial.insert(to, trial.pop(i))
        trial = np.array(trial)
        try:
            found = scheduler.objective(scheduler.place(trial)[0])
        except NoSchedule:
            found = np.inf
        if found <= (value + over[m]) * (1 + 1e-12):
            value, order = found, trial
    return value, order


def steps(seed, jobs, number):
    rng = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(rng.integers(0, 4, number))])
    return rng.integers(0, jobs, (first[-1], 2)), first, rng.random(number) * rng.choice([0, 0.5], number)


@pytest.mark.parametrize("aim", ["weighted-wait", "makespan", "late-jobs", "weighted-tardiness"])
@pytest.mark.parametrize("memory", [0, checkpoints.MOST_BYTES], ids=["one checkpoint", "many"])
def test_steps_are_those_of_whole_placements(aim, memory, monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_BYTES", memory)
    monkeypatch.setattr(checkpoints, "LEAST_JOBS", 3)
    for seed in range(4):
        scheduler = ListScheduler(crowd(seed, aim=aim, deadlines=seed % 2 == 1))
        order = scheduler.order("est")
        answer = OrderResult(order.copy(), *scheduler.place(order))
        value = scheduler.objective(answer.starts)
        mover = scheduler.mover()
        assert (mover.store.length.shape[0] == 1) == (memory == 0)
        for call in range(3):  # the checkpoints are kept between the calls
            moves, first, over = steps(10 * seed + call, order.size, 40)
            expected, order = plain(scheduler, order, moves, first, over)
            free = np.full(over.size, np.inf)
            value, best, record = mover.improve(answer, moves, first, value, value, over, free, running())
            assert value == pytest.approx(expected, rel=1e-12)
            assert answer.order.tolist() == order.tolist()
            starts, nodes = scheduler.place(order)
            assert (answer.starts == starts).all() and (answer.nodes == nodes).all()
            assert not scheduler.arrays.problem.verify(scheduler.arrays.schedule(answer.starts, answer.nodes))
            if best < value:
                assert scheduler.objective(scheduler.place(record.order)[0]) == pytest.approx(best, rel=1e-12)


def test_another_answer_is_noticed():
    """The checkpoints of one answer are not used for another one, or for one with other nodes."""
    scheduler = ListScheduler(crowd(7))
    mover, answers = scheduler.mover(), []
    for name in ("est", "-area", "est"):
        order = scheduler.order(name)
        answers.append(OrderResult(order.copy(), *scheduler.place(order)))
    for k in (0, 1, 0, 2, 1):
        moves, first, over = steps(k, 40, 20)
        value = scheduler.objective(answers[k].starts)
        mover.improve(answers[k], moves, first, value, value, over, np.full(over.size, np.inf), running())
        starts, nodes = scheduler.place(answers[k].order)
        assert (answers[k].starts == starts).all() and (answers[k].nodes == nodes).all()
