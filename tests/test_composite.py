"""Composite objectives: the limits follow from the optima of the kept objectives, and the composite keeps them."""

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import backend
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue, Running, Schedule
from schedlab.models.dispatch import limit_of, nearest, overrun

MACHINE = Platform([NodeGroup("n", 2, {"cores": 4})])
QUEUES = [Queue("fast", 3), Queue("slow", 9)]
THESIS = ("makespan", "weighted-tardiness", "late-jobs")
SOLVERS = [
    m for m in ("cpsat:counts", "highs:counts@pairwise", "cpo:counts") if backend(m.partition(":")[0]).availability().ok
]


def moment(seed, jobs=5, now=1_000_000):
    """The waiting and the running jobs of a moment, long after the epoch."""
    rng = np.random.default_rng(seed)
    waiting = [
        Job(
            f"j{k}", now - int(rng.integers(0, 8)), int(rng.integers(1, 12)), int(rng.integers(1, 3)),
            {"cores": int(rng.integers(1, 5))}, str(rng.choice(["fast", "slow"])),
        )
        for k in range(jobs)
    ]  # fmt: skip
    held = Running(Job("held", now - 9, 14, 1, {"cores": 3}, "slow"), now - 9, {"n-1": 1}, now + 5)
    return Dispatch(MACHINE, waiting, QUEUES, "makespan", now, [held])


@pytest.mark.parametrize("main", THESIS)
@pytest.mark.parametrize("seed", some_now([0, 1, 2], 1))
def test_each_pure_model_is_best_on_its_own_objective_and_the_composite_keeps_its_bounds(seed, main):
    """The three pure and the three composite models of the thesis, proven by all solvers alike."""
    problem = moment(seed)
    keep = {name: 1.1 for name in THESIS if name != main}
    found = {method: sl.composite(problem, main, keep, method, threads=1) for method in SOLVERS}
    pure = {name: sl.solve(problem.replace(objective=name), "cpsat:counts") for name in THESIS}
    value = {name: {n: problem.replace(objective=n).value(pure[name].schedule) for n in THESIS} for name in THESIS}
    for name in THESIS:
        assert pure[name].status == "optimal"
        assert all(value[name][name] <= value[other][name] + 1e-9 for other in THESIS)
    answers = set()
    for method, one in found.items():
        assert set(one.statuses.values()) <= {"optimal", "infeasible"}, method
        assert one.theta == pytest.approx({name: value[name][name] for name in keep})
        assert one.limits == pytest.approx({n: limit_of(problem, n, one.theta[n], 1.1) for n in keep})
        answers.add(None if one.result.objective is None else round(float(one.result.objective), 6))
        if one.result.schedule is not None:
            for name in keep:
                reached = problem.replace(objective=name).value(one.schedule)
                origin = problem.now if name == "makespan" else 0
                assert reached - origin <= 1.1 * (value[name][name] - origin) + 1e-9
            assert one.result.objective >= value[main][main] - 1e-9 and one.fallback is None
        else:
            assert one.fallback in keep and one.schedule is one.pure[one.fallback].schedule
    assert len(answers) == 1


def test_the_makespan_is_bounded_relative_to_now():
    problem = moment(0)
    assert limit_of(problem, "makespan", problem.now + 20, 1.1) == problem.now + 22
    assert limit_of(problem, "makespan", problem.now + 25, 1.1) == problem.now + 27  # 27.5
    assert limit_of(problem, "late-jobs", 0, 1.1) == 0 and limit_of(problem, "late-jobs", 10, 1.1) == 11
    assert limit_of(problem, "weighted-tardiness", 2.0, 1.5) == 3.0


def test_the_fallback_overruns_the_limits_least():
    jobs = [Job("a", 0, 10, 1, {"cores": 4}, "fast"), Job("b", 0, 20, 1, {"cores": 4}, "fast")]
    problem = Dispatch(Platform([NodeGroup("n", 1, {"cores": 4})]), jobs, QUEUES, "waiting")

    def at(a, b):
        return Schedule({"a": a, "b": b}, {"a": {"n-1": 1}, "b": {"n-1": 1}})

    known = {"first": at(0, 10), "second": at(20, 0), "late": at(30, 10)}
    limited = problem.replace(limits={"makespan": 20, "late-jobs": 2})
    assert [overrun(limited, s) for s in known.values()] == [1.5, 1.5, 2.0]
    assert nearest(limited, known) == "first"  # the wait is 10, not 20
    assert nearest(limited.replace(limits={"late-jobs": 0}), {"none": at(0, 3), "all": at(9, 9)}) == "none"
    assert nearest(limited, {}) is None


def test_slack_that_cannot_be_kept_ends_with_the_nearest_pure_schedule():
    """Short jobs first keep few late; the long one first ends sooner: without slack there is no schedule for both."""
    jobs = [
        Job("long", 0, 30, 1, {"cores": 4}, "fast"),
        *(Job(f"s{k}", 0, 10, 1, {"cores": 4}, "fast") for k in range(3)),
    ]
    problem = Dispatch(MACHINE, jobs, QUEUES, "waiting")
    found = sl.composite(problem, "waiting", {"makespan": 1, "late-jobs": 1}, "cpsat:counts")
    assert found.theta == {"makespan": 30, "late-jobs": 2} and found.limits == {"makespan": 30, "late-jobs": 2}
    found = sl.composite(problem, "late-jobs", {"makespan": 1, "weighted-wait": 1}, "cpsat:counts")
    assert found.result.status == "infeasible" and found.fallback is not None
    assert found.result.problem.verify(found.schedule) != [] and problem.verify(found.schedule) == []


@pytest.mark.parametrize(
    "method", ["multi-search", "lns:rounds=20", "cpsat:counts+warm", "cpsat:pool", sl.methods.CpSat("counts")]
)
def test_every_method_keeps_the_limits_or_says_why_not(method):
    noon = sl.load("eurora_99").problem.at(12 * 3600, first=4)
    found = sl.composite(
        noon, "makespan", {"weighted-tardiness": 1.3, "late-jobs": 1.5}, method, time_limit=4, threads=2
    )
    assert set(found.statuses) == set(THESIS) and list(found.statuses)[-1] == "makespan"
    bounded = found.result.problem
    assert dict(bounded.limits) == found.limits and bounded.objective == "makespan"
    if found.result.schedule is None:
        assert found.result.status == "unknown" and found.result.message
    else:
        assert bounded.verify(found.schedule) == []
        assert found.result.objective == noon.replace(objective="makespan").value(found.schedule)


def test_limits_of_the_problem_are_kept_too():
    problem = moment(1)
    late = sl.solve(problem.replace(objective="late-jobs"), "cpsat:counts").objective
    limited = problem.replace(limits={"late-jobs": late})
    found = sl.composite(limited, "makespan", {"weighted-tardiness": 3}, "cpsat:counts")
    assert found.limits["late-jobs"] == late and found.result.status == "optimal"
    with pytest.raises(ProblemError, match="the problem limits late-jobs already"):
        sl.composite(limited, "makespan", {"late-jobs": 1.1}, "cpsat:counts")


def test_theta_and_limits_are_told_before_the_last_step():
    told = []
    found = sl.composite(
        moment(1), "makespan", {"late-jobs": 1.1}, "multi-search",
        on_limits=lambda theta, limits: told.append((theta, limits)),
        on_incumbent=lambda news: told.append(news.objective),
    )  # fmt: skip
    assert told[0] == (found.theta, found.limits) and told[-1] == found.result.objective


def test_a_kept_objective_without_a_schedule_ends_the_call_with_the_reason():
    jobs = [Job("a", 0, 10, 1, {"cores": 4}, "fast", deadline=5)]
    problem = Dispatch(MACHINE, jobs, QUEUES, "makespan")
    found = sl.composite(problem, "makespan", {"late-jobs": 1.1}, "cpsat:counts")
    assert found.result.status == "infeasible" and found.schedule is None and found.limits == {}
    assert found.result.message.startswith("late-jobs, which is to be kept, ended as infeasible")
    found = sl.composite(problem, "makespan", {"late-jobs": 1.1}, "multi-search")
    assert found.result.status == "unknown" and "cannot start" in found.result.message


@pytest.mark.parametrize(
    ("main", "keep", "words"),
    [
        ("makespan", {"late-job": 1.1}, "did you mean late-jobs"),
        ("makespa", {"late-jobs": 1.1}, "did you mean makespan"),
        ("makespan", {"makespan": 1.1}, "makespan is the main objective"),
        ("makespan", {"late-jobs": 0.9}, "the slack of late-jobs is 0.9; expected a number of at least 1"),
        ("makespan", {"late-jobs": "much"}, "the slack of late-jobs is 'much'"),
        ("makespan", {}, "expected at least one"),
        ("makespan", ["late-jobs"], "expected at least one"),
    ],
)
def test_wrong_composites_are_errors(main, keep, words):
    with pytest.raises(ProblemError, match=words):
        sl.composite(moment(0), main, keep, "multi-search")


def test_other_problems_have_no_composite_objectives():
    with pytest.raises(TypeError, match="expected a dispatching problem"):
        sl.composite("theta_12", "makespan", {"late-jobs": 1.1})
