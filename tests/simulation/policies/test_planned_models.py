"""Models of the jobs that the plan starts first, and schedules that no other one can beat."""

import numpy as np
import pytest
import schedlab as sl
from schedlab import SchedlabError, WrongArgument
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule
from schedlab.simulation import CPDispatcher, Moment
from schedlab.simulation.dispatchers.cp import followed_by, is_best, make, planned_first

ONE = Platform([NodeGroup("n", 1, {"cores": 4})])
QUEUES = (Queue("q", 5),)


def job(name, walltime, cores, submit=0):
    return Job(name, submit, walltime, 1, {"cores": cores}, "q")


def problem(objective, jobs, running=()):
    return Dispatch(ONE, jobs, QUEUES, objective, 0, running)


FULL = (job("a", 10, 4), job("b", 3, 4))


@pytest.mark.parametrize(
    ("objective", "starts", "best"),
    [
        ("weighted-tardiness", {"a": 3, "b": 0}, True),  # both within the expected wait of 5 s
        ("weighted-tardiness", {"a": 0, "b": 10}, False),
        ("late-jobs", {"a": 3, "b": 0}, True),
        ("late-jobs", {"a": 0, "b": 10}, False),
        ("makespan", {"a": 0, "b": 10}, False),  # optimal, but later than each job alone would end
        ("weighted-wait", {"a": 3, "b": 0}, False),
    ],
)
def test_a_schedule_that_costs_no_more_than_the_earliest_starts_is_best(objective, starts, best):
    assert is_best(problem(objective, FULL), Schedule(starts)) is best


def test_a_running_job_that_ends_last_makes_a_makespan_best():
    running = [Running(Job("r", 0, 99, 1, {"cores": 0}, "q"), 0, {"n-1": 1}, 99)]
    assert is_best(problem("makespan", FULL, running), Schedule({"a": 0, "b": 10}))


def test_windows_count_as_earliest_starts():
    late = Job("a", 0, 3, 1, {"cores": 4}, "q", windows=((20, 30),))
    assert is_best(problem("weighted-wait", [late]), Schedule({"a": 20}))
    assert not is_best(problem("weighted-wait", [late]), Schedule({"a": 21}))


def test_what_is_called_best_is_optimal():
    """On random problems the solver finds nothing better than a schedule that is called best."""
    draw, called = np.random.default_rng(7), 0
    for _ in range(25):
        jobs = [job(f"j{k}", int(draw.integers(1, 6)), int(draw.integers(1, 5))) for k in range(4)]
        for objective in ("weighted-tardiness", "late-jobs"):
            p = problem(objective, jobs)
            found = sl.solve(p, "multi-search")
            if is_best(p, found.schedule):
                called += 1
                assert sl.solve(p, "cpsat:counts", time_limit=20).objective == pytest.approx(found.objective)
    assert called > 5


def test_the_first_jobs_of_the_plan_are_kept_and_fixed_jobs_too():
    jobs = [job(name, 2, 4) for name in "abcd"] + [job("fixed", 2, 4)]
    plan = Schedule({"a": 6, "b": 0, "c": 4, "d": 2, "fixed": 8})
    kept = planned_first(problem("makespan", jobs), plan, 4, 2)
    assert [j.id for j in kept.jobs] == ["b", "d", "fixed"]
    assert planned_first(problem("makespan", jobs), plan, 4, 4).jobs == tuple(jobs)
    behind = followed_by(Schedule({"b": 2, "d": 0, "fixed": 8}), plan).start
    assert behind["b"] == 2 and 8 < behind["c"] < behind["a"]


def moment(jobs):
    expected = {j.id: j.walltime for j in jobs}
    return Moment(0, ONE, QUEUES, tuple(jobs), expected, np.ones(len(jobs), np.bool_), (), np.array([[4]]))


def decided(jobs, **options):
    dispatcher = CPDispatcher("pcp", 0, deterministic=0.1, m=1000, keep={}, **options)
    dispatcher.begin(ONE, QUEUES, 1)
    return dispatcher.decide(moment(jobs))


def test_jobs_outside_of_the_model_start_if_they_fit_beside_it():
    jobs = [job("wide", 20, 4), job("large", 20, 3), *(job(f"small{k}", 30, 1) for k in range(4))]
    found = decided(jobs, objective="makespan", planned=2)
    assert found.jobs == 2 and decided(jobs, objective="makespan").jobs == 6
    started = {s.job for s in found.starts}
    assert sum(j.request["cores"] for j in jobs if j.id in started) == 4


def test_planned_is_for_other_objectives():
    for wrong in ({"planned": 3}, {"planned": 0, "keep": {}}):
        with pytest.raises(WrongArgument, match="planned is"):
            CPDispatcher("pcp", 0, **wrong)


def test_parameters_reach_the_solver():
    with pytest.raises(SchedlabError, match="no_such_parameter"):
        decided(list(FULL), objective="makespan", parameters={"no_such_parameter": 1})
    with pytest.raises(WrongArgument, match="adaptive"):
        CPDispatcher("hcp", 3, adaptive=True, parameters={"cp_model_presolve": False})


def test_the_models_of_the_thesis_have_the_jobs_planned_first():
    assert make("mks+wt+nl").planned == 40 and make("wt", planned=None).planned is None
    assert make("wt").control.parameters["cp_model_presolve"] is False and not make("wt", "highs").control.parameters
