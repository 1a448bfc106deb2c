"""The penalty scheduling policy: classes of users, its order against a plain simulator, aging, notes, errors."""

import random

import numpy as np
import pytest
import schedlab as sl
from draws import some_seeds_now
from plain_psp import Job as PlainJob
from plain_psp import replay
from schedlab import WrongValue
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, PluginError, Queue
from schedlab.models.registry import WrongOption
from schedlab.simulation import POLICIES, check_dispatcher, psp, simulate
from schedlab.simulation.rankers import Penalty, WeightedSum
from schedlab.simulation.users import accuracy_class, request_accuracy

QUEUE = Queue("q", 3600)


def machine(processors):
    return Platform([NodeGroup("n", processors, {"cores": 1})])


def world(processors, *rows):
    """Return the workload of the jobs (submit, runtime, walltime, processors, user)."""
    jobs = [
        Job(f"j{k}", submit, walltime, units, {"cores": 1}, "q", runtime=runtime, user=user)
        for k, (submit, runtime, walltime, units, user) in enumerate(rows)
    ]
    return Workload.of(Dispatch(machine(processors), jobs, [QUEUE]))


def random_rows(seed, jobs=60, users="abcd"):
    """Return jobs with times far above the walltime, far below, and equal submit times and ends."""
    draw = random.Random(seed)
    processors, submit, rows = draw.randint(2, 6), 0, []
    for _ in range(jobs):
        submit += draw.choice([0, 0, 1, 5, 10])
        user = draw.choice(users)
        runtime = draw.choice([1, 5, 10, 20, draw.randint(1, 40)])
        accuracy = draw.choice([0.1, 0.2, 0.5, 1.0, 1.25] if user < "c" else [0.8, 1.0])
        rows.append((submit, runtime, max(1, round(runtime / accuracy)), draw.randint(1, processors), user))
    return processors, rows


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [(0.0, 1), (0.19, 1), (0.2, 2), (0.35, 2), (0.4, 3), (0.5999, 3), (0.6, 4), (0.79, 4), (0.8, 5), (1.0, 5)],
)
def test_a_class_includes_its_lower_limit(accuracy, expected):
    assert accuracy_class(np.array([accuracy])).tolist() == [expected]
    assert accuracy_class(np.array([sum([accuracy] * 10) / 10])).tolist() == [expected]


def test_a_job_beyond_its_walltime_has_the_accuracy_1():
    assert request_accuracy(np.array([0, 5, 10, 30]), np.array([10, 10, 10, 10])).tolist() == [0.1, 0.5, 1.0, 1.0]


@pytest.mark.parametrize("seeds", some_seeds_now(10, 25))
@pytest.mark.parametrize("first_class", ["best", "worst"])
def test_psp_equals_a_plain_simulator_on_random_workloads(first_class, seeds):
    overtaken = 0
    for seed in seeds:
        processors, rows = random_rows(seed)
        w = world(processors, *rows)
        found = simulate(w, machine(processors), POLICIES["easy"].with_ranker(Penalty(first_class=first_class)))
        assert found.violations == []
        first = {"best": 5, "worst": 1}[first_class]
        assert found.start.tolist() == replay([PlainJob(*row) for row in rows], processors, first), seed
        overtaken += found.start.tolist() != simulate(w, machine(processors), "easy").start.tolist()
    assert overtaken > 0.7 * len(seeds)  # the classes matter in these workloads


@pytest.mark.parametrize("base", ["easy", "conservative"])
def test_with_one_class_the_order_is_that_of_the_policy(base):
    for seed in range(20):
        processors, rows = random_rows(seed)
        w = world(processors, *rows)
        one = simulate(w, machine(processors), POLICIES[base].with_ranker(Penalty(classes=1)))
        assert one.start.tolist() == simulate(w, machine(processors), base).start.tolist()


def test_only_the_last_ten_jobs_count():
    ranker = Penalty()
    rows = [(100 * k, 10, 100, 1, "careless") for k in range(3)] + [
        (300 + 100 * k, 10, 10, 1, "careless") for k in range(10)
    ]
    seen = []
    for n in (3, 8, 12, 13):
        simulate(world(1, *rows[:n]), machine(1), POLICIES["easy"].with_ranker(ranker))
        seen.append(ranker.classes_of_users().tolist())
    # means 0.1; (0.3 + 5) / 8 = 0.66; (0.1 + 9) / 10 = 0.91 of the jobs 3 to 12; 1
    assert seen == [[1], [4], [5], [5]]


@pytest.mark.parametrize(("first_class", "expected"), [("best", 5), ("middle", 3), ("worst", 1)])
def test_the_class_of_a_user_without_ended_jobs(first_class, expected):
    ranker = Penalty(first_class=first_class)
    ranker.begin(machine(1), [QUEUE], ["a", "b"], 0)
    assert ranker.classes_of_users().tolist() == [expected, expected]


def overtaking(ranker):
    """Return the starts of a careless user's job at 20 and of ten careful ones that follow, on one processor."""
    rows = [
        (0, 10, 100, 1, "careless"),
        (10, 10, 10, 1, "careful"),
        (11, 100, 100, 1, "careful"),
        (20, 10, 100, 1, "careless"),
    ]
    rows += [(30 + 90 * k, 100, 100, 1, "careful") for k in range(10)]
    found = simulate(world(1, *rows), machine(1), POLICIES["fcfs"].with_ranker(ranker))
    return found.start.tolist()[3:]


def test_a_careless_user_waits_for_all_careful_ones_and_aging_ends_it():
    starved = overtaking(Penalty())
    assert starved[0] == max(starved)
    aged = overtaking(Penalty(aging=50))  # four classes are worth 200 s: jobs submitted up to 220 go before it
    submits = [30 + 90 * k for k in range(10)]
    before = [submit for submit, start in zip(submits, aged[1:], strict=True) if start < aged[0]]
    assert before == [30, 120, 210]


def test_conservative_reservations_hold_under_psp():
    for seed in range(20):
        processors, rows = random_rows(seed)
        found = simulate(world(processors, *rows), machine(processors), "psp-conservative")
        assert found.violations == [] and (found.start >= 0).all()


def test_each_replay_has_its_own_ranker():
    assert psp().ranker is not psp().ranker
    assert (
        sl.simulate("eurora_99", dispatcher="psp").start.tolist()
        == sl.simulate("eurora_99", dispatcher="easy+psp").start.tolist()
    )


def test_missing_users_are_noted():
    all_missing = simulate(world(1, (0, 5, 5, 1, ""), (0, 5, 5, 1, "")), machine(1), "psp")
    assert all_missing.notes == ("the trace has no users: the ranker psp treats them as jobs of one user",)
    some = WeightedSum([(1, Penalty())])
    found = simulate(world(1, (0, 5, 5, 1, ""), (0, 5, 5, 1, "a")), machine(1), POLICIES["easy"].with_ranker(some))
    assert found.notes == ("some jobs have no user: the ranker psp treats them as jobs of one user",)
    assert simulate(world(1, (0, 5, 5, 1, "a")), machine(1), "psp").notes == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"last": 0}, "last is 0, expected a whole number of at least 1"),
        ({"classes": 2.5}, "classes is 2.5, expected a whole number"),
        ({"classes": float("inf")}, "classes is inf, expected a whole number"),
        ({"first_class": "good"}, "first_class is 'good', expected one of best, middle, worst"),
        ({"aging": 0}, "aging is 0, expected a number of seconds above 0"),
        ({"aging": float("nan")}, "aging is nan"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(WrongValue, match=message):
        Penalty(**options)


def test_names():
    named = check_dispatcher("easy+psp:classes=3:last=20:first_class=worst:aging=86400").make()
    assert named.ranker == Penalty(20, 3, "worst", 86400)
    assert check_dispatcher("psp-conservative-d").predictor == "data-driven"
    with pytest.raises(PluginError, match="psp has a ranker of its own"):
        check_dispatcher("psp+aging")
    with pytest.raises(WrongOption, match="first_class is 'good'"):
        check_dispatcher("easy+psp:first_class=good")
