"""Limits on objectives: the same constraint in the verifier, in every formulation and on every backend; against brute force."""

import itertools

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from neighbourhoods import neighbourhood
from schedlab.backends import backend
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue, Running, Schedule
from schedlab.models.dispatch.objectives import OBJECTIVES, excess_of
from small_profits import tiny

NODE = Platform([NodeGroup("n", 1, {"cores": 4})])
QUEUES = [Queue("fast", 2), Queue("slow", 3)]
SEEDS = (0, 1, 2, 23, 27, 3, 29, 32)  # 23, 27, 29 and 32 have no schedule
METHODS = ["cpsat:counts", "cpsat:units", "highs:counts", "highs:counts@pairwise", "cpo:counts"]


def small(seed, jobs=4, now=0):
    rng = np.random.default_rng(seed)
    made = [
        Job(
            f"j{k}", now - int(rng.integers(3)), int(rng.integers(1, 4)), 1, {"cores": int(rng.integers(1, 5))},
            str(rng.choice(["fast", "slow"])),
        )
        for k in range(jobs)
    ]  # fmt: skip
    end = now + 2
    held = Running(Job("held", now - 1, 3, 1, {"cores": 2}, "slow"), now - 1, {"n-1": 1}, end)
    return Dispatch(NODE, made, QUEUES, "makespan", now, [held])


def schedules(problem):
    """All schedules in which nothing begins later than all jobs one after another would; capacity is counted by seconds."""
    span = sum(j.walltime for j in problem.jobs) + 2
    for starts in itertools.product(range(problem.now, problem.now + span), repeat=len(problem.jobs)):
        use = [0] * (2 * span)
        use[0] = use[1] = 2  # the running job
        for j, s in zip(problem.jobs, starts, strict=True):
            for t in range(s - problem.now, s - problem.now + j.walltime):
                use[t] += j.request["cores"]
        if max(use) <= 4:
            yield Schedule(
                {j.id: s for j, s in zip(problem.jobs, starts, strict=True)}, {j.id: {"n-1": 1} for j in problem.jobs}
            )


def best(problem, limits):
    """The least objective of all schedules that keep the limits, by the formulas of the thesis; None if none does."""
    return min((problem.value(s) for s in schedules(problem) if keeps(problem, s, limits)), default=None)


def keeps(problem, schedule, limits):
    return all(problem.replace(objective=name).value(schedule) <= most + 1e-9 for name, most in limits.items())


def limited(seed):
    """A problem of three jobs with limits of which some can be kept together and some cannot."""
    rng = np.random.default_rng(seed + 1000)
    now = (0, 100)[seed % 2]
    problem = small(seed, 3, now).replace(objective=str(rng.choice(OBJECTIVES)))
    every = list(schedules(problem))
    limits = {}
    for name in rng.choice(OBJECTIVES, 3, replace=False):
        values = sorted({problem.replace(objective=str(name)).value(s) for s in every})
        limits[str(name)] = values[int(rng.integers(0, min(3, len(values))))]
    return problem, limits


@pytest.mark.parametrize("seed", some_now(SEEDS, 5))
def test_every_backend_finds_the_best_schedule_that_keeps_the_limits(seed):
    problem, limits = limited(seed)
    expected = best(problem, limits)
    bounded = problem.replace(limits=limits)
    for method in METHODS:
        if not backend(method.partition(":")[0]).availability().ok:
            continue
        found = sl.solve(bounded, method, threads=1)
        assert found.status == ("infeasible" if expected is None else "optimal"), (method, found.message)
        if expected is not None:
            assert found.objective == pytest.approx(expected, rel=1e-6)
            assert bounded.verify(found.schedule) == [] and keeps(problem, found.schedule, limits)


def test_the_cases_above_are_of_both_kinds():
    answers = [best(*limited(seed)) is None for seed in SEEDS]
    assert 0 < sum(answers) < len(answers)


def test_the_verifier_names_the_objective_its_value_and_the_limit():
    problem = small(1, 3, now=50)
    late = Schedule({"j0": 60, "j1": 70, "j2": 80}, {j.id: {"n-1": 1} for j in problem.jobs})
    assert problem.verify(late) == []
    value = {name: problem.replace(objective=name).value(late) for name in OBJECTIVES}
    for name in OBJECTIVES:
        assert problem.replace(limits={name: value[name]}).verify(late) == []
        (broken,) = problem.replace(limits={name: value[name] - 0.5}).verify(late)
        assert broken.constraint == name and broken.amount == pytest.approx(0.5)
        assert broken.message.startswith(f"{name} is {value[name]:.10g}, the limit is at most ")


def test_a_running_job_beyond_a_limited_makespan_is_infeasible_even_without_jobs():
    problem = small(0, 1, now=50)
    assert problem.replace(limits={"makespan": 51}).verify(Schedule({"j0": 60}, {"j0": {"n-1": 1}}))
    for jobs in (problem.jobs, ()):
        bounded = problem.replace(jobs=jobs, limits={"makespan": 51})
        assert sl.solve(bounded, "cpsat:counts").status == "infeasible"
        assert sl.solve(bounded, "multi-search").status == "unknown"


@pytest.mark.parametrize("formulation", ["counts", "units", "classes", "pool"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_formulation_has_the_constraint_that_the_verifier_checks(formulation, name):
    """The model accepts a schedule at its own value and refuses it below, for every objective."""
    problem = small(5, 3).replace(objective="waiting")
    for schedule in itertools.islice(schedules(problem), 0, None, 97):
        value = problem.replace(objective=name).value(schedule)
        for limit, ok in ((value, True), (value - 0.01, False)):
            bounded = problem.replace(limits={name: limit})
            encoding = bounded.formulations[formulation]()
            assert (encoding.model.check(encoding.write(schedule)) == []) is ok
            assert (bounded.verify(schedule) == []) is ok
            assert (excess_of(bounded, np.array(list(schedule.start.values()))) == 0) is ok


def test_weights_of_thesis_queues_are_whole_numbers():
    """Expected waiting times of an hour, five hours and a day: with 1/ewt as 120, 24 and 5 of 432,000."""
    queues = [Queue("debug", 3600), Queue("parallel", 18000), Queue("longpar", 86400)]
    jobs = [Job(f"j{k}", 0, 100_000, 1, {"cores": 4}, q.name) for k, q in enumerate(queues)]
    problem = Dispatch(NODE, jobs, queues, "makespan", limits={"weighted-tardiness": 12.3})
    text = problem.formulations["counts"]().model.listing(limit=None)
    row = next(line for line in text.splitlines() if "120" in line)
    assert "24" in row and "5" in row and f"{int(12.3 * 432000)}" in row.replace(",", "")


def test_a_neighbourhood_counts_the_jobs_that_stay():
    """j0 stays and is late; with one late job allowed, j1 must not be late."""
    jobs = [Job(f"j{k}", 0, 3, 1, {"cores": 4}, "fast") for k in range(3)]
    first = Schedule({"j0": 6, "j1": 0, "j2": 3}, {j.id: {"n-1": 1} for j in jobs})
    for most, status in ((2, "optimal"), (1, "infeasible")):
        problem = Dispatch(NODE, jobs, QUEUES, "waiting", limits={"late-jobs": most, "waiting": 9, "makespan": 9})
        encoding = neighbourhood(problem, first, ["j1", "j2"])
        assert sl.solve(encoding.model, backend="cpsat").status == status
    tardy = Dispatch(NODE, jobs, QUEUES, "waiting", limits={"weighted-tardiness": 2.5})  # (4 + 1) / 2
    for problem, status in ((tardy, "optimal"), (tardy.replace(limits={"weighted-tardiness": 2.4}), "infeasible")):
        assert sl.solve(neighbourhood(problem, first, ["j1", "j2"]).model, backend="cpsat").status == status


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"late-job": 4}, "no objective 'late-job'; did you mean late-jobs"),
        ({"late-jobs": "4"}, "the limit on late-jobs is '4'; expected a finite number"),
        ({"late-jobs": float("nan")}, "expected a finite number"),
        ({"late-jobs": True}, "expected a finite number"),
        ([("late-jobs", 4)], "limits are .*expected {objective: number}"),
    ],
)
def test_wrong_limits_are_errors(limits, words):
    with pytest.raises(ProblemError, match=words):
        small(0).replace(limits=limits)


def test_a_profit_problem_takes_no_limits():
    profit = tiny(0)
    with pytest.raises(ProblemError, match="takes no limits"):
        type(profit)(
            profit.dispatch.replace(limits={"late-jobs": 4}), profit.temperature, profit.cooling, profit.price,
            profit.energy_price, profit.horizon_end, profit.watts_per_core,
        )  # fmt: skip


def test_explain_names_a_limit_and_the_jobs_that_cannot_keep_it():
    jobs = [Job(f"j{k}", 0, 30, 1, {"cores": 3}, "fast") for k in range(3)]
    jobs.append(Job("other", 0, 5, 1, {"cores": 1}, "slow"))
    problem = Dispatch(NODE, jobs, QUEUES, "waiting", limits={"makespan": 60, "late-jobs": 3})
    found = sl.explain(problem)
    assert found.status == "infeasible" and found.minimal
    kinds = [(e.kind, e.name) for e in found.elements]
    assert ("limit", "limit on makespan") in kinds and ("limit", "limit on late-jobs") not in kinds
    assert {name for kind, name in kinds if kind == "job"} == {"j0", "j1", "j2"}
    assert "makespan is at most 00:01" in found.message
    assert sl.explain(problem.replace(limits={"makespan": 90})).status == "feasible"


def test_explain_limits_the_objective_beside_the_limits_of_the_problem():
    jobs = [Job(f"j{k}", 0, 30, 1, {"cores": 3}, "fast") for k in range(2)]
    found = sl.explain(Dispatch(NODE, jobs, QUEUES, "late-jobs", limits={"late-jobs": 1}), objective_limit=0)
    assert [e.name for e in found.elements if e.kind == "limit"] == ["late-jobs"]


def test_a_registered_objective_cannot_be_explained():
    from schedlab.models.dispatch import objectives as o

    name = "limits-test"
    o.register_objective(o.Objective(name, "", lambda p: o.Late([0] * len(p.jobs)), lambda p, s: 0))
    try:
        with pytest.raises(sl.SchedlabError, match="limit on limits-test cannot be explained"):
            sl.explain(small(0, 2).replace(limits={name: 1}))
    finally:
        o.REGISTRY.unregister(name)


def test_a_maximized_objective_has_a_least_value():
    from schedlab.models.dispatch import objectives as o

    name, on_time = "on-time", 2
    o.register_objective(
        o.Objective(
            name, "jobs that begin at once", lambda p: o.Late([0] * len(p.jobs)),
            lambda p, s: -sum(s.start[j.id] > j.submit for j in p.jobs), "maximize",
        )
    )  # fmt: skip
    try:
        jobs = [Job(f"j{k}", 0, d, 1, {"cores": 4 // (1 + k)}, "fast") for k, d in enumerate((9, 1, 1))]
        free = Dispatch(NODE, jobs, QUEUES, "makespan")
        problem = free.replace(limits={name: -1.0})
        found = sl.solve(problem, "cpsat:counts")
        assert found.status == "optimal" and sum(s > 0 for s in found.schedule.start.values()) == 1
        (broken,) = problem.verify(sl.heuristics.first_solution(free, "-area"))
        assert broken.message == f"{name} is -{on_time}, the limit is at least -1"
        assert excess_of(problem, np.array([0, 9, 9])) == pytest.approx(1, abs=1e-5)
    finally:
        o.REGISTRY.unregister(name)


def test_durations_without_a_small_common_denominator_keep_their_real_weights():
    """1 / 86,311 + 1 / 77,773 + ...: the row has real weights and a margin of 1e-6; the answer keeps the limit."""
    primes = [86311, 77773, 65537, 91193]
    jobs = [Job(f"j{k}", 0, d, 1, {"cores": 2}, "fast") for k, d in enumerate(primes)]
    problem = Dispatch(NODE, jobs, QUEUES, "makespan", limits={"slowdown": 6.2})
    for method in ("cpsat:counts", "highs:counts@pairwise"):
        found = sl.solve(problem, method, time_limit=20)
        assert found.status == "optimal" and problem.verify(found.schedule) == []
    free = sl.solve(problem.replace(limits={}), "cpsat:counts", time_limit=20)
    assert free.objective <= found.objective
