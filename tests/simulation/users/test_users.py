"""Users who choose walltimes during a replay: the scenarios of Cluster FING, reactions, the engine's seam, errors."""

import itertools
from collections import Counter
from random import Random

import numpy as np
import pytest
import schedlab as sl
from schedlab import WrongValue
from schedlab.backends import UnknownName
from schedlab.instances import Workload, generators
from schedlab.instances.generators import improved, intervals_of_users, walltime_of
from schedlab.models import NodeEvent, PluginError
from schedlab.simulation import SimulationError, users_of
from schedlab.simulation.users import Impatient, Learning, Static, request_accuracy, requested

SMALL = generators["fing"](jobs=300, seed=3, nodes=8, users=12, load=1.2)
ALL = ("be", "ge", "cf", "cfg", "di", "hdi", "impatient")


def workload(instance=SMALL):
    return Workload.of(instance.dispatch)


def test_improvements_of_the_paper():
    found = list(itertools.accumulate(range(7), lambda a, _: improved(a), initial=0.1))
    expected = [0.1, 0.19, 0.271, 0.3439, 0.40951, 0.468559, 0.5217031, 0.57387341]
    assert found == pytest.approx(expected)
    assert improved(0.5) == pytest.approx(0.55) and improved(0.95) == 1.0


def test_groups_of_twenty_users():
    for scenario, sizes in (("cf", [4, 4, 4, 3, 4, 1]), ("cfg", [2, 2, 2, 2, 2, 10])):
        drawn = Counter(intervals_of_users(scenario, 20, Random(1)))
        assert [drawn[interval] for interval in sorted(drawn)] == sizes
    assert intervals_of_users("be", 3, Random(1)) == [(0.01, 0.2)] * 3
    assert sorted(intervals_of_users("cf", 20, Random(1)))[-1] == (0.6, 1.0)


def test_walltimes_are_never_below_the_runtime_and_at_most_ten_days():
    assert [walltime_of(30, a) for a in (0.4, 1.0)] == [75, 30]
    assert walltime_of(5 * 86400, 0.1) == 10 * 86400
    assert walltime_of(11 * 86400, 0.1) == 11 * 86400


@pytest.mark.parametrize(("name", "low", "high"), [("be", 0.01, 0.2), ("ge", 0.8, 1.0)])
def test_static_users_stay_in_their_interval(name, low, high):
    run = sl.simulate(SMALL, dispatcher="psp", users=name)
    accuracy, runtime = run.workload.runtime / run.workload.walltime, run.workload.runtime
    exact = (runtime > 100) & (run.workload.walltime < 10 * 86400)  # not rounded, not limited
    assert exact.sum() > 50
    assert (accuracy[exact] >= low - 0.01).all() and (accuracy[exact] <= high + 0.01).all()


@pytest.mark.parametrize("half", [False, True])
def test_learning_users_improve_after_every_five_jobs(half):
    users, w = Learning(half=half, longest=10**9), workload()
    w = requested(users, w, np.full(len(w), -1))
    learn = sorted(users.first, key=users.first.get)[1::2] if half else users.first
    for user, first in users.first.items():
        expected, mine = first, np.flatnonzero(w.user == user)
        for k, job in enumerate(mine.tolist()):
            if k and k % 5 == 0 and user in learn:
                expected = improved(expected)
            assert w.walltime[job] == walltime_of(int(w.runtime[job]), expected, 10**9)
    assert len(learn) == (6 if half else 12)


def test_impatient_users_improve_only_if_they_wait():
    never = np.full(len(workload()), -1)
    at_once = workload().submit
    first = Impatient(patience=10)
    static = requested(first, workload(), at_once)
    for user, accuracy in first.first.items():
        mine = static.user == user
        assert static.walltime[mine].tolist() == [walltime_of(r, accuracy) for r in static.runtime[mine].tolist()]
    hurried = requested(Impatient(patience=0), workload(), never)  # a job that never starts waits
    assert hurried.walltime.sum() < static.walltime.sum()


@pytest.mark.parametrize(
    ("name", "dispatcher"),
    [*((name, "psp") for name in ALL), ("di", "easy++"), ("impatient", "easy++"), ("impatient", "psp-conservative")],
)
def test_a_replay_is_that_of_the_walltimes_that_were_requested(name, dispatcher):
    run = sl.simulate(SMALL, dispatcher=dispatcher, users=name)
    assert run.violations == [] and (run.start >= 0).all()
    again = sl.simulate(run.workload, SMALL.platform, dispatcher)
    assert again.start.tolist() == run.start.tolist()
    repeated = requested(users_of(name), workload(), run.start)
    assert repeated.walltime.tolist() == run.workload.walltime.tolist()


def test_the_workload_that_was_passed_is_not_changed():
    w = workload()
    before = w.walltime.copy()
    sl.simulate(w, SMALL.platform, "easy", users="ge")
    assert w.walltime.tolist() == before.tolist()


def test_jobs_that_come_back_keep_their_walltimes():
    events = [NodeEvent(40000, "node-down", ["n-1", "n-2"]), NodeEvent(90000, "node-up", ["n-1", "n-2"])]
    users = Learning(seed=2)
    run = sl.simulate(SMALL, dispatcher="psp", users=users, events=events)
    assert run.violations == [] and run.history is not None
    expected = requested(Learning(seed=2), workload(), np.full(300, -1))
    assert run.workload.walltime.tolist() == expected.walltime.tolist()


def test_dispatchers_in_python_see_the_requested_walltimes():
    class Seen:
        name = "seen"

        def begin(self, platform, queues, seed):
            self.policy, self.walltimes = sl.simulation.POLICIES["easy"], {}

        def decide(self, moment):
            self.walltimes |= {job.id: (job.walltime, moment.expected[job.id]) for job in moment.waiting}
            return sl.simulation.dispatcher.Decision(policy=self.policy, starts=[])

    seen = Seen()
    run = sl.simulate(SMALL, dispatcher=seen, users="di")
    assert len(seen.walltimes) > 200
    asked = dict(zip(run.workload.ids, run.workload.walltime.tolist(), strict=True))
    assert all((asked[job], asked[job]) == walltimes for job, walltimes in seen.walltimes.items())


class Wrong:
    name = "wrong"

    def __init__(self, answer):
        self.answer = answer

    def begin(self, workload):
        pass

    def request(self, now, jobs, start):
        return self.answer(jobs, start)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda jobs, start: None, "users wrong: request returned None; expected a whole number of seconds"),
        (lambda jobs, start: np.zeros(len(jobs), np.int64), "expected .* at least 1"),
        (lambda jobs, start: np.array([1.5]), "expected"),
        (lambda jobs, start: 1 / 0, "users wrong raised in request: ZeroDivisionError"),
        (lambda jobs, start: start.fill(3), "users wrong raised in request: ValueError.*read-only"),
    ],
)
def test_wrong_answers_of_users(answer, message):
    with pytest.raises(SimulationError, match=message):
        sl.simulate(SMALL, dispatcher="easy", users=Wrong(answer))


def test_wrong_users():
    with pytest.raises(UnknownName, match="did you mean di or hdi"):
        users_of("ddi")
    with pytest.raises(PluginError, match="has no begin and no request"):
        users_of(type("Lacking", (), {"name": "lacking"})())
    with pytest.raises(WrongValue, match="seed is -1"):
        Static("cf", seed=-1)
    with pytest.raises(WrongValue, match="scenario is 'ci'"):
        Static("ci")
    with pytest.raises(WrongValue, match="patience is -1"):
        Impatient(patience=-1)


def test_the_predictor_data_driven_compares_the_walltimes_that_users_choose():
    chosen = sl.simulate(SMALL, dispatcher="easy-d", users="cf:seed=3")
    same = sl.simulate(chosen.workload, SMALL.platform, dispatcher="easy-d")
    as_logged = sl.simulate(SMALL, dispatcher="easy-d")
    assert chosen.violations == [] and (chosen.workload.walltime != as_logged.workload.walltime).any()
    assert chosen.start.tolist() == same.start.tolist() and chosen.expected.tolist() == same.expected.tolist()


def test_jobs_are_killed_at_the_walltimes_that_users_choose():
    class Short:
        name = "short"

        def begin(self, workload):
            self.runtime = workload.runtime

        def request(self, now, jobs, start):
            return np.maximum(1, self.runtime[jobs] // 2)

    run = sl.simulate(SMALL, dispatcher="easy", users=Short(), kill_at_walltime=True)
    long = run.workload.runtime > 1
    assert run.violations == [] and run.killed[long].all()
    assert (run.end - run.start)[long].tolist() == run.workload.walltime[long].tolist()


def test_missing_users_are_noted():
    notes = sl.simulate("eurora_99", dispatcher="easy", users="ge").notes
    assert notes == ("the trace has no users: users=ge treats all jobs as jobs of one user",)


def test_the_generator_gives_the_same_jobs_at_every_load():
    a, b = (generators["fing"](200, 5, users=10, load=load).dispatch.jobs for load in (1.0, 4.0))
    assert [(j.runtime, j.units, j.user, j.walltime) for j in a] == [
        (j.runtime, j.units, j.user, j.walltime) for j in b
    ]
    assert Workload.of(generators["fing"](200, 5, users=10, load=4.0).dispatch).load(SMALL.platform) > 0
    runtimes = np.array([j.runtime for j in generators["fing"](1000, 1).dispatch.jobs])
    assert (runtimes <= 60).sum() in range(493, 500) and runtimes.max() <= 10 * 86400
    counts = np.bincount(workload(generators["fing"](1000, 1)).user)
    assert counts.min() >= 5 and counts.max() > 3 * counts.min()


def test_accuracies_of_generated_walltimes_follow_the_scenario():
    w = workload(generators["fing"](1000, 1, estimates="ge"))
    assert request_accuracy(w.runtime, w.walltime)[w.runtime > 100].min() > 0.79
